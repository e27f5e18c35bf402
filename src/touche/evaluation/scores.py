"""Evaluation of runs on a task: a record for each run and dimension, the source of every figure."""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from touche.data import places
from touche.data.judgments import task_qrels, topic_titles
from touche.data.places import is_available
from touche.data.remedies import official_md5, remedy
from touche.errors import InputError, ToucheError, one_line
from touche.evaluation.bounds import BoundedMeasure, Bounds, bounded_measure, topic_bounds
from touche.evaluation.bounds import mean_bounds as bounds_of_mean
from touche.evaluation.evaluators import EVALUATORS, Evaluation, judged_order
from touche.evaluation.images import evaluation_by
from touche.evaluation.leaderboard import OwnRank, comparable, own_rank, why_no_rank
from touche.evaluation.stances import ClassScores, StanceEvaluation, evaluate_stances
from touche.io.opening import check_distinct, md5
from touche.io.progress import watched
from touche.tasks import PAIR, STANCE, Measure, Published, Task
from touche.trec.by_stance import read_counted, topic_in
from touche.trec.columns import Run
from touche.trec.qrels import Qrels
from touche.trec.runs import LineError, check_unique, read_run
from touche.trec.topics import in_order

_log = logging.getLogger(__name__)

UNJUDGED_LIMIT = 0.10  # of the first results; above it a score is not comparable with published ones


def unjudged_limit(task: Task) -> float:
    """Returns the share of unjudged results above which a score is not comparable with published ones."""
    return UNJUDGED_LIMIT if task.judged_limit is None else round(1 - task.judged_limit, 9)


class InDimension:
    """What belongs to one judged dimension, and to one order of pairs."""

    dimension: str
    any_order: bool

    @property
    def label(self) -> str:
        """Name of the dimension, such as ``relevance, any order``."""
        return f"{self.dimension}, any order" if self.any_order else self.dimension

    @property
    def is_ranking(self) -> bool:
        """Whether documents are ranked in this dimension; for stances they are labelled."""
        return self.dimension != STANCE


@dataclass(frozen=True)
class Subject(InDimension):
    """Subject of a score: a run in one dimension, with one evaluator.

    Attributes:
        run: path of the run file.
        tag: tag of the run.
        task: id of the task.
        dimension: judged dimension.
        any_order: whether pairs judged in the other order also count.
        qrels: name of the file with the judgments.
        measure: measure of the dimension, such as ``nDCG@5``; ``macro F1`` for stances.
        evaluator: ``trec_eval`` or ``touche``.
        name: tag of the run, or its path if several runs have that tag; not a column.
    """

    run: str
    tag: str
    task: str
    dimension: str
    any_order: bool
    qrels: str
    measure: str
    evaluator: str
    name: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Score(Subject):
    """The score of a run in one dimension with one evaluator; attributes as in ``Subject``, and these:

    Attributes:
        mean: mean over the topics; None without topics.
        low, high: 95% confidence interval of the mean, by bootstrap over the topics; None below two topics.
        judged: Judged@k, with the k of the measure, or of all results if k is None.
        least, greatest: bounds of the mean, whatever the grades of unjudged documents among the first k;
            None for measures without bounds (``touche.evaluation.bounds``).
        topics: number of topics of the mean.
        comparable: whether the score is comparable with published scores: few results are unjudged and no
            topic is missing. For stances: whether a published score has the same N.
        results: N, number of results with a judged stance; None for rankings.
        rank: rank among published scores, from 1; None without one.
        rank_low, rank_high: 95% interval of the rank, by bootstrap over topics; None without one.
        group: number of the run's group, from 1, as in ``touche.published``; None without one.
        rank_note: why there is no rank, or no interval or group; empty if there are all.
        stances: scores of each stance by its name; empty for rankings; not a column.
    """

    mean: float | None
    low: float | None
    high: float | None
    judged: float
    least: float | None
    greatest: float | None
    topics: int
    comparable: bool
    results: int | None = None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    group: int | None = None
    rank_note: str = ""
    stances: Mapping[str, ClassScores] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TopicScore(Subject):
    """The score of a run on one topic; attributes as in ``Subject``, and these:

    Attributes:
        topic, title: number and title of the topic; the title is empty if the topics file is missing.
        value: value of the measure.
        judged: Judged@k; None if the run lacks the topic.
        least, greatest: bounds of the value, as in ``Score``.
    """

    topic: str
    title: str
    value: float
    judged: float | None
    least: float | None
    greatest: float | None


@dataclass(frozen=True)
class Evaluated(InDimension):
    """A run evaluated by the judgments of one dimension, with everything that commands show.

    Attributes:
        path: run file.
        name: tag of the run, or its path if several runs have that tag.
        tag: tag of the first line.
        lines: lines of the run; if any order counts, pairs have their judged order.
        task: the task.
        titles: titles of the topics by number; empty if the topics file is missing.
        dimension: judged dimension.
        any_order: whether pairs judged in the other order also count.
        qrels: name of the file with the judgments.
        judgments: content of that file.
        evaluations: result of each evaluator, by its name.
        skipped: an error for each line that does not count, in tasks whose script skips such lines.
    """

    path: Path
    name: str
    tag: str
    lines: Run
    task: Task
    titles: Mapping[str, str]
    dimension: str
    any_order: bool
    qrels: str
    judgments: Qrels
    evaluations: Mapping[str, Evaluation]
    skipped: Sequence[LineError] = ()

    @property
    def measure(self) -> Measure:
        """Measure of the dimension."""
        return self.task.measure_for(self.dimension)

    @cached_property
    def official_md5(self) -> str:
        """The md5 that the publisher states for the qrels, if their file has another one; else empty."""
        expected = official_md5(f"qrels/{self.qrels}")
        path = places.find("qrels", self.qrels) if expected else None
        return expected if path and md5(path) != expected else ""

    @cached_property
    def scores(self) -> Mapping[str, Score]:
        """Record of each evaluator, by its name."""
        return {name: self._score(name, evaluation) for name, evaluation in self.evaluations.items()}

    @cached_property
    def ranks(self) -> Mapping[str, OwnRank | str]:
        """Rank of each evaluator's score among published scores, or why it has none."""
        return {name: self._rank(score) for name, score in self.scores.items()}

    @property
    def ranked_scores(self) -> list[Score]:
        """Record of each evaluator with its rank, which takes longer than ``scores``."""
        return [_with_rank(score, self.ranks[name]) for name, score in self.scores.items()]

    def published(self, evaluator: str) -> list[Published]:
        """Returns the published results comparable to the score by an evaluator, best first."""
        if self.any_order:
            return []
        return comparable(self.task, self.dimension, evaluator, self.evaluations[evaluator].results)

    @cached_property
    def topic_scores(self) -> Mapping[str, Mapping[str, TopicScore]]:
        """Record of each evaluator and topic that it averages over, in order of topic numbers."""
        return {name: self._topic_scores(name, evaluation) for name, evaluation in self.evaluations.items()}

    @cached_property
    def bounded_measure(self) -> BoundedMeasure | None:
        """The data for bounds; None if the measure has no bounds, or no grade is above 0."""
        return bounded_measure(self.judgments, self.measure, self.task.qrels[self.dimension].labels)

    @cached_property
    def bounds(self) -> Mapping[str, Mapping[str, Bounds]]:
        """Bounds by evaluator and topic, also of topics that touche leaves out until they are judged.

        They are empty for measures without bounds.
        """
        if self.bounded_measure is None:
            return {name: {} for name in self.evaluations}
        return {
            name: topic_bounds(self.bounded_measure, self.first_documents(name), evaluation)
            for name, evaluation in self.evaluations.items()
        }

    def first_documents(self, evaluator: str) -> Mapping[str, Sequence[str]]:
        """Returns the documents of each judged topic down to the measure's cutoff, best first.

        Args:
            evaluator: name of the evaluator, whose order counts.
        """
        order = judged_order(evaluator, self.lines, self.judgments)
        return self.lines.documents_of(order, self.measure.cutoff)

    def mean_bounds(self, evaluator: str) -> Bounds | None:
        """Returns bounds of the mean.

        None for measures without bounds, or if it is unknown which topics touche would average over.

        Args:
            evaluator: name of the evaluator.
        """
        bounds = self.bounds[evaluator]
        if not bounds:
            return None
        grades_by_topic = [self.judgments[topic].values() for topic in bounds]
        all_have_relevant = all(any(grade > 0 for grade in grades) for grades in grades_by_topic)
        if evaluator == "touche" and not all_have_relevant:
            return None  # touche leaves out a topic until one of its unjudged documents is relevant
        return bounds_of_mean(bounds)

    @property
    def all_topic_scores(self) -> list[TopicScore]:
        """Records of all evaluators and topics; if each stance has its own ranking, of all rankings."""
        scores = [
            self._topic_scores(name, evaluation.per_ranking or evaluation)
            for name, evaluation in self.evaluations.items()
        ]
        return [score for by_topic in scores for score in by_topic.values()]

    def subject(self, evaluator: str) -> Subject:
        """Returns the subject of the scores of an evaluator.

        Args:
            evaluator: name of the evaluator.
        """
        return Subject(
            run=str(self.path),
            tag=self.tag,
            task=self.task.id,
            dimension=self.dimension,
            any_order=self.any_order,
            qrels=self.qrels,
            measure=str(self.measure),
            evaluator=evaluator,
            name=self.name,
        )

    def _score(self, evaluator: str, evaluation: Evaluation) -> Score:
        """Returns the record of the mean of an evaluation."""
        low, high = evaluation.interval
        bounds = self.mean_bounds(evaluator)
        return Score(
            **vars(self.subject(evaluator)),  # a score is a table's row, and starts with these columns
            mean=evaluation.mean,
            low=low,
            high=high,
            judged=evaluation.judged,
            least=bounds.least if bounds else None,
            greatest=bounds.greatest if bounds else None,
            topics=evaluation.topics,
            comparable=self._is_comparable(evaluation),
            results=evaluation.results,
            stances=evaluation.by_class() if isinstance(evaluation, StanceEvaluation) else {},
        )

    def _rank(self, score: Score) -> OwnRank | str:
        """Returns the rank of a score, or why it has none."""
        rows = self.published(score.evaluator)
        if not rows:
            return why_no_rank(self.task, self.dimension, self.any_order)
        if not self.is_ranking:
            return "stances have no rank, because N, the number of documents, differs between runs"
        if score.mean is None:
            return "there is no topic to average over"
        if self.official_md5:
            return "not comparable: the qrels are not the publisher's"
        if not score.comparable:
            return "not comparable: too many results are unjudged, or topics are missing"
        return own_rank(self.task, rows, score.mean, self.evaluations[score.evaluator].per_topic)

    def _is_comparable(self, evaluation: Evaluation) -> bool:
        """Returns whether published values are comparable with a mean.

        For stances, a published value with the same N is needed. For rankings, the run needs results for all
        judged topics of the task, and few of these results may be unjudged.
        """
        if self.official_md5:
            return False
        if not self.is_ranking:
            published = {row.results for row in self.task.published if row.dimension == STANCE}
            return evaluation.results in published
        topics = {*map(topic_in, self.judgments)} if evaluation.per_ranking else self.judgments.keys()
        is_whole = evaluation.judged_per_topic.keys() >= topics and not self.task.only_topics
        return is_whole and evaluation.unjudged <= unjudged_limit(self.task)

    def _topic_and_stance(self, ranking: str) -> tuple[tuple[int, str], int]:
        """Returns the sort key of a ranking: its topic, then its stance as the task lists them."""
        topic, _, stance = ranking.partition(" ")
        stances = self.task.rules.ranked_stances
        position = stances.index(stance) if stance in stances else 0
        return in_order(topic), position

    def _topic_scores(self, evaluator: str, evaluation: Evaluation) -> dict[str, TopicScore]:
        """Returns the records of an evaluation by topic, in order, or by ranking such as ``1 PRO``."""
        subject = vars(self.subject(evaluator))
        bounds = self.bounds[evaluator]
        return {
            topic: TopicScore(
                **subject,
                topic=topic,
                title=self.titles.get(topic, ""),
                value=evaluation.per_topic[topic],
                judged=evaluation.judged_per_topic.get(topic),
                least=bounds[topic].least if topic in bounds else None,
                greatest=bounds[topic].greatest if topic in bounds else None,
            )
            for topic in sorted(evaluation.per_topic, key=self._topic_and_stance)
        }


def _with_rank(score: Score, rank: OwnRank | str) -> Score:
    """Returns a score with its rank, or with the reason why it has none."""
    if isinstance(rank, str):
        return replace(score, rank_note=rank)
    level = rank.level
    return replace(
        score,
        rank=rank.rank,
        rank_low=level.low,
        rank_high=level.high,
        group=level.group,
        rank_note=level.reason,
    )


def evaluate(
    runs: Sequence[Path | Run], task: Task, evaluators: Sequence[str] = (), *, any_order: bool = False
) -> list[Evaluated]:
    """Evaluates runs in every dimension of a task.

    Args:
        runs: run files, or runs already read.
        task: task of the runs, with its measure.
        evaluators: names in ``EVALUATORS``; if empty, all that have the measure. A measure that only touche
            has is computed by touche, also if only trec_eval is named.
        any_order: whether to evaluate each run once more, also counting pairs judged in the other order.

    Returns:
        The records, run by run.

    Raises:
        ToucheError: if judgments are missing, a file is unusable or passed twice, or a run is for another
            task. Also if touche is named but lacks the measure, or ``any_order`` is set for a task without
            pairs.
    """
    paths = [run.path if isinstance(run, Run) else run for run in runs]
    _check(paths, task, evaluators, any_order)
    judged = {dimension: task_qrels(task, dimension) for dimension in _scored_dimensions(task)}
    titles = topic_titles(task)
    records = []
    orders_of_pairs = [False, True] if any_order else [False]  # whether any order counts
    for source in watched(runs, "evaluating", "runs", len(paths)):
        run, skipped = _read(source, task, judged)
        for dimension, qrels in judged.items():
            if dimension == STANCE and len(judged) > 1 and not run.has_stances:
                continue  # a run that only ranks
            for in_any_order in orders_of_pairs:
                record = _evaluated(
                    run=run,
                    task=task,
                    titles=titles,
                    dimension=dimension,
                    judgments=qrels,
                    evaluators=evaluators or EVALUATORS,
                    any_order=in_any_order,
                    skipped=skipped,
                )
                records.append(record)
    return with_names(records)


def evaluate_by(
    runs: Sequence[Path | Run],
    tasks: Sequence[Task],
    evaluators: Sequence[str] = (),
    *,
    any_order: bool = False,
) -> list[list[Evaluated]]:
    """Evaluates runs by several measures; reads each file once, unless each stance has its own ranking.

    Args:
        runs: the run files, or runs that have been read.
        tasks: the same task with each measure.
        evaluators, any_order: as for ``evaluate``.

    Returns:
        The records by each measure.

    Raises:
        ToucheError: as ``evaluate``.
    """
    # If each stance has a ranking, ``evaluate`` itself reads the files, because it skips some of their lines.
    if len(tasks) > 1 and not tasks[0].rules.by_stance:
        runs = [run if isinstance(run, Run) else read_run(run) for run in runs]
    return [evaluate(runs, task, evaluators, any_order=any_order) for task in tasks]


def _scored_dimensions(task: Task) -> list[str]:
    """Returns the dimensions to score, without stances if their judgments are missing, and warns of this."""
    has_optional_stances = STANCE in task.qrels and len(task.qrels) > 1
    if not has_optional_stances:
        return list(task.qrels)
    file = task.qrels[STANCE].file
    if is_available("qrels", file):
        return list(task.qrels)
    _log.warning("stances are not scored, because qrels/%s is missing; %s", file, remedy(f"qrels/{file}"))
    return [dimension for dimension in task.qrels if dimension != STANCE]


def evaluate_dimension(run: Run, task: Task, dimension: str) -> Evaluated:
    """Evaluates a run in one dimension of a task, by all evaluators of its measure.

    Raises:
        ToucheError: if judgments are missing, unusable or of other topics.
    """
    judgments = task_qrels(task, dimension)
    counted_run, skipped = _read(run, task, {dimension: judgments})
    return _evaluated(
        run=counted_run,
        task=task,
        titles=topic_titles(task),
        dimension=dimension,
        judgments=judgments,
        evaluators=EVALUATORS,
        skipped=skipped,
    )


def _read(source: Path | Run, task: Task, judged: Mapping[str, Qrels]) -> tuple[Run, Sequence[LineError]]:
    """Returns a run, and an error for each line that does not count.

    If each stance has its own ranking, the topics of the run become names of rankings, such as ``1 PRO``.

    Raises:
        InputError: if the run is unusable, or no line counts.
    """
    if not task.rules.by_stance:
        run = source if isinstance(source, Run) else read_run(source)
        check_unique(run)
        return run, []
    topics = {topic_in(ranking) for qrels in judged.values() for ranking in qrels}
    run, skipped = read_counted(source, task.rules.stances, task.rules.ids, task.rules.max_results, topics)
    if not run:
        raise skipped[0] if skipped else InputError(run.path, "the run is empty", "check what wrote it")
    by_stance = run.by_stance()
    check_unique(by_stance)
    return by_stance, skipped


def with_names(runs: Sequence[Evaluated]) -> list[Evaluated]:
    """Returns the records, named by tag, or by path if several runs have the tag."""
    tags = Counter({run.path: run.tag for run in runs}.values())  # a file has a record for each dimension
    names = {run.path: run.tag if tags[run.tag] == 1 else str(run.path) for run in runs}
    return [replace(run, name=one_line(names[run.path])) for run in runs]


def in_judged_order(run: Run, qrels: Qrels) -> Run:
    """Returns a run of pairs; pairs that are judged only in the other order are reversed.

    A pair that the run contains in both orders stays unchanged, so that no judgment counts twice.
    """
    documents = run.documents.copy()
    for topic, lines in run.by_topic.items():
        judged = qrels.get(topic, {})
        present = set(run.documents[lines])
        for line in lines:
            reversed_pair = ",".join(reversed(documents[line].split(",")))
            if documents[line] not in judged and reversed_pair in judged and reversed_pair not in present:
                documents[line] = reversed_pair
    return replace(run, documents=documents)


def check_evaluators(task: Task, evaluators: Sequence[str]) -> None:
    """Raises a ToucheError if an evaluator lacks the task's measure."""
    with_measure = task.measure.evaluators
    has_rankings = bool(task.qrels.keys() - {STANCE})
    # Touche always evaluates stances, so naming it is an error only for rankings. Naming only trec_eval is
    # never an error: a measure that only touche has is computed by touche.
    if has_rankings and "touche" in evaluators and with_measure == ["trec_eval"]:
        problem = f"touche, the organizers' script, lacks {task.measure}"
        raise ToucheError(f"{problem}; use only trec_eval")


def _check(paths: Sequence[Path], task: Task, evaluators: Sequence[str], any_order: bool) -> None:
    """Raises an error if an evaluator lacks the measure, or options or runs do not fit the task."""
    check_evaluators(task, evaluators)
    if any_order and task.rules.unit != PAIR:
        raise ToucheError(f"{task.id} does not rank pairs; omit any-order")
    if not paths:
        raise ToucheError("no run is passed; pass at least one")
    check_distinct(paths)


def _evaluated(
    run: Run,
    task: Task,
    titles: Mapping[str, str],
    dimension: str,
    judgments: Qrels,
    evaluators: Collection[str],
    any_order: bool = False,
    skipped: Sequence[LineError] = (),
) -> Evaluated:
    """Evaluates a run in a dimension by those evaluators that have the measure.

    If only one evaluator has the measure, it evaluates the run even if it is not in ``evaluators``.
    """
    lines = in_judged_order(run, judgments) if any_order else run
    with_measure = task.measure_for(dimension).evaluators
    try:
        evaluations = {
            name: _evaluation(name, lines, judgments, task, dimension)
            for name in with_measure
            if name in evaluators or len(with_measure) == 1
        }
    except ToucheError as error:  # no common topic; the message ends in "check that ..."
        raise ToucheError(f"{run.path}: {error}, and that the run ranks {task.rules.unit}s") from error
    return Evaluated(
        path=run.path,
        name=run.tag,
        tag=run.tag,
        lines=lines,
        task=task,
        titles=titles,
        dimension=dimension,
        any_order=any_order,
        qrels=task.qrels[dimension].file,
        judgments=judgments,
        evaluations=evaluations,
        skipped=skipped,
    )


def _evaluation(evaluator: str, run: Run, judgments: Qrels, task: Task, dimension: str) -> Evaluation:
    """Evaluates a run by an evaluator; stances have the same result by each evaluator."""
    if dimension == STANCE:
        return evaluate_stances(run, judgments, task.stances)
    return evaluation_by(evaluator, run, judgments, task.measure_for(dimension))
