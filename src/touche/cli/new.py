"""touche new"""

from pathlib import Path
from shlex import quote

import click

from touche import baselines
from touche.baselines.starter import write_baseline
from touche.cli.commands import Command
from touche.data.places import clone
from touche.errors import ToucheError

_NEXT = """\
    touche run {folder} -i spot-check/arguments -o {out}
    touche lint {out}/run.txt --task spot-check/arguments
    touche evaluate {out}/run.txt --task spot-check/arguments
    touche regress {folder}
    pytest {folder}
    touche images build {folder}
    touche run {folder} -i spot-check/arguments -o {out}-image --runner docker"""
_WITHOUT_CLONE = """\
    touche run {folder} -i DIR -o {out}
The spot check, its scores and the image need a clone of touche-baselines (pip install --editable CLONE)."""


@click.command(cls=Command, example="touche new my-team")
@click.argument("folder", type=click.Path(path_type=Path), metavar="NAME")
def new(folder: Path) -> None:
    """Write a new baseline folder that runs at once, to put your own ranking into.

    NAME is the name of the folder, or its path; its last part becomes the name of the baseline and its image.
    """
    if folder.resolve().name in baselines.names():
        problem = (
            f"there is a baseline {folder.resolve().name} already, whose image and runs it would be taken for"
        )
        raise ToucheError(f"{problem}; choose another name")
    write_baseline(folder)
    text = _NEXT if clone() else _WITHOUT_CLONE
    words = {"folder": quote(str(folder)), "out": quote(f"out/{folder.resolve().name}")}
    click.echo(f"wrote {folder}; next:\n{text.format(**words)}")
