"""touche images build | list | digest | verify"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from touche.api import images as library
from touche.cli.commands import BASELINE, Group, argument, option
from touche.cli.output import BROKEN, DOUBTFUL, show, tell
from touche.containers.limits import PROGRAMS
from touche.containers.verification import DIFFERENT, NOT_COMPARABLE, VerifiedImage
from touche.errors import ToucheError

_MOST_DIFFERENCES = 20  # rows
_PARAMS = [argument("names", "[BASELINE...]", type=BASELINE), option("--runner", choices=PROGRAMS)]


@click.group(cls=Group, example="touche images list")
def images() -> None:
    """Build, list or verify the container images of baselines."""


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


@images.command(example="touche images digest bm25", params=_PARAMS)
def digest(names: Sequence[str], runner: Literal["docker", "podman"]) -> None:
    """Print the digest of the files and settings of each BASELINE's image, without times."""
    digests = library.digest_images(names, runner=runner)
    show(("image", "digest of the content"), [(record.image, record.digest) for record in digests])


@images.command(
    example="touche images verify bm25\ntouche images verify --run out/run.txt",
    params=[
        argument("name", "[BASELINE]", type=BASELINE, default=""),
        option("--against IMAGE", "Compare with IMAGE, not with the local or published image.", default=""),
        option("--run FILE", "Compare with the image that made a run."),
        option("--runner", choices=PROGRAMS),
    ],
)
def verify(name: str, against: str, run: Path | None, runner: Literal["docker", "podman"]) -> None:
    """Rebuild BASELINE's image from the current source, and compare both."""
    result = library.verify_image(name, against=against, run=run, runner=runner, log=tell)
    if result.answer == NOT_COMPARABLE:
        raise ToucheError(f"{result.subject}: {result.answer}: {result.reason}")
    _show_verification(result)
    if result.answer == DIFFERENT:
        raise SystemExit(BROKEN)


def _show_verification(result: VerifiedImage) -> None:
    click.echo(f"{result.subject}: {result.answer} ({result.digest}, commit {result.commit})")
    if result.answer == DIFFERENT:
        click.echo(f"the rebuild: {result.rebuilt}")
    shown = result.differences[:_MOST_DIFFERENCES]
    if shown:
        click.echo()
        show(("difference", "path", "layer"), [(row.kind, row.path, row.layer) for row in shown])
    if len(result.differences) > len(shown):
        click.echo(f"and {len(result.differences) - len(shown)} more")
    for command in result.unpinned:
        click.echo(f"not pinned, may change at any time: {command}")
