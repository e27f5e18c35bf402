"""How far the documents and the scores of runs agree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb
from typing import Any, overload

from touche import tasks
from touche.api.scoring import warned
from touche.errors import ToucheError
from touche.evaluation import agreement, scores
from touche.evaluation.agreement import Overlap, ScoredOverlap
from touche.evaluation.notes import score_warnings
from touche.io.progress import watched
from touche.trec.forms import AnyRun, list_of_runs, read_runs, run_of
from touche.trec.framed import Table


@overload
def overlap(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun], task: None = None, *, baseline: None = None
) -> Table[Overlap]: ...
@overload
def overlap(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str,
    *,
    baseline: tuple[AnyRun, AnyRun] | None = None,
) -> Table[ScoredOverlap]: ...
def overlap(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    *,
    baseline: tuple[AnyRun, AnyRun] | None = None,
) -> Table[Any]:
    """Compares each pair of runs by their documents and, with a task, by their scores.

    Args:
        runs: at least two runs, as for ``evaluate``, an original before its rerun.
        task: the id of the task whose qrels score the runs; None compares only the documents.
        baseline: the run that the first run improves on, and the rerun of that run. It needs a task.

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
    # A dictionary's runs get its names here, because below they are in a list with the baselines.
    originals = read_runs(runs, distinct=False) if isinstance(runs, Mapping) else list_of_runs(runs)
    baselines = list_of_runs(baseline or [])
    if baselines and (task is None or len(originals) != 2 or len(baselines) != 2):
        problem = "baseline compares the scores of exactly two runs"
        raise ToucheError(f"{problem}; pass two runs, two baselines and a task")
    all_runs = [run_of(run) for run in read_runs([*originals, *baselines], distinct=False)]
    if task is None:
        pairs = agreement.overlaps(all_runs)
        return Table(Overlap, tuple(watched(pairs, "comparing", "pairs of runs", comb(len(all_runs), 2))))
    card = tasks.task(task)
    qrels_of_rankings = {name: file for name, file in card.qrels.items() if name != tasks.STANCE}
    distinct_runs = {run.path: run for run in all_runs}  # a baseline can be one of the runs
    without_stances = replace(card, qrels=qrels_of_rankings)
    evaluated = scores.evaluate([*distinct_runs.values()], without_stances, [agreement.EVALUATOR])
    paths = [run.path for run in all_runs]
    paths_of_runs = paths[: len(originals)]
    paths_of_baselines = paths[len(originals) :]
    records = agreement.scored_overlaps(paths_of_runs, evaluated, paths_of_baselines)
    return warned(Table(ScoredOverlap, tuple(records), tuple(score_warnings(evaluated))))
