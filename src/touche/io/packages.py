"""Turns folders into packages, so that a folder's modules can use relative imports."""

import ast
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import invalidate_caches
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

PREFIX = "touche_baseline_"  # of the packages' names

folders: dict[str, str] = {}
"""The folder of each package. Other processes need the same packages to unpickle their functions."""


def make_package(name: str, folder: str) -> None:
    """Turns a folder into a package, so that its modules can be imported as NAME.MODULE.

    The package itself runs no code; a module runs when it is imported.
    """
    if name in folders:
        return
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [folder]
    sys.modules.setdefault(name, module_from_spec(spec))
    folders[name] = folder
    sys.path_importer_cache.pop(folder, None)  # Python may have cached a finder for the working directory
    invalidate_caches()  # otherwise Python may miss files written a moment ago


class _UncachedLoader(SourceFileLoader):
    """Compiles a module each time, and leaves no ``__pycache__`` in the author's repository.

    Python's bytecode cache misses a change within the same second that keeps the size, e.g. of one digit.
    """

    def path_stats(self, path: Any) -> Mapping[str, Any]:
        raise OSError  # tells importlib that there is no bytecode


def _finder(path: str) -> FileFinder:
    """Returns the finder for a package's folder. ImportError leaves other folders to Python."""
    is_in_package = any(Path(path).is_relative_to(folder) for folder in [*folders.values()])
    if not is_in_package or "site-packages" in Path(path).parts:  # from an environment in the folder
        raise ImportError
    extensions = (ExtensionFileLoader, EXTENSION_SUFFIXES)
    return FileFinder(path, (_UncachedLoader, SOURCE_SUFFIXES), extensions)


sys.path_hooks.insert(0, _finder)


def without_packages(text: str) -> str:
    """Removes the generated package names in front of modules."""
    return re.sub(rf"{PREFIX}\w+\.", "", text)


def libraries(package: str) -> set[str]:
    """Returns what a package's loaded modules import from outside it and the standard library."""
    names = set[str]()
    for module in [module for name, module in [*sys.modules.items()] if name.startswith(f"{package}.")]:
        file = getattr(module, "__file__", None)  # None for a subfolder
        if not file:
            continue
        with suppress(OSError, ValueError, SyntaxError):  # compiled, or changed meanwhile
            for node in ast.walk(ast.parse(Path(file).read_bytes())):
                if isinstance(node, ast.Import):
                    names.update(alias.name.partition(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    names.add(str(node.module).partition(".")[0])
    return names - sys.stdlib_module_names
