"""The options that say whose runs are whose."""

from collections.abc import Mapping, Sequence

import click

from touche.cli.commands import option
from touche.evaluation.teams import PER_FOLDER, AnyTeams
from touche.io.identifiers import quoted


def _patterns(ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> dict[str, list[str]]:
    """Parses teams such as Katana=katana-*."""
    teams: dict[str, list[str]] = {}
    for text in texts:
        name, _, pattern = text.partition("=")
        if not (name.strip() and pattern):
            problem = f"{quoted(text)} names no team or no files; write it as 'Katana=katana-*'."
            raise click.BadParameter(problem, ctx, param)
        teams.setdefault(name.strip(), []).append(pattern)
    return teams


TEAMS: list[click.Parameter] = [
    option("--team-per-folder", "Each folder contains one team's runs."),
    option(
        "--team teams NAME=PATTERN",
        "A team and its files, such as 'Katana=katana-*'. Can be repeated.",
        multiple=True,
        callback=_patterns,
    ),
]


def teams_passed(team_per_folder: bool, teams: Mapping[str, Sequence[str]]) -> AnyTeams:
    """Returns the value of the library's argument ``teams``, from the options in ``TEAMS``."""
    if teams and team_per_folder:
        raise click.UsageError("--team and --team-per-folder exclude each other; omit one of them")
    return PER_FOLDER if team_per_folder else (teams or None)
