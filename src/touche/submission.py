"""Lints a submission: its runs, with the topics and the collection of their task."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

from touche import tasks
from touche.data.places import find_corpus, locate_topics
from touche.errors import MissingDataError
from touche.evaluation.linting import Findings, ids_in_collection, lint_runs
from touche.evaluation.teams import AnyTeams
from touche.trec.run_forms import AnyRuns, run_sources
from touche.trec.topics import read_topics


def lint(
    runs: AnyRuns,
    task: str,
    *,
    teams: AnyTeams = None,
) -> Findings:
    """Checks a submission's runs against a task's rules.

    Args:
        runs: one run or several, as files or in any other form, as for ``evaluate``.
        task: the id of a task, or of a dataset with another corpus.
        teams: each run's team, or ``per-folder`` if each folder contains one team's runs, or file name
            patterns by team, such as ``{"Katana": "katana-*"}``. None if all runs belong to one team.

    Returns:
        The findings as ``touche.evaluation.run_format.Finding``, with severity ``error`` or ``warning``, run
        by run in line order; lines count from 1. ``is_broken`` tells whether there is an error. The notes
        list checks that weren't possible.

    Raises:
        ToucheError: if a run can't be opened or the only run isn't text, the task doesn't exist, or a run's
            team is unclear.

    Examples:
        >>> import touche
        >>> findings = touche.lint({"mine": {"1": {"no-such-document": 1.0}}}, "spot-check/arguments")
        >>> findings[0].run, findings[0].line, findings[0].code
        ('mine', 1, 'unknown-document')
        >>> findings.is_broken
        True
    """
    sources = run_sources(runs)
    card, corpus = tasks.dataset(task)
    notes = list[str]()
    topics: set[str] | None = None
    with suppress(MissingDataError):
        topics = {topic.number for topic in read_topics(locate_topics(card, corpus))}
    if topics is None:
        notes.append(f"topics are not checked, because topics/{card.topics} is missing")
    folder = find_corpus(corpus)
    if folder is None:
        look_up = None
        notes.append(f"document ids are not checked, because corpora/{corpus.directory} is missing")
    else:
        from touche.documents.discovery import find_documents  # here, because it takes 34 ms

        look_up = partial(ids_in_collection, find_documents(folder), card.rules)
    findings = lint_runs(sources, card, topics, look_up, teams)
    return replace(findings, notes=(*notes, *findings.notes))
