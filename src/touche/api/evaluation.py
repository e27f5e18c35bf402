"""Scores of runs: as records, as comparisons of pairs, and as a table for papers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from touche import tasks
from touche.api.scoring import all_notes, all_warnings, score, warned, with_reference
from touche.errors import ToucheError, check_choice
from touche.evaluation.comparison import (
    Comparison,
    TopicDifference,
    comparisons,
    conclusions,
    published_comparisons,
    run_named,
    topic_differences,
)
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.scores import Score, TopicScore
from touche.evaluation.wide import WideTable, wide_table
from touche.tasks.per_topic import tasks_with_topics
from touche.trec.forms import AnyQrels, AnyRun, read_runs
from touche.trec.framed import Table

if TYPE_CHECKING:
    from ir_measures.measures import Measure

_PAIRS = ("exact", "any-order")


@overload
def evaluate(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    per_topic: Literal[False] = False,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
) -> Table[Score]: ...
@overload
def evaluate(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    per_topic: Literal[True],
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
) -> Table[TopicScore]: ...
def evaluate(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    per_topic: bool = False,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
) -> Table[Any]:
    """Scores runs in every dimension of a task.

    Args:
        runs: one run or several, each in one of the forms of ``touche.AnyRun``: a path, a frame of PyTerrier
            or ir_measures, scores by topic and document, or records. A dictionary such as
            ``{"mine": frame, "theirs": "run.txt"}`` names them.
        task: the id of the task; None if there are only qrels.
        evaluator: ``trec_eval``, ``touche`` or ``both``.
        per_topic: whether to return topic scores instead of means.
        pairs: ``any-order`` adds a score that also counts pairs judged in the other order.
        measure: a measure instead of the task's, an object of ir_measures or its name, such as ``nDCG@10``.
            ``nDCG@5,AP`` names several.
        qrels: qrels instead of the task's, in one of the forms of ``touche.AnyQrels``.

    Returns:
        A record for each run, dimension, evaluator (and topic): a ``touche.evaluation.scores.Score`` or
        ``TopicScore``, with values from 0 to 1; ``frame()`` returns them as a DataFrame. Doubtful scores
        cause Python warnings. The notes explain differences between the evaluators, and give ranks on the
        leaderboard.

    Raises:
        ToucheError: if a run is unusable, or qrels are missing. Also if detected stances, which have no topic
            scores, are the only dimension with ``per_topic``.

    Examples:
        >>> import touche
        >>> ranking = {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}}
        >>> qrels = {"1": {"a": 0, "b": 1}, "2": {"c": 1}}
        >>> [score] = touche.evaluate({"mine": ranking}, qrels=qrels, measure="RR")
        >>> score.tag, score.measure, score.mean
        ('mine', 'RR', 0.75)
    """
    check_choice("order of pairs", pairs, _PAIRS)
    by_measure = score(read_runs(runs), task, measure, qrels, evaluator, any_order=pairs == "any-order")
    evaluated = [run for group in by_measure for run in group]
    if per_topic and not any(run.is_ranking for run in evaluated):
        raise ToucheError("detected stances have no scores of topics; omit per-topic scores")
    kind: type[Any] = TopicScore if per_topic else Score
    records = list[Any]()
    for run in evaluated:
        records += run.all_topic_scores if per_topic else run.ranked_scores
    table = Table(
        kind=kind,
        records=tuple(records),
        warnings=all_warnings(by_measure),
        notes=all_notes(by_measure),
    )
    return warned(table)


@overload
def compare(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "trec_eval",
    *,
    per_topic: Literal[False] = False,
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    randomisation: bool = False,
    bounds: bool = False,
    reference: AnyRun | None = None,
    published: bool = False,
) -> Table[Comparison]: ...
@overload
def compare(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "trec_eval",
    *,
    per_topic: Literal[True],
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    randomisation: bool = False,
    bounds: bool = False,
    reference: AnyRun | None = None,
    published: bool = False,
) -> Table[TopicDifference]: ...
def compare(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "trec_eval",
    *,
    per_topic: bool = False,
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    randomisation: bool = False,
    bounds: bool = False,
    reference: AnyRun | None = None,
    published: bool = False,
) -> Table[Any]:
    """Compares each pair of runs in every dimension of a task.

    Args:
        runs: at least two runs, as for ``evaluate``.
        task: the id of the task; None if there are only qrels.
        evaluator: ``trec_eval`` or ``touche``.
        per_topic: whether to return the differences of topics, a pair's largest differences first.
        measure: a measure instead of the task's, as for ``evaluate``.
        qrels: qrels instead of the task's, in one of the forms of ``touche.AnyQrels``.
        randomisation: whether to add the randomisation test.
        bounds: whether to add the bounds of each difference over unjudged documents.
        reference: one of the runs, its tag or its path, to compare each other run with; None compares all
            pairs.
        published: whether to compare each run with every published run, by the published values of topics,
            instead of the runs with each other. The evaluator is that of the published values, touche.

    Returns:
        A record for each pair of runs, dimension and measure (and topic): a
        ``touche.evaluation.comparison.Comparison`` or ``TopicDifference``, with differences in the unit of
        the measure; ``frame()`` returns them as a DataFrame. ``table[table.significant]`` has the significant
        differences. A pair without enough common topics is missing, and causes a Python warning.

    Raises:
        ToucheError: if a run is unusable, the reference is not one of the runs, qrels are missing, or no pair
            has enough common topics.

    Examples:
        >>> import touche
        >>> qrels = {topic: {"a": 1, "b": 0} for topic in "1234"}
        >>> good = {topic: {"a": 2.0, "b": 1.0} for topic in "1234"}
        >>> bad = good | {topic: {"a": 1.0, "b": 2.0} for topic in "34"}
        >>> [comparison] = touche.compare({"good": good, "bad": bad}, qrels=qrels, measure="RR")
        >>> comparison.run_a, comparison.difference, comparison.significant
        ('good', 0.25, False)
    """
    check_choice("evaluator", evaluator, EVALUATORS)
    if published and (per_topic or randomisation or bounds or reference is not None):
        raise ToucheError("published runs are compared only by the t-test; omit the other options")
    named_runs, reference_name = with_reference(runs, reference)
    # Published values are scores of the evaluator touche. If ``score`` got only touche, it would refuse a
    # measure that only trec_eval has. With both evaluators, no pair can be compared by such a measure, and
    # the error at the end names the tasks with published values.
    scorers = "both" if published else evaluator
    by_measure = score(named_runs, task, measure, qrels, scorers)
    compared = list[Any]()
    reasons = list[str]()  # why pairs are missing
    for evaluated in by_measure:
        # The organizers' script alone evaluates stances, so rankings show what can be chosen.
        evaluations = next((run for run in evaluated if run.is_ranking), evaluated[0]).evaluations
        # A measure that only touche has is computed by touche, also if trec_eval is chosen.
        scorer = evaluator if evaluator in evaluations else next(iter(evaluations))
        reference_run = None if reference_name is None else run_named(reference_name, evaluated)
        if published:
            records, why_missing = published_comparisons(evaluated)
        else:
            records, why_missing = comparisons(
                evaluated, scorer, reference_run, randomisation=randomisation, bounds=bounds
            )
        if per_topic:  # ``records`` are not used, only ``why_missing``
            compared += topic_differences(evaluated, scorer, reference_run)
        else:
            compared += records
        reasons += why_missing
    if not compared:
        why = f": {reasons[0]}" if reasons else ""
        raise ToucheError(f"nothing to compare{why}; {_remedy_for_no_pair(task, published)}")
    kind: type[Any] = TopicDifference if per_topic else Comparison
    notes = () if per_topic else tuple(conclusions(compared))
    return warned(Table(kind, tuple(compared), (*reasons, *all_warnings(by_measure)), notes))


def _remedy_for_no_pair(task: str | None, published: bool) -> str:
    """Returns what to do if no pair of runs, or no run with a published run, can be compared."""
    if not published:
        return "pass runs that share at least two scored topics"
    has_published_values = task is not None and tasks.task(task).id in tasks_with_topics()
    if has_published_values:
        return "check that the task is the run's task"
    return f"choose one of {', '.join(tasks_with_topics())}, and its measure and qrels"


def wide(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    reference: AnyRun | None = None,
    every_two: bool = False,
) -> WideTable:
    """Scores runs in a table with a row for each run, for papers: ``wide(...).latex()``.

    Args:
        runs, task, evaluator, pairs, measure, qrels: as for ``evaluate``.
        reference: one of the runs, its tag or its path, from which significant differences are marked.
        every_two: whether to compare all pairs of runs; a run's letters then name the runs that score
            significantly lower. Not together with a reference.

    Returns:
        A table with a row for each run and a column for each measure, dimension and evaluator; values are
        from 0 to 1. It has ``frame()``, ``latex()``, ``markdown()`` and ``html()``. The notes are those of
        ``evaluate``.

    Raises:
        ToucheError: for the reasons of ``evaluate`` and ``compare``, or if both ``reference`` and
            ``every_two`` are passed.

    Examples:
        >>> import touche
        >>> ranking = {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}}
        >>> qrels = {"1": {"a": 0, "b": 1}, "2": {"c": 1}}
        >>> print(touche.wide({"mine": ranking}, qrels=qrels, measure=["RR", "P@1"]).markdown())
        | run | RR | P@1 |
        | --- | ---: | ---: |
        | mine | **0.750** | **0.500** |
    """
    check_choice("order of pairs", pairs, _PAIRS)
    named_runs, reference_name = with_reference(runs, reference)
    by_measure = score(named_runs, task, measure, qrels, evaluator, any_order=pairs == "any-order")
    table = wide_table(by_measure, reference_name, every_two)
    warnings = (*table.warnings, *all_warnings(by_measure))
    notes = (*table.notes, *all_notes(by_measure))
    return warned(replace(table, warnings=warnings, notes=notes))
