"""The decorator ``@baseline``, which turns a function into a baseline whose options are keyword arguments."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import Parameter
from pathlib import Path
from typing import Any, overload

from touche.baselines.rankings import Ranking, Rankings
from touche.documents.collection import Documents
from touche.documents.document_records import AnyDocument
from touche.errors import ToucheError
from touche.io.opening import is_file
from touche.trec.topics import Topic

Topics = Sequence[Topic]
"""All topics of a run in the order of their file; you can iterate over them repeatedly."""

Method = Callable[..., Rankings]
"""A function of topics and documents, with options as keyword arguments."""


@dataclass(frozen=True)
class Baseline:
    """A ranking method with a name and options.

    Attributes:
        name: the name of its folder and image, or of the function if there is no folder.
        method: takes topics and documents, and yields each topic with its hits: (document id, score) or (pair
            id, score, stance). Keyword-only parameters are the options.
        needs_documents: whether missing documents are an error before the method is called, or only when it
            iterates over them.
        name_or_path: how the caller referred to it.
        folder: its folder's absolute path; None for a function.
        is_shipped: whether it ships with the package.
    """

    name: str
    method: Method
    needs_documents: bool = True
    name_or_path: str = ""
    folder: Path | None = None
    is_shipped: bool = False

    def __call__(self, topics: Topics, documents: Iterable[AnyDocument], **options: Any) -> Iterator[Ranking]:
        """Ranks documents for topics. Closing the iterator closes the method's generator, too."""
        rankings = self.method(topics, Documents.of(documents), **options)
        if not isinstance(rankings, Iterable):
            problem = f"the baseline {self.name} returned {rankings!r}"
            raise ToucheError(f"{problem}; yield (topic, ranking) for each topic")
        yield from rankings  # unlike a loop, this closes the method's generator

    def __reduce__(self) -> Any:
        """Pickles a loaded baseline as its folder.

        Other processes, such as those that run PyTerrier's transformers, may not know its package.
        """
        if self.folder is None:
            return Baseline, (self.name, self.method, self.needs_documents, self.name_or_path)
        return _loaded, (str(self.folder), self.name_or_path)

    @property
    def package(self) -> str:
        """Its folder's package, e.g. for ``import_module(".features", baseline.package)``."""
        return self.method.__module__.rpartition(".")[0]

    @property
    def line(self) -> int:
        """The line where the method starts."""
        code = getattr(inspect.unwrap(self.method), "__code__", None)
        return code.co_firstlineno if code else 1  # an object with __call__ has no code

    @property
    def takes_topics_and_documents(self) -> bool:
        signature = inspect.signature(self.method)
        parameters = signature.parameters.values()
        positional = [parameter for parameter in parameters if parameter.kind is not Parameter.KEYWORD_ONLY]
        try:
            signature.replace(parameters=positional).bind(None, None)  # TypeError unless exactly two fit
        except TypeError:
            return False
        return True

    @cached_property
    def options(self) -> dict[str, Parameter]:
        """The options by name, with types and defaults."""
        parameters = inspect.signature(self.method, eval_str=True).parameters
        return {name: option for name, option in parameters.items() if option.kind is Parameter.KEYWORD_ONLY}

    @property
    def description(self) -> str:
        """The method's docstring, except the lines on options."""
        return "\n".join(line for options, line in self._lines_by_options() if not options).strip()

    @property
    def option_help(self) -> dict[str, str]:
        """Each option's help, from docstring lines such as ``k1, b: saturation``.

        It ends before the next option or an empty line.
        """
        lines_by_option: dict[str, list[str]] = {}
        for names, line in self._lines_by_options():
            for name in names:
                lines_by_option.setdefault(name, []).append(line)
        return {name: " ".join(lines) for name, lines in lines_by_option.items()}

    def _lines_by_options(self) -> Iterator[tuple[list[str], str]]:
        """Yields each line of the docstring, with the options that it describes and without their names.

        Lines of the description come with an empty list.
        """
        options = self.options.keys()
        described: list[str] = []  # by the previous line
        for line in (inspect.getdoc(self.method) or "").splitlines():
            names, colon, text = line.partition(": ")
            if colon and set(names.split(", ")) <= options:
                described = names.split(", ")
                yield described, text
            elif described and line.strip():  # their help continues
                yield described, line.strip()
            else:
                described = []
                yield described, line

    def tag(self, options: dict[str, Any]) -> str:
        return run_tag(self.name, self.changed(options))

    def changed(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the options that differ from their defaults."""
        return {name: value for name, value in options.items() if value != self.options[name].default}


def _loaded(folder: str, name_or_path: str) -> Baseline:
    from touche.baselines.loader import load  # imported late: it imports this module

    return replace(load(folder), name_or_path=name_or_path)


def run_tag(name: str, changed: Mapping[str, Any]) -> str:
    """Returns a run's tag: the baseline's name and the changed options.

    Options such as ``keep_embeddings`` are left out, because they save values and don't change the ranking.
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
    """Turns a function into a baseline. Underscores in its name become hyphens.

    Args:
        method: the function.
        needs_documents: whether an input without documents is an error.

    Returns:
        The baseline, which you can pass to ``touche.run``. If you pass only ``needs_documents``, a decorator.

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
    # In its module, the function's name now refers to the Baseline. pickle looks functions up by
    # __qualname__, so that must lead to the Baseline's attribute ``method``.
    method.__qualname__ += ".method"
    return Baseline(method.__name__.replace("_", "-"), method, needs_documents)


def _word(value: Any) -> str:
    """Returns an option's value for a tag, but only the last part of a path, because tags are public."""
    if isinstance(value, tuple):
        return ",".join(map(_word, value))
    is_path = isinstance(value, str) and (Path(value).is_absolute() or is_file(value))
    return Path(value).name if is_path else str(value)  # a model's name stays whole, even with a slash
