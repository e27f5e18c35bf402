"""Runs compared pair by pair: differences, paired tests with correction, and the topics that decide."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import Any

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
from touche.evaluation.stances import stance_difference
from touche.progress import watched
from touche.tasks import STANCE

_FEWEST = 2  # topics that two runs have to share for a test

_About = tuple[str, str, str, str, str, str, str]  # the fields of a pair of runs
_Pair = tuple[_About, Mapping[str, tuple[float, float]]]  # with both scores of the topics that both have


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
        results: N, on how many documents with a judged stance both runs are compared; None for rankings. No
            test is made of stances.
    """

    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    effect_size: float | None
    p_t_test: float | None
    p_t_test_holm: float | None
    significant: bool | None
    p_randomisation: float | None
    p_randomisation_holm: float | None
    won: int | None
    lost: int | None
    tied: int | None
    topics: int
    results: int | None = None


@dataclass(frozen=True)
class TopicDifference(PairOfRuns):
    """Run A against run B on one topic; attributes as those of ``PairOfRuns`` and ``TopicScore``."""

    topic: str
    title: str
    value_a: float
    value_b: float
    difference: float


def comparisons(
    runs: Sequence[Evaluated], evaluator: str, reference: Evaluated | None = None, randomisation: bool = False
) -> tuple[list[Comparison], list[str]]:
    """Compares runs in every dimension; all comparisons are one family for the correction.

    Args:
        runs: the runs, evaluated.
        evaluator: the one whose scores are compared.
        reference: the run to compare each other run with; every two runs are compared if it is None.
        randomisation: whether the randomisation test is made, too, which takes longer.

    Returns:
        The comparisons; and a sentence for every two runs that share too few topics for a test.

    Raises:
        ToucheError: if there is only one run.
    """
    if len({run.path for run in runs}) < 2:
        raise ToucheError("one run alone cannot be compared; give two at least")
    compared, faults = list[Comparison](), list[str]()
    ranked = [run for run in runs if run.is_ranking]
    pairs = list(_pairs(ranked, evaluator, reference))
    for about, scores in watched(pairs, "testing", "comparisons", len(pairs)):
        if len(scores) >= _FEWEST:
            compared.append(_comparison(about, scores, randomisation))
        else:
            problem = f"too few topics are scored for both, {len(scores)} of {_FEWEST} at the least"
            a, b, _, dimension, *_ = about
            faults.append(f"{a} and {b} are not compared in {dimension} by {evaluator}: {problem}")
    t = holm([comparison.p_t_test for comparison in compared])
    r = holm([comparison.p_randomisation for comparison in compared])
    tested = [
        replace(each, p_t_test_holm=p, p_randomisation_holm=q, significant=p is not None and p < SIGNIFICANT)
        for each, p, q in zip(compared, t, r, strict=True)
    ]
    detected = [run for run in runs if not run.is_ranking]
    for one, other in _pairs_of_runs(detected, reference):
        try:
            tested.append(_of_stances(one, other))
        except ToucheError as error:
            faults.append(f"{one.name} and {other.name} are not compared in {STANCE}: {error}")
    return tested, faults


def topic_differences(
    runs: Sequence[Evaluated], evaluator: str, reference: Evaluated | None = None
) -> list[TopicDifference]:
    """Every topic of every comparison, those with the largest differences first."""
    titles = runs[0].titles
    return [
        TopicDifference(*about, topic, titles.get(topic, ""), a, b, difference=a - b)
        for about, scores in _pairs([run for run in runs if run.is_ranking], evaluator, reference)
        for topic, (a, b) in sorted(scores.items(), key=lambda item: -abs(item[1][0] - item[1][1]))
    ]


def run_named(name: str, runs: Sequence[Evaluated]) -> Evaluated:
    """The run with a name, tag or path.

    Raises:
        ToucheError: if there is none.
    """
    for run in runs:
        if name in (run.name, run.tag, str(run.path)):
            return run
    known = choice(name, dict.fromkeys(run.name for run in runs))
    raise ToucheError(f"there is no run {name!r} to refer to; {known}")


def _pairs(runs: Sequence[Evaluated], evaluator: str, reference: Evaluated | None) -> Iterator[_Pair]:
    """Every two runs of a dimension, with the scores of the topics that both have."""
    for a, b in _pairs_of_runs(runs, reference):
        of_a, of_b = (run.topic_scores[evaluator] for run in (a, b))
        scores = {topic: (of_a[topic].value, of_b[topic].value) for topic in of_a if topic in of_b}
        yield _about(a, b, evaluator), scores


def _pairs_of_runs(
    runs: Sequence[Evaluated], reference: Evaluated | None
) -> Iterator[tuple[Evaluated, Evaluated]]:
    """Every two runs of a dimension; with a reference, each other run and the reference."""
    for dimension in dict.fromkeys(run.dimension for run in runs):
        of_dimension = [run for run in runs if run.dimension == dimension]
        if reference:
            (second,) = (run for run in of_dimension if run.path == reference.path)
            yield from ((run, second) for run in of_dimension if run is not second)
        else:
            yield from combinations(of_dimension, 2)


def _about(a: Evaluated, b: Evaluated, evaluator: str) -> _About:
    return a.name, b.name, a.task.id, a.dimension, a.qrels, str(a.measure), evaluator


def _of_stances(a: Evaluated, b: Evaluated) -> Comparison:
    """Two runs on the documents with a judged stance that both have."""
    first, second, interval = stance_difference(a.lines, b.lines, a.judgments, a.task.stances)
    one, other = first.mean or 0.0, second.mean or 0.0
    untested: tuple[Any, ...] = (None,) * 9
    figures = one, other, one - other, *interval, *untested, first.topics, first.results
    return Comparison(*_about(a, b, "touche"), *figures)


def _comparison(about: _About, scores: Mapping[str, tuple[float, float]], randomisation: bool) -> Comparison:
    """Two runs, with p-values that are not corrected yet."""
    differences = [a - b for a, b in scores.values()]
    won, lost = (sum(sign * each > 0 for each in differences) for sign in (1, -1))
    figures: tuple[Any, ...] = (
        *(fmean(values) for values in (*zip(*scores.values(), strict=True), differences)),
        *bootstrap_interval(differences),
        effect_size(differences),
        *(t_test(differences), None, False),
        *(randomisation_test(differences) if randomisation else None, None),
        *(won, lost, len(differences) - won - lost, len(differences)),
    )
    return Comparison(*about, *figures)
