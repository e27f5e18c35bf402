"""Evaluated runs: one record per run and dimension, where every figure comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from touche.data import places
from touche.data.judgments import topic_titles
from touche.data.publishers import official_md5
from touche.errors import ToucheError
from touche.evaluation.bounds import BoundedMeasure, Bounds, bounded_measure, topic_bounds
from touche.evaluation.bounds import mean_bounds as bounds_of_mean
from touche.evaluation.evaluators import Evaluation, judged_order
from touche.evaluation.leaderboard import OwnRank, comparable, own_rank, why_no_rank
from touche.evaluation.score_columns import MEANS, STANCES, ScoreColumn, score_columns
from touche.evaluation.stances import ClassScores, StanceEvaluation
from touche.io.grouping import group_by
from touche.io.opening import md5
from touche.tasks import STANCE, Measure, Published, Task
from touche.trec.by_stance import topic_in
from touche.trec.columns import Run
from touche.trec.framed import Table
from touche.trec.qrels import Qrels
from touche.trec.runs import LineError
from touche.trec.topics import in_order

UNJUDGED_LIMIT = (
    0.10  # unjudged share of the first results, above which we don't compare with published scores
)


def unjudged_limit(task: Task) -> float:
    """Returns the unjudged share above which a score isn't comparable with published ones."""
    return UNJUDGED_LIMIT if task.judged_limit is None else round(1 - task.judged_limit, 9)


class InDimension:
    """What belongs to one judged dimension and one order of pairs."""

    dimension: str
    any_order: bool

    @property
    def label(self) -> str:
        """The dimension's name, such as ``relevance, any order``."""
        return f"{self.dimension}, any order" if self.any_order else self.dimension

    @property
    def is_ranking(self) -> bool:
        """Whether documents are ranked in this dimension. For stances they are labelled."""
        return self.dimension != STANCE


@dataclass(frozen=True)
class Subject(InDimension):
    """What a score is about: a run in one dimension, with one evaluator.

    Attributes:
        run: the run file's path.
        tag: the run's tag.
        task: the task's id.
        dataset: the dataset's id: the task's, or e.g. ``touche-2022-task-2/twenty-topics`` for a part of it.
        dimension: the judged dimension.
        any_order: whether pairs judged in the other order count too.
        qrels: the judgments' file name.
        measure: such as ``nDCG@5``; ``macro F1`` for stances.
        evaluator: ``trec_eval`` or ``touche``.
        name: the run's tag, or its path if several runs share the tag; not a column.
    """

    run: str
    tag: str
    task: str
    dataset: str
    dimension: str
    any_order: bool
    qrels: str
    measure: str
    evaluator: str
    name: str = field(repr=False)

    @property
    def key(self) -> tuple[str, str, bool, str, str]:
        """The columns that identify a mean and its topics."""
        return self.run, self.dimension, self.any_order, self.measure, self.evaluator


@dataclass(frozen=True, kw_only=True)
class Score(Subject):
    """A run's score in one dimension with one evaluator. Attributes as in ``Subject``, plus:

    Attributes:
        mean: the mean over topics; None without topics.
        low, high: the mean's 95% confidence interval, by bootstrapping topics; None below two topics.
        judged: Judged@k with the measure's k, or over all results if k is None.
        least, greatest: the mean's bounds for any grades of unjudged documents among the first k; None for
            measures without bounds (``touche.evaluation.bounds``).
        topics: how many topics the mean covers.
        comparable: whether you can compare it with published scores: few results are unjudged and no topic is
            missing. For stances: whether a published score is for the same N.
        results: N, the number of results with a judged stance; None for rankings.
        rank: the rank among published scores, from 1; None if there is none.
        rank_low, rank_high: the rank's 95% interval, by bootstrapping topics; None if there is none.
        group: the run's group, from 1, as in ``touche.published``; None if there is none.
        rank_note: why there is no rank, interval or group; may be empty.
        rank_text: the rank and its interval in words; empty without a rank; not a column.
        stances: each stance's scores by name; empty for rankings; not a column.
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
    rank_text: str = field(default="", repr=False)
    stances: Mapping[str, ClassScores] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TopicScore(Subject):
    """A run's score on one topic. Attributes as in ``Subject``, plus:

    Attributes:
        topic, title: the topic's number and title; the title is empty if the topics file is missing.
        value: the measure's value.
        judged: Judged@k; None if the run lacks the topic.
        least, greatest: the value's bounds, as in ``Score``.
    """

    topic: str
    title: str
    value: float
    judged: float | None
    least: float | None
    greatest: float | None


_S = TypeVar("_S", Score, TopicScore, Score | TopicScore)


def merged(scores: Sequence[_S], columns: Sequence[ScoreColumn]) -> list[_S]:
    """Merges rows on which both evaluators agree into one, with the evaluator ``both``. Other rows stay."""
    others = [column for column in columns if column.key != "evaluator"]
    by_row = group_by(scores, lambda score: tuple(column.cell(score) for column in others))
    return [replace(first, evaluator="both") if agreeing else first for first, *agreeing in by_row.values()]


@dataclass(frozen=True, repr=False)
class Scores(Table[Score]):
    """The scores of runs: a table of means. Attributes as in ``Table``, plus:

    Attributes:
        topic_scores: the topics' scores, without titles.
        scored_task: the task, which knows the topics' titles.
    """

    topic_scores: tuple[TopicScore, ...] = field(default=(), compare=False)
    scored_task: Task | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """The tables that ``touche evaluate`` prints. Use ``frame()`` for all columns."""
        tables = list[str]()
        for measure in dict.fromkeys(score.measure for score in self.records):
            scores = [score for score in self.records if score.measure == measure]
            columns = score_columns(measure, MEANS if scores[0].is_ranking else STANCES)
            header = [column.heading_of(measure) for column in columns]
            rows = [[column.cell(row) or "–" for column in columns] for row in merged(scores, columns)]
            lines = [header, *rows]
            widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
            texts = ("  ".join(map(str.ljust, cells, widths)).rstrip() for cells in lines)
            tables.append("\n".join(texts))
        return "\n\n".join(tables) or "no scores"

    @property
    def per_topic(self) -> Table[TopicScore]:
        """The topics' scores behind the means in this table.

        If each stance of a topic has its own ranking, there is a score per ranking.

        Raises:
            ToucheError: if only detected stances are scored, for which there are no topic scores.
        """
        if not self.topic_scores and not any(score.is_ranking for score in self.records):
            raise ToucheError("detected stances have no scores of topics; omit per-topic scores")
        titles = topic_titles(self.scored_task) if self.scored_task else {}
        means = {score.key for score in self.records}
        rows = [row for row in self.topic_scores if row.key in means]
        rows = [replace(row, title=titles.get(row.topic, "")) for row in rows]
        return Table(TopicScore, tuple(rows), self.warnings, self.notes)


@dataclass(frozen=True)
class Evaluated(InDimension):
    """A run evaluated in one dimension, with everything that commands show.

    Attributes:
        lines: the run; if any order counts, pairs are in their judged order.
        task: the task.
        dimension: the judged dimension.
        any_order: whether pairs judged in the other order count too.
        judgments: the judgments.
        evaluations: each evaluator's result.
        skipped: an error per line that doesn't count, in tasks whose script skips such lines.
        name: the run's tag, or its path if several runs share the tag.
    """

    lines: Run
    task: Task
    dimension: str
    any_order: bool
    judgments: Qrels
    evaluations: Mapping[str, Evaluation]
    skipped: Sequence[LineError]
    name: str

    @property
    def path(self) -> Path:
        """The run's file or name."""
        return self.lines.path

    @property
    def tag(self) -> str:
        """The first line's tag."""
        return self.lines.tag

    @property
    def qrels(self) -> str:
        """The judgments' file name."""
        return self.task.qrels[self.dimension].file

    @property
    def measure(self) -> Measure:
        return self.task.measure_for(self.dimension)

    @cached_property
    def official_md5(self) -> str:
        """The publisher's md5 of the qrels if the file has another one; otherwise empty."""
        expected = official_md5(f"qrels/{self.qrels}")
        path = places.find("qrels", self.qrels) if expected else None
        return expected if path and md5(path) != expected else ""

    @cached_property
    def scores(self) -> Mapping[str, Score]:
        """Each evaluator's mean, with its rank among published scores."""
        return {name: self._score(name, evaluation) for name, evaluation in self.evaluations.items()}

    def _score(self, evaluator: str, evaluation: Evaluation) -> Score:
        low, high = evaluation.interval
        bounds = self.mean_bounds(evaluator)
        is_comparable = self._is_comparable(evaluation)
        rank = self._rank(evaluator, is_comparable)
        return Score(
            **self._subject(evaluator),
            mean=evaluation.mean,
            low=low,
            high=high,
            judged=evaluation.judged,
            least=bounds.least if bounds else None,
            greatest=bounds.greatest if bounds else None,
            topics=evaluation.topics,
            comparable=is_comparable,
            results=evaluation.results,
            rank=rank.rank,
            rank_low=rank.low,
            rank_high=rank.high,
            group=rank.group,
            rank_note=rank.reason,
            rank_text=str(rank),
            stances=evaluation.by_class() if isinstance(evaluation, StanceEvaluation) else {},
        )

    def _subject(self, evaluator: str) -> dict[str, Any]:
        """Returns the columns that each row starts with."""
        return {
            "run": str(self.path),
            "tag": self.tag,
            "task": self.task.id,
            "dataset": self.task.dataset,
            "dimension": self.dimension,
            "any_order": self.any_order,
            "qrels": self.qrels,
            "measure": str(self.measure),
            "evaluator": evaluator,
            "name": self.name,
        }

    def published(self, evaluator: str) -> list[Published]:
        """Returns the published results comparable to an evaluator's score, best first."""
        if self.any_order:
            return []
        return comparable(self.task, self.dimension, evaluator, self.evaluations[evaluator].results)

    def values(self, evaluator: str) -> dict[str, float]:
        """Returns the value of each topic that an evaluator averages over, in topic order."""
        per_topic = self.evaluations[evaluator].per_topic
        return {topic: per_topic[topic] for topic in sorted(per_topic, key=self._topic_and_stance)}

    def _topic_and_stance(self, ranking: str) -> tuple[tuple[int, str], int]:
        """Sorts rankings by topic, then by stance in the task's order."""
        topic, _, stance = ranking.partition(" ")
        stances = self.task.rules.ranked_stances
        return in_order(topic), stances.index(stance) if stance in stances else 0

    @cached_property
    def bounded_measure(self) -> BoundedMeasure | None:
        """The data for bounds; None for measures without bounds, or if no grade is positive."""
        return bounded_measure(self.judgments, self.measure, self.task.qrels[self.dimension].labels)

    @cached_property
    def bounds(self) -> Mapping[str, Mapping[str, Bounds]]:
        """Bounds by evaluator and topic, including topics that touche leaves out until they are judged.

        Empty for measures without bounds.
        """
        if self.bounded_measure is None:
            return {name: {} for name in self.evaluations}
        return {
            name: topic_bounds(self.bounded_measure, self.first_documents(name), evaluation)
            for name, evaluation in self.evaluations.items()
        }

    def first_documents(self, evaluator: str) -> Mapping[str, Sequence[str]]:
        """Returns each judged topic's documents down to the cutoff, best first in the evaluator's order."""
        order = judged_order(evaluator, self.lines, self.judgments)
        return self.lines.documents_of(order, self.measure.cutoff)

    def mean_bounds(self, evaluator: str) -> Bounds | None:
        """Returns the mean's bounds.

        None for measures without bounds, or if we can't know which topics touche would average over.
        """
        bounds = self.bounds[evaluator]
        if not bounds:
            return None
        grades_by_topic = [self.judgments[topic].values() for topic in bounds]
        all_have_relevant = all(any(grade > 0 for grade in grades) for grades in grades_by_topic)
        if evaluator == "touche" and not all_have_relevant:
            return None  # touche leaves out a topic until one of its unjudged documents is relevant
        return bounds_of_mean(bounds)

    def topic_scores(self) -> list[TopicScore]:
        """Returns a row per evaluator and topic, or per ranking if stances are ranked separately."""
        rows = list[TopicScore]()
        for evaluator, whole_evaluation in self.evaluations.items():
            evaluation = whole_evaluation.per_ranking or whole_evaluation
            subject = self._subject(evaluator)
            for topic in sorted(evaluation.per_topic, key=self._topic_and_stance):
                bounds = self.bounds[evaluator].get(topic)
                row = TopicScore(
                    **subject,
                    topic=topic,
                    title="",  # titles are only read when someone looks at topics
                    value=evaluation.per_topic[topic],
                    judged=evaluation.judged_per_topic.get(topic),
                    least=bounds.least if bounds else None,
                    greatest=bounds.greatest if bounds else None,
                )
                rows.append(row)
        return rows

    def _rank(self, evaluator: str, is_comparable: bool) -> OwnRank:
        """Returns the rank of an evaluator's score, or why it has none."""
        rows = self.published(evaluator)
        mean = self.evaluations[evaluator].mean
        if not rows:
            reason = why_no_rank(self.task, self.dimension, self.any_order)
        elif not self.is_ranking:
            reason = "stances have no rank, because N, the number of documents, differs between runs"
        elif mean is None:
            reason = "there is no topic to average over"
        elif self.official_md5:
            reason = "not comparable: the qrels are not the publisher's"
        elif not is_comparable:
            reason = "not comparable: too many results are unjudged, or topics are missing"
        else:
            return own_rank(self.task, rows, mean, self.evaluations[evaluator].per_topic)
        return OwnRank(reason=reason)

    def _is_comparable(self, evaluation: Evaluation) -> bool:
        """Returns whether a mean is comparable with published values.

        For stances, N must be the same as for a published value. Rankings have to be complete, for a task
        with all its topics.
        """
        if self.official_md5:
            return False
        if not self.is_ranking:
            published = {row.results for row in self.task.published if row.dimension == STANCE}
            return evaluation.results in published
        return self.is_complete(evaluation) and not self.task.only_topics

    def is_complete(self, evaluation: Evaluation) -> bool:
        """Returns whether a ranking has results for all judged topics, only few of them unjudged."""
        topics = {*map(topic_in, self.judgments)} if evaluation.per_ranking else self.judgments.keys()
        is_whole = evaluation.judged_per_topic.keys() >= topics
        return is_whole and evaluation.unjudged <= unjudged_limit(self.task)


def by_measure(runs: Sequence[Evaluated]) -> list[list[Evaluated]]:
    """Divides evaluated runs, which are in the order of their measures, by measure."""
    return [list(group) for _, group in groupby(runs, key=lambda run: run.task)]
