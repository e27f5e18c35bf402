"""What an author writes: a function with the decorator ``@baseline``, and options as its keywords."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Any, overload

from touche.baselines.neighbours import use
from touche.collection.documents import Documents
from touche.errors import ToucheError
from touche.formats.documents import AnyDocument
from touche.formats.topics import Topic
from touche.io.opening import is_file
from touche.tira.outputs import Hit

Topics = Sequence[Topic]
"""All topics of a run, in the order of their file; a list, so that they can be gone through again."""

Ranking = tuple[Topic, Iterable[Hit]]
Rankings = Iterable[Ranking]
"""What a baseline yields: for each topic, in any order, the topic and its hits, in any order, too.

A hit is ``(document id, score)``, or ``(pair id, score, stance)``. Ids are words, scores finite numbers, the
higher the better; equal ones are put in descending order of the ids, as trec_eval has them. A topic without
hits may be left out.
"""

Method = Callable[..., Rankings]


@dataclass(frozen=True)
class Baseline:
    """A ranking method with a name and options.

    Attributes:
        name: the name of its folder and image; that of the function where it was not loaded from a folder.
        method: takes all topics and an iterable of documents, and yields for each topic its (document id,
            score) pairs, or (pair id, score, stance); its keyword-only parameters are the baseline's options.
        needs_documents: whether an input without documents is refused before the method is called; else it
            is refused where the method iterates over them.
        typed: the name or path that it was loaded by.
        folder: the folder that it was loaded from, an absolute path; None for a function.
        is_shipped: whether that is one of those that ship with touche.
    """

    name: str
    method: Method
    needs_documents: bool = True
    typed: str = ""
    folder: Path | None = None
    is_shipped: bool = False

    def __call__(self, topics: Topics, documents: Iterable[AnyDocument], **options: Any) -> Iterator[Ranking]:
        """Ranks documents for topics; what the method holds open is closed with the iterator."""
        self._use_folder()
        rankings = self.method(topics, Documents.of(documents), **options)
        if not isinstance(rankings, Iterable):
            problem = f"the baseline {self.name} returned {rankings!r}"
            raise ToucheError(f"{problem}; it must yield (topic, ranking) for each topic")
        with ExitStack() as stack:
            if inspect.isgenerator(rankings):
                stack.callback(rankings.close)
            for ranking in rankings:
                yield ranking
                self._use_folder()

    def _use_folder(self) -> None:
        if self.folder:
            use(self.folder)

    @property
    def line(self) -> int:
        """The line of its file that the method begins in."""
        code = getattr(inspect.unwrap(self.method), "__code__", None)
        return code.co_firstlineno if code else 1

    @property
    def takes_topics_and_documents(self) -> bool:
        """Whether it can be called with these two."""
        signature = inspect.signature(self.method)
        by_place = [each for each in signature.parameters.values() if each.kind is not each.KEYWORD_ONLY]
        try:
            signature.replace(parameters=by_place).bind(None, None)
        except TypeError:
            return False
        return True

    @property
    def options(self) -> dict[str, Parameter]:
        """The options by name, with their type and default value."""
        parameters = inspect.signature(self.method, eval_str=True).parameters
        return {name: each for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY}

    @property
    def description(self) -> str:
        """The docstring of the method, without the lines on its options."""
        return "\n".join(line for names, line in self._docstring() if not names).strip()

    @property
    def option_help(self) -> dict[str, str]:
        """What the docstring says of each option, in lines such as ``k1, b: the saturation``.

        It goes on in the lines below, up to the next option or an empty line.
        """
        lines: dict[str, list[str]] = {}
        for names, line in self._docstring():
            for name in names:
                lines.setdefault(name, []).append(line)
        return {name: " ".join(of_option) for name, of_option in lines.items()}

    def _docstring(self) -> Iterator[tuple[list[str], str]]:
        """The lines of the docstring, each with the options that it is about."""
        options, about = self.options.keys(), []
        for line in (inspect.getdoc(self.method) or "").splitlines():
            names, colon, text = line.partition(": ")
            if colon and set(names.split(", ")) <= options:
                about = names.split(", ")
                yield about, text
            else:
                about = about if line.strip() else []
                yield about, line.strip() if about else line

    def tag(self, options: dict[str, Any]) -> str:
        """The tag of a run: the name, and the options that are not at their defaults; without white space."""
        return tag_of(self.name, self.changed(options))

    def changed(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options that are not at their defaults."""
        return {name: value for name, value in options.items() if value != self.options[name].default}


def tag_of(name: str, changed: Mapping[str, Any]) -> str:
    """The tag of a run of the baseline with a name, whose options are at their defaults but for these."""
    words = [f"{option}={_word(value)}" for option, value in changed.items()]
    return "_".join("-".join((f"touche-{name}", *words)).split())


@overload
def baseline(method: Method, /) -> Baseline: ...
@overload
def baseline(*, needs_documents: bool) -> Callable[[Method], Baseline]: ...
def baseline(method: Method | None = None, /, *, needs_documents: bool = True) -> Any:
    """Makes a baseline of a function; underscores in its name become hyphens.

    Args:
        method: the function.
        needs_documents: whether it cannot do without documents, so that an input must hold some.
    """
    if method is None:
        return partial(baseline, needs_documents=needs_documents)
    return Baseline(method.__name__.replace("_", "-"), method, needs_documents)


def _word(value: Any) -> str:
    """A value as a tag has it: of a file the name without its folders, as a tag goes to others."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    is_path = isinstance(value, str) and (Path(value).is_absolute() or is_file(value))
    return Path(value).name if is_path else str(value)
