"""Run files scored on a task: a record for every figure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from touche.data.places import qrels_of, titles_of
from touche.errors import ToucheError
from touche.evaluation.ndcg import EVALUATORS, MEASURE, Evaluation
from touche.evaluation.significance import bootstrap_interval
from touche.formats.qrels import Qrels
from touche.formats.runs import RunLine, read_run
from touche.progress import watched
from touche.tasks import PAIR, Task

ANY_ORDER = ", any order"  # behind the name of a dimension


@dataclass(frozen=True)
class Score:
    """The score of a run in one dimension with one evaluator.

    Attributes:
        run: the path of the run file.
        tag: the tag in it.
        task: the id of the task.
        dimension: what was judged.
        qrels: the name of the file with the judgments.
        measure: ``nDCG@5``.
        evaluator: ``trec_eval`` or ``touche``.
        mean: the mean over the topics.
        low, high: its 95% confidence interval, by bootstrap over the topics.
        judged: Judged@5.
        topics: over how many topics the mean is.
    """

    run: str
    tag: str
    task: str
    dimension: str
    qrels: str
    measure: str
    evaluator: str
    mean: float
    low: float
    high: float
    judged: float
    topics: int


@dataclass(frozen=True)
class TopicScore:
    """The score of a run on one topic; attributes as those of ``Score``, and:

    Attributes:
        topic, title: the topic; the title is empty where the topics file is not at hand.
        value: nDCG@5.
        judged: Judged@5, or None where the run lacks the topic.
    """

    run: str
    tag: str
    task: str
    dimension: str
    qrels: str
    measure: str
    evaluator: str
    topic: str
    title: str
    value: float
    judged: float | None


@dataclass(frozen=True)
class ScoredRun:
    """A run against the judgments of one dimension.

    Attributes:
        path: the run file.
        name: its tag, or its path where several runs have that tag.
        lines: the run.
        task: the task.
        dimension: what was judged.
        qrels: the judgments.
        evaluations: the result of each evaluator by its name.
    """

    path: Path
    name: str
    lines: Sequence[RunLine]
    task: Task
    dimension: str
    qrels: Qrels
    evaluations: Mapping[str, Evaluation]

    @property
    def scores(self) -> list[Score]:
        """A record for each evaluator."""
        return [
            Score(
                *self._key(evaluator),
                mean=result.mean,
                low=low,
                high=high,
                judged=result.judged,
                topics=len(result.per_topic),
            )
            for evaluator, result in self.evaluations.items()
            for low, high in [bootstrap_interval(list(result.per_topic.values()))]
        ]

    @property
    def topic_scores(self) -> list[TopicScore]:
        """A record for each evaluator and topic."""
        titles = titles_of(self.task)
        return [
            TopicScore(
                *self._key(evaluator), topic, titles.get(topic, ""), value, result.judged_per_topic.get(topic)
            )
            for evaluator, result in self.evaluations.items()
            for topic, value in sorted(result.per_topic.items(), key=lambda item: (len(item[0]), item[0]))
        ]

    @property
    def file(self) -> str:
        """The name of the file with the judgments."""
        return self.task.qrels[self.dimension.removesuffix(ANY_ORDER)].file

    def _key(self, evaluator: str) -> tuple[str, str, str, str, str, str, str]:
        return str(self.path), self.lines[0].tag, self.task.id, self.dimension, self.file, MEASURE, evaluator


def score_runs(
    paths: Sequence[Path], task: Task, evaluators: Iterable[str] = EVALUATORS, *, any_order: bool = False
) -> list[ScoredRun]:
    """Scores run files in every dimension of a task.

    Args:
        paths: the run files.
        task: the task that they are for.
        evaluators: names in ``EVALUATORS``.
        any_order: score each run once more, with the pairs that were judged in the other order counted, too;
            the dimension of these ends in ``, any order``.

    Raises:
        ToucheError: if judgments are not at hand, a file is unusable, given twice or for another task, or
            any order is asked for where no pairs are ranked.
    """
    if any_order and task.rules.unit != PAIR:
        raise ToucheError(f"{task.id} does not rank pairs; leave --pairs any-order out")
    if not paths:
        raise ToucheError("no run is given; give one at least")
    if len({path.resolve() for path in paths}) < len(paths):
        raise ToucheError("a run file is given twice; give each once")
    judgments = {dimension: qrels_of(task, dimension) for dimension in task.qrels}
    runs = {path: read_run(path) for path in watched(paths, "reading", "runs", len(paths))}
    tags = Counter(run[0].tag for run in runs.values())
    return [
        ScoredRun(
            path,
            run[0].tag if tags[run[0].tag] == 1 else str(path),
            lines,
            task,
            f"{dimension}{suffix}",
            qrels,
            _evaluations(evaluators, path, lines, task, qrels, any_order),
        )
        for path, run in watched(runs.items(), "scoring", "runs", len(runs))
        for dimension, qrels in judgments.items()
        for suffix, lines in (("", run), *([(ANY_ORDER, in_judged_order(run, qrels))] if any_order else []))
    ]


def in_judged_order(run: Sequence[RunLine], qrels: Qrels) -> list[RunLine]:
    """A run of pairs with those turned round that are judged in the other order only.

    A pair that the run holds in both orders stays as it is, so that no judgment counts twice.
    """
    present = {(line.topic, line.document) for line in run}
    turned = []
    for line in run:
        other = ",".join(reversed(line.document.split(",")))
        judged = qrels.get(line.topic, {})
        turns = line.document not in judged and other in judged and (line.topic, other) not in present
        turned.append(replace(line, document=other) if turns else line)
    return turned


def _evaluations(
    names: Iterable[str], path: Path, run: Sequence[RunLine], task: Task, qrels: Qrels, any_order: bool
) -> dict[str, Evaluation]:
    if any_order and not any(line.document in qrels.get(line.topic, {}) for line in run):
        # Every pair the other way round: 0 for trec_eval, and nothing to average for touche.
        nothing = dict.fromkeys(qrels, 0.0)
        return {name: Evaluation(nothing, nothing) for name in names if name == "trec_eval"}
    try:
        return {name: EVALUATORS[name](run, qrels) for name in names}
    except ToucheError as error:
        hint = f", that the run ranks {task.rules.unit}s"
        hint += ", and in which order (--pairs any-order)" if task.rules.unit == PAIR else ""
        raise ToucheError(f"{path}: {error}{hint}") from error
