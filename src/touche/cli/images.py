"""touche images build | list | digest | verify"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche.cli.commands import BASELINE, Group, argument, option
from touche.cli.options import FORMAT
from touche.cli.output import BROKEN, DOUBTFUL, render, tell
from touche.errors import ToucheError
from touche.io.tables import Column, Sheet
from touche.lab.verification import DIFFERENT, NOT_COMPARABLE, VerifiedImage, verify_image
from touche.runners import baseline_images as library
from touche.runners.limits import CONTAINER_PROGRAMS, ContainerProgram

_PARAMS = [argument("names", "[BASELINE...]", type=BASELINE), option("--runner", choices=CONTAINER_PROGRAMS)]


@click.group(cls=Group, example="touche images list")
def images() -> None:
    """Build, list or verify the baselines' container images."""


@images.command(example="touche images build bm25", params=_PARAMS)
def build(names: Sequence[str], runner: ContainerProgram) -> None:
    """Build the base image and the images of BASELINEs, or of all baselines.

    The code in a BASELINE's folder only runs in containers, not on this machine itself.

    Each image is tried on a part of the toy collection, and removed if it fails. Set BUILD_NETWORK=host to
    build in this machine's own network, and PYTHON_IMAGE to use another Python image.
    """
    library.build_images(names, runner=runner, log=tell)


@images.command("list", example="touche images list --runner podman", params=[*_PARAMS, FORMAT])
def list_(names: Sequence[str], runner: ContainerProgram, format: str) -> None:
    """List each BASELINE's image, whether it's built, and where it's published."""
    images = library.list_images(names, runner=runner)
    render(images, format, [Sheet(_IMAGES, images, colours={"not built": DOUBTFUL})])


_IMAGES = [
    Column("baseline", "baseline"),
    Column("image", "image"),
    Column("size", "size", lambda size: size or "not built"),
    Column("published", lambda image: image.published or None, missing="it is not published"),
]
_DIGESTS = [Column("image", "image"), Column("digest of the content", "digest")]


@images.command(example="touche images digest bm25", params=[*_PARAMS, FORMAT])
def digest(names: Sequence[str], runner: ContainerProgram, format: str) -> None:
    """Print a digest of the files and settings in each BASELINE's image, ignoring timestamps."""
    digests = library.digest_images(names, runner=runner)
    render(digests, format, [Sheet(_DIGESTS, digests)])


@images.command(
    example="touche images verify bm25\ntouche images verify --run out/run.txt",
    params=[
        argument("name", "[BASELINE]", type=BASELINE, default=""),
        option("--against IMAGE", "Compare with IMAGE instead of the local or published image.", default=""),
        option("--run FILE", "Compare with the image that wrote this run."),
        option("--runner", choices=CONTAINER_PROGRAMS),
        FORMAT,
    ],
)
def verify(name: str, against: str, run: Path | None, runner: ContainerProgram, format: str) -> int:
    """Rebuild BASELINE's image from the current source and compare it with the existing image."""
    result = verify_image(name, against=against, run=run, runner=runner, log=tell)
    if result.answer == NOT_COMPARABLE:
        raise ToucheError(f"{result.subject}: {result.answer}: {result.reason}")
    render(result.table, format, [Sheet(columns=[], records=[], above=_lines(result))])
    return BROKEN if result.answer == DIFFERENT else 0


def _lines(result: VerifiedImage) -> list[str]:
    """Returns the verdict, followed by what differs and what isn't pinned."""
    lines = [f"{result.subject}: {result.answer} ({result.digest}, commit {result.commit})"]
    if result.answer == DIFFERENT:
        lines.append(f"the rebuild: {result.rebuilt}")
    if result.difference:
        lines.append(f"the first difference: {result.difference}")
    return lines + [f"not pinned, may change at any time: {command}" for command in result.unpinned]
