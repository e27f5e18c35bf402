"""What an author writes: a function with the decorator ``@baseline``, and options as its keywords."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from touche.formats.documents import AnyDocument
from touche.formats.topics import Topic
from touche.tira.outputs import Hit

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
