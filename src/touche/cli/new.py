"""touche new"""

from pathlib import Path
from shlex import quote

import click

from touche.baselines.starter import write_baseline
from touche.cli.commands import Command
from touche.data.places import clone
from touche.sandbox.images import check_name

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
    check_name(folder.resolve())
    write_baseline(folder)
    text = _NEXT if clone() else _WITHOUT_CLONE
    path = f"./{folder}" if len(folder.parts) == 1 else str(folder)  # a mere name is one of the clone
    words = {"folder": quote(path), "out": quote(f"out/{folder.resolve().name}")}
    click.echo(f"wrote {folder}; next:\n{text.format(**words)}")
