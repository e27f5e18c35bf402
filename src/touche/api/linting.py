"""The rules of a task, checked on runs of any form."""

from collections.abc import Mapping, Sequence
from typing import Literal

from touche import tasks
from touche.linting import Finding, Findings, teams_of_runs
from touche.linting import lint as linted
from touche.trec.columns import Run
from touche.trec.forms import AnyRun, file_in_memory, read_runs


def lint(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str,
    *,
    teams: 'Sequence[str] | Mapping[str, str | Sequence[str]] | Literal["per-folder"] | None' = None,
) -> Findings:
    """Checks the runs of a submission against the rules of a task.

    Args:
        runs: one run or several, as files or in any other form, as for ``evaluate``.
        task: the id of the task, or of a dataset with another corpus.
        teams: the team of each run; or ``per-folder``, if each folder has the runs of a team; or patterns of
            file names by team, such as ``{"Katana": "katana-*"}``. None if all are of one team.

    Returns:
        The findings as ``touche.linting.Finding``, with the severity ``error`` or ``warning``, run by run in
        the order of the lines, which count from 1. ``is_broken`` is whether there is an error. The notes name
        impossible checks.

    Raises:
        ToucheError: if a run cannot be read as text, there is no such task, or a team is not clear.

    Examples:
        >>> import touche
        >>> findings = touche.lint({"mine": {"1": {"no-such-document": 1.0}}}, "spot-check/arguments")
        >>> findings[0].run, findings[0].line, findings[0].code
        ('mine', 1, 'unknown-document')
        >>> findings.is_broken
        True
    """
    # Without checks, because the rules find what these would refuse.
    paths = [file_in_memory(run) if isinstance(run, Run) else run for run in read_runs(runs, checks=False)]
    team_of_run = teams_of_runs(paths, teams)
    card, corpus = tasks.dataset(task)
    findings, notes = linted(paths, card, corpus, team_of_run)
    return Findings(
        kind=Finding,
        records=tuple(findings),
        notes=tuple(notes),
        runs=len(paths),
        teams=tuple(team_of_run[path] for path in paths) if team_of_run else (),
    )
