"""Finds a baseline's folder by name or path, and loads its baseline.py."""

import os
import re
import traceback
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import NoReturn

from touche.baselines.baseline_files import folder_digest
from touche.baselines.exits import exits_as_errors
from touche.baselines.method import Baseline
from touche.data.places import shipped, shipped_baselines
from touche.errors import InputError, ToucheError, choice
from touche.io.identifiers import name_or_path
from touche.io.opening import is_file
from touche.io.packages import PREFIX, make_package, without_packages

FILE = "baseline.py"
DEFAULT_TYPES = (int, float, str, bool)  # for an option's default, or for the values in a tuple


def load(name: str) -> Baseline:
    """Loads a shipped baseline by name, or any other by the path of its folder.

    The folder is a package: baseline.py imports its other modules relatively, such as ``from .features import
    words``. When a file in the folder has changed, the next call imports all its modules again; baselines
    that you loaded before keep their code.

    If your code starts processes, let each of them call ``load`` first, so that it can import the folder's
    functions: ``ProcessPoolExecutor(initializer=touche.load, initargs=(folder,))``.

    Args:
        name: the name, or a path with a slash, such as ``./my-team``.

    Returns:
        The baseline. Pass it to ``touche.run``, or call it with topics and documents.

    Raises:
        ToucheError: if the folder or baseline.py is missing, or baseline.py is invalid. It must contain
            exactly one baseline with the parameters topics, documents and options. Options' defaults must be
            int, float, str, bool or a tuple of these.

    Examples:
        >>> import touche
        >>> bm25 = touche.load("bm25")
        >>> bm25.name, bm25.options["k1"].default
        ('bm25', 0.9)
    """
    folder = baseline_folder(name_or_path("name", name))
    path = folder / FILE
    real_folder = folder.resolve()
    # The digest makes a changed folder another package, and other processes find the same one.
    package = f"{PREFIX}{folder_digest(real_folder)}"
    make_package(package, str(real_folder))
    try:
        with exits_as_errors(real_folder.name):
            module = import_module(f"{package}.{path.stem}")
            loaded = [value for value in vars(module).values() if isinstance(value, Baseline)]
            # In this block, because options' annotations are evaluated here and may fail.
            options = [option for ranker in loaded for option in ranker.options.values()]
    except ToucheError:  # has its own remedy, e.g. if Java is missing
        raise
    except Exception as error:
        _refuse(folder, error)
    if len(loaded) != 1:
        raise InputError(path, f"{len(loaded)} baselines in this file", "decorate one with @baseline")
    (only,) = loaded
    if not only.takes_topics_and_documents:
        problem = f"the parameters of {only.name} are not (topics, documents, *, options)"
        raise InputError(path, problem, "write these parameters", line=only.line)
    for option in options:
        default = option.default
        values = (
            default if isinstance(default, tuple) and default else (default,)
        )  # an empty tuple has no type
        if not all(type(value) in DEFAULT_TYPES for value in values):
            problem = f"the default of option {option.name!r} is not int, float, str, bool or a tuple"
            raise InputError(path, problem, "choose such a default", line=only.line)
    return replace(
        only,
        name=real_folder.name,
        name_or_path=name,
        folder=real_folder,
        is_shipped=is_shipped(real_folder),
    )


def as_baseline(baseline: str | PathLike[str] | Baseline) -> Baseline:
    """Returns a baseline, loading it if it is a name or a path."""
    return baseline if isinstance(baseline, Baseline) else load(name_or_path("baseline", baseline))


def baseline_folder(name: str) -> Path:
    """Returns a baseline's folder by name or path. A path contains a slash, or is ``.`` or ``..``."""
    path = Path(name)
    if "/" in name or name in (".", ".."):
        if is_file(path / FILE):
            return path
        problem = f"no {FILE} in this folder" if os.path.isdir(path) else "no such folder"  # noqa: PTH112 (Path.is_dir raises for long names)
        raise InputError(
            path, problem, f"pass the path of a folder with a {FILE}, or write one with: touche new NAME"
        )
    root = shipped()
    if root and is_file(root / "baselines" / name / FILE):
        return root / "baselines" / name
    problem = f"there is no baseline {name!r}"
    if name and is_file(path / FILE):  # without a name, the path is the working directory
        raise ToucheError(f"{problem}, but a folder of this name; to use the folder, write ./{name}")
    # Whole sentences, because another one follows.
    remedy = (
        choice(name, shipped_baselines())
        if shipped_baselines()
        else "an image contains only its own baseline."
    )
    raise ToucheError(
        f"{problem}; {remedy} Or pass the path of a folder with a {FILE}, which touche new NAME writes"
    )


def parts_in_expected(name: str) -> list[str]:
    """Returns the parts of the toy collection in a baseline's expected.toml, with repetitions."""
    file = baseline_folder(name) / "expected.toml"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    return re.findall('"(spot-check/[a-z]+)"', text)


def is_shipped(folder: Path) -> bool:
    """Returns whether a folder belongs to a shipped baseline."""
    root = shipped()
    return root is not None and folder.resolve().parent == (root / "baselines").resolve()


def frames_in(folder: Path, error: BaseException) -> list[traceback.FrameSummary]:
    """Returns an error's frames in a folder's code. The folder must be absolute, without links."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if _is_author_code(folder, frame.filename)]


def _is_author_code(folder: Path, file: str) -> bool:
    """Returns whether a file belongs to the author, not to a virtual environment in the folder."""
    return Path(file).is_relative_to(folder) and "site-packages" not in Path(file).relative_to(folder).parts


def _refuse(folder: Path, error: Exception) -> NoReturn:
    """Raises the error for a baseline that can't be loaded, with the line that caused it."""
    real_folder = folder.resolve()
    # Pairs of file and line number; the last one is the cause.
    positions = [(frame.filename, frame.lineno) for frame in frames_in(real_folder, error)]
    # A line with a syntax error has no frame, because it never ran.
    if isinstance(error, SyntaxError) and error.filename and _is_author_code(real_folder, error.filename):
        positions.append((error.filename, error.lineno))
    file, line = positions[-1] if positions else (str(real_folder / FILE), None)
    path = folder / Path(file).relative_to(real_folder)
    reason = without_packages(f"{type(error).__name__}: {error}")
    problem = f"cannot be loaded ({reason})"
    remedy = "correct it"
    if isinstance(error, ModuleNotFoundError) and error.name:
        problem, remedy = _missing(without_packages(error.name), path.parent, folder)
    raise InputError(path, problem, remedy, line=line) from error


def _missing(module: str, *folders: Path) -> tuple[str, str]:
    """Returns problem and remedy for a missing module: either a package, or a neighbour imported absolutely.

    ``folders`` are the importing file's folder and the baseline's.
    """
    name = module.partition(".")[0]
    files = [path for folder in folders for path in folder.iterdir()]
    neighbours = {path.stem for path in files if path.is_dir() or path.suffix == ".py"}
    nearest = get_close_matches(name, neighbours, n=1, cutoff=0.7)  # a similar name, or the same
    if nearest:
        remedy = f"import it relatively, such as: from .{nearest[0]} import NAME"
        return f"the import of {module} failed; its folder has {nearest[0]}", remedy
    local_remedy = f"put it next to {FILE} if it is your own file"
    install = f"else install its package (probably: pip install {name})"
    return (
        f"the import of {module} failed: it is neither in the folder nor installed",
        f"{local_remedy}, {install}",
    )
