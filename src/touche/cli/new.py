"""touche new"""

from importlib.util import find_spec
from pathlib import Path
from shlex import quote

import click

from touche.baselines.starter import write_baseline
from touche.cli.commands import PATH, argument, command, option
from touche.containers.images import base_image, check_name
from touche.io.optional import installing

_NEXT = """\
    touche run {folder} -i spot-check/arguments -o {out}
    touche lint {out}/run.txt --task spot-check/arguments
    touche evaluate {out}/run.txt --task spot-check/arguments
    touche regress {folder}
    pytest {folder}
    touche images build {folder}
    touche run {folder} -i spot-check/arguments -o {out}-image --runner docker"""


@command(
    "touche new my-team --team MyTeam",
    argument("folder", "NAME", type=PATH),
    option("--team TEAM", "Your team at TIRA, which the metadata of runs names.", default=""),
)
def new(folder: Path, team: str) -> None:
    """Write the folder of a working baseline, as a start for your own ranking.

    NAME is the folder's name or path. Its last part becomes the name of the baseline and its image.
    """
    check_name(folder.resolve())
    write_baseline(folder, base_image(), team)
    path = f"./{folder}" if len(folder.parts) == 1 else str(folder)  # a bare name is a shipped baseline
    words = {"folder": quote(path), "out": quote(f"out/{folder.resolve().name}")}
    click.echo(f"wrote {folder}; next:\n{_NEXT.format(**words)}")
    if find_spec("pytest") is None:
        click.echo(f"pytest comes with: {installing('starter')}")
