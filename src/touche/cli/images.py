"""touche images build | list"""

from collections.abc import Sequence
from typing import Literal

import click

from touche.api import images as library
from touche.cli.commands import BASELINE, Group, argument, option
from touche.cli.output import DOUBTFUL, show, tell
from touche.containers.limits import PROGRAMS

_PARAMS = [argument("names", "[BASELINE...]", type=BASELINE), option("--runner", choices=PROGRAMS)]


@click.group(cls=Group, example="touche images list")
def images() -> None:
    """Build or list the container images of baselines."""


@images.command(example="touche images build bm25", params=_PARAMS)
def build(names: Sequence[str], runner: Literal["docker", "podman"]) -> None:
    """Build the base image and the images of BASELINEs, by default of all."""
    library.build_images(names, runner=runner, log=tell)


@images.command("list", example="touche images list --runner podman", params=_PARAMS)
def list_(names: Sequence[str], runner: Literal["docker", "podman"]) -> None:
    """Show each BASELINE's image, whether it is built, and where it is published."""
    images = library.list_images(names, runner=runner)
    rows = [(row.baseline, row.image, row.size or "not built", row.published or "–") for row in images]
    show(("baseline", "image", "size", "published"), rows, {"not built": DOUBTFUL})
