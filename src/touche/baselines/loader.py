"""Baselines are folders: finding one by its name or path, and loading its baseline.py."""

import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from touche.baselines.method import Baseline
from touche.data.places import clone
from touche.errors import ToucheError, choice

_neighbours: dict[Path, dict[str, ModuleType]] = {}  # of each folder in use so far, kept while it is not


def load(name: str) -> Baseline:
    """Loads a baseline by the name of its folder in the clone's baselines/, or by the path of a folder.

    Its baseline.py can import the modules beside it, which no other baseline sees.

    Raises:
        ToucheError: if there is no such folder, its baseline.py does not hold just one baseline, or that has
            an option whose default value is no int, float, str, bool or tuple of str.
    """
    path = folder_of(name) / "baseline.py"
    _make_neighbours_importable(path.parent.resolve())
    spec = spec_from_file_location(f"touche_baseline_{path.parent.name}", path)
    assert spec is not None and spec.loader is not None  # given for a path that ends in .py
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise ToucheError(f"{path}: {_missing(str(error.name), path.parent)}") from error
    except Exception as error:
        raise ToucheError(f"{path}: cannot be loaded ({type(error).__name__}: {error}); repair it") from error
    found = [value for value in vars(module).values() if isinstance(value, Baseline)]
    if len(found) != 1:
        raise ToucheError(f"{path}: {len(found)} baselines in it; decorate one function with @baseline")
    for option in found[0].options.values():
        if type(option.default) not in (int, float, str, bool, tuple):
            problem = f"{path}: the default of option {option.name!r} is no int, float, str, bool or tuple"
            raise ToucheError(f"{problem}; give it such a default")
    return replace(found[0], name=path.parent.resolve().name)


def names() -> list[str]:
    """The names of the baselines in the clone."""
    folder = clone()
    return sorted(path.parent.name for path in folder.glob("baselines/*/baseline.py")) if folder else []


def folder_of(name: str) -> Path:
    """The folder of a baseline, by its name in the clone's baselines/ or by its path.

    Raises:
        ToucheError: if there is none, or no baseline.py in it.
    """
    root = clone()
    candidates = [Path(name), *([root / "baselines" / name] if root else [])]
    for folder in candidates:
        if (folder / "baseline.py").is_file():
            return folder
    known = choice(name, names()) if names() else "work in a clone of touche-baselines."
    raise ToucheError(
        f"there is no baseline {name!r}; {known} Or give the path of a folder with a baseline.py"
    )


def _make_neighbours_importable(folder: Path) -> None:
    """Puts a folder first on the path, in place of that of the baseline before, whose modules go with it.

    It stays there, as a method may import something only while it runs.
    """
    for other in _neighbours.keys() & {Path(each) for each in sys.path} - {folder}:
        sys.path.remove(str(other))
        of_other = {name: each for name, each in sys.modules.items() if _lies_in(other, each)}
        _neighbours[other] = {name: sys.modules.pop(name) for name in of_other}
    if folder not in _neighbours or str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    sys.modules.update(_neighbours.setdefault(folder, {}))


def _lies_in(folder: Path, module: ModuleType) -> bool:
    return Path(getattr(module, "__file__", None) or "/").is_relative_to(folder)


def _missing(module: str, folder: Path) -> str:
    """What to do about a module that there is not; what lies beside a baseline is not to be installed."""
    name = module.partition(".")[0]
    if any(folder.glob(f"{name}*")):
        return f"it imports {module}, which is not in the {name} beside it; repair the import"
    problem = f"it imports {module}, which is not installed"
    return f"{problem}; install its package (pip install {name}, if that is its name)"
