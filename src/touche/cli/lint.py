"""touche lint"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from touche import api as library
from touche.cli.commands import command, option
from touche.cli.options import LINTED_RUNS, task
from touche.cli.output import BAD, BROKEN, DOUBTFUL, counted, paint, print_records
from touche.io.identifiers import quoted
from touche.io.progress import say
from touche.linting import ERROR, WARNING, Finding, teams_by_folder, teams_named

_COLOURS = {ERROR: BAD, WARNING: DOUBTFUL}
_SHOWN = 5  # findings of each code per file


_TEAM = "A team and its files, such as 'Katana=katana-*'; repeat the option for each team."


def _patterns(ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Reads teams such as Katana=katana-*."""
    patterns = [(name.strip(), pattern) for name, _, pattern in (text.partition("=") for text in texts)]
    for text, (name, pattern) in zip(texts, patterns, strict=True):
        if not (name and pattern):
            problem = f"{quoted(text)} names no team or no files; write it as 'Katana=katana-*'."
            raise click.BadParameter(problem, ctx, param)
    return patterns


@command(
    "touche lint out/bm25/run.txt --task spot-check/arguments",
    LINTED_RUNS,
    task(required=True),
    option("--team-per-folder", "Treat the runs in each folder as those of one team."),
    option("--team teams NAME=PATTERN", _TEAM, multiple=True, callback=_patterns),
    option("--all show_all", f"Show every finding, not only {_SHOWN} per kind and file."),
    option("--format style", choices=("table", "json")),
)
def lint(
    runs: Sequence[Path],
    task_id: str,
    team_per_folder: bool,
    teams: Sequence[tuple[str, str]],
    show_all: bool,
    style: str,
) -> int:
    """Check the RUNs of a submission against the rules of the task, line by line.

    All RUNs are of one team, unless --team-per-folder or --team distinguishes teams. A team may submit a
    limited number of runs, each with its own tag.

    Exit with 1 if a rule is broken. Document ids are checked if the corpus is available. TASK can be the id
    of a dataset, such as touche-2020-task-1/sample, to check against another corpus.
    """
    if teams and team_per_folder:
        raise click.UsageError("--team and --team-per-folder exclude each other; omit one of them")
    by_run = teams_named(runs, teams) if teams else teams_by_folder(runs) if team_per_folder else None
    findings = library.lint(runs, task_id, teams=[by_run[run] for run in runs] if by_run else None)
    if style == "json":
        print_records(Finding, findings, style)
    else:
        for parts in _lines(findings, show_all):
            paint(*parts)
        counts = Counter(finding.severity for finding in findings)
        summary = f"{counted(counts[ERROR], 'error')}, {counted(counts[WARNING], 'warning')}"
        of_teams = f" of {counted(len(set(by_run.values())), 'team')}" if by_run else ""
        click.echo(f"{counted(len(runs), 'run')}{of_teams}: {summary}")
    for note in findings.notes:
        say(f"note: {note}")
    return BROKEN if any(finding.severity == ERROR for finding in findings) else 0


def _lines(findings: Sequence[Finding], show_all: bool) -> Iterator[list[tuple[str, str]]]:
    counts = Counter((finding.run, finding.code) for finding in findings)
    seen: Counter[tuple[str, str]] = Counter()
    for each in findings:
        key = (each.run, each.code)
        seen[key] += 1
        if show_all or seen[key] <= _SHOWN:
            place = each.run if each.line is None else f"{each.run}:{each.line}"
            text = f": {each.message}; {each.remedy} [{each.code}]"
            yield [(f"{place}: ", ""), (each.severity, _COLOURS[each.severity]), (text, "")]
        elif seen[key] == counts[key]:
            yield [(f"{each.run}: {counts[key] - _SHOWN} more of [{each.code}]; show all with --all", "")]
