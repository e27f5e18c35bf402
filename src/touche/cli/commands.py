"""What commands are made of: arguments, options and ids. Each shows an example, and says little or much."""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from glob import escape, glob
from pathlib import Path
from textwrap import indent
from typing import Any

import click
from click.shell_completion import CompletionItem

from touche import baselines, tasks

_log = logging.getLogger("touche")
_Ids = Callable[[], Iterable[str]]


OUTSIDE = ("Runner and containers", "Spark")  # headings of options that an image has no use for
PATH = click.Path(path_type=Path, readable=False)


class Option(click.Option):
    """An option below a heading of the help; some have an effect on some runners only.

    Args:
        section: the heading.
        runners: the names of the runners; none if the runner does not matter.
    """

    def __init__(self, *args: Any, section: str = "Options", runners: Sequence[str] = (), **kw: Any) -> None:
        super().__init__(*args, **kw)
        self.section, self.runners = section, runners


def option(usage: str, help: str = "", choices: Iterable[str] = (), **settings: Any) -> Option:
    """Makes an option as a usage line has it, such as ``-o --output DIR``.

    Args:
        usage: how it is written, the name of its value in Python if that is another one, and its placeholder.
            FILE and DIR are paths. Without a placeholder, a type and choices it is a flag.
        help: what it is for.
        choices: its values, the first by default.
        settings: of click.
    """
    names = [word for word in usage.split() if not word.isupper()]
    placeholder = " ".join(filter(str.isupper, usage.split())) or None
    if values := list(choices):
        settings = {"type": click.Choice(values), "default": values[0]} | settings
    if placeholder in ("FILE", "DIR"):
        settings = {"type": PATH} | settings
    if placeholder is None and "type" not in settings:
        settings = {"is_flag": True} | settings
    return Option(names, help=help, metavar=placeholder, **settings)


def argument(name: str, usage: str, **settings: Any) -> click.Argument:
    """Makes an argument as a usage line has it: ``RUN`` is required, ``[RUN...]`` is none, one or several."""
    count = -1 if "..." in usage else 1
    return click.Argument([name], nargs=count, required=usage[0] != "[", metavar=usage, **settings)


def _set_level(context: click.Context, level: click.Parameter, is_on: bool) -> None:
    chosen: set[str] = context.meta.setdefault(__name__, set())  # shared by a group and its command
    if is_on:
        chosen.add(str(level.name))
        if len(chosen) > 1:
            raise click.UsageError("--quiet and --verbose exclude each other; leave one of them out", context)
        _log.setLevel(logging.WARNING if level.name == "quiet" else logging.DEBUG)


_level = partial(option, expose_value=False, callback=_set_level)
_LEVELS = [
    _level("--quiet", "Say nothing but results, warnings and errors."),
    _level("--verbose", "Say also what is read, indexed and called, and where an error came up."),
]


class Command(click.Command):
    """A command that also takes --quiet and --verbose, and ends its help with an example.

    Args:
        example: command lines that work, one after the other.
    """

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        return [*own[:-1], *_LEVELS, *own[-1:]]  # the last one is --help

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                sections.setdefault(getattr(param, "section", "Options"), []).append(record)
        for title, records in sections.items():
            if title in OUTSIDE and not baselines.names():  # in an image
                continue
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.example:
            with formatter.section("Example"):
                formatter.write(indent(f"{self.example}\n", "  "))  # unlike write_text, never wrapped


class Group(click.Group, Command):
    """A command of commands."""

    command_class = Command


def command(
    example: str, *params: click.Parameter, cls: type[Command] = Command
) -> Callable[[Callable[..., Any]], Command]:
    """Makes a command of a function.

    Args:
        example: of ``Command``.
        params: its arguments and options.
        cls: its class.
    """
    return click.command(cls=cls, example=example, params=[*params])


class Ids(click.ParamType[str]):
    """An argument or option that is an id, of which the shell completes those there are.

    Args:
        name: what it is the id of.
        known: tells the ids.
        folders: whether it can be the path of a folder as well.
        named: tells the ids among which an error says to choose; by default all.
    """

    def __init__(self, name: str, known: _Ids, *, folders: bool = False, named: _Ids | None = None) -> None:
        self.name, self._known, self._folders, self._named = name, known, folders, named or known

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        names = ", ".join(self._named())
        if not names:  # as in an image
            return "Name a folder."
        return f"Choose among {names}{', or name a folder' if self._folders else ''}."

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        found = [each for each in self._known() if each.startswith(incomplete)]
        if self._folders and not found:
            return [CompletionItem(incomplete, type="dir")]  # the shell's own completion, which can go deeper
        # Path.glob would drop a leading ./
        folders = glob(f"{escape(incomplete)}*/") if self._folders and incomplete else []  # noqa: PTH207
        return [CompletionItem(each) for each in found + folders]


def _datasets_at_hand() -> list[str]:
    from touche.data import places  # here, for it takes as long to import as what most commands do

    return places.datasets_at_hand()


TASK_ID = Ids("task", tasks.ids)
DATASET_ID = Ids("dataset", tasks.datasets)
INPUT = Ids("input", tasks.datasets, folders=True, named=_datasets_at_hand)
BASELINE = Ids("baseline", baselines.names, folders=True)
