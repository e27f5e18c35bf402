"""Run files scored on a task: a record for every figure, and what must be said about it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from touche.data import locate
from touche.disagreement import reasons
from touche.errors import ToucheError
from touche.evaluation import CUTOFF, EVALUATORS, MEASURE, Evaluation
from touche.qrels import Qrels, read_qrels
from touche.runs import RunLine, read_run
from touche.significance import bootstrap_interval
from touche.standing import comparable, standing
from touche.tasks import Task
from touche.topics import read_topics_xml

UNJUDGED_LIMIT = 0.10  # of the top 5; above it a score is not comparable with published ones
_SHOWN_TOPICS = 5


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
class Note:
    """Something to know about a score.

    Attributes:
        about: the tag of the run, or its path where tags are not unique; the dimension.
        warning: whether it puts the score in doubt.
        text: one sentence.
    """

    about: tuple[str, str]
    warning: bool
    text: str


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
            for topic, value in result.per_topic.items()
        ]

    @property
    def warnings(self) -> list[Note]:
        """What puts the scores in doubt."""
        return [self._note(text, warning=True) for text in (*self._unjudged(), *self._unknown_topics())]

    @property
    def notes(self) -> list[Note]:
        """Why the evaluators differ, and where the run stands among the published ones."""
        return [self._note(text) for text in (*self._disagreement(), *self._standing())]

    def _key(self, evaluator: str) -> tuple[str, str, str, str, str, str, str]:
        file = self.task.qrels[self.dimension].file
        return str(self.path), self.lines[0].tag, self.task.id, self.dimension, file, MEASURE, evaluator

    def _note(self, text: str, warning: bool = False) -> Note:
        return Note((self.name, self.dimension), warning, text)

    @property
    def _unjudged_share(self) -> float:
        return 1 - min(result.judged for result in self.evaluations.values())

    def _unjudged(self) -> Iterator[str]:
        if self._unjudged_share > UNJUDGED_LIMIT:
            yield (
                f"{self._unjudged_share:.0%} of the top {CUTOFF} is unjudged, so the score is not comparable "
                "with published ones: trec_eval counts an unjudged document as not relevant, which is too "
                "low where it is relevant; touche takes it out, which is too high where it is not"
            )

    def _unknown_topics(self) -> Iterator[str]:
        if unknown := dict.fromkeys(line.topic for line in self.lines if line.topic not in self.qrels):
            yield f"{_listed(list(unknown))} of the run have no judgments and are not scored"

    def _disagreement(self) -> Iterator[str]:
        if len(self.evaluations) == len(EVALUATORS) and (found := reasons(self.lines, self.qrels)):
            difference = self.evaluations["touche"].mean - self.evaluations["trec_eval"].mean
            side = "above" if difference >= 0 else "below"
            parts = (f"{each.change:+.4f} as {each.text} ({_listed(each.topics)})" for each in found)
            yield f"touche is {abs(difference):.4f} {side} trec_eval: {'; '.join(parts)}"

    def _standing(self) -> Iterator[str]:
        places = {
            evaluator: f"{result.mean:.3f} is {standing(result.mean, rows)}"
            for evaluator, result in self.evaluations.items()
            if (rows := comparable(self.task, self.dimension, evaluator))
        }
        doubt = "; not comparable, see the warning" if self._unjudged_share > UNJUDGED_LIMIT else ""
        for place in dict.fromkeys(places.values()):
            yield f"with {' and '.join(each for each in places if places[each] == place)}, {place}{doubt}"
        if self.task.results_note:
            yield self.task.results_note
        elif not places and self.task.published:
            yield self._no_standing()

    def _no_standing(self) -> str:
        rows = [row for row in self.task.published if row.dimension == self.dimension]
        if rows:
            return f"the published values were computed with {rows[0].evaluator}; evaluate with it to compare"
        return "no published values belong to these judgments"


def score_runs(paths: Sequence[Path], task: Task, evaluators: Iterable[str] = EVALUATORS) -> list[ScoredRun]:
    """Scores run files in every dimension of a task.

    Args:
        paths: the run files.
        task: the task that they are for.
        evaluators: names in ``EVALUATORS``.

    Raises:
        ToucheError: if judgments are not at hand, or a file is unusable, given twice or for another task.
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise ToucheError("a run file is given twice; give each once")
    judgments = {dimension: qrels_of(task, dimension) for dimension in task.qrels}
    runs = {path: read_run(path) for path in paths}
    tags = Counter(run[0].tag for run in runs.values())
    return [
        ScoredRun(
            path,
            run[0].tag if tags[run[0].tag] == 1 else str(path),
            run,
            task,
            dimension,
            qrels,
            {name: _evaluate(name, path, run, qrels) for name in evaluators},
        )
        for path, run in runs.items()
        for dimension, qrels in judgments.items()
    ]


def shared_tags(scored: Iterable[ScoredRun]) -> Iterator[str]:
    """A warning for every tag that several of the runs have."""
    paths: dict[str, dict[str, None]] = {}
    for each in scored:
        paths.setdefault(each.lines[0].tag, {})[str(each.path)] = None
    for tag, files in paths.items():
        if len(files) > 1:
            yield f"{' and '.join(files)} have the same tag, {tag!r}; they are named by their paths"


def qrels_of(task: Task, dimension: str) -> Qrels:
    """The judgments of a task in one dimension.

    Raises:
        ToucheError: if they are not at hand or the file is broken.
    """
    judgments = task.qrels[dimension]
    return read_qrels(locate("qrels", judgments.file), task.excluded_topics, judgments.labels)


def titles_of(task: Task) -> dict[str, str]:
    """The titles of a task's topics by number; empty if the topics file is not at hand."""
    try:
        return {topic.number: topic.title for topic in read_topics_xml(locate("topics", task.topics))}
    except ToucheError:
        return {}


def _evaluate(name: str, path: Path, run: Sequence[RunLine], qrels: Qrels) -> Evaluation:
    try:
        return EVALUATORS[name](run, qrels)
    except ToucheError as error:
        raise ToucheError(f"{path}: {error}") from error


def _listed(topics: Sequence[str]) -> str:
    shown = ", ".join(topics[:_SHOWN_TOPICS])
    rest = f" and {len(topics) - _SHOWN_TOPICS} more" if len(topics) > _SHOWN_TOPICS else ""
    return f"topic{'s' if len(topics) > 1 else ''} {shown}{rest}"
