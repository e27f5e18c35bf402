"""Runs made from judgments: those of the spot check's passages, and made-up ones."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Write
from touche import tasks
from touche.evaluation.judged import judged
from touche.evaluation.leaderboard import rank_of
from touche.evaluation.notes import doubts, score_notes
from touche.evaluation.scores import Score, Scores, table
from touche.evaluation.scoring import Scored, by_evaluator, ranks_stances, score
from touche.tasks import Judgments, Rules, Task
from touche.trec.qrels import read_qrels
from touche.trec.run_forms import qrels_source, read_sources, run_sources

SPOT = tasks.task("spot-check/passages")  # scored by nDCG@5 here: relevance alone, without stances
QRELS = read_qrels(ROOT / "qrels" / SPOT.qrels["relevance"].file)
BEST = {topic: sorted(labels, key=lambda id: -labels[id])[:5] for topic, labels in QRELS.items()}


def run_text(topics: Iterable[str] = BEST, tag: str = "t", strangers: int = 0) -> str:
    """The best run there can be, with some unjudged documents at its head."""
    return "".join(
        f"{topic} Q0 {id} {rank} {10 - rank} {tag}\n"
        for topic in topics
        for rank, id in enumerate([*(f"x{number}" for number in range(strangers)), *BEST.get(topic, [])], 1)
    )


def scored_in(
    runs: object,
    task: Task | None,
    evaluators: Iterable[str] = ("trec_eval", "touche"),
    *,
    measure: str | None = None,
    qrels: Path | None = None,
    any_order: bool = False,
) -> list[Scored]:
    """Runs scored in every dimension of a task, as touche.evaluate does it."""
    to_judge = judged(task, [measure], qrels_source(qrels), any_order=any_order)
    return score(read_sources(run_sources(runs), by_stance=ranks_stances(to_judge)), to_judge, [*evaluators])


def table_of(
    runs: object, task: Task | None, evaluators: Iterable[str] = ("trec_eval", "touche"), **more: Any
) -> Scores:
    """The table of ``scored_in``'s scores, with warnings and notes."""
    return table(scored_in(runs, task, evaluators, **more), task)


def row_of(scores: Scores, **values: str) -> Score:
    """The only row with these values, such as ``evaluator="touche"``."""
    (row,) = (row for row in scores if values.items() <= vars(row).items())
    return row


def doubts_of(scored: Iterable[Scored], task: Task | None) -> list[str]:
    """The warnings about one run and dimension, without their names."""
    (group,) = by_evaluator(scored)
    return [*doubts(group, task)]


def notes_of(scored: Sequence[Scored], task: Task | None) -> list[str]:
    """The notes on scores."""
    return score_notes(scored, task, {each: rank_of(each, task) for each in scored})


def scored(path: Path, *evaluators: str) -> Scores:
    """The scores of a run on the spot check, with both evaluators unless some are named."""
    return table_of([path], SPOT, evaluators or ("trec_eval", "touche"), measure="nDCG@5")


def made_up(
    write: Write, monkeypatch: pytest.MonkeyPatch, topics: Iterable[str] = "1234", **relevant: str
) -> Task:
    """A task whose topics all have the judged documents a to e, of which one is relevant in a dimension."""
    for dimension, best in relevant.items():
        lines = (f"{topic} 0 {id} {int(id == best)}\n" for topic in topics for id in "abcde")
        folder = write(f"qrels/made-up-{dimension}.qrels", "".join(lines)).parents[1]
    monkeypatch.setenv("TOUCHE_DATA", str(folder))
    qrels = {dimension: Judgments(f"made-up-{dimension}.qrels", frozenset({0, 1})) for dimension in relevant}
    return Task(
        id="made-up",
        title="",
        url="",
        topics="made-up.xml",
        qrels=qrels,
        corpora={},
        rules=Rules("document", ("Q0",)),
    )


def run_of(*lists: str, tag: str = "t") -> str:
    """A run of lists such as ``1 a b``: the topic, and its documents in order."""
    ranked = [(topic, ids) for topic, *ids in map(str.split, lists)]
    return "".join(
        f"{topic} Q0 {id} {rank} {-rank} {tag}\n" for topic, ids in ranked for rank, id in enumerate(ids, 1)
    )
