"""Imports baseline.py and its neighbours, in a package whose name identifies their folder and its content.

The folder is not on ``sys.path``. So modules of different folders, threads and versions do not mix, and none
replaces a module of Python or of a library. Child processes find the modules by the same names.
"""

import builtins
import logging
import os
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib import import_module, invalidate_caches
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

INSTALLED = ("site-packages", "dist-packages")  # names of folders of libraries
__path__: list[str] = []  # makes this module a package, in which each folder is a package
_PACKAGE = re.compile(rf"{re.escape(__name__)}\.([0-9a-f]+)_\w+")  # a folder in hexadecimal, and a version

_log = logging.getLogger(__name__)

copies: dict[str, str] = {}
"""Where a folder's modules are imported from instead, such as a copy on a worker of a cluster."""
libraries = defaultdict[str, set[str]](set)
"""The names of the libraries that each package has imported."""


def import_baseline(folder: Path, version: str) -> ModuleType:
    """Imports a folder's baseline.py, once for each version.

    Args:
        folder: an absolute path without links.
        version: a digest of the folder's files.
    """
    invalidate_caches()  # otherwise new files stay unnoticed
    return import_module(f"{__name__}.{os.fsencode(folder).hex()}_{version}.baseline")


def without_packages(text: str) -> str:
    """Returns a text without the long generated packages of ``import_baseline`` before names of modules."""
    return re.sub(rf"{_PACKAGE.pattern}\.", "", text)


class _Finder:
    """Finds the packages of folders, and their modules."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """Returns where a module is; None if it is not of a folder, so that Python's finder is next.

        Args:
            name: the full name of the module.
            path: where its package searches for modules: in the folder of a baseline, or a part of it.
            target: not used; importlib may pass it.
        """
        match = _PACKAGE.match(name)
        if match is None:
            return None
        is_package = match[0] == name
        if is_package:
            folder = os.fsdecode(bytes.fromhex(match[1]))  # in hexadecimal, because a name has no slashes
            package_spec = ModuleSpec(name, None, is_package=True)
            package_spec.submodule_search_locations = [copies.get(folder, folder)]
            return package_spec
        spec = PathFinder.find_spec(name, path)
        if spec and isinstance(spec.loader, SourceFileLoader):  # not a subfolder or a compiled extension
            spec.loader = _Loader(name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Loads a module whose import statements also find its neighbours by their bare names."""

    def path_stats(self, path: Any) -> Mapping[str, Any]:
        """Refuses compiled files, so that Python compiles the source.

        Python would use an old compiled file if the source changes within a second and keeps its size.
        """
        raise OSError  # importlib's sign for no compiled file

    def exec_module(self, module: ModuleType) -> None:
        """Runs the code of a module with an ``__import__`` of its own, which import statements call."""
        match = _PACKAGE.match(module.__name__)
        assert match is not None  # the finder uses this loader only for modules of folders
        vars(module)["__builtins__"] = vars(builtins) | {"__import__": partial(_import, match[0])}
        super().exec_module(module)


def _import(
    package: str, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> ModuleType:
    """Imports a neighbour from its package, and other modules as Python does.

    Args:
        package: the package of the importing module.
        name, globals, locals, fromlist, level: those of ``__import__``; level 0 is an absolute import.
    """
    first = name.partition(".")[0]
    if level == 0:
        is_of_python = first in sys.stdlib_module_names
        if not is_of_python and _is_neighbour(package, first):
            # A relative import, which level 1 means, from the package of the folder.
            return __import__(name, {"__package__": package}, locals, fromlist, level=1)
        _warn_if_ignored(package, first)
        if not is_of_python:
            libraries[package].add(first)
    return __import__(name, globals, locals, fromlist, level)


def _is_neighbour(package: str, name: str) -> bool:
    """Returns whether a module is in the folder, and no installed library has its name."""
    is_in_folder = PathFinder.find_spec(name, sys.modules[package].__path__) is not None
    if name == "touche" or not is_in_folder:  # in a clone, touche is not among the libraries below
        return False
    # Another entry of sys.path may be the baseline's own folder, such as the current folder.
    installed = [entry for entry in sys.path if Path(entry).name in INSTALLED]
    library = PathFinder.find_spec(name, installed)
    return library is None or not library.has_location  # a folder without code has no location


@cache
def _warn_if_ignored(package: str, name: str) -> None:
    """Warns if there is a neighbour of this name, which is not imported; once, because of the cache."""
    neighbour = PathFinder.find_spec(name, sys.modules[package].__path__)
    if neighbour and neighbour.has_location:
        problem = "this file is not imported, because a module of Python or of a library has its name"
        _log.warning("%s: %s; rename it, or import it from .%s", neighbour.origin, problem, name)


sys.meta_path.insert(0, _Finder)  # before Python's finder, which also finds these modules
