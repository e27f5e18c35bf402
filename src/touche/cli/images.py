"""touche images build | list"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche import baselines
from touche.baselines.loader import is_shipped
from touche.cli.commands import BASELINE, Group, argument, option
from touche.cli.output import DOUBTFUL, show, tell
from touche.containers import images as built
from touche.containers.limits import PROGRAMS

_PARAMS = [argument("names", "[BASELINE...]", type=BASELINE), option("--runner", choices=PROGRAMS)]


@click.group(cls=Group, example="touche images list")
def images() -> None:
    """Build or list the container images of baselines."""


@images.command(example="touche images build bm25", params=_PARAMS)
def build(names: Sequence[str], runner: str) -> None:
    """Build the base image and the images of BASELINEs, by default of all."""
    built.build(runner, names or baselines.names(), tell)


@images.command("list", example="touche images list --runner podman", params=_PARAMS)
def list_(names: Sequence[str], runner: str) -> None:
    """Show each BASELINE's image, whether it is built, and where it is published."""
    folders = [baselines.folder_of(name).resolve() for name in names or baselines.names()]
    rows = [_row(folder, runner) for folder in folders]
    show(("baseline", "image", "size", "published"), rows, {"not built": DOUBTFUL})


def _row(folder: Path, runner: str) -> tuple[str, ...]:
    published = built.published(folder.name) if is_shipped(folder) else ""
    size = built.size(runner, folder.name) or "not built"
    return folder.name, built.image_of(folder.name), size, published or "–"
