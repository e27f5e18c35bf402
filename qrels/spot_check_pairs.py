"""Makes the judgments of the spot check's pairs from those of its sentences, by the rules in GUIDELINE.md.

From the root of the repository: python qrels/spot_check_pairs.py
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Judged:
    """A sentence as it was judged for its topic, before any method was run."""

    topic: str
    id: str
    direction: str  # y: yes to the topic's question, n: no, -: neither
    aspect: str
    relevance: int
    quality: int

    @property
    def argument(self) -> str:
        return self.id.partition("__")[0]


def main() -> None:
    """Writes the three files of judgments."""
    for dimension, label in (("relevance", relevance), ("quality", quality), ("coherence", coherence)):
        lines = [
            f"{one.topic} 0 {one.id},{other.id} {label(one, other)}\n" for one, other in pairs(sentences())
        ]
        (HERE / f"spot-check-pairs-{dimension}.qrels").write_text("".join(lines), encoding="utf-8")


def sentences() -> list[Judged]:
    """The judged sentences, in the order of the arguments and of their texts."""
    with (HERE / "spot-check-pairs-sentences.tsv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    return [
        Judged(
            topic=topic,
            id=id,
            direction=direction,
            aspect=aspect,
            relevance=int(relevance),
            quality=int(quality),
        )
        for topic, id, direction, aspect, relevance, quality in rows
    ]


def pairs(judged: list[Judged]) -> Iterator[tuple[Judged, Judged]]:
    """All pairs of a topic: in the order of the text within an argument, in both orders otherwise."""
    for one, other in permutations(judged, 2):
        in_order = judged.index(one) < judged.index(other)
        if one.topic == other.topic and (one.argument != other.argument or in_order):
            yield one, other


def relevance(one: Judged, other: Judged) -> int:
    """The mean of both, rounded down."""
    return (one.relevance + other.relevance) // 2


def quality(one: Judged, other: Judged) -> int:
    """The mean of both, rounded down."""
    return (one.quality + other.quality) // 2


def coherence(one: Judged, other: Judged) -> int:
    """Whether both read on: 2 a claim and its reason, or one line of thought; 1 the same side; else 0."""
    if 0 in (one.quality, other.quality) or {one.direction, other.direction} == {"y", "n"}:
        return 0
    if one.aspect == other.aspect == "claim":
        return 0  # the same claim twice
    if one.direction != other.direction or "-" in (one.direction, other.direction):
        return int(one.aspect == other.aspect)
    return 2 if one.aspect == other.aspect or "claim" in (one.aspect, other.aspect) else 1


if __name__ == "__main__":
    main()
