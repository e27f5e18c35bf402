"""Folders as packages, so that the modules of a folder can import each other relatively."""

import ast
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import invalidate_caches
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path

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
    invalidate_caches()  # otherwise Python may not notice files that have just been written


def make_packages(packages: Mapping[str, str]) -> None:
    """Makes packages from their names and folders, as in another process."""
    for name, folder in packages.items():
        make_package(name, folder)


def without_packages(text: str) -> str:
    """Returns a text without the generated packages before names of modules."""
    return re.sub(rf"{PREFIX}\w+\.", "", text)


def libraries(package: str) -> set[str]:
    """Returns the modules that the imported modules of a package import from elsewhere, such as ``numpy``."""
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
    return names
