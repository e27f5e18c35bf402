"""How close a rerun is to its original: documents, their order, scores and effects (Breuer et al. 2020).

«How to Measure the Reproducibility of System-oriented IR Experiments», SIGIR 2020, goes from the strictest
question to the mildest: is it the same order, are the topics' scores the same, does one run still improve on
another one? Only the first can be asked without judgments. The authors' own program is ``repro_eval``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import combinations
from math import isclose, sqrt
from operator import sub
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from touche.errors import ToucheError
from touche.evaluation.scores import Evaluated
from touche.evaluation.significance import t_test
from touche.formats.columns import Run
from touche.formats.runs import read_run

NEAR, FAR = 5, 100  # ranks
PERSISTENCE = 0.95  # p of rank-biased overlap, as in repro_eval 0.5
EVALUATOR = "trec_eval"  # for it scores every topic, also one that a run lacks

Rankings = Mapping[str, Sequence[str]]  # the documents of each topic, best first
_Run = tuple[Path, Rankings]


@dataclass(frozen=True)
class Overlap:
    """How far two runs agree without judgments; all figures are means over the topics that one of them has.

    Attributes:
        run_a, run_b: the paths of the run files, the original first.
        topics: the number of topics that one of them has.
        overlap_5: the share of the first five results that both have, of the longer list.
        overlap_100: the same of the first hundred.
        tau: Kendall's rank correlation of the documents that both rank, from -1 to 1; topics with fewer than
            two of these do not count. None if there is no such topic.
        tau_union: Kendall's tau over the union of both rankings, see ``tau_union``; topics where a run has
            fewer than two documents, or none in common, do not count. None if there is no other.
        rbo: rank-biased overlap, see ``rbo``; 0 for a topic that one of them lacks.
    """

    run_a: str
    run_b: str
    topics: int
    overlap_5: float
    overlap_100: float
    tau: float | None
    tau_union: float | None
    rbo: float


@dataclass(frozen=True)
class ScoredOverlap(Overlap):
    """How far two runs agree by the judgments of one dimension, over all judged topics.

    A topic that a run lacks has the score 0 there.

    Attributes:
        task, dimension, qrels, measure, evaluator: what was measured, as in ``Score``.
        mean_a, mean_b: the means of the measure.
        rmse: root mean square error of the topics' scores, see ``rmse``.
        p_t_test: the two-sided p-value of the paired t-test; None where all topics differ by the same amount.
        effect_ratio, delta_ri: whether an improvement shows again, see the functions of these names; None
            where they are not defined, or no baseline is given.
    """

    task: str
    dimension: str
    qrels: str
    measure: str
    evaluator: str
    mean_a: float
    mean_b: float
    rmse: float
    p_t_test: float | None
    effect_ratio: float | None
    delta_ri: float | None


def overlaps(runs: Sequence[Path | Run]) -> Iterator[Overlap]:
    """Every two of several runs.

    Raises:
        ToucheError: if there are fewer than two, one is unusable, or two have no topic in common.
    """
    read = [run if isinstance(run, Run) else read_run(run) for run in runs]
    paths = [run.path for run in read]
    for (a, of_a), (b, of_b) in _pairs({run.path: rankings(run) for run in read}, paths):
        yield overlap(of_a, of_b, (str(a), str(b)))


def scored_overlaps(
    paths: Sequence[Path], evaluated: Sequence[Evaluated], baseline: Sequence[Path] = ()
) -> Iterator[ScoredOverlap]:
    """Every two of several runs in every dimension.

    Args:
        paths: the run files.
        evaluated: these and the baseline, evaluated by trec_eval.
        baseline: none, or two files: what two runs improve on, that of the original and that of the rerun.

    Raises:
        ToucheError: if there are fewer than two, or two have no topic in common.
    """
    runs = {(run.path, run.dimension): run for run in evaluated}
    for (a, of_a), (b, of_b) in _pairs({run.path: rankings(run.lines) for run in evaluated}, paths):
        unscored = overlap(of_a, of_b, (str(a), str(b)))
        for dimension in dict.fromkeys(run.dimension for run in evaluated):
            yield scored_overlap(unscored, *(runs[path, dimension] for path in (a, b, *baseline)))


def overlap(a: Rankings, b: Rankings, names: tuple[str, str]) -> Overlap:
    """Two runs without judgments.

    Args:
        a: the rankings of the original.
        b: those of its rerun.
        names: what both are called in the record.

    Raises:
        ToucheError: if they have no topic in common.
    """
    if not a.keys() & b.keys():
        raise ToucheError(f"{' and '.join(names)} have no topic in common; give runs of one task")
    lists = [(a.get(topic, []), b.get(topic, [])) for topic in a.keys() | b.keys()]
    near, far = (fmean(_shared(of_a[:depth], of_b[:depth]) for of_a, of_b in lists) for depth in (NEAR, FAR))
    taus = _mean([tau(*both) for both in lists])
    union = _mean([tau_union(*both) for both in lists if not set(both[0]).isdisjoint(both[1])])
    return Overlap(*names, len(lists), near, far, taus, union, fmean(rbo(*both) for both in lists))


def scored_overlap(unscored: Overlap, a: Evaluated, b: Evaluated, *baselines: Evaluated) -> ScoredOverlap:
    """The same two runs by judgments.

    Args:
        unscored: their agreement without judgments.
        a, b: original and rerun, in one dimension, evaluated by trec_eval.
        baselines: none, or what each of them improves on, in the same dimension.
    """
    values = [[score.value for score in run.topic_scores[EVALUATOR].values()] for run in (a, b, *baselines)]
    means = [fmean(scores) for scores in values]
    of_both = means[0:3:2] + means[1:4:2]  # of the original and its baseline, of the rerun and its baseline
    effects = (effect_ratio(*of_both), delta_ri(*of_both)) if baselines else (None, None)
    measured = a.task.id, a.dimension, a.qrels, str(a.task.measure), EVALUATOR
    tests = rmse(values[0], values[1]), t_test(list(map(sub, values[0], values[1])))
    record: tuple[Any, ...] = (*astuple(unscored), *measured, *means[:2], *tests, *effects)
    return ScoredOverlap(*record)


def tau(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Kendall's rank correlation of the documents that both lists have: (P - Q) / (P + Q).

    P pairs of them are in the same order in both lists, Q are not.

    Returns:
        From -1 (reversed) to 1 (the same order); None with fewer than two common documents.
    """
    places = {document: place for place, document in enumerate(b)}
    return _kendall([places[document] for document in a if document in places])


def tau_union(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Kendall's tau over the union of two rankings.

    The union is the original's ranking and below it what only the rerun has, in its order. Each document
    stands for its place there, so that the original reads 1, 2, ..., n; tau is that of these two lists of
    places. For example a b c d and b e c f are 1 2 3 4 and 2 5 3 6, and tau is (5 - 1) / 6. A new document
    counts against the rerun only where it stands before an old one: with nothing in common tau is 1, so it is
    to be read beside the overlap. The longer list is cut to the length of the shorter one.

    ``repro_eval`` 0.5 numbers the union by document ids instead, so that its figure changes with their names,
    and is near 0 even for like runs; where ids are in the order of the union it is this one.

    Args:
        a: the original.
        b: the rerun; the other way round the figure can be another one.

    Returns:
        From -1 to 1; None if a list has fewer than two documents.
    """
    length = min(len(a), len(b))
    union = dict.fromkeys([*a[:length], *b[:length]])
    places = {document: place for place, document in enumerate(union)}
    return _kendall([places[document] for document in b[:length]])


def rbo(a: Sequence[str], b: Sequence[str]) -> float:
    """Rank-biased overlap (Webber et al. 2010): the shared part of the first d results, early d first.

    The mean over the depths d from 1 to the length of the longer list of |first d of a ∩ first d of b| / d,
    weighted by p^(d - 1), p = 0.95: of a long list the first 20 ranks have 85% of the weight. That is the
    formula of ``repro_eval``, but for its depth of 1000 for lists of any length, at which a short run would
    disagree with itself.

    Returns:
        From 0 (nothing in common) to 1 (the same list); 0 if one of them is empty.
    """
    place_in_a, place_in_b = ({each: place for place, each in enumerate(run)} for run in (a, b))
    enter = [max(place, place_in_b[each]) for each, place in place_in_a.items() if each in place_in_b]
    depths = np.arange(1, max(len(a), len(b)) + 1)
    shared = np.cumsum(np.bincount(np.array(enter, dtype=int), minlength=len(depths)))
    return float(np.average(shared / depths, weights=PERSISTENCE ** (depths - 1)))


def rmse(a: Sequence[float], b: Sequence[float]) -> float:
    """Root mean square error: the root of the mean over the topics of (score in a - score in b) squared.

    Args:
        a, b: the scores of the same topics.

    Returns:
        From 0 (the same scores) to 1, in the unit of the score.
    """
    return sqrt(fmean((of_a - of_b) ** 2 for of_a, of_b in zip(a, b, strict=True)))


def effect_ratio(a: float, baseline_a: float, b: float, baseline_b: float) -> float | None:
    """ER: the rerun's mean improvement on its baseline over the original's, (b - B) / (a - A).

    Args:
        a, baseline_a: mean scores of the original and of what it improves on.
        b, baseline_b: those of the reruns.

    Returns:
        1 if the effect has the same size, less if it is smaller, 0 if there is none, below 0 if it is turned
        round; None where the original has no effect.
    """
    return None if isclose(a, baseline_a, rel_tol=1e-9) else (b - baseline_b) / (a - baseline_a)


def delta_ri(a: float, baseline_a: float, b: float, baseline_b: float) -> float | None:
    """Delta RI: the original's relative improvement less the rerun's, (a - A) / A - (b - B) / B.

    Args:
        a, baseline_a: mean scores of the original and of what it improves on.
        b, baseline_b: those of the reruns.

    Returns:
        0 if both are the same, above 0 if the rerun's is smaller; None where a baseline scores 0.
    """
    if not (baseline_a and baseline_b):
        return None
    return (a - baseline_a) / baseline_a - (b - baseline_b) / baseline_b


def rankings(run: Run) -> Rankings:
    """The documents of each topic, best first, in the order of trec_eval."""
    return run.documents_of(run.by_score)


def _pairs(runs: Mapping[Path, Rankings], paths: Sequence[Path]) -> Iterator[tuple[_Run, _Run]]:
    if len(paths) < 2:
        raise ToucheError("there are fewer than two runs; give two at least")
    return combinations([(path, runs[path]) for path in paths], 2)


def _shared(a: Sequence[str], b: Sequence[str]) -> float:
    return len(set(a) & set(b)) / max(len(a), len(b))


def _kendall(places: Sequence[int]) -> float | None:
    """Kendall's tau of different numbers with 1, 2, ..., n."""
    from scipy.stats import kendalltau  # here, for it takes a second to import

    return float(kendalltau(range(len(places)), places).statistic) if len(places) > 1 else None


def _mean(figures: Sequence[float | None]) -> float | None:
    """The mean of those that are defined."""
    defined = [figure for figure in figures if figure is not None]
    return fmean(defined) if defined else None
