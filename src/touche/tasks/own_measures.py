"""Measures that trec_eval doesn't have, computed on its ranking and averaged over its topics.

To add one, write its formula and an entry in ``OWN_MEASURES``. The evaluators, notes and documentation
read this table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class JudgedRanking:
    """One topic's ranking with its judgments: a formula's input.

    Attributes:
        grades: each document's grade, best rank first, down to the cutoff; 0 if unjudged.
        is_judged: whether each of these documents is judged.
        judged_grades: the grades of all the topic's judged documents, in no particular order.
        highest: the highest grade in the qrels of all topics.
    """

    grades: Sequence[int]
    is_judged: Sequence[bool]
    judged_grades: Sequence[int]
    highest: int


@dataclass(frozen=True)
class OwnMeasure:
    """A measure that trec_eval doesn't have.

    Attributes:
        formula: returns a topic's value. The second argument is the ir_measures object: ``measure["p"]`` is a
            parameter or its default; ``measure.params`` only contains the parameters that were passed.
        prose: the description in the documentation, following the name.
        parameters: types of the required parameters if ir_measures doesn't have the measure. ``cutoff`` is
            written after an @.
    """

    formula: Callable[[JudgedRanking, Any], float]
    prose: str
    parameters: Mapping[str, type] = field(default_factory=dict)


def rbp(ranking: JudgedRanking, measure: Any) -> float:
    """Rank-biased precision (Moffat and Zobel 2008): the sum over ranks r of (1 - p) p^(r-1) gain.

    As in ir_measures, the gain is the grade, so values can exceed 1. With ``rel``, the gain is 1 or 0. ``p``
    is the probability that a user continues to the next document.
    """
    p: float = measure["p"]
    rel = measure.params.get("rel")
    gains = [grade if rel is None else int(grade >= rel) for grade in ranking.grades]
    return sum((1 - p) * p**index * gain for index, gain in enumerate(gains))


def err(ranking: JudgedRanking, _: Any) -> float:
    """Expected reciprocal rank (Chapelle et al. 2009), as in TREC's gdeval.

    ERR is the sum over ranks r of R(r) / r times the product of 1 - R(i) over all earlier ranks i.
    R(r) = (2^grade - 1) / 2^highest is the probability that the document at rank r satisfies the user. The
    highest grade is 4, as in gdeval and ir_measures, unless the qrels contain a higher one.
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
    """The share of judged documents; 0 for a topic without documents."""
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
