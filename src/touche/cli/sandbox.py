"""The options by which touche run and touche regress choose a runner and limit its sandbox."""

import re

import click
from click.core import ParameterSource

from touche.cli.commands import Option
from touche.errors import ToucheError
from touche.sandbox.limits import PROGRAMS, RUNNER_NAMES, Limits

_SECTION = "Runner and containers"
_HELP = "local: this machine; docker, podman: the baseline's image in a sandbox; tira: by tira-run"


def _amount(context: click.Context, option: click.Parameter, value: str) -> str:
    if not re.fullmatch("[1-9][0-9]*[mg]", value, re.ASCII):
        raise click.BadParameter(f"{value!r} is no amount of memory; write it as 512m or 8g.")
    return value


def runner_option(name: str = "", help: str = "") -> Option:
    """The option --runner, whose values are those of a sandbox and one more."""
    kinds = click.Choice([*RUNNER_NAMES, *filter(None, [name])])
    text = "; ".join([_HELP, *filter(None, [help])])
    return Option(["--runner"], section=_SECTION, type=kinds, default="local", help=f"{text}.")


LIMITS: list[click.Parameter] = [
    Option(
        ["--cpus"],
        section=_SECTION,
        runners=PROGRAMS,
        type=click.FloatRange(min=0.1),
        default=Limits.cpus,
        help="Processors of the sandbox.",
    ),
    Option(
        ["--memory"],
        section=_SECTION,
        runners=PROGRAMS,
        callback=_amount,
        default=Limits.memory,
        metavar="SIZE",
        help="Memory of the sandbox, such as 512m or 8g.",
    ),
    Option(
        ["--time-limit", "seconds"],
        section=_SECTION,
        runners=(*PROGRAMS, "tira"),
        type=click.FloatRange(min=1),
        default=Limits.seconds,
        metavar="SECONDS",
        help="After which the sandbox is stopped.",
    ),
]


def check_runner(runner: str) -> None:
    """Refuses options that were typed and have no effect on the runner.

    Raises:
        ToucheError: naming the option.
    """
    context = click.get_current_context()
    for option in context.command.params:
        runners = option.runners if isinstance(option, Option) else ()
        typed = context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
        if runners and runner not in runners and typed:
            problem = f"{option.opts[0]} has no effect on the runner {runner}"
            raise ToucheError(f"{problem}; leave it out, or choose {' or '.join(runners)}")
