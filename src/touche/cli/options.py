"""The options that several commands share."""

from pathlib import Path

import click

from touche.cli.commands import Option
from touche.io.identifiers import is_word, quoted

PATH = click.Path(path_type=Path, readable=False)


def _check_tag(ctx: click.Context, option: click.Parameter, tag: str | None) -> str | None:
    if tag is not None and not is_word(tag):
        problem = f"--tag {quoted(tag)} is empty, too long, or has white space or control characters"
        raise click.UsageError(f"{problem}; give one word, such as my-team-run-1", ctx)
    return tag


def _check_team(ctx: click.Context, option: click.Parameter, team: str | None) -> str | None:
    if team is not None and not team.strip():
        raise click.UsageError("--team is empty; name the team, or leave it out", ctx)
    return team


def naming(section: str = "Options", default: str = "baseline and options") -> list[click.Parameter]:
    """The options --tag and --team."""
    tag = f"The run's tag, in place of {default}."
    return [
        Option(["--tag"], section=section, callback=_check_tag, metavar="WORD", help=tag),
        Option(
            ["--team"],
            section=section,
            callback=_check_team,
            metavar="NAME",
            help="Your team, for ir-metadata.yml.",
        ),
    ]
