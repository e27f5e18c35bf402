"""Baselines: a folder each, whose baseline.py holds one function with the decorator ``@baseline``."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from touche.data import clone
from touche.documents import AnyDocument
from touche.errors import ParameterError, ToucheError, choice
from touche.files import write_whole
from touche.progress import watched
from touche.provenance import metadata
from touche.runs import MAX_DEPTH
from touche.tira import METADATA_FILE, Hit, Input, write_run
from touche.topics import Topic

Topics = Sequence[Topic]
Documents = Iterable[AnyDocument]
Rankings = Iterable[tuple[Topic, Iterable[Hit]]]


@dataclass(frozen=True)
class Baseline:
    """A ranking method with a name and options.

    Attributes:
        name: the name of its folder and image; that of the function where it was not loaded from a folder.
        method: takes all topics and an iterable of documents, and yields for each topic its (document id,
            score) pairs, or (pair id, score, stance); its keyword-only parameters are the baseline's options.
    """

    name: str
    method: Callable[..., Rankings]

    def __call__(self, topics: Topics, documents: Documents, **options: Any) -> Rankings:
        """Ranks documents for topics."""
        return self.method(topics, documents, **options)

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """The options by name, with their type and default value."""
        parameters = inspect.signature(self.method, eval_str=True).parameters
        return {name: each for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY}

    @property
    def description(self) -> str:
        """The docstring of the method, without the lines on its options."""
        lines = (inspect.getdoc(self.method) or "").splitlines()
        return "\n".join(line for line in lines if not self._options_of(line)).strip()

    @property
    def option_help(self) -> dict[str, str]:
        """What the docstring says of each option, in lines such as ``k1, b: the saturation``."""
        lines = (inspect.getdoc(self.method) or "").splitlines()
        return {name: line.partition(": ")[2] for line in lines for name in self._options_of(line)}

    def _options_of(self, line: str) -> list[str]:
        names = line.partition(": ")[0].split(", ")
        return names if set(names) <= self.options.keys() else []

    def tag(self, options: dict[str, Any]) -> str:
        """The tag of a run: the name, and the options that are not at their defaults; without white space."""
        changed = {
            name: value
            for name, value in options.items()
            if value != self.options[name].default and not isinstance(value, tuple)  # these rank nothing
        }
        tag = "-".join((f"touche-{self.name}", *(f"{name}={value}" for name, value in changed.items())))
        return "_".join(tag.split())


def baseline(method: Callable[..., Rankings]) -> Baseline:
    """Makes a baseline of a function; underscores in its name become hyphens."""
    return Baseline(method.__name__.replace("_", "-"), method)


def load(name: str) -> Baseline:
    """Loads a baseline by the name of its folder in the clone's baselines/, or by the path of a folder.

    Raises:
        ToucheError: if there is no such folder, its baseline.py does not hold just one baseline, or that has
            an option whose default value is no int, float, str, bool or tuple of str.
    """
    path = folder_of(name) / "baseline.py"
    spec = spec_from_file_location(f"touche_baseline_{path.parent.name}", path)
    assert spec is not None and spec.loader is not None  # given for a path that ends in .py
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        problem = f"{path}: it imports {error.name}, which is not installed"
        remedy = f"install its package (pip install {error.name}, if that is its name)"
        raise ToucheError(f"{problem}; {remedy}") from error
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


def arguments_of(options: Mapping[str, Any]) -> list[str]:
    """Options as words of the command line; a flag that is off becomes ``--no-``."""
    given = {name.replace("_", "-"): value for name, value in options.items()}
    return [
        word
        for name, value in given.items()
        for word in (f"--{'no-' if value is False else ''}{name}", *_words(value))
    ]


def _words(value: Any) -> list[str]:
    if isinstance(value, tuple):
        return list(value)
    return [] if isinstance(value, bool) else [str(value)]


def names() -> list[str]:
    """The names of the baselines in the clone."""
    folder = clone()
    return sorted(path.parent.name for path in folder.glob("baselines/*/baseline.py")) if folder else []


def run(ranker: Baseline, given: Input, output: Path, options: dict[str, Any]) -> list[Topic]:
    """Runs a baseline and writes run.txt, and beside it ir-metadata.yml.

    Returns:
        The topics for which nothing was found.

    Raises:
        ToucheError: if the input is unusable, an option has no meaning, or the output cannot be written.
    """
    depth = options.get("depth", MAX_DEPTH)
    if not 1 <= depth <= MAX_DEPTH:
        raise ParameterError(f"depth = {depth}: a run holds 1 to {MAX_DEPTH} documents per topic")
    started, tag = datetime.now(UTC), ranker.tag(options)
    rankings = ranker(given.topics, given.documents, **options)
    shown = watched(rankings, "searching", "topics", len(given.topics))
    without_hits = write_run(output, given.topics, shown, tag)
    about = (ranker.name, tag, ranker.description, options, given.files)
    write_whole(output / METADATA_FILE, metadata(*about, started, datetime.now(UTC)))
    return without_hits


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
