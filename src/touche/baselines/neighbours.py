"""Makes the modules next to a baseline.py importable, for one folder at a time."""

import sys
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType

_NAME = "baseline"  # the module's name, by which child processes also find it
_in_use: list[Path] = []  # the folder whose modules are importable, or none
_put_aside: dict[Path, dict[str, ModuleType]] = {}  # the modules of other folders


def module_of(folder: Path) -> ModuleType:
    """Loads a folder's baseline.py again; its imports are loaded only once."""
    use(folder)
    invalidate_caches()  # otherwise new files stay unnoticed
    sys.modules.pop(_NAME, None)
    return import_module(_NAME)


def use(folder: Path) -> None:
    """Makes the modules of a folder importable, instead of those of the previous folder.

    The folder stays importable, because a method may import modules while it runs, or in a thread.

    Args:
        folder: an absolute path without links.
    """
    if _in_use == [folder]:
        return
    for before in _in_use:
        sys.path[:] = [entry for entry in sys.path if entry != str(before)]
        _put_aside[before] = {name: sys.modules.pop(name) for name in _modules_in(before)}
    _in_use[:] = [folder]
    sys.path.insert(0, str(folder))
    sys.modules.update(_put_aside.pop(folder, {}))


def _modules_in(folder: Path) -> list[str]:
    """Returns the modules imported from a folder and its packages, without virtual environments."""
    modules = list(sys.modules.items())
    tops = {name for name, module in modules if "." not in name and _is_in(module, folder)}
    return [name for name in list(sys.modules) if name.partition(".")[0] in tops]


def _is_in(module: ModuleType, folder: Path) -> bool:
    packages = getattr(module, "__path__", None) or [getattr(module, "__file__", None)]
    return any(place is not None and Path(place).parent == folder for place in packages)
