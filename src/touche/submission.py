"""Lints a submission: its runs, with the topics and the collection of their task."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from touche import tasks
from touche.data.places import find_corpus, locate_topics
from touche.errors import MissingDataError
from touche.evaluation.linting import Findings, lint_runs
from touche.evaluation.teams import AnyTeams
from touche.tasks import PAIR, Rules
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
        notes.append(f"document ids are not checked, because corpora/{corpus.directory} is missing")
    look_up = partial(_look_up, folder, card.rules) if folder else None
    findings = lint_runs(sources, card, topics, look_up, teams)
    return replace(findings, notes=(*notes, *findings.notes))


def _look_up(folder: Path, rules: Rules, ids_to_find: set[str]) -> tuple[set[str], int]:
    """Reads a collection until all ids are found and there are enough results.

    Args:
        folder: the collection's folder.
        rules: the task's rules.
        ids_to_find: the documents, or sentences, that runs contain.

    Returns:
        The ids that were found, and how many results per topic the documents read so far offer.
    """
    from touche.documents.discovery import find_documents  # here, because it takes 34 ms
    from touche.documents.ids import ids_in  # here, because it takes 54 ms

    present: set[str] = set()
    units = 0  # documents, or sentences if results are pairs of sentences
    for document in find_documents(folder):
        ids = ids_in(document, of_sentences=rules.unit == PAIR)
        present |= ids_to_find.intersection(ids)
        units += len(ids)
        # With n = min_results, n + 1 sentences make at least n pairs, and n documents are enough. One
        # more document costs nothing.
        if len(present) == len(ids_to_find) and units > rules.min_results:
            break
    results = units * (units - 1) if rules.unit == PAIR else units  # a pair's order counts
    return present, results
