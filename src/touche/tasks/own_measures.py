"""Measures that trec_eval doesn't have. They are computed on documents in trec_eval's order, and averaged
over the topics that trec_eval averages over.

To add one, write its formula and an entry in ``OWN_MEASURES``. The evaluators, notes and documentation
read this table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class JudgedRanking:
    """One topic's ranking with its judgments, which is the input of a measure's formula.

    Attributes:
        grades: the grade of each ranked document down to the cutoff, best rank first; 0 if a document is
            unjudged.
        is_judged: for each of these documents, whether it is judged.
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
        formula: a function that returns a topic's value. Its arguments are the ranking and the ir_measures
            object. In the latter, ``measure["p"]`` is the parameter p or its default; ``measure.params``
            contains only parameters that were passed.
        prose: the description that follows the measure's name in the documentation.
        parameters: the types of the required parameters by name, only for measures that ir_measures doesn't
            have. The parameter ``cutoff`` is written after an @.
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
    """The share of the ranked documents that is judged; 0 for a topic without documents."""
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
