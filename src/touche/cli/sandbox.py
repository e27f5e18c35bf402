"""What touche run and touche regress share: who runs a baseline, and within which limits."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from touche.errors import ToucheError
from touche.sandbox.limits import RUNNER_NAMES, Limits

if TYPE_CHECKING:
    from touche.sandbox.runs import Usage

_DEFAULT = Limits()
_ALL = ("cpus", "memory", "seconds")


def _amount(context: click.Context, option: click.Parameter, value: str) -> str:
    if not re.fullmatch("[1-9][0-9]*[mg]", value, re.ASCII):
        raise click.BadParameter(f"{value!r} is no amount of memory; write it as 512m or 8g.")
    return value


_RUNNERS = "local: this machine; docker, podman: the baseline's image in a sandbox; tira: by tira-run"


def options_of(runners: Mapping[str, str]) -> list[click.Parameter]:
    """Who runs a baseline, and the limits of the sandbox.

    Args:
        runners: those beside the ones of a sandbox, each with what it is.
    """
    told = "; ".join([_RUNNERS, *(f"{name}: {what}" for name, what in runners.items())])
    names = click.Choice([*RUNNER_NAMES, *runners])
    runner = click.Option(["--runner"], type=names, default="local", show_default=True, help=f"{told}.")
    return [runner, *_LIMITS]


_LIMITS: list[click.Parameter] = [
    click.Option(
        ["--cpus"],
        type=click.FloatRange(min=0.1),
        default=_DEFAULT.cpus,
        show_default=True,
        help="Processors of the sandbox.",
    ),
    click.Option(
        ["--memory"],
        callback=_amount,
        default=_DEFAULT.memory,
        show_default=True,
        metavar="SIZE",
        help="Memory of the sandbox, such as 512m or 8g.",
    ),
    click.Option(
        ["--time-limit", "seconds"],
        type=click.FloatRange(min=1),
        default=_DEFAULT.seconds,
        show_default=True,
        metavar="SECONDS",
        help="After which the sandbox is stopped.",
    ),
]


_WITHOUT = {"local": _ALL, "spark": _ALL, "tira": ("cpus", "memory")}


def check_limits(runner: str) -> None:
    """Refuses limits that were asked for of a runner that cannot keep them.

    Raises:
        ToucheError: naming the option.
    """
    context = click.get_current_context()
    for option in (each for each in _LIMITS if each.name in _WITHOUT.get(runner, ())):
        if context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT:
            problem = f"{option.opts[0]} has no effect on the runner {runner}"
            raise ToucheError(f"{problem}; leave it out, or choose docker or podman")


def describe(usage: "Usage") -> str:
    """Such as ``2.3 s, processor 3.1 s, peak memory 290 MB (largest process)``."""
    parts = [f"{usage.wall:.1f} s"]
    if usage.cpu is not None:
        parts.append(f"processor {usage.cpu:.1f} s")
    if usage.memory is not None:
        parts.append(f"peak memory {usage.memory / 1e6:.0f} MB ({usage.memory_of})")
    return ", ".join(parts)
