"""The option --runner and the options for containers' limits."""

import re

import click

from touche.cli.commands import OUTSIDE, Option, is_passed, option
from touche.cli.options import checking
from touche.errors import ToucheError
from touche.runners.limits import CONTAINER_PROGRAMS, HERE, RUNNER_NAMES, SANDBOXES, TIRA, Limits

_is_size = re.compile("[1-9][0-9]*[mg]", re.ASCII).fullmatch
_SANDBOXED = f"{' or '.join(CONTAINER_PROGRAMS)}: a sandbox with the baseline's image"
_RUNNERS = f"{HERE}: this machine; {_SANDBOXED}; {TIRA}: tira-run."


def runners() -> list[click.Parameter]:
    """Creates --runner and the options for its limits."""
    return [
        option("--runner", _RUNNERS, RUNNER_NAMES, section=OUTSIDE),
        option(
            "--cpus",
            "Number of processors in the sandbox.",
            section=OUTSIDE,
            runners=CONTAINER_PROGRAMS,
            default=Limits.cpus,
            type=click.FloatRange(min=0.1),
        ),
        option(
            "--memory SIZE",
            "The sandbox's memory, such as 512m or 8g.",
            section=OUTSIDE,
            runners=CONTAINER_PROGRAMS,
            default=Limits.memory,
            callback=checking(_is_size, "is not an amount of memory; write it as 512m or 8g"),
        ),
        option(
            "--time-limit seconds SECONDS",
            "Stop the sandbox after this many seconds.",
            section=OUTSIDE,
            runners=SANDBOXES,
            default=Limits.seconds,
            type=click.FloatRange(min=1),
        ),
    ]


def check_runner(runner: str) -> None:
    """Rejects options that don't apply to the runner.

    Raises:
        ToucheError: if such an option was typed.
    """
    for param in click.get_current_context().command.params:
        affected_runners = param.runners if isinstance(param, Option) else ()  # empty means all
        has_effect = not affected_runners or runner in affected_runners
        if is_passed(param.name or "") and not has_effect:
            problem = f"{param.opts[0]} has no effect on the runner {runner}"
            # The local runner's options name further inputs and outputs, which a sandbox doesn't get.
            names_files = "local" in affected_runners
            why = ", which sees only its input and writes only run.txt" if names_files else ""
            raise ToucheError(f"{problem}{why}; omit it, or choose {' or '.join(affected_runners)}")
