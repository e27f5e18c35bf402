"""Pairwise comparison of runs: differences, paired tests with correction, and decisive topics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
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
from touche.io.progress import watched
from touche.tasks import STANCE

_FEWEST = 2  # common topics that a test needs

_About = tuple[str, str, str, str, str, str, str]  # fields of a pair of runs
_Pair = tuple[_About, Mapping[str, tuple[float, float]]]  # with both scores of each common topic


@dataclass(frozen=True)
class PairOfRuns:
    """Run A and run B in one dimension.

    Attributes:
        run_a, run_b: tags, or paths if tags are not unique.
        task, dimension, qrels, measure, evaluator: subject of the scores, as in ``Subject``.
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
    """Comparison of run A with run B in one dimension, over topics that the evaluator scores for both.

    Attributes:
        mean_a, mean_b: means of the measure.
        difference: ``mean_a - mean_b``.
        low, high: 95% confidence interval of the difference, by bootstrap over the topics; not corrected for
            the number of comparisons.
        effect_size: Cohen's d of the paired scores; None if all topics differ by the same amount.
        p_t_test: two-sided p-value of the paired t-test; 0 if all topics differ by the same amount.
        p_t_test_holm: the p-value corrected for all comparisons made together.
        significant: whether the corrected p-value is below 0.05.
        p_randomisation, p_randomisation_holm: p-values of the paired randomisation test; None unless
            requested.
        won, lost, tied: numbers of topics on which A scores higher, lower and equal.
        topics: number of compared topics.
        results: N, number of documents with a judged stance that both runs have; None for rankings. Stances
            have no test.
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
    """Difference of run A and run B on one topic; attributes as in ``PairOfRuns`` and ``TopicScore``."""

    topic: str
    title: str
    value_a: float
    value_b: float
    difference: float


def comparisons(
    runs: Sequence[Evaluated], evaluator: str, reference: Evaluated | None = None, randomisation: bool = False
) -> tuple[list[Comparison], list[str]]:
    """Compares runs in every dimension; the correction is for all comparisons together.

    Args:
        runs: evaluated runs.
        evaluator: evaluator whose scores are compared.
        reference: run to compare each other run with; None compares all pairs.
        randomisation: whether to add the randomisation test, which takes longer.

    Returns:
        The comparisons, and a sentence for each pair of runs that shares too few topics for a test.

    Raises:
        ToucheError: if there is only one run.
    """
    if len({run.path for run in runs}) < 2:
        raise ToucheError("a comparison needs at least two runs; pass another")
    compared, faults = list[Comparison](), list[str]()
    ranked = [run for run in runs if run.is_ranking]
    pairs = list(_pairs(ranked, evaluator, reference))
    for about, scores in watched(pairs, "testing", "comparisons", len(pairs)):
        if len(scores) >= _FEWEST:
            compared.append(_comparison(about, scores, randomisation))
        else:
            problem = f"{len(scores)} topics are scored for both, but a test needs {_FEWEST}"
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
    """Returns every topic of every comparison, largest differences first."""
    titles = runs[0].titles
    return [
        TopicDifference(*about, topic, titles.get(topic, ""), a, b, difference=a - b)
        for about, scores in _pairs([run for run in runs if run.is_ranking], evaluator, reference)
        for topic, (a, b) in sorted(scores.items(), key=lambda item: -abs(item[1][0] - item[1][1]))
    ]


def run_named(name: str | Path, runs: Sequence[Evaluated]) -> Evaluated:
    """Returns a run by its path, or by its name or tag if ``name`` is a text.

    Raises:
        ToucheError: if there is none, or several runs have this tag.
    """
    for run in runs:
        if run.path == name or (isinstance(name, str) and name in (run.name, str(run.path))):
            return run
    tagged = [run for run in runs if run.tag == name]
    paths = [*dict.fromkeys(str(run.path) for run in tagged)]
    if len(paths) > 1:
        raise ToucheError(f"{len(paths)} runs have the tag {name!r}; pass a path, such as {paths[0]}")
    if not tagged:
        known = choice(str(name), dict.fromkeys(run.name for run in runs))
        raise ToucheError(f"no run is called {str(name)!r}; {known}")
    return tagged[0]


def _pairs(runs: Sequence[Evaluated], evaluator: str, reference: Evaluated | None) -> Iterator[_Pair]:
    """Yields each pair of runs of a dimension, with the scores of common topics."""
    for a, b in _pairs_of_runs(runs, reference):
        of_a, of_b = (run.topic_scores[evaluator] for run in (a, b))
        scores = {topic: (of_a[topic].value, of_b[topic].value) for topic in of_a if topic in of_b}
        yield _about(a, b, evaluator), scores


def _pairs_of_runs(
    runs: Sequence[Evaluated], reference: Evaluated | None
) -> Iterator[tuple[Evaluated, Evaluated]]:
    """Yields each pair of runs of a dimension; with a reference, each other run and the reference."""
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
    """Compares two runs on the documents with a judged stance that both have."""
    first, second, interval = stance_difference(a.lines, b.lines, a.judgments, a.task.stances)
    one, other = first.mean or 0.0, second.mean or 0.0
    untested: tuple[Any, ...] = (None,) * 9
    figures = one, other, one - other, *interval, *untested, first.topics, first.results
    return Comparison(*_about(a, b, "touche"), *figures)


def _comparison(about: _About, scores: Mapping[str, tuple[float, float]], randomisation: bool) -> Comparison:
    """Compares two runs, without correcting the p-values."""
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
