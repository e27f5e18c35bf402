"""Runner names and container limits. In a module of their own, because images need only this part.

``container_runs`` passes the limits to a container, plus fixed restrictions such as no network.
"""

from dataclasses import dataclass

PROGRAMS = ("docker", "podman")  # that run containers
HERE = "local"  # in this process
SANDBOXES = (*PROGRAMS, "tira")  # run a baseline's image
RUNNER_NAMES = (HERE, *SANDBOXES)


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
