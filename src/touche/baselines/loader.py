"""Finds the folder of a baseline by its name or path, and loads its baseline.py."""

import os
import re
import traceback
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from touche.baselines.baseline_files import folder_digest
from touche.baselines.method import Baseline
from touche.data.places import shipped
from touche.errors import InputError, ToucheError, choice
from touche.io.identifiers import name_or_path
from touche.io.opening import is_file
from touche.io.packages import PREFIX, make_package, without_packages

FILE = "baseline.py"
DEFAULT_TYPES = (int, float, str, bool)  # of an option's default, or of the values in a default tuple


def load(name: str) -> Baseline:
    """Loads a shipped baseline by its name, or another one by the path of its folder.

    The folder is a package: baseline.py imports other modules of it relatively, such as
    ``from .features import words``. After a change of any file in the folder, the next call imports all its
    modules again; baselines that were loaded before keep their code.

    If your code starts processes, let each of them call ``load`` first, so that it can import the folder's
    functions: ``ProcessPoolExecutor(initializer=touche.load, initargs=(folder,))``.

    Args:
        name: the name, or a path with a slash, such as ``./my-team``.

    Returns:
        The baseline, which ``touche.run`` takes, and which can be called with topics and documents.

    Raises:
        ToucheError: if the folder or baseline.py is missing, or baseline.py is not valid. It needs exactly
            one baseline with the parameters topics, documents and options. Defaults of options are int,
            float, str, bool or a tuple of these.

    Examples:
        >>> import touche
        >>> bm25 = touche.load("bm25")
        >>> bm25.name, bm25.options["k1"].default
        ('bm25', 0.9)
    """
    folder = baseline_folder(name)
    path = folder / FILE
    real_folder = folder.resolve()
    # With the digest in its name, a changed folder is another package, and other processes find the same one.
    package = f"{PREFIX}{folder_digest(real_folder)}"
    make_package(package, str(real_folder))
    try:
        module = import_module(f"{package}.{path.stem}")
        loaded = [value for value in vars(module).values() if isinstance(value, Baseline)]
        # In this block, because options have annotations, which are evaluated here and may fail.
        options = [option for ranker in loaded for option in ranker.options.values()]
    except ToucheError:  # the message has a remedy, such as for missing Java
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
        if not all(type(value) in DEFAULT_TYPES for value in as_tuple(option.default)):
            problem = f"the default of option {option.name!r} is not int, float, str, bool or a tuple"
            raise InputError(path, problem, "choose such a default", line=only.line)
    return replace(
        only,
        name=real_folder.name,
        typed=name,
        folder=real_folder,
        is_shipped=is_shipped(real_folder),
    )


def names() -> list[str]:
    """Returns the names of the shipped baselines; empty in an image."""
    root = shipped()
    return sorted(path.parent.name for path in root.glob(f"baselines/*/{FILE}")) if root else []


def as_baseline(baseline: str | PathLike[str] | Baseline) -> Baseline:
    """Returns a baseline; a name or a path is loaded.

    Raises:
        ToucheError: as ``load``.
    """
    return baseline if isinstance(baseline, Baseline) else load(name_or_path("baseline", baseline))


def baseline_folder(name: str) -> Path:
    """Returns the folder of a baseline by its name or path; names with a slash, ``.`` and ``..`` are paths.

    Raises:
        ToucheError: if the folder is missing, or has no baseline.py.
    """
    path = Path(name)
    root = shipped()
    is_path = "/" in name or name in (".", "..")
    if is_path:
        folder: Path | None = path
    else:
        folder = root / "baselines" / name if root else None
    if folder and is_file(folder / FILE):
        return folder
    if is_path:
        problem = f"no {FILE} in this folder" if os.path.isdir(path) else "no such folder"  # noqa: PTH112 (Path.is_dir raises if the name is too long)
        raise InputError(
            path, problem, f"pass the path of a folder with a {FILE}, or write one with: touche new NAME"
        )
    problem = f"there is no baseline {name!r}"
    if name and is_file(path / FILE):  # without a name, the path is the current folder
        raise ToucheError(f"{problem}, but a folder of this name; to use the folder, write ./{name}")
    # Both are whole sentences, because another one follows.
    remedy = choice(name, names()) if names() else "an image contains only its own baseline."
    raise ToucheError(
        f"{problem}; {remedy} Or pass the path of a folder with a {FILE}, which touche new NAME writes"
    )


def parts_in_expected(name: str) -> list[str]:
    """Returns the parts of the toy collection in a baseline's expected.toml, with repetitions."""
    file = baseline_folder(name) / "expected.toml"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    return re.findall('"(spot-check/[a-z]+)"', text)


def is_shipped(folder: Path) -> bool:
    """Returns whether a folder is that of a shipped baseline."""
    root = shipped()
    return root is not None and folder.resolve().parent == (root / "baselines").resolve()


def frames_in(folder: Path, error: BaseException) -> list[traceback.FrameSummary]:
    """Returns the frames of an error in the code of a folder, whose path is absolute and without links."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if _is_own(folder, frame.filename)]


def as_tuple(default: Any) -> tuple[Any, ...]:
    """Returns the values of an option: one value, or those of a tuple.

    An empty tuple counts as one value. Its type is not in ``DEFAULT_TYPES``, so that callers refuse it,
    because nothing shows the type of its values.
    """
    return default if isinstance(default, tuple) and default else (default,)


def _is_own(folder: Path, file: str) -> bool:
    """Returns whether a file is the author's own; files of a virtual environment are not."""
    return Path(file).is_relative_to(folder) and "site-packages" not in Path(file).relative_to(folder).parts


def _refuse(folder: Path, error: Exception) -> NoReturn:
    """Raises the error for a baseline that cannot be loaded, with the line that caused it.

    Args:
        folder: the folder, as the user has written it.
        error: what the code of the folder raised.
    """
    real_folder = folder.resolve()
    # Pairs of file and line number; the last pair is the cause.
    positions = [(frame.filename, frame.lineno) for frame in frames_in(real_folder, error)]
    # The line with wrong syntax has no frame, because it did not run.
    if isinstance(error, SyntaxError) and error.filename and _is_own(real_folder, error.filename):
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
    """Returns problem and remedy for a missing module: a wrong import of a neighbour, or a missing package.

    Args:
        module: the missing module.
        folders: the folder of the importing file, and that of the baseline.
    """
    name = module.partition(".")[0]
    files = [path for folder in folders for path in folder.iterdir()]
    neighbours = {path.stem for path in files if path.is_dir() or path.suffix == ".py"}
    nearest = get_close_matches(name, neighbours, n=1, cutoff=0.7)  # at most one: a similar name, or the same
    if nearest:
        remedy = f"import it relatively, such as: from .{nearest[0]} import NAME"
        return f"the import of {module} failed; its folder has {nearest[0]}", remedy
    own = f"put it next to {FILE} if it is your own file"
    install = f"else install its package (probably: pip install {name})"
    return f"the import of {module} failed: it is neither in the folder nor installed", f"{own}, {install}"
