"""Runs for the passages of the spot check, made from its judgments."""

from collections.abc import Iterable

from conftest import ROOT
from touche import tasks
from touche.qrels import read_qrels

SPOT = tasks.task("spot-check/passages")
QRELS = read_qrels(ROOT / "qrels" / SPOT.qrels["relevance"].file)
BEST = {topic: sorted(labels, key=lambda id: -labels[id])[:5] for topic, labels in QRELS.items()}


def run_text(topics: Iterable[str] = BEST, tag: str = "t", strangers: int = 0) -> str:
    """The best run there can be, with some unjudged documents at its head."""
    return "".join(
        f"{topic} Q0 {id} {rank} {10 - rank} {tag}\n"
        for topic in topics
        for rank, id in enumerate([*(f"x{number}" for number in range(strangers)), *BEST.get(topic, [])], 1)
    )
