"""The option --runner, and the limits of containers."""

import re
from functools import partial

import click
from click.core import ParameterSource

from touche.cli.commands import OUTSIDE, Option, option
from touche.cli.options import checking
from touche.containers.limits import PROGRAMS, RUNNER_NAMES, Limits
from touche.errors import ToucheError

_NO_SIZE = "is not an amount of memory; write it as 512m or 8g"
_is_size = re.compile("[1-9][0-9]*[mg]", re.ASCII).fullmatch
_of_runner = partial(option, section=OUTSIDE[0])
_of_sandbox = partial(_of_runner, runners=PROGRAMS)
_in_time = partial(_of_runner, runners=(*PROGRAMS, "tira"))
_RUNNERS = "local: this machine; docker, podman: the baseline's image in a sandbox; tira: by tira-run"


def runners(name: str = "", help: str = "") -> list[click.Parameter]:
    """Creates the option --runner, perhaps with one more runner, and the options of its limits."""
    names, text = filter(None, (*RUNNER_NAMES, name)), "; ".join(filter(None, (_RUNNERS, help)))
    cpus, memory = "Processors of the sandbox.", "Memory of the sandbox, such as 512m or 8g."
    time = "Time after which the sandbox is stopped."
    return [
        _of_runner("--runner", f"{text}.", names),
        _of_sandbox("--cpus", cpus, default=Limits.cpus, type=click.FloatRange(min=0.1)),
        _of_sandbox("--memory SIZE", memory, default=Limits.memory, callback=checking(_is_size, _NO_SIZE)),
        _in_time("--time-limit seconds SECONDS", time, default=Limits.seconds, type=click.FloatRange(min=1)),
    ]


def check_runner(runner: str) -> None:
    """Refuses options that were typed but do not affect the runner.

    Raises:
        ToucheError: if there is such an option.
    """
    context = click.get_current_context()
    for param in context.command.params:
        effective = param.runners if isinstance(param, Option) else ()
        typed = context.get_parameter_source(param.name or "") is not ParameterSource.DEFAULT
        if effective and runner not in effective and typed:
            problem = f"{param.opts[0]} has no effect on the runner {runner}"
            why = ", which sees only its input and writes only run.txt" if "local" in effective else ""
            raise ToucheError(f"{problem}{why}; omit it, or choose {' or '.join(effective)}")
