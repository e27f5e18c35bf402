"""Runs compared pair by pair: differences, paired tests with correction, and the topics that decide."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
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
class Comparison:
    """Run A against run B in one dimension, over the topics that the evaluator scores for both.

    Attributes:
        run_a, run_b: tags, or paths where tags are not unique.
        task, dimension, qrels, measure, evaluator: what was measured, as in ``Score``.
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
class TopicDifference:
    """Run A against run B on one topic; attributes as those of ``Comparison`` and ``TopicScore``."""

    run_a: str
    run_b: str
    task: str
    dimension: str
    qrels: str
    measure: str
    evaluator: str
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
    differences = [[of_a - of_b for of_a, of_b in _paired(*pair, evaluator).values()] for pair in pairs]
    t = [t_test(each) for each in differences]
    r = [
        randomisation_test(each) if randomisation else None
        for each in watched(differences, "testing", "comparisons", len(pairs))
    ]
    p_values = zip(t, holm(t), r, holm(r), strict=True)
    tested = zip(pairs, differences, p_values, strict=True)
    return [
        _comparison(*pair, evaluator, of_pair, *p)
        for pair, of_pair, p in watched(tested, "bootstrap", "comparisons", len(pairs))
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


def _comparison(
    a: Evaluated,
    b: Evaluated,
    evaluator: str,
    differences: Sequence[float],
    t: float | None,
    t_holm: float | None,
    randomisation: float | None,
    randomisation_holm: float | None,
) -> Comparison:
    values_a, values_b = zip(*_paired(a, b, evaluator).values(), strict=True)
    return Comparison(
        *_key(a, b, evaluator),
        fmean(values_a),
        fmean(values_b),
        fmean(differences),
        *bootstrap_interval(differences),
        effect_size(differences),
        p_t_test=t,
        p_t_test_holm=t_holm,
        significant=t_holm is not None and t_holm < SIGNIFICANT,
        p_randomisation=randomisation,
        p_randomisation_holm=randomisation_holm,
        won=sum(difference > 0 for difference in differences),
        lost=sum(difference < 0 for difference in differences),
        tied=sum(difference == 0 for difference in differences),
        topics=len(differences),
    )
