"""Measures that trec_eval lacks, computed on its ranking and averaged over its topics.

To add a measure, write its formula and an entry of ``OWN_MEASURES``. The evaluators, the notes and the
documentation read this table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class JudgedRanking:
    """The ranking of one topic with its judgments, as a formula gets it.

    Attributes:
        grades: the grade of each document, best rank first, down to the cutoff; 0 for an unjudged document.
        is_judged: whether each of these documents is judged.
        judged_grades: the grades of all judged documents of the topic, in no order.
        highest: the highest grade in the qrels of all topics.
    """

    grades: Sequence[int]
    is_judged: Sequence[bool]
    judged_grades: Sequence[int]
    highest: int


@dataclass(frozen=True)
class OwnMeasure:
    """A measure that trec_eval lacks.

    Attributes:
        formula: returns the value of a topic. The second argument is the measure in the form of ir_measures:
            ``measure["p"]`` is a parameter or its default, ``measure.params`` has only the passed parameters.
        prose: the description in the documentation, after the name.
        parameters: the required parameters with their types, if ir_measures lacks the measure. ``cutoff`` is
            written with an at sign.
    """

    formula: Callable[[JudgedRanking, Any], float]
    prose: str
    parameters: Mapping[str, type] = field(default_factory=dict)


def rbp(ranking: JudgedRanking, measure: Any) -> float:
    """Returns rank-biased precision (Moffat and Zobel 2008): the sum over ranks r of (1 - p) p^(r-1) gain.

    As in ir_measures, the gain is the grade, so values can be above 1. With ``rel``, the gain is 1 or 0. The
    chance that a user goes on to the next document is ``p``.
    """
    p: float = measure["p"]
    rel = measure.params.get("rel")
    gains = [grade if rel is None else int(grade >= rel) for grade in ranking.grades]
    return sum((1 - p) * p**index * gain for index, gain in enumerate(gains))


def err(ranking: JudgedRanking, _: Any) -> float:
    """Returns expected reciprocal rank (Chapelle et al. 2009), as TREC's gdeval.

    ERR is the sum over the ranks r of R(r) / r times the product of 1 - R(i) over all ranks i before r.
    R(r) = (2^grade - 1) / 2^highest is the chance that the document on rank r satisfies the user. The highest
    grade is 4 in gdeval and ir_measures, or more if the qrels have a higher one.
    """
    highest = max(ranking.highest, 4)
    value = 0.0
    unsatisfied = 1.0
    for rank, grade in enumerate(ranking.grades, 1):
        satisfies = (2**grade - 1) / 2**highest
        value += unsatisfied * satisfies / rank
        unsatisfied *= 1 - satisfies
    return value


def judged(ranking: JudgedRanking, _: Any) -> float:
    """Returns the share of judged documents; 0 for a topic without documents."""
    return sum(ranking.is_judged) / len(ranking.is_judged) if ranking.is_judged else 0.0


OWN_MEASURES = {
    "RBP": OwnMeasure(
        rbp,
        "rank-biased precision, such as `RBP(p=0.8)@10` (Moffat and Zobel 2008). Without `rel`, grades are "
        "gains, so it can be above 1.",
    ),
    "ERR": OwnMeasure(err, "expected reciprocal rank, as in TREC's gdeval (Chapelle et al. 2009)."),
    "Judged": OwnMeasure(judged, "the share of judged documents."),
}
