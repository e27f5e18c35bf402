"""touche images build | list"""

from collections.abc import Sequence

import click

from touche import baselines
from touche.cli.commands import BASELINE, Group
from touche.cli.output import DOUBTFUL, show, tell
from touche.sandbox import images as built
from touche.sandbox.limits import PROGRAMS

_RUNNER = click.option("--runner", type=click.Choice(PROGRAMS), default="docker", show_default=True)


@click.group(cls=Group, example="touche images list")
def images() -> None:
    """The container images of the baselines."""


@images.command(example="touche images build bm25")
@click.argument("names", nargs=-1, type=BASELINE, metavar="[BASELINE...]")
@_RUNNER
def build(names: Sequence[str], runner: str) -> None:
    """Build the base image and those of all BASELINEs, or of some."""
    built.build(runner, names or baselines.names(), tell)


@images.command("list", example="touche images list --runner podman")
@click.argument("names", nargs=-1, type=BASELINE, metavar="[BASELINE...]")
@_RUNNER
def list_(names: Sequence[str], runner: str) -> None:
    """Show the image of each baseline, or of some, and whether it is there."""
    folders = [baselines.folder_of(name).resolve().name for name in names or baselines.names()]
    rows = [(name, built.image_of(name), built.size(runner, name) or "not built") for name in folders]
    show(("baseline", "image", "size"), rows, {"not built": DOUBTFUL})
