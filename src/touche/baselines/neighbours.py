"""The modules beside a baseline.py, which it imports by their names; those of one folder at a time."""

import sys
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType

_NAME = "baseline"  # of the module that a folder is loaded by; a process that it starts finds it by that, too
_in_use: list[Path] = []  # the folder whose modules can be imported, or none
_put_aside: dict[Path, dict[str, ModuleType]] = {}  # the modules of the others


def module_of(folder: Path) -> ModuleType:
    """A folder's baseline.py, read anew; what it imports is read once."""
    use(folder)
    invalidate_caches()  # or files that were written in this moment would not be seen
    sys.modules.pop(_NAME, None)
    return import_module(_NAME)


def use(folder: Path) -> None:
    """Makes the modules in a folder importable, in place of those of the folder that was in use before.

    It stays in use, as a method may import something only while it runs, or in a thread of its own.

    Args:
        folder: an absolute path without links.
    """
    if _in_use == [folder]:
        return
    for before in _in_use:
        sys.path[:] = [each for each in sys.path if each != str(before)]
        _put_aside[before] = {name: sys.modules.pop(name) for name in _modules_in(before)}
    _in_use[:] = [folder]
    sys.path.insert(0, str(folder))
    sys.modules.update(_put_aside.pop(folder, {}))


def _modules_in(folder: Path) -> list[str]:
    """The modules that were imported from a folder, and those in its packages; not those of a venv there."""
    tops = {name for name, each in list(sys.modules.items()) if "." not in name and _stands_in(each, folder)}
    return [name for name in list(sys.modules) if name.partition(".")[0] in tops]


def _stands_in(module: ModuleType, folder: Path) -> bool:
    packages = getattr(module, "__path__", None) or [getattr(module, "__file__", None)]
    return any(place is not None and Path(place).parent == folder for place in packages)
