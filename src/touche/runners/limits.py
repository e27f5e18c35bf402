"""Runner names and container limits. In a module of their own, because images need only this part.

``container_runs`` passes the limits to a container, plus fixed restrictions such as no network.
"""

from dataclasses import dataclass
from typing import Literal, get_args

ContainerProgram = Literal["docker", "podman"]
"""Programs with Docker's commands. They build, list, run and compare images, and keep to the limits."""
RunnerName = Literal["local", ContainerProgram, "tira"]
"""Where a baseline runs: on this machine, or its image in a container program or in tira-run."""

CONTAINER_PROGRAMS: tuple[ContainerProgram, ...] = get_args(ContainerProgram)
RUNNER_NAMES: tuple[RunnerName, ...] = get_args(RunnerName)
HERE: RunnerName = "local"
TIRA: RunnerName = "tira"
SANDBOXES = tuple(name for name in RUNNER_NAMES if name != HERE)  # run a baseline's image


@dataclass(frozen=True)
class Limits:
    """Limits for a container. By default, TIRA's standard machine.

    Attributes:
        memory: as Docker and Podman write it, such as ``4g``; there is no swap.
        seconds: wall time, after which the container is killed.
    """

    cpus: float = 1.0
    memory: str = "4g"
    seconds: float = 3600.0
