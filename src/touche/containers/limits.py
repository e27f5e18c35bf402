"""Names of runners and limits of containers; a module of its own, because an image needs only this part.

``container_runs`` passes the limits to a container, with fixed restrictions such as no network.
"""

from dataclasses import dataclass

PROGRAMS = ("docker", "podman")  # programs that run containers
HERE = "local"  # the runner in this process
SANDBOXES = (*PROGRAMS, "tira")  # runners of a baseline's image
RUNNER_NAMES = (HERE, *SANDBOXES)
SPARK = "spark"  # a runner only of ``touche run``


@dataclass(frozen=True)
class Limits:
    """Limits of a container; the defaults are those of TIRA's standard machine.

    Attributes:
        cpus: the number of processors.
        memory: in the notation of Docker and Podman, such as ``4g``; there is no swap.
        seconds: wall time, after which the container is killed.
    """

    cpus: float = 1.0
    memory: str = "4g"
    seconds: float = 3600.0
