"""Who runs a baseline, and what a container may use; by itself, as an image needs none of the rest."""

from dataclasses import dataclass

PROGRAMS = ("docker", "podman")  # that run containers
RUNNER_NAMES = ("local", *PROGRAMS, "tira")


@dataclass(frozen=True)
class Limits:
    """What a container may use; the defaults are those of TIRA's standard machine.

    Attributes:
        cpus: processors.
        memory: as Docker and Podman write it, such as ``4g``; nothing is swapped.
        seconds: of wall time, after which it is killed.
    """

    cpus: float = 1.0
    memory: str = "4g"
    seconds: float = 3600.0
