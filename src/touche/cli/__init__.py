"""The ``touche`` command."""

import io
import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterable
from typing import Any

import click

from touche.cli.commands import Group
from touche.cli.compare import compare
from touche.cli.completion import VARIABLE, completion
from touche.cli.data import data
from touche.cli.evaluate import evaluate
from touche.cli.identify import identify
from touche.cli.images import images
from touche.cli.lint import lint
from touche.cli.new import new
from touche.cli.overlap import overlap
from touche.cli.regress import regress
from touche.cli.report import report
from touche.cli.run import run
from touche.cli.tasks import tasks
from touche.errors import ToucheError
from touche.progress import say

UNUSABLE, INTERRUPTED, TERMINATED = 2, 130, 143  # exit codes
FIRST = ("run", "evaluate", "compare", "report", "new")  # what a newcomer needs
_SENTENCE = 200  # characters; the first one of a help is shown whole


class Teaching(Group):
    """Its help shows the commands that a newcomer needs first, each with its example."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        first = [name for name in FIRST if name in self.commands]
        with formatter.section("First steps, after make demo"):
            for name in first:
                self._write(formatter, [name])
                formatter.write(f"    {getattr(self.commands[name], 'example', '')}\n")
        with formatter.section("More commands"):
            self._write(formatter, [name for name in self.commands if name not in first])

    def _write(self, formatter: click.HelpFormatter, names: Iterable[str]) -> None:
        width = max(map(len, self.commands))
        sentences = ((name.ljust(width), self.commands[name].get_short_help_str(_SENTENCE)) for name in names)
        formatter.write_dl(list(sentences))


@click.group(cls=Teaching)
@click.version_option(package_name="touche-baselines")
def cli() -> None:
    """Reruns the baselines of the Touché shared tasks and scores runs as the organizers did."""


commands = (
    run,
    evaluate,
    compare,
    report,
    new,
    overlap,
    identify,
    lint,
    regress,
    tasks,
    data,
    images,
    completion,
)
for command in commands:
    cli.add_command(command)


class _Said(logging.Handler):
    """Lines of the library's loggers, which leave a progress bar whole."""

    def emit(self, record: logging.LogRecord) -> None:
        say(f"touche: {record.levelname.lower()}: {record.getMessage()}")


def main() -> None:
    """Runs the command line; an error is one line on standard error."""
    logger = logging.getLogger("touche")
    logger.handlers, logger.propagate = [_Said()], True
    logger.setLevel(logging.INFO)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115 (None if it is closed)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what neither Latin-1 nor UTF-8 can say
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, _stop)
        sys.exit(cli.main(prog_name="touche", complete_var=VARIABLE, standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(UNUSABLE)
    except click.ClickException as error:
        help_of = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "touche"
        _fail(f"{error.format_message()} (see: {help_of} --help)")
    except ToucheError as error:
        _fail(str(error), traced=True)
    except OSError as error:  # standard output is full or closed, or the working directory is gone
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (what is left in it cannot be written at exit)
        _fail(f"{error}; choose another place", traced=True)
    except (_Stopped, KeyboardInterrupt, click.Abort) as error:
        terminated = isinstance(error, _Stopped) and error.code == TERMINATED
        say("touche: terminated" if terminated else "touche: interrupted")
        sys.exit(TERMINATED if terminated else INTERRUPTED)


class _Stopped(SystemExit):
    """A signal, as an exception, so that nothing is left behind."""


def _stop(number: int, frame: Any) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second one is not waited for
    raise _Stopped(INTERRUPTED if number == signal.SIGINT else TERMINATED)


def _fail(message: str, *, traced: bool = False) -> None:
    say(f"touche: {' '.join(message.split())}")
    if traced and logging.getLogger("touche").isEnabledFor(logging.DEBUG):
        traceback.print_exc()
    sys.exit(UNUSABLE)
