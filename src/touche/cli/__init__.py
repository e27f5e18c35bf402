"""The ``touche`` command."""

import ast
import io
import logging
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from textwrap import indent
from warnings import catch_warnings

import click

from touche.cli.commands import Command, Group
from touche.errors import ToucheError, ToucheWarning
from touche.io.progress import say
from touche.io.signals import Stopped, signals_raised

UNUSABLE = 2  # exit code
FIRST = ("run", "evaluate", "compare", "report", "new")  # what a newcomer needs first
MORE = tuple("fuse overlap lint regress tasks data images completion".split())
LAB = ("identify", "sweep", "spark")  # what few need: touche.lab
VARIABLE = "_TOUCHE_COMPLETE"  # the environment variable of shell completion
_MAX_SENTENCE = 200  # characters; the first sentence of a help is never cut


class Teaching(Group):
    """A command group whose help starts with what a newcomer needs, with examples.

    Commands are imported only when used: importing all of them takes longer than a small run.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*FIRST, *MORE, *LAB]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports the command's module. Returns None if click should handle the word itself.

        Click then reports an unknown option, and shell completion lists nothing.
        """
        if cmd_name in self.list_commands(ctx):
            command: click.Command = getattr(import_module(f"touche.cli.{cmd_name}"), cmd_name)
            return command
        if cmd_name.startswith("-") or ctx.resilient_parsing:
            return None
        raise click.NoSuchCommand(cmd_name, possibilities=self.list_commands(ctx), ctx=ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the first steps with their examples, the other commands, and the lab."""
        width = max(map(len, (*FIRST, *MORE, *LAB)))
        for title, names in {
            "First steps": FIRST,
            "More commands": MORE,
            "Lab (what few users need)": LAB,
        }.items():
            with formatter.section(title):
                for name in names:
                    command = _declared(name)
                    # Each command is a list of its own so that its example can follow. Equal widths
                    # align the lists.
                    formatter.write_dl([(name.ljust(width), command.get_short_help_str(_MAX_SENTENCE))])
                    if names == FIRST:
                        formatter.write(indent(f"{command.example}\n", "    "))


def _declared(name: str) -> Command:
    """Returns a command with its help and example, but without its module's slow imports.

    The help is the function's docstring. The example is the decorator's first argument, or ``example=``.
    """
    module = ast.parse(Path(__file__).with_name(f"{name}.py").read_bytes())
    (function,) = (node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name)
    decorator = next(call for call in function.decorator_list if isinstance(call, ast.Call))
    named = [keyword.value for keyword in decorator.keywords if keyword.arg == "example"]
    example = ast.literal_eval(named[0] if named else decorator.args[0])
    return Command(name, help=ast.get_docstring(function), example=example)


@click.group(cls=Teaching, context_settings={"show_default": True, "help_option_names": ["-h", "--help"]})
@click.version_option(package_name="touche-baselines")
def cli() -> None:
    """Rerun the baselines of the Touché shared tasks, and score runs as the organizers did."""


class _OnStandardError(logging.Handler):
    """Prints the library's log lines without breaking a progress bar, and each warning once: a command may
    read a collection several times.
    """

    def __init__(self) -> None:
        super().__init__()
        self._printed_warnings = set[str]()

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.levelno == logging.WARNING:
            if message in self._printed_warnings:
                return
            self._printed_warnings.add(message)
        say(f"touche: {record.levelname.lower()}: {message}")


def main() -> None:
    """Runs the command line. Errors are printed on standard error, one line each."""
    logger = logging.getLogger("touche")
    logger.handlers = [_OnStandardError()]  # replaces the handler that turns messages into Python warnings
    logger.setLevel(logging.INFO)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115 (None if it is closed)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # escape characters that the encoding can't express
    try:
        # Warnings are ignored because commands print them themselves.
        with signals_raised(), catch_warnings(action="ignore", category=ToucheWarning):
            code = cli.main(prog_name="touche", complete_var=VARIABLE, standalone_mode=False)
        sys.exit(code or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(UNUSABLE)
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        command = context.command_path if context else "touche"
        _fail(f"{error.format_message()} (see: {command} --help)")
    except ToucheError as error:
        _fail(str(error), traced=True)
    except OSError as error:  # standard output is full or closed, or the working directory is gone
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (Python can't write the rest at exit)
        _fail(f"{error}; choose another place", traced=True)
    except (Stopped, KeyboardInterrupt, click.Abort) as error:
        stopped = error if isinstance(error, Stopped) else Stopped()
        say(stopped.line)
        sys.exit(stopped.code)


def _fail(message: str, *, traced: bool = False) -> None:
    """Prints an error and exits. With --verbose and ``traced``, it prints the traceback first."""
    say(f"touche: {' '.join(message.split())}")
    if traced and logging.getLogger("touche").isEnabledFor(logging.DEBUG):
        for line in traceback.format_exc().splitlines():
            say(line)
    sys.exit(UNUSABLE)
