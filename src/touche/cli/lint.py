"""touche lint"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from touche import submission as library
from touche.cli.commands import command, option
from touche.cli.guessing import task_of
from touche.cli.options import FORMAT, RUNS, task
from touche.cli.output import BAD, BROKEN, DOUBTFUL, counted, echo, paint, render
from touche.cli.teams import TEAMS, teams_passed
from touche.evaluation.linting import Findings
from touche.evaluation.run_format import ERROR, WARNING, Finding
from touche.io.progress import say
from touche.io.tables import Column, Sheet

_COLOURS = {ERROR: BAD, WARNING: DOUBTFUL}
_MAX_SHOWN = 5  # findings shown per code and file


@command(
    "touche lint out/bm25/run.txt --task spot-check/arguments",
    RUNS,
    task(),
    *TEAMS,
    option("--all show_all", f"Show every finding, not only {_MAX_SHOWN} per kind and file."),
    FORMAT,
)
def lint(
    runs: Sequence[Path],
    task: str | None,
    team_per_folder: bool,
    teams: Mapping[str, Sequence[str]],
    show_all: bool,
    format: str,
) -> int:
    """Check a submission's RUNs line by line against the task's rules.

    All RUNs count as one team's, unless you pass --team-per-folder or --team. A team may submit a limited
    number of runs, each with its own tag.

    Without --task, the task comes from ir-metadata.yml next to the RUNs. Exit with 1 if a rule is broken.
    Document ids are checked if the corpus is available. To check them against another corpus, pass a
    dataset's id as TASK, such as touche-2020-task-1/sample.
    """
    task = str(task_of(runs, task, takes_qrels=False))  # ``task_of`` only returns None if qrels are passed
    findings = library.lint(runs, task, teams=teams_passed(team_per_folder, teams))
    if format == "table":
        for parts in _lines(findings, show_all):
            paint(*parts)
        echo(_summary(findings))
    else:
        render(findings, format, [Sheet(_COLUMNS, findings, [_summary(findings)])])
    for note in findings.notes:
        say(f"note: {note}")
    return BROKEN if findings.is_broken else 0


_COLUMNS = [
    Column("run", "run"),
    Column("line", "line", missing="the finding is about the whole run"),
    Column("severity", "severity"),
    Column("message", "message"),
    Column("remedy", "remedy"),
    Column("code", "code"),
]


def _summary(findings: Findings) -> str:
    """Returns how many runs, teams, errors and warnings there are."""
    counts = Counter(finding.severity for finding in findings)
    of_teams = f" of {counted(len(set(findings.teams)), 'team')}" if findings.teams else ""
    problems = f"{counted(counts[ERROR], 'error')}, {counted(counts[WARNING], 'warning')}"
    return f"{counted(findings.runs, 'run')}{of_teams}: {problems}"


def _lines(findings: Sequence[Finding], show_all: bool) -> Iterator[list[tuple[str, str]]]:
    """Yields each line as coloured parts. A code's last line in a file says how many findings are hidden."""
    totals = Counter((finding.run, finding.code) for finding in findings)
    counts: Counter[tuple[str, str]] = Counter()  # the findings so far
    for finding in findings:
        key = (finding.run, finding.code)
        counts[key] += 1
        if show_all or counts[key] <= _MAX_SHOWN:
            position = finding.run if finding.line is None else f"{finding.run}:{finding.line}"
            text = f": {finding.message}; {finding.remedy} [{finding.code}]"
            yield [(f"{position}: ", ""), (finding.severity, _COLOURS[finding.severity]), (text, "")]
        elif counts[key] == totals[key]:
            hidden = totals[key] - _MAX_SHOWN
            yield [(f"{finding.run}: {hidden} more of [{finding.code}]; show all with --all", "")]
