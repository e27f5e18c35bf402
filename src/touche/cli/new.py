"""touche new"""

from importlib.util import find_spec
from pathlib import Path
from shlex import quote

import click

from touche.baselines.starter import ARGUMENTS, PARTS, is_contributed, test_file, write_baseline
from touche.cli.commands import PATH, argument, command, option
from touche.cli.output import echo
from touche.io.optional import installing
from touche.runners.image_builds import base_image, check_name

_NEXT = """\
    touche run {folder} -i {part} -o {out}
    touche lint {out}/run.txt --task {part}
    touche evaluate {out}/run.txt --task {part}
    touche regress {folder}
    pytest {folder}
    touche images build {folder}
    touche run {folder} -i {part} -o {out}-image --runner docker"""

_NEXT_IN_CLONE = """\
    touche run {name} -i spot-check/arguments -o out/{name}
    pytest -n 0 {test}
    touche regress {name} --update
    make outputs"""


@command(
    "touche new my-team --team MyTeam",
    argument("folder", "NAME", type=PATH),
    option(
        "--part PART",
        "Part of the toy collection that is closest to your task. With pairs, the baseline ranks pairs.",
        type=click.Choice(PARTS),
        default=ARGUMENTS,
    ),
    option("--team TEAM", "Your team's name at TIRA, for the metadata of runs.", default=""),
)
def new(folder: Path, part: str, team: str) -> None:
    """Create a folder with a working baseline, as a starting point for your own ranking.

    NAME is the folder's name or path. Its last part becomes the name of the baseline and its image. Inside a
    clone's folder baselines, the new folder looks like the project's own baselines.
    """
    check_name(folder.resolve())
    write_baseline(folder, base_image(), team, part)
    if is_contributed(folder):
        test = test_file(folder)
        words = {"name": folder.resolve().name, "test": test.relative_to(test.parents[2])}
        echo(f"wrote {folder} and {words['test']}; next:", *_NEXT_IN_CLONE.format(**words).splitlines())
        return
    path = f"./{folder}" if len(folder.parts) == 1 else str(folder)  # a bare name means a shipped one
    out = f"out/{folder.resolve().name}"
    words = {"folder": quote(path), "out": quote(out), "part": f"spot-check/{part}"}
    echo(f"wrote {folder}; next:", *_NEXT.format(**words).splitlines())
    if find_spec("pytest") is None:
        echo(f"pytest comes with: {installing('starter')}")
