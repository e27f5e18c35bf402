"""The ``touche`` command."""

import logging
import os
import signal
import sys

import click

from touche.cli.compare import compare
from touche.cli.data import data
from touche.cli.evaluate import evaluate
from touche.cli.images import images
from touche.cli.lint import lint
from touche.cli.new import new
from touche.cli.overlap import overlap
from touche.cli.regress import regress
from touche.cli.report import report
from touche.cli.run import run
from touche.cli.tasks import tasks
from touche.errors import ToucheError

UNUSABLE, INTERRUPTED, TERMINATED = 2, 130, 143  # exit codes


@click.group()
@click.version_option(package_name="touche-baselines")
def cli() -> None:
    """Reruns the baselines of the Touché shared tasks and scores runs as the organizers did."""


for command in (run, evaluate, compare, overlap, report, lint, regress, new, tasks, data, images):
    cli.add_command(command)


def main() -> None:
    """Runs the command line; an error is one line on standard error."""
    warnings = logging.StreamHandler()
    warnings.setFormatter(logging.Formatter("touche: warning: %(message)s"))
    logging.getLogger("touche").addHandler(warnings)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # so that nothing is left behind
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(UNUSABLE)
    except click.ClickException as error:
        help_of = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "touche"
        _fail(f"{error.format_message()} (see: {help_of} --help)")
    except ToucheError as error:
        _fail(str(error))
    except OSError as error:  # standard output is full or closed, or the working directory is gone
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (what is left in it cannot be written at exit)
        _fail(f"{error}; choose another place")
    except (KeyboardInterrupt, click.Abort):
        click.echo("touche: interrupted", err=True)
        sys.exit(INTERRUPTED)


def _fail(message: str) -> None:
    click.echo(f"touche: {' '.join(message.split())}", err=True)
    sys.exit(UNUSABLE)
