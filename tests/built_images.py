"""The baselines' images, which tests of a session build once."""

import shutil
from functools import cache

from conftest import ROOT
from touche.baselines.extras import extra_in_dockerfile
from touche.data.places import shipped_baselines
from touche.runners import image_builds
from touche.runners.limits import CONTAINER_PROGRAMS
from touche.runners.programs import succeeds

OF_LUCENE = [name for name in shipped_baselines() if extra_in_dockerfile(name) == "lucene"]  # built at night
BASELINES = [name for name in shipped_baselines() if name not in OF_LUCENE]


def programs() -> list[str]:
    """Docker and Podman, as far as they run here."""
    return [name for name in CONTAINER_PROGRAMS if shutil.which(name) and succeeds(name, "info")]


@cache
def build_once(program: str, *names: str) -> None:
    """From the code as it is now."""
    image_builds.build(program, names or [*BASELINES, str(ROOT / "tests" / "faulty")], print)
