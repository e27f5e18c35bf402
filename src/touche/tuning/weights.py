"""Weights of a fusion that are chosen by other topics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from touche.data.judgments import task_qrels
from touche.errors import ToucheError, check_choice
from touche.evaluation.cross_validation import FOLDS, CrossValidation, Values, best, cross_validated
from touche.evaluation.evaluators import evaluators_for
from touche.evaluation.fusion import Method, Shares, run_of_topics, topic_shares, weighted
from touche.evaluation.images import evaluation_by, means_of_topics
from touche.io.progress import watched
from touche.tasks import STANCE, Task
from touche.tasks.measures import Measure
from touche.trec.by_stance import in_rankings, topic_in
from touche.trec.columns import Run
from touche.trec.qrels import Qrels
from touche.trec.topics import in_order

STEPS = 10  # of a weight, from 0 to 1
MOST_RUNS = 5  # with 1,001 combinations of weights

Weights = tuple[float, ...]


@dataclass(frozen=True)
class TunedFusion:
    """A fusion of runs, in which each topic has the weights that are best on other topics.

    Attributes:
        dimension: dimension that the weights are tuned for.
        measure: measure that they are tuned for.
        evaluator: ``trec_eval``, or ``touche`` if only it has the measure.
        run: the fused run; if each stance has its own ranking, its topics are the names of the rankings.
        weights: weights of each fused topic; its rankings for both stances have the same weights.
        cross_validation: folds, with the values of the run.
    """

    dimension: str
    measure: str
    evaluator: str
    run: Run
    weights: Mapping[str, Weights]
    cross_validation: CrossValidation[Weights]


def tuned(
    runs: Sequence[Run],
    method: Method,
    depth: int,
    task: Task,
    validation: str,
    dimension: str | None = None,
    tag: str = "fused",
) -> TunedFusion:
    """Fuses runs with weights that are tuned by cross-validation, never on the topic itself.

    All weights in steps of 0.1 that add up to 1 are tried. A topic without judgments has the weights that are
    best on all judged topics. The value of a judged topic that is in no run is 0.

    Args:
        runs: the runs.
        method: one of ``METHODS``.
        depth: maximum number of documents per topic.
        task: task, with its measure.
        validation: a name in ``FOLDS``.
        dimension: dimension to tune for; by default the task's first.
        tag: the tag of the fused run.

    Raises:
        ToucheError: if there are too many runs, too few topics with judgments, or no such
            dimension or cross-validation.
    """
    dimensions = [name for name in task.qrels if name != STANCE]
    dimension = dimension or next(iter(dimensions), "")  # "" is refused in the next line
    check_choice("dimension", dimension, dimensions)
    check_choice("cross-validation", validation, FOLDS)
    if len(runs) > MOST_RUNS:
        problem = f"weights can be tuned for at most {MOST_RUNS} runs, but {len(runs)} are passed"
        raise ToucheError(f"{problem}; omit some, or pass weights")
    rankings = in_rankings(runs, by_stance=task.rules.by_stance)
    shares = dict(topic_shares(rankings, method))
    qrels = task_qrels(task, dimension)
    measure = task.measure_for(dimension)
    grid = list(simplex(len(runs), STEPS))
    values_by_weights = {
        weights: _values(shares, method, weights, depth, qrels, measure)
        for weights in watched(grid, "tuning", "weights", len(grid))
    }
    topics = sorted({topic_in(name) for name in qrels}, key=in_order)
    cross_validation = cross_validated(values_by_weights, topics, validation)
    # The topics of a fold have the weights that are best on the topics of the other folds.
    choices = {topic: fold.choice for fold in cross_validation.folds for topic in fold.values}
    best_on_all = best(values_by_weights, set(topics))
    weights_by_topic = {topic: choices.get(topic, best_on_all) for topic in map(topic_in, shares)}
    return TunedFusion(
        dimension=dimension,
        measure=str(measure),
        evaluator=evaluators_for(measure)[0],
        run=_fused(shares, method, weights_by_topic, depth, tag),
        weights=weights_by_topic,
        cross_validation=cross_validation,
    )


def simplex(runs: int, steps: int) -> Iterator[Weights]:
    """Yields weights that add up to 1, in equal steps.

    Weights that differ least come first, because the first of several best weights is chosen.

    Args:
        runs: the number of weights.
        steps: the number of steps from 0 to 1.
    """
    grid = []
    # Stars and bars: a row of places has runs - 1 bars; the places between two bars are the steps of a run.
    places = steps + runs - 1
    for bars in combinations(range(places), runs - 1):
        bounds = (-1, *bars, places)
        grid.append(tuple((end - begin - 1) / steps for begin, end in pairwise(bounds)))
    yield from sorted(grid, key=lambda weights: max(weights) - min(weights))


def _values(
    shares: Mapping[str, Shares],
    method: Method,
    weights: Weights,
    depth: int,
    qrels: Qrels,
    measure: Measure,
) -> Values:
    """Returns the value of each judged topic with these weights, by trec_eval if it has the measure."""
    judged = {name: ranking_shares for name, ranking_shares in shares.items() if name in qrels}
    run = _fused(judged, method, {topic_in(name): weights for name in judged}, depth, "fused")
    values = {topic_in(name): 0.0 for name in qrels}  # for topics that are in no run
    if run:  # an empty run cannot be evaluated
        evaluator = evaluators_for(measure)[0]
        values |= means_of_topics(evaluation_by(evaluator, run, qrels, measure).per_topic)
    return values


def _fused(
    shares: Mapping[str, Shares], method: Method, weights: Mapping[str, Weights], depth: int, tag: str
) -> Run:
    """Returns the run in which the rankings of each topic are fused with its own weights."""
    rankings = {
        name: weighted(ranking_shares, method, weights[topic_in(name)]).best(depth)
        for name, ranking_shares in shares.items()
    }
    return run_of_topics(rankings, tag)
