"""Runs compared pair by pair: differences, paired tests with correction, and the topics that decide."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import sub
from statistics import fmean

from touche.errors import ToucheError, choice
from touche.evaluation.scores import Evaluated
from touche.evaluation.significance import (
    SIGNIFICANT,
    bootstrap_interval,
    effect_size,
    holm,
    randomisation_test,
    t_test,
)
from touche.progress import watched

_FEWEST = 2  # topics that two runs have to share for a test


@dataclass(frozen=True)
class PairOfRuns:
    """Run A and run B in one dimension.

    Attributes:
        run_a, run_b: tags, or paths where tags are not unique.
        task, dimension, qrels, measure, evaluator: what was measured, as in ``Subject``.
    """

    run_a: str
    run_b: str
    task: str
    dimension: str
    qrels: str
    measure: str
    evaluator: str


@dataclass(frozen=True)
class Comparison(PairOfRuns):
    """Run A against run B in one dimension, over the topics that the evaluator scores for both.

    Attributes:
        mean_a, mean_b: the means of the measure.
        difference: ``mean_a - mean_b``.
        low, high: its 95% confidence interval, by bootstrap over the topics; not corrected for the number of
            comparisons.
        effect_size: Cohen's d of the paired scores; None where all topics differ by the same amount.
        p_t_test: the two-sided p-value of the paired t-test; None where all topics differ by the same amount.
        p_t_test_holm: the same, corrected for all comparisons made together.
        significant: whether that is below 0.05.
        p_randomisation, p_randomisation_holm: those of the paired randomisation test; None unless asked for.
        won, lost, tied: on how many topics A scores higher, lower, the same.
        topics: how many there are.
    """

    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    effect_size: float | None
    p_t_test: float | None
    p_t_test_holm: float | None
    significant: bool
    p_randomisation: float | None
    p_randomisation_holm: float | None
    won: int
    lost: int
    tied: int
    topics: int


@dataclass(frozen=True)
class TopicDifference(PairOfRuns):
    """Run A against run B on one topic; attributes as those of ``PairOfRuns`` and ``TopicScore``."""

    topic: str
    title: str
    value_a: float
    value_b: float
    difference: float


def comparisons(
    scored: Sequence[Evaluated],
    evaluator: str,
    reference: Evaluated | None = None,
    *,
    randomisation: bool = False,
) -> list[Comparison]:
    """Compares runs in every dimension; all comparisons are one family for the correction.

    Two runs that share fewer than two topics are left out; ``not_compared`` names them.

    Args:
        scored: the runs, evaluated.
        evaluator: the one whose scores are compared.
        reference: the run to compare each other run with; every two runs are compared if it is None.
        randomisation: whether the randomisation test is made, too, which takes longer.

    Raises:
        ToucheError: if there is only one run.
    """
    if len({each.path for each in scored}) < 2:
        raise ToucheError("one run alone cannot be compared; give two at least")
    pairs = [pair for pair in _pairs(scored, reference) if len(_paired(*pair, evaluator)) >= _FEWEST]
    compared = [
        _comparison(*pair, evaluator, randomisation)
        for pair in watched(pairs, "testing", "comparisons", len(pairs))
    ]
    t = holm([each.p_t_test for each in compared])
    r = holm([each.p_randomisation for each in compared])
    return [
        replace(each, p_t_test_holm=p, p_randomisation_holm=q, significant=p is not None and p < SIGNIFICANT)
        for each, p, q in zip(compared, t, r, strict=True)
    ]


def not_compared(
    scored: Sequence[Evaluated], evaluator: str, reference: Evaluated | None = None
) -> Iterator[str]:
    """A sentence for every two runs that share too few topics for a test."""
    for a, b in _pairs(scored, reference):
        if (topics := len(_paired(a, b, evaluator))) < _FEWEST:
            problem = f"too few topics are scored for both, {topics} of {_FEWEST} at the least"
            yield f"{a.name} and {b.name} are not compared in {a.dimension} by {evaluator}: {problem}"


def topic_differences(
    scored: Sequence[Evaluated], evaluator: str, reference: Evaluated | None = None
) -> list[TopicDifference]:
    """Every topic of every comparison, those with the largest differences first."""
    titles = scored[0].titles
    return [
        TopicDifference(
            *_key(a, b, evaluator), topic, titles.get(topic, ""), of_a, of_b, difference=of_a - of_b
        )
        for a, b in _pairs(scored, reference)
        for topic, (of_a, of_b) in sorted(
            _paired(a, b, evaluator).items(), key=lambda item: -abs(item[1][0] - item[1][1])
        )
    ]


def run_named(name: str, scored: Sequence[Evaluated]) -> Evaluated:
    """The run with a name, tag or path.

    Raises:
        ToucheError: if there is none.
    """
    for run in scored:
        if name in (run.name, run.tag, str(run.path)):
            return run
    known = choice(name, dict.fromkeys(run.name for run in scored))
    raise ToucheError(f"there is no run {name!r} to refer to; {known}")


def _pairs(scored: Sequence[Evaluated], reference: Evaluated | None) -> Iterator[tuple[Evaluated, Evaluated]]:
    """Every two runs of a dimension; with a reference, each other run and the reference."""
    for dimension in dict.fromkeys(run.dimension for run in scored):
        runs = [run for run in scored if run.dimension == dimension]
        if reference:
            (second,) = (run for run in runs if run.path == reference.path)
            yield from ((run, second) for run in runs if run is not second)
        else:
            yield from combinations(runs, 2)


def _paired(a: Evaluated, b: Evaluated, evaluator: str) -> dict[str, tuple[float, float]]:
    of_a, of_b = (each.topic_scores[evaluator] for each in (a, b))
    return {topic: (of_a[topic].value, of_b[topic].value) for topic in of_a if topic in of_b}


def _key(a: Evaluated, b: Evaluated, evaluator: str) -> tuple[str, str, str, str, str, str, str]:
    return a.name, b.name, a.task.id, a.dimension, a.qrels, str(a.task.measure), evaluator


def _comparison(a: Evaluated, b: Evaluated, evaluator: str, randomisation: bool) -> Comparison:
    """Two runs, with p-values that are not corrected yet."""
    values_a, values_b = zip(*_paired(a, b, evaluator).values(), strict=True)
    differences = list(map(sub, values_a, values_b))
    low, high = bootstrap_interval(differences)
    return Comparison(
        *_key(a, b, evaluator),
        mean_a=fmean(values_a),
        mean_b=fmean(values_b),
        difference=fmean(differences),
        low=low,
        high=high,
        effect_size=effect_size(differences),
        p_t_test=t_test(differences),
        p_t_test_holm=None,
        significant=False,
        p_randomisation=randomisation_test(differences) if randomisation else None,
        p_randomisation_holm=None,
        won=sum(difference > 0 for difference in differences),
        lost=sum(difference < 0 for difference in differences),
        tied=sum(difference == 0 for difference in differences),
        topics=len(differences),
    )
