"""Folders as packages, so that the modules of a folder can import each other relatively."""

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

PREFIX = "touche_baseline_"  # the beginning of the names of these packages

folders: dict[str, str] = {}
"""The folder of each package. Other processes need the same packages to unpickle their functions."""


def make_package(name: str, folder: str) -> None:
    """Makes a folder a package, whose modules can then be imported as NAME.MODULE.

    The package has no code of its own; a module runs when it is imported.
    """
    if name in folders:
        return
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [folder]
    sys.modules.setdefault(name, module_from_spec(spec))
    folders[name] = folder
    sys.path_importer_cache.pop(folder, None)  # in the working directory, Python may have its own finder
    invalidate_caches()  # otherwise Python may not notice files that have just been written


class _UncachedLoader(SourceFileLoader):
    """Compiles a module each time, and leaves no ``__pycache__`` in the author's repository.

    Python's compiled files miss a change of the same size in the same second, such as that of one digit.
    """

    def path_stats(self, path: Any) -> Mapping[str, Any]:
        raise OSError  # importlib's sign for no compiled file


def _finder(path: str) -> FileFinder:
    """Returns the finder for the folder of a package; an ImportError leaves other folders to Python."""
    is_in_package = any(Path(path).is_relative_to(folder) for folder in [*folders.values()])
    if not is_in_package or "site-packages" in Path(path).parts:  # of an environment in the folder
        raise ImportError
    extensions = (ExtensionFileLoader, EXTENSION_SUFFIXES)
    return FileFinder(path, (_UncachedLoader, SOURCE_SUFFIXES), extensions)


sys.path_hooks.insert(0, _finder)


def make_packages(packages: Mapping[str, str]) -> None:
    """Makes packages from their names and folders, as in another process."""
    for name, folder in packages.items():
        make_package(name, folder)


def without_packages(text: str) -> str:
    """Returns a text without the generated packages before names of modules."""
    return re.sub(rf"{PREFIX}\w+\.", "", text)


def libraries(package: str) -> set[str]:
    """Returns the modules outside the standard library that a package's imported modules import."""
    names = set[str]()
    for module in [module for name, module in [*sys.modules.items()] if name.startswith(f"{package}.")]:
        file = getattr(module, "__file__", None)  # None for a subfolder
        if not file:
            continue
        with suppress(OSError, ValueError, SyntaxError):  # the file is compiled, or has changed
            for node in ast.walk(ast.parse(Path(file).read_bytes())):
                if isinstance(node, ast.Import):
                    names.update(alias.name.partition(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    names.add(str(node.module).partition(".")[0])
    return names - sys.stdlib_module_names
