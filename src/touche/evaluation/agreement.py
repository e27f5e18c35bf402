"""How well a rerun agrees with its original: documents, order, scores and effects (Breuer et al. 2020).

"How to Measure the Reproducibility of System-oriented IR Experiments", SIGIR 2020, asks three questions, from
strict to mild. Do both runs rank the same documents in the same order? Do they get the same score on each
topic? Does the rerun improve on the baseline's rerun as much as the original improves on the original
baseline? Only the first question can be answered without judgments. The authors' program is ``repro_eval``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import Any, overload

import numpy as np

from touche import tasks
from touche.errors import ToucheError, warn
from touche.evaluation.equality import are_equal, without_last_digits
from touche.evaluation.judged import judged
from touche.evaluation.leaderboard import unjudged_limit
from touche.evaluation.notes import all_warnings
from touche.evaluation.same_system import IDENTICAL, same_system
from touche.evaluation.scoring import Scored, ranks_stances, score, unique_names
from touche.io.grouping import group_by
from touche.io.identifiers import in_order
from touche.io.progress import watched
from touche.tasks import Task
from touche.tasks.task_records import SCRIPT
from touche.tira.metadata import has_other_statistics
from touche.trec.by_stance import in_rankings, topic_in
from touche.trec.columns import Run
from touche.trec.framed import Table
from touche.trec.run_forms import AnyRun, SeveralRuns, list_of_runs, read_runs, read_sources, run_sources

NEAR = 5  # ranks
FAR = 100  # ranks
PERSISTENCE = 0.95  # rank-biased overlap's p, as in repro_eval 0.5
# It scores topics without results as 0, so that both runs' scores cover the same topics.
EVALUATOR = "trec_eval"


@dataclass(frozen=True)
class Overlap:
    """How well two runs agree, measured without judgments. Values are means over the topics in at least one
    run.

    Attributes:
        run_a, run_b: the runs' names, the original first: tags, or paths if tags aren't unique.
        topics: how many topics are in at least one run.
        overlap_5: how many documents are among the first five results of both runs, divided by the length of
            the longer list (5, unless both lists are shorter); from 0 to 1.
        overlap_100: the same for the first hundred results.
        tau: Kendall's rank correlation of the documents that both runs rank, from -1 to 1. Topics with fewer
            than two common documents don't count. None if no topic counts.
        tau_union: Kendall's tau over the union of both rankings, see ``tau_union``. A topic doesn't count if
            a run lists fewer than two documents, or the runs share none. None if no topic counts.
        rbo: rank-biased overlap, see ``rbo``; 0 for a topic that is only in one run.
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
    """How two runs agree in one dimension, over all judged topics. A topic without results in a run scores 0.

    Attributes:
        task, dataset, dimension, qrels, measure, evaluator: what is scored, as in ``Score``.
        mean_a, mean_b: the mean scores of run A and run B.
        rmse: the root mean square error between topic scores, see ``rmse``.
        effect_ratio, delta_ri: how much of the original's improvement over its baseline is reproduced, see
            the functions with these names. None if no baselines were passed, or if these functions return
            None.
    """

    task: str
    dataset: str
    dimension: str
    qrels: str
    measure: str
    evaluator: str
    mean_a: float
    mean_b: float
    rmse: float
    effect_ratio: float | None
    delta_ri: float | None


@overload
def overlap(runs: SeveralRuns, task: None = None, *, baseline: None = None) -> Table[Overlap]: ...
@overload
def overlap(
    runs: SeveralRuns,
    task: str,
    *,
    baseline: tuple[AnyRun, AnyRun] | None = None,
) -> Table[ScoredOverlap]: ...
def overlap(
    runs: SeveralRuns,
    task: str | None = None,
    *,
    baseline: tuple[AnyRun, AnyRun] | None = None,
) -> Table[Any]:
    """Compares each pair of runs by their documents and, with a task, by their scores.

    Args:
        runs: at least two runs, as for ``evaluate``, an original before its rerun.
        task: the id of the task whose qrels score the runs; None compares only the documents.
        baseline: two runs: the baseline that the first run improves on, and that baseline's rerun. Can only
            be passed together with a task and exactly two runs.

    Returns:
        A ``touche.evaluation.agreement.Overlap`` for each pair of runs; with a task, a ``ScoredOverlap`` for
        each pair and dimension. Shares are from 0 to 1, correlations from -1 to 1, and errors in the unit of
        the measure. ``frame()`` returns the records as a DataFrame.

    Raises:
        ToucheError: if a run is unusable, two runs share no topic, or qrels are missing. Also if there are
            baselines without exactly two runs and a task.

    Examples:
        >>> import touche
        >>> [agreement] = touche.overlap({"mine": {"1": {"a": 2.0, "b": 1.0}}, "theirs": {"1": {"a": 9.0}}})
        >>> agreement.run_a, agreement.run_b, agreement.topics, agreement.overlap_5
        ('mine', 'theirs', 1, 0.5)
    """
    # Runs in a dictionary must get their names (the keys) now: below, they are put into a list together with
    # the baselines, and lists have no keys.
    originals = read_runs(runs, distinct=False) if isinstance(runs, Mapping) else list_of_runs(runs)
    baselines = list_of_runs(baseline or [])
    if baselines and (task is None or len(originals) != 2 or len(baselines) != 2):
        problem = "baseline compares the scores of exactly two runs"
        raise ToucheError(f"{problem}; pass two runs, two baselines and a task")
    sources = run_sources([*originals, *baselines], distinct=False)
    if len(originals) < 2:
        raise ToucheError("an overlap needs at least two runs; pass another")
    scored = list[Scored]()
    scored_by_script = list[Scored]()  # by the evaluator that computed the published values of topics
    if task is None:
        all_runs = in_rankings(read_sources(sources))
        card = None
    else:
        card = tasks.task(task)
        rankings = [name for name in card.qrels if name != tasks.STANCE]
        if not rankings:
            raise ToucheError(f"{card.id} judges only stances, and no rankings; omit the task")
        to_judge = judged(card, dimensions=rankings)
        as_read = read_sources(sources, by_stance=ranks_stances(to_judge))
        # Without duplicates, because a baseline can also be one of the runs.
        distinct_runs = {run.path: run for run in as_read}
        scored = score([*distinct_runs.values()], to_judge, [EVALUATOR])
        scored_by_script = score([*distinct_runs.values()], to_judge, [SCRIPT])
        lines = {
            scored_run.run.path: scored_run.run for scored_run in scored
        }  # already divided into rankings
        all_runs = [_with_topics_of(card, lines[run.path]) for run in as_read]
    compared_runs = all_runs[: len(originals)]
    baseline_runs = all_runs[len(originals) :]
    pairs = [*combinations(compared_runs, 2)]
    names = unique_names({run.path: run.tag for run in all_runs})
    by_run = {(scored_run.run.path, scored_run.judged.dimension): scored_run for scored_run in scored}
    records = list[Overlap]()
    for a, b in watched(pairs, "comparing", "pairs of runs", len(pairs)):
        unscored = overlap_of(a, b, (names[a.path], names[b.path]))
        if card is None:
            records.append(unscored)
            continue
        for dimension in dict.fromkeys(scored_run.judged.dimension for scored_run in scored):
            of_pair = [by_run[run.path, dimension] for run in (a, b, *baseline_runs)]
            records.append(scored_overlap(unscored, card, *of_pair))
    warnings = all_warnings(scored, card)
    for warning in warnings:
        warn(warning)
    if card is None:
        return Table(Overlap, tuple(records), warnings)
    notes = _verdicts(card, pairs, names, scored_by_script)
    return Table(ScoredOverlap, tuple(records), warnings, notes)


def _with_topics_of(task: Task, run: Run) -> Run:
    """Returns a run's lines for the topics of a dataset that has only some of its task's topics."""
    if not task.only_topics:
        return run
    kept = [indices for name, indices in run.by_topic.items() if topic_in(name) in task.only_topics]
    return run.take(np.concatenate(kept) if kept else [])


def _verdicts(
    task: Task, pairs: Sequence[tuple[Run, Run]], names: Mapping[Path, str], scored: Sequence[Scored]
) -> tuple[str, ...]:
    """Returns one sentence or more per pair of runs: whether both were produced by the same system.

    Args:
        task: the task.
        pairs: the pairs of runs.
        names: the runs' names by path.
        scored: the scores of all runs, computed by the organizers' script.

    Returns:
        Sentences about pairs for which something can be said. That isn't possible for runs that differ if
        many of their first documents are unjudged, or if the measure isn't nDCG@5, because only values of
        nDCG@5 are published for each topic.
    """
    values = {
        path: {one.judged.dimension: one.evaluation.per_topic for one in of_run}
        for path, of_run in group_by(scored, lambda one: one.run.path).items()
    }
    measure = scored[0].judged.measure
    limit = unjudged_limit(task, measure)
    unjudged = {one.run.path for one in scored if one.evaluation.unjudged > limit}
    verdicts = []
    for a, b in pairs:
        if a.called("") == b.called(""):
            verdict = f"All results are equal: {IDENTICAL}."
        elif {a.path, b.path} & unjudged:  # there is already a warning about these runs
            continue
        else:
            fitted = has_other_statistics(b.path)
            verdict = same_system(task, str(measure), values[a.path], values[b.path], a.tag, fitted=fitted)
        if verdict:
            verdicts.append(f"{names[a.path]} and {names[b.path]}: {verdict}" if len(pairs) > 1 else verdict)
    return tuple(verdicts)


def overlap_of(a: Run, b: Run, names: tuple[str, str]) -> Overlap:
    """Compares two runs without judgments, each in trec_eval's order.

    Args:
        a: the original.
        b: the rerun.
        names: the names of both runs, for ``Overlap.run_a`` and ``Overlap.run_b``.

    Raises:
        ToucheError: if the runs share no topic.
    """
    if not a.by_score.keys() & b.by_score.keys():
        raise ToucheError(f"{' and '.join(names)} have no topic in common; pass runs of one task")
    run_a, run_b = names
    ranked_a = a.documents_of(a.by_score)
    ranked_b = b.documents_of(b.by_score)
    lists = [
        (ranked_a.get(topic, []), ranked_b.get(topic, [])) for topic in ranked_a.keys() | ranked_b.keys()
    ]
    # Without a common document, tau_union would be 1, so it skips these topics; tau is None there.
    with_common = [(list_a, list_b) for list_a, list_b in lists if not set(list_a).isdisjoint(list_b)]
    return Overlap(
        run_a=run_a,
        run_b=run_b,
        topics=len(lists),
        overlap_5=fmean(_common_share(list_a[:NEAR], list_b[:NEAR]) for list_a, list_b in lists),
        overlap_100=fmean(_common_share(list_a[:FAR], list_b[:FAR]) for list_a, list_b in lists),
        tau=_mean([tau(list_a, list_b) for list_a, list_b in lists]),
        tau_union=_mean([tau_union(list_a, list_b) for list_a, list_b in with_common]),
        rbo=fmean(rbo(list_a, list_b) for list_a, list_b in lists),
    )


def scored_overlap(unscored: Overlap, task: Task, a: Scored, b: Scored, *baselines: Scored) -> ScoredOverlap:
    """Adds to an ``Overlap`` how well the runs' scores agree.

    Args:
        unscored: how well they agree, measured without judgments; from ``overlap_of``.
        task: their task.
        a, b: the scored original and the scored rerun, in one dimension. The evaluator is trec_eval, unless
            only touche knows the measure.
        baselines: the scored baseline of the original and of the rerun, in the same dimension; or nothing.
    """
    evaluations = [scored_run.evaluation.per_topic for scored_run in (a, b, *baselines)]
    topics = sorted(set[str]().union(*evaluations), key=in_order)
    # A topic without results counts as 0, even if the evaluator leaves it out.
    scores_a, scores_b, *scores_of_baselines = (
        [values.get(topic, 0.0) for topic in topics] for values in evaluations
    )
    mean_a = without_last_digits(fmean(scores_a))
    mean_b = without_last_digits(fmean(scores_b))
    effect = None
    ri_difference = None
    if scores_of_baselines:
        baseline_a, baseline_b = map(fmean, scores_of_baselines)
        effect = effect_ratio(mean_a, baseline_a, mean_b, baseline_b)
        ri_difference = delta_ri(mean_a, baseline_a, mean_b, baseline_b)
    return ScoredOverlap(
        **vars(unscored),
        task=task.id,
        dataset=task.dataset,
        dimension=a.judged.dimension,
        qrels=a.judged.file,
        measure=str(a.judged.measure),
        evaluator=a.evaluator,
        mean_a=mean_a,
        mean_b=mean_b,
        rmse=rmse(scores_a, scores_b),
        effect_ratio=effect,
        delta_ri=ri_difference,
    )


def tau(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Returns Kendall's rank correlation of the documents in both lists: (P - Q) / (P + Q).

    P pairs of documents are in the same order in both lists, Q pairs aren't.

    Returns:
        The value is from -1 (reversed order) to 1 (same order); None if the lists have fewer than two common
        documents.
    """
    positions = _positions(b)
    return _kendall([positions[document] for document in a if document in positions])


def tau_union(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Returns Kendall's tau over the union of two rankings.

    The union is the original's ranking, followed by the documents that are only in the rerun, in its order.
    Each document is replaced with its position in the union, so the original becomes 1, 2, ..., n. Tau
    compares these two lists of positions. For example, a b c d and b e c f become 1 2 3 4 and 2 5 3 6, whose
    tau is (5 - 1) / 6. A new document only counts against the rerun if it precedes an old one. Runs with
    nothing in common have tau 1, so read tau together with the overlap. The longer list is cut to the shorter
    one's length.

    ``repro_eval`` 0.5 numbers the union by document ids instead. Its value therefore depends on the ids, and
    is near 0 even for similar runs. If the ids are in union order, both values are equal.

    Args:
        a: the original's ranking.
        b: the rerun's ranking; tau isn't symmetric.

    Returns:
        A value from -1 to 1; None if, after cutting, the lists contain fewer than two documents.
    """
    length = min(len(a), len(b))
    positions = _positions(dict.fromkeys([*a[:length], *b[:length]]))
    return _kendall([positions[document] for document in b[:length]])


def rbo(a: Sequence[str], b: Sequence[str]) -> float:
    """Returns rank-biased overlap (Webber et al. 2010), a weighted mean of the overlap down to each rank d.

    The overlap is |first d of a ∩ first d of b| / d, for d from 1 to the longer list's length. Its weight is
    p^(d - 1), p = 0.95, so 85% of the weight is on a long list's first 20 ranks. ``repro_eval`` uses the same
    formula, but always down to rank 1000, so short runs get less than 1 even if they're equal.

    Returns:
        A value from 0 (nothing in common) to 1 (the same list). It's 0 if one of the lists is empty.
    """
    positions_a = _positions(a)
    positions_b = _positions(b)
    # A document that is in both lists counts only from the later of its two positions on, because the first d
    # documents of both lists contain it only from there.
    later_positions = [
        max(positions_a[document], positions_b[document]) for document in positions_a.keys() & positions_b
    ]
    depths = np.arange(1, max(len(a), len(b)) + 1)
    shared = np.cumsum(np.bincount(np.array(later_positions, dtype=int), minlength=len(depths)))
    return float(np.average(shared / depths, weights=PERSISTENCE ** (depths - 1)))


def rmse(a: Sequence[float], b: Sequence[float]) -> float:
    """Returns the root mean square error: the root of the mean over topics of (score in a - score in b)^2.

    Args:
        a, b: scores for the same topics.

    Returns:
        From 0 (equal scores) to the measure's largest score, such as 1 for nDCG.
    """
    return sqrt(fmean((score_a - score_b) ** 2 for score_a, score_b in zip(a, b, strict=True)))


def effect_ratio(a: float, baseline_a: float, b: float, baseline_b: float) -> float | None:
    """Returns the effect ratio: the rerun's mean improvement divided by the original's, (b - B) / (a - A).

    Args:
        a, baseline_a: mean scores of the original and its baseline.
        b, baseline_b: the reruns' mean scores.

    Returns:
        1 if the rerun's improvement is as large as the original's, less than 1 if it's smaller, 0 if the
        rerun doesn't improve, negative if it is worse than its baseline. None if the original doesn't improve
        on its baseline, because then the ratio is undefined.
    """
    return None if are_equal(a, baseline_a) else (b - baseline_b) / (a - baseline_a)


def delta_ri(a: float, baseline_a: float, b: float, baseline_b: float) -> float | None:
    """Returns Delta RI: the original's relative improvement minus the rerun's, (a - A) / A - (b - B) / B.

    Args:
        a, baseline_a: mean scores of the original and its baseline.
        b, baseline_b: the reruns' mean scores.

    Returns:
        0 if both relative improvements are equal, positive if the rerun's is smaller. None if one of the
        baselines scores 0, because one can't divide by that.
    """
    if not (baseline_a and baseline_b):
        return None
    return (a - baseline_a) / baseline_a - (b - baseline_b) / baseline_b


def _common_share(a: Sequence[str], b: Sequence[str]) -> float:
    """Returns the number of documents in both lists, divided by the longer list's length."""
    return len(set(a) & set(b)) / max(len(a), len(b))


def _positions(documents: Iterable[str]) -> dict[str, int]:
    """Returns each document's position in the list, counted from 0."""
    return {document: position for position, document in enumerate(documents)}


def _kendall(positions: Sequence[int]) -> float | None:
    """Returns Kendall's tau for two rankings of the same documents; None for fewer than two documents.

    Args:
        positions: the documents' positions in one ranking, in the other ranking's order.
    """
    from scipy.stats import kendalltau  # takes 620 ms

    return float(kendalltau(range(len(positions)), positions).statistic) if len(positions) > 1 else None


def _mean(correlations: Sequence[float | None]) -> float | None:
    """Returns the mean of the values that aren't None."""
    defined = [correlation for correlation in correlations if correlation is not None]
    return fmean(defined) if defined else None
