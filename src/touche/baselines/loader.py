"""Baselines are folders: finding one by its name or path, and loading its baseline.py."""

import ast
import traceback
import warnings
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from touche.baselines.method import Baseline
from touche.baselines.neighbours import module_of
from touche.data.places import shipped
from touche.errors import InputError, ToucheError, choice

FILE = "baseline.py"
DEFAULTS = (int, float, str, bool)  # types; or a tuple of these


def load(name: str) -> Baseline:
    """Loads a baseline by its name, if it ships with touche, or by the path of its folder.

    Its baseline.py can import the modules beside it, which no other baseline sees.

    Raises:
        ToucheError: if there is no such folder, its baseline.py does not hold just one baseline, its
            parameters are not topics, documents and options, or the default value of an option is no int,
            float, str, bool or tuple of these.
    """
    folder = folder_of(name)
    path, place = folder / FILE, folder.resolve()
    try:
        loaded = [each for each in vars(module_of(place)).values() if isinstance(each, Baseline)]
        options = [option for each in loaded for option in each.options.values()]
    except ToucheError:  # which says what to do, such as that Java is missing
        raise
    except Exception as error:
        _refuse(folder, error)
    if len(loaded) != 1:
        raise InputError(path, f"{len(loaded)} baselines in it", "decorate one function with @baseline")
    (only,) = loaded
    if not only.takes_topics_and_documents:
        problem = f"the parameters of {only.name} are not (topics, documents, *, options)"
        raise InputError(path, problem, "write them so", only.line)
    for option in options:
        if not all(type(value) in DEFAULTS for value in values_of(option.default)):
            problem = f"the default of option {option.name!r} is no int, float, str, bool or tuple of these"
            raise InputError(path, problem, "give it such a default", only.line)
    return replace(only, name=place.name, typed=name, folder=place, is_shipped=is_shipped(place))


def names() -> list[str]:
    """The names of the baselines that ship with touche."""
    root = shipped()
    return sorted(path.parent.name for path in root.glob(f"baselines/*/{FILE}")) if root else []


def parsed(path: Path) -> ast.Module:
    """Returns what a file of Python holds, without running it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of odd escapes when the file is imported
        return ast.parse(path.read_bytes(), path)


def folder_of(name: str) -> Path:
    """The folder of a baseline, by its name, if it ships with touche, or by its path.

    What holds a slash is a path, and so are ``.`` and ``..``; anything else is a name.

    Raises:
        ToucheError: if there is none, or no baseline.py that is Python in it.
    """
    path, root = Path(name), shipped()
    is_path = "/" in name or name in (".", "..")
    folder = path if is_path else root / "baselines" / name if root else None
    if folder and name and (folder / FILE).is_file():
        try:
            parsed(folder.resolve() / FILE)
        except Exception as error:
            _refuse(folder, error)
        return folder
    if is_path:
        problem = f"no {FILE} in it" if path.is_dir() else "no such folder"
        raise InputError(path, problem, f"give the path of a folder with a {FILE}")
    problem = f"there is no baseline {name!r}"
    if name and (path / FILE).is_file():
        raise ToucheError(f"{problem}, but a folder of that name; for that write ./{name}")
    known = choice(name, names()) if names() else "an image holds its own one only."
    raise ToucheError(f"{problem}; {known} Or give the path of a folder with a {FILE}")


def is_shipped(folder: Path) -> bool:
    """Whether a baseline's folder is one of those that ship with touche."""
    root = shipped()
    return root is not None and folder.resolve().parent == (root / "baselines").resolve()


def frames_of(folder: Path, error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of an error that are in the code of a folder, an absolute path without links."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if _is_of(folder, frame.filename)]


def values_of(default: Any) -> tuple[Any, ...]:
    """The values of an option: one, or those of a tuple."""
    return default if isinstance(default, tuple) and default else (default,)


def _is_of(folder: Path, file: str) -> bool:
    """Whether a file is the author's; what a venv in the folder holds is not."""
    return Path(file).is_relative_to(folder) and "site-packages" not in Path(file).relative_to(folder).parts


def _refuse(folder: Path, error: Exception) -> NoReturn:
    """Raises what is to be said of a baseline that cannot be loaded, with the line that did it."""
    place = folder.resolve()
    lines = [(frame.filename, frame.lineno) for frame in frames_of(place, error)]
    if isinstance(error, SyntaxError) and _is_of(place, error.filename or ""):
        lines.append((error.filename or "", error.lineno))
    file, line = lines[-1] if lines else (str(place / FILE), None)
    path = folder / Path(file).relative_to(place)
    problem, remedy = f"cannot be loaded ({type(error).__name__}: {error})", "repair it"
    if isinstance(error, ModuleNotFoundError) and error.name:
        problem, remedy = _missing(error.name, path.parent, folder)
    elif isinstance(error, ImportError):
        neighbour = place / f"{error.name}.py"
        if neighbour.is_file() and Path(error.path or neighbour) != neighbour:
            remedy = f"rename {neighbour.name}, as a module of Python or of a library has that name"
    raise InputError(path, problem, remedy, line) from error


def _missing(module: str, *folders: Path) -> tuple[str, str]:
    """What to say of a module that there is not; what stands beside a baseline is not to be installed."""
    name = module.partition(".")[0]
    files = [path for folder in folders for path in folder.iterdir()]
    beside = {path.stem for path in files if path.is_dir() or path.suffix == ".py"}
    if nearest := get_close_matches(name, beside, n=1, cutoff=0.7):  # or the name itself
        return f"it imports {module}, which does not exist; beside it is {nearest[0]}", "repair the import"
    own = f"put it beside {FILE} if it is a file of your own"
    install = f"else install its package (pip install {name}, if that is its name)"
    return f"it imports {module}, which is neither beside it nor installed", f"{own}, {install}"
