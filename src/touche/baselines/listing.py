"""Lists baselines with their options."""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import Parameter
from os import PathLike
from typing import Any, Literal, get_args, get_origin

from touche.baselines.extras import extra_in_dockerfile
from touche.baselines.loader import load
from touche.data.places import shipped_baselines
from touche.io.identifiers import names_or_paths
from touche.trec.framed import Table


@dataclass(frozen=True)
class BaselineOption:
    """A baseline's option.

    Attributes:
        name: the name in Python; on the command line, underscores become hyphens.
        type: the type's name, such as ``float``; ``tuple`` for several values.
        default: the default.
        choices: the allowed values; empty if any value is allowed.
        help: its description; empty if there is none.
    """

    name: str
    type: str
    default: Any
    choices: tuple[Any, ...]
    help: str


@dataclass(frozen=True)
class ListedBaseline:
    """A baseline in the list of baselines.

    Attributes:
        name: the name, such as ``bm25``.
        description: its docstring, except the lines on options.
        extra: the extra of touche-baselines that it needs; empty if none.
        options: its options.
    """

    name: str
    description: str
    extra: str
    options: tuple[BaselineOption, ...]


def list_baselines(
    baselines: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
) -> Table[ListedBaseline]:
    """Returns baselines with their options, types and defaults.

    Args:
        baselines: names or folders of baselines; by default, all that ship.

    Returns:
        A ``ListedBaseline`` per baseline.

    Raises:
        ToucheError: if there is no such baseline, or its baseline.py is broken.

    Examples:
        >>> import touche
        >>> (bm25,) = touche.list_baselines("bm25")
        >>> [(option.name, option.type, option.default) for option in bm25.options[:2]]
        [('k1', 'float', 0.9), ('b', 'float', 0.4)]
    """
    listed = names_or_paths("baseline", baselines) or shipped_baselines()
    return Table(ListedBaseline, tuple(map(_listed_baseline, listed)))


def _listed_baseline(name: str) -> ListedBaseline:
    baseline = load(name)
    helps = baseline.option_help
    options = [_option(option, helps.get(option.name, "")) for option in baseline.options.values()]
    return ListedBaseline(
        name=baseline.name,
        description=baseline.description,
        extra=extra_in_dockerfile(name),
        options=tuple(options),
    )


def _option(option: Parameter, help: str) -> BaselineOption:
    has_choices = get_origin(option.annotation) is Literal
    return BaselineOption(
        name=option.name,
        type=type(option.default).__name__,
        default=option.default,
        choices=get_args(option.annotation) if has_choices else (),
        help=help,
    )
