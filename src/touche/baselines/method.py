"""The decorator ``@baseline`` for authors: it makes a baseline from a function with options as keywords."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Any, overload

from touche.baselines.rankings import Ranking, Rankings
from touche.documents.collection import Documents
from touche.documents.document_records import AnyDocument
from touche.errors import ToucheError
from touche.io.opening import is_file
from touche.trec.records_in_memory import unread
from touche.trec.topics import Topic

Topics = Sequence[Topic]
"""All topics of a run in the order of their file; you can iterate over them repeatedly."""

Method = Callable[..., Rankings]
"""A function of topics and documents, with options as keyword arguments."""


@dataclass(frozen=True)
class Baseline:
    """A ranking method with a name and options.

    Attributes:
        name: the name of its folder and image; for a function without a folder, the function's name.
        method: takes topics and documents, and yields for each topic its (document id, score) pairs, or (pair
            id, score, stance); keyword-only parameters are the options.
        needs_documents: whether an input without documents is an error before the method is called; otherwise
            only iterating over the documents is an error.
        typed: the name or path by which it was loaded.
        folder: the absolute path of its folder; None for a function.
        is_shipped: whether it ships with the package.
    """

    name: str
    method: Method
    needs_documents: bool = True
    typed: str = ""
    folder: Path | None = None
    is_shipped: bool = False

    def __call__(self, topics: Topics, documents: Iterable[AnyDocument], **options: Any) -> Iterator[Ranking]:
        """Ranks documents for topics; closing the iterator also closes the method's generator."""
        if isinstance(topics, Iterator):  # engines and baselines read topics more than once
            topics = list(unread(topics, "topics"))
        try:
            rankings = self.method(topics, Documents.of(documents), **options)
            if not isinstance(rankings, Iterable):
                problem = f"the baseline {self.name} returned {rankings!r}"
                raise ToucheError(f"{problem}; yield (topic, ranking) for each topic")
            yield from rankings  # a loop would not close the method's generator
        except SystemExit as error:
            if type(error) is not SystemExit:  # a subclass, which touche's main program raises for a signal
                raise
            problem = f"the baseline {self.name} ended the program with exit code {error.code or 0}"
            raise ToucheError(f"{problem} before it wrote run.txt; let it raise an error instead") from error

    def __reduce__(self) -> Any:
        """Pickles a loaded baseline as its folder, because another process may lack the folder's package."""
        if self.folder is None:
            return Baseline, (self.name, self.method, self.needs_documents, self.typed)
        return _loaded, (str(self.folder), self.typed)

    @property
    def package(self) -> str:
        """The package of its folder, such as for ``import_module(".features", baseline.package)``."""
        return self.method.__module__.rpartition(".")[0]

    @property
    def line(self) -> int:
        """The line in which the method begins."""
        code = getattr(inspect.unwrap(self.method), "__code__", None)
        return code.co_firstlineno if code else 1  # an object with __call__ has no code of its own

    @property
    def takes_topics_and_documents(self) -> bool:
        """Whether its positional parameters are topics and documents."""
        signature = inspect.signature(self.method)
        parameters = signature.parameters.values()
        positional = [parameter for parameter in parameters if parameter.kind is not Parameter.KEYWORD_ONLY]
        try:
            signature.replace(parameters=positional).bind(None, None)  # a TypeError unless two fit
        except TypeError:
            return False
        return True

    @property
    def options(self) -> dict[str, Parameter]:
        """The options by name, with types and defaults."""
        parameters = inspect.signature(self.method, eval_str=True).parameters
        return {name: option for name, option in parameters.items() if option.kind is Parameter.KEYWORD_ONLY}

    @property
    def description(self) -> str:
        """The docstring of the method without its lines about options."""
        return "\n".join(line for options, line in self._lines_by_options() if not options).strip()

    @property
    def option_help(self) -> dict[str, str]:
        """The help of each option, from lines of the docstring such as ``k1, b: saturation``.

        The help ends before the next option or an empty line.
        """
        lines_by_option: dict[str, list[str]] = {}
        for names, line in self._lines_by_options():
            for name in names:
                lines_by_option.setdefault(name, []).append(line)
        return {name: " ".join(lines) for name, lines in lines_by_option.items()}

    def _lines_by_options(self) -> Iterator[tuple[list[str], str]]:
        """Yields (options, line) for each line of the docstring.

        The options are those that the line describes; the line is yielded without their names. A line that
        describes no option belongs to the description, and comes with an empty list.
        """
        options = self.options.keys()
        described: list[str] = []  # the options that the previous line describes
        for line in (inspect.getdoc(self.method) or "").splitlines():
            names, colon, text = line.partition(": ")
            if colon and set(names.split(", ")) <= options:
                described = names.split(", ")
                yield described, text
            elif described and line.strip():  # the help of these options continues
                yield described, line.strip()
            else:
                described = []
                yield described, line

    def tag(self, options: dict[str, Any]) -> str:
        """Returns the tag of a run with these options, as ``run_tag``."""
        return run_tag(self.name, self.changed(options))

    def changed(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the options that differ from their defaults."""
        return {name: value for name, value in options.items() if value != self.options[name].default}


def _loaded(folder: str, typed: str) -> Baseline:
    """Loads a baseline that was pickled; ``typed`` is its name or path in the other process."""
    from touche.baselines.loader import load  # here, because it imports this module

    return replace(load(folder), typed=typed)


def run_tag(name: str, changed: Mapping[str, Any]) -> str:
    """Returns the tag of a run from the baseline's name and the changed options.

    Options such as ``keep_embeddings`` are left out, because they store values and change no ranking.
    """
    words = [f"touche-{name}"]
    for option, value in changed.items():
        if not option.startswith("keep_"):
            words.append(f"{option}={_word(value)}")
    return re.sub(r"\s+", "_", "-".join(words).strip())  # a tag is one word


@overload
def baseline(method: Method, /) -> Baseline: ...
@overload
def baseline(*, needs_documents: bool) -> Callable[[Method], Baseline]: ...
def baseline(method: Method | None = None, /, *, needs_documents: bool = True) -> Any:
    """Makes a baseline from a function; underscores in its name become hyphens.

    Args:
        method: the function.
        needs_documents: whether an input without documents is an error.

    Returns:
        The baseline, which ``touche.run`` takes; with only ``needs_documents``, a decorator that returns it.

    Examples:
        >>> import touche
        >>> @touche.baseline
        ... def longest(topics, documents, *, depth: int = 10):
        ...     ranked = [(document.id, float(len(document.text))) for document in documents]
        ...     for topic in topics:
        ...         yield topic, sorted(ranked, key=lambda hit: -hit[1])[:depth]
        >>> run = touche.run(longest, topics={"1": "coal"}, documents={"d1": "Coal.", "d2": "Coal is cheap."})
        >>> [hit.document for hit in run]
        ['d2', 'd1']
    """
    if method is None:
        return partial(baseline, needs_documents=needs_documents)
    # In its module, the function's name now means the Baseline. pickle looks functions up by __qualname__,
    # so this name has to lead to the Baseline's attribute ``method``.
    method.__qualname__ += ".method"
    return Baseline(method.__name__.replace("_", "-"), method, needs_documents)


def _word(value: Any) -> str:
    """Returns an option's value as text for a tag; of a path only the last part, because tags are public."""
    if isinstance(value, tuple):
        return ",".join(map(_word, value))
    is_path = isinstance(value, str) and (Path(value).is_absolute() or is_file(value))
    return Path(value).name if is_path else str(value)  # the name of a model stays whole, even with a slash
