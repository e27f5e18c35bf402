"""Runs compared pair by pair: differences, paired tests with correction, and the topics that decide."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from touche.errors import ToucheError
from touche.evaluation import MEASURE
from touche.scores import ScoredRun, titles_of
from touche.significance import bootstrap_interval, effect_size, holm, randomisation_test, t_test


@dataclass(frozen=True)
class Comparison:
    """Run A against run B in one dimension, over the topics that the evaluator scores for both.

    Attributes:
        run_a, run_b: tags, or paths where tags are not unique.
        task, dimension, qrels, measure, evaluator: what was measured, as in ``Score``.
        mean_a, mean_b: the means of nDCG@5.
        difference: ``mean_a - mean_b``.
        low, high: its 95% confidence interval, by bootstrap over the topics.
        effect_size: Cohen's d of the paired scores; None where all topics differ by the same amount.
        p_t_test, p_randomisation: two-sided p-values of the paired t-test and randomisation test.
        p_t_test_holm, p_randomisation_holm: the same, corrected for all comparisons made together.
        won, lost, tied: on how many topics A scores higher, lower, the same.
        topics: how many there are.
    """

    run_a: str
    run_b: str
    task: str
    dimension: str
    qrels: str
    measure: str
    evaluator: str
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    effect_size: float | None
    p_t_test: float
    p_t_test_holm: float
    p_randomisation: float
    p_randomisation_holm: float
    won: int
    lost: int
    tied: int
    topics: int


@dataclass(frozen=True)
class TopicDifference:
    """Run A against run B on one topic."""

    run_a: str
    run_b: str
    task: str
    dimension: str
    evaluator: str
    topic: str
    title: str
    value_a: float
    value_b: float
    difference: float


def compare(scored: Sequence[ScoredRun], evaluator: str) -> list[Comparison]:
    """Compares every two runs in every dimension; all comparisons are one family for the correction.

    Args:
        scored: the runs, scored by ``score_runs``.
        evaluator: the one whose scores are compared.

    Raises:
        ToucheError: if there is only one run, or two runs share fewer than two topics.
    """
    if len({each.path for each in scored}) < 2:
        raise ToucheError("one run alone cannot be compared; give two at least")
    compared = [_compare(a, b, evaluator) for a, b in _pairs(scored)]
    t_tests = holm([each.p_t_test for each in compared])
    randomisations = holm([each.p_randomisation for each in compared])
    return [
        replace(each, p_t_test_holm=t, p_randomisation_holm=r)
        for each, t, r in zip(compared, t_tests, randomisations, strict=True)
    ]


def topic_differences(scored: Sequence[ScoredRun], evaluator: str) -> list[TopicDifference]:
    """Every topic of every comparison, those with the largest differences first."""
    return [
        TopicDifference(
            a.name,
            b.name,
            a.task.id,
            a.dimension,
            evaluator,
            topic,
            titles.get(topic, ""),
            of_a,
            of_b,
            of_a - of_b,
        )
        for titles in [titles_of(scored[0].task)]
        for a, b in _pairs(scored)
        for topic, (of_a, of_b) in sorted(
            _paired(a, b, evaluator).items(), key=lambda item: -abs(item[1][0] - item[1][1])
        )
    ]


def _pairs(scored: Sequence[ScoredRun]) -> list[tuple[ScoredRun, ScoredRun]]:
    dimensions = dict.fromkeys(each.dimension for each in scored)
    return [
        pair
        for dimension in dimensions
        for pair in combinations([each for each in scored if each.dimension == dimension], 2)
    ]


def _paired(a: ScoredRun, b: ScoredRun, evaluator: str) -> dict[str, tuple[float, float]]:
    of_a, of_b = (each.evaluations[evaluator].per_topic for each in (a, b))
    return {topic: (of_a[topic], of_b[topic]) for topic in of_a if topic in of_b}


def _compare(a: ScoredRun, b: ScoredRun, evaluator: str) -> Comparison:
    paired = _paired(a, b, evaluator)
    differences = [of_a - of_b for of_a, of_b in paired.values()]
    try:
        t, randomisation = t_test(differences), randomisation_test(differences)
    except ToucheError as error:
        raise ToucheError(f"{a.name} and {b.name}: {error}") from error
    low, high = bootstrap_interval(differences)
    return Comparison(
        run_a=a.name,
        run_b=b.name,
        task=a.task.id,
        dimension=a.dimension,
        qrels=a.task.qrels[a.dimension].file,
        measure=MEASURE,
        evaluator=evaluator,
        mean_a=fmean(of_a for of_a, _ in paired.values()),
        mean_b=fmean(of_b for _, of_b in paired.values()),
        difference=fmean(differences),
        low=low,
        high=high,
        effect_size=effect_size(differences),
        p_t_test=t,
        p_t_test_holm=t,
        p_randomisation=randomisation,
        p_randomisation_holm=randomisation,
        won=sum(difference > 0 for difference in differences),
        lost=sum(difference < 0 for difference in differences),
        tied=sum(difference == 0 for difference in differences),
        topics=len(differences),
    )
