"""Building blocks for commands: arguments, options and ids. Every command gets an example, --quiet and
--verbose.
"""

import logging
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from glob import escape, glob
from pathlib import Path
from textwrap import indent
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from touche.errors import one_line

_log = logging.getLogger("touche")
_ListIds = Callable[[], Iterable[str]]


OUTSIDE = "Runner and containers"  # a help section that doesn't apply inside a container image
PATH = click.Path(path_type=Path, readable=False)


def is_passed(name: str) -> bool:
    """Returns whether the user set the current command's option."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def command_line() -> str:
    """Returns the command line being run, quoted for a shell."""
    return shlex.join(["touche", *sys.argv[1:]])


class Option(click.Option):
    """An option that belongs to a section of the help and may apply to some runners only.

    Args:
        section: the section's title.
        runners: the runners it applies to; empty means all.
    """

    def __init__(self, *args: Any, section: str = "Options", runners: Sequence[str] = (), **kw: Any) -> None:
        super().__init__(*args, **kw)
        self.section = section
        self.runners = runners


def option(usage: str, help: str = "", choices: Iterable[str] = (), **settings: Any) -> Option:
    """Creates an option from a usage line such as ``-o --output DIR``.

    Args:
        usage: the option's names, its Python name if that differs, and a placeholder in capitals. FILE and
            DIR are paths. With no placeholder, type or choices, the option is a flag.
        help: the help text.
        choices: the allowed values; the first is the default.
        settings: passed on to ``click.Option``.
    """
    names = [word for word in usage.split() if not word.isupper()]
    placeholder = " ".join(filter(str.isupper, usage.split())) or None
    values = list(choices)
    if values:
        settings.setdefault("type", click.Choice(values))
        settings.setdefault("default", values[0])
    if placeholder in ("FILE", "DIR"):
        settings.setdefault("type", PATH)
    if placeholder is None and "type" not in settings:
        settings.setdefault("is_flag", True)
    return Option(names, help=help, metavar=placeholder, **settings)


def argument(name: str, usage: str, **settings: Any) -> click.Argument:
    """Creates an argument from a usage line: ``RUN`` is required, ``[RUN...]`` takes any number of values."""
    count = -1 if "..." in usage else 1  # in click, -1 means any number
    is_required = not usage.startswith("[")
    return click.Argument([name], nargs=count, required=is_required, metavar=usage, **settings)


def _set_level(context: click.Context, level: click.Parameter, is_on: bool) -> None:
    """Applies --quiet or --verbose. Passing both is an error."""
    chosen: set[str] = context.meta.setdefault(__name__, set())  # a group and its command share this
    if is_on:
        chosen.add(str(level.name))
        if len(chosen) > 1:
            raise click.UsageError("--quiet and --verbose exclude each other; omit one of them", context)
        _log.setLevel(logging.WARNING if level.name == "quiet" else logging.DEBUG)


_level = partial(option, expose_value=False, callback=_set_level)
_LEVELS = [
    _level("--quiet", "Print only results, warnings and errors."),
    _level("--verbose", "Also print what is read, indexed and called, and tracebacks of errors."),
]


class Command(click.Command):
    """A command with --quiet and --verbose, whose help ends with an example.

    Args:
        example: working command lines, one per line.
    """

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example
        self.params = [*self.params, *_LEVELS]  # commands may share the list

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Rejects an option that is passed twice but takes one value: click would silently use the last."""
        if not ctx.resilient_parsing:
            _, _, params = self.make_parser(ctx).parse_args(args=[*args])  # a parameter per occurrence
            for param, number in Counter(params).items():
                takes_one = isinstance(param, click.Option) and not (param.multiple or param.is_flag)
                if number > 1 and takes_one:
                    raise click.UsageError(f"{param.opts[-1]} is passed {number} times; pass it once", ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the options by section. Inside an image, sections that don't apply there are hidden."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record and isinstance(param, click.Option):
                section = getattr(param, "section", "Options")  # --help comes from click
                sections.setdefault(section, []).append(record)
        for title, records in sections.items():
            if title == OUTSIDE and not _baselines():  # only an image can't list baselines by name
                continue
            with formatter.section(title):
                formatter.write_dl(records)

    def get_help(self, ctx: click.Context) -> str:
        """Returns the help, with control characters escaped: a baseline's texts may come from a stranger."""
        return "\n".join(map(one_line, super().get_help(ctx).split("\n")))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.example:
            with formatter.section("Example"):
                formatter.write(indent(f"{self.example}\n", "  "))  # unlike write_text, it doesn't wrap


class Group(click.Group, Command):
    """A command that has subcommands."""

    command_class = Command


def command(
    example: str, *params: click.Parameter, cls: type[Command] = Command
) -> Callable[[Callable[..., Any]], Command]:
    """Returns a decorator that makes a function a command.

    Args:
        example: see ``Command``.
        params: its arguments and options.
        cls: the command's class.
    """
    return click.command(cls=cls, example=example, params=[*params])


class Ids(click.ParamType[str]):
    """The type of an argument or option that is an id. The shell can complete it.

    Args:
        name: what the id identifies, e.g. ``task``.
        known: returns the known ids.
        folders: whether a folder's path is allowed too.
        named: returns the ids to list in error messages; all known ones by default.
    """

    def __init__(
        self, name: str, known: _ListIds, *, folders: bool = False, named: _ListIds | None = None
    ) -> None:
        self.name = name
        self._known = known
        self._folders = folders
        self._named = named or known

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """Returns what to pass when the argument is missing."""
        names = ", ".join(self._named())
        if not names:  # inside an image, which contains no data
            return "Name a folder."
        alternative = ", or name a folder" if self._folders else ""
        return f"Choose among {names}{alternative}."

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Completes ids, and folders if allowed. If no id fits, the shell completes folders itself."""
        ids = [id for id in self._known() if id.startswith(incomplete)]
        if self._folders and not ids:
            return [CompletionItem(incomplete, type="dir")]  # makes the shell complete folders
        # List only ids until something is typed. Path.glob would drop a leading ./
        folders = glob(f"{escape(incomplete)}*/") if self._folders and incomplete else []  # noqa: PTH207
        return [CompletionItem(word) for word in ids + folders]


def _tasks() -> list[str]:
    from touche import tasks  # here, because help doesn't need these 24 ms

    return tasks.ids()


def _datasets() -> list[str]:
    from touche import tasks  # here, because help doesn't need these 24 ms

    return tasks.datasets()


def _available_datasets() -> list[str]:
    from touche.data import places  # here, because help doesn't need these 47 ms

    return places.available_datasets()


def _baselines() -> list[str]:
    from touche.data import places  # here, because most help doesn't need these 47 ms

    return places.shipped_baselines()


TASK_ID = Ids("task", _tasks)
DATASET_ID = Ids("dataset", _datasets)
INPUT = Ids("input", _datasets, folders=True, named=_available_datasets)
BASELINE = Ids("baseline", _baselines, folders=True)
