"""Scores of runs as tables. One table has a row per mean, the other a row per topic."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from touche import tasks
from touche.data.judgments import topic_titles
from touche.errors import ToucheError, check_choice, warn
from touche.evaluation.bounds import bounds_of_mean, bounds_of_topics
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.judged import judged
from touche.evaluation.leaderboard import OwnRank, is_comparable, rank_of
from touche.evaluation.notes import all_notes, all_warnings
from touche.evaluation.score_columns import mean_columns, stance_columns
from touche.evaluation.scoring import Judged, Scored, check_evaluators, label_of, ranks_stances, score
from touche.evaluation.significance import bootstrap_intervals
from touche.evaluation.stances import ClassScores, StanceEvaluation
from touche.evaluation.teams import AnyTeams, known_teams
from touche.io.grouping import group_by
from touche.io.identifiers import in_order
from touche.io.plain import plain_text
from touche.io.tables import Column, Sheet
from touche.tasks import STANCE, Task
from touche.tasks.measures import parse_measures
from touche.trec.framed import Columns, Table, column_names
from touche.trec.run_forms import AnyQrels, AnyRuns, qrels_source, read_sources, run_sources

if TYPE_CHECKING:
    from ir_measures.measures import Measure


@dataclass(frozen=True)
class Subject:
    """What a score is about: a run in one dimension, with one evaluator.

    Attributes:
        run: the run file's path.
        tag: the run's tag.
        team: its team; empty if unknown.
        task: the task's id; empty if there is only the user's qrels.
        dataset: the dataset's id, which is the task's id, or e.g. ``touche-2022-task-2/twenty-topics`` for a
            dataset with some of the task's topics.
        dimension: the judged dimension.
        any_order: whether pairs judged in the other order count too.
        qrels: the judgments' file name.
        measure: the measure's name, such as ``nDCG@5``, or ``macro F1`` for stances.
        evaluator: ``trec_eval`` or ``touche``.
        name: the run's tag, or another name if several runs share the tag; not a column.
    """

    run: str
    tag: str
    team: str
    task: str
    dataset: str
    dimension: str
    any_order: bool
    qrels: str
    measure: str
    evaluator: str
    name: str = field(repr=False)

    @property
    def label(self) -> str:
        """The dimension's name, such as ``relevance, any order``."""
        return label_of(self.dimension, self.any_order)

    @property
    def is_ranking(self) -> bool:
        """Whether the ranking of documents is scored. If not, the stances that the run detects are scored."""
        return self.dimension != STANCE

    @property
    def key(self) -> tuple[str, str, bool, str, str]:
        """Values that identify a mean. The rows of its topics have the same ones."""
        return self.run, self.dimension, self.any_order, self.measure, self.evaluator


_FIGURES = ("mean", "low", "high", "judged", "least", "greatest", "topics", "comparable", "results")


@dataclass(frozen=True, kw_only=True)
class Score(Subject):
    """A run's score in one dimension with one evaluator. Attributes as in ``Subject``, plus those below.

    Its columns are the attributes down to ``results``, except ``name``, and then those of ``own_rank`` as
    ``rank``, ``rank_low``, ``rank_high``, ``group`` and ``rank_note``.

    Attributes:
        mean: the mean over topics; None if there are no topics.
        low, high: the mean's 95% confidence interval, computed by bootstrapping topics; None if there are
            fewer than two topics.
        judged: Judged@k: the share of the first k results that is judged, where k is the measure's cutoff. If
            it has none, the share of all results.
        least, greatest: the lowest and the highest mean that is possible, whatever the grades of unjudged
            documents among the first k are. None unless requested, and for measures without bounds
            (``touche.evaluation.bounds``).
        topics: how many topics the mean covers.
        comparable: whether you can compare it with published scores: few results are unjudged and no topic is
            missing. For stances, whether there is a published score for the same N.
        results: N, the number of results with a judged stance; None for rankings.
        own_rank: the rank among published scores, with its interval and group.
        stances: each stance's scores by name; empty for rankings.
    """

    COLUMNS: ClassVar[Columns] = {
        **{name: attrgetter(name) for name in (*column_names(Subject), *_FIGURES)},
        "rank": attrgetter("own_rank.rank"),
        "rank_low": attrgetter("own_rank.low"),
        "rank_high": attrgetter("own_rank.high"),
        "group": attrgetter("own_rank.group"),
        "rank_note": attrgetter("own_rank.reason"),
    }

    mean: float | None
    low: float | None
    high: float | None
    judged: float
    least: float | None
    greatest: float | None
    topics: int
    comparable: bool
    results: int | None
    own_rank: OwnRank
    stances: Mapping[str, ClassScores] = field(repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TopicScore(Subject):
    """A run's score on one topic. Attributes as in ``Subject``, plus:

    Attributes:
        topic, title: the topic's number and title; the title is empty if the topics file is missing.
        value: the measure's value.
        judged: Judged@k; None if the run has no results for the topic.
        least, greatest: the value's bounds, as in ``Score``.
    """

    topic: str
    title: str
    value: float
    judged: float | None
    least: float | None
    greatest: float | None


_S = TypeVar("_S", Score, TopicScore, Score | TopicScore)


def merged(scores: Sequence[_S], columns: Sequence[Column]) -> list[_S]:
    """Merges two rows into one, with the evaluator ``both``, if both evaluators agree. Other rows stay
    unchanged.
    """
    others = [column for column in columns if column.value != "evaluator"]
    by_row = group_by(scores, lambda row: tuple(column.cell(row) for column in others))
    return [replace(first, evaluator="both") if agreeing else first for first, *agreeing in by_row.values()]


@dataclass(frozen=True, repr=False)
class Scores(Table[Score]):
    """The scores of runs: a table of means. Attributes as in ``Table``, plus:

    Attributes:
        scored: what the means were computed from.
        scored_task: the task, which knows the topics' titles.
        has_bounds: whether bounds were requested.
    """

    scored: tuple[Scored, ...] = field(default=(), compare=False)
    scored_task: Task | None = field(default=None, compare=False)
    has_bounds: bool = False

    def __repr__(self) -> str:
        """The tables of means that ``touche evaluate`` prints. Use ``frame()`` for all columns."""
        sheets = list[Sheet]()
        for measure, rows in group_by(self.records, lambda row: row.measure).items():
            has_teams = any(row.team for row in rows)
            is_ranking = rows[0].is_ranking
            columns = (mean_columns if is_ranking else stance_columns)(measure, with_teams=has_teams)
            sheets.append(Sheet(columns, merged(rows, columns)))
        return plain_text(sheets).removesuffix("\n") or "no scores"

    @property
    def per_topic(self) -> Table[TopicScore]:
        """The topics' scores behind the means in this table.

        If each stance of a topic has its own ranking, there is a row for each ranking.

        Raises:
            ToucheError: if only detected stances are scored, because they are scored over all topics
                together.
        """
        if not any(row.is_ranking for row in self.records):
            raise ToucheError("detected stances have no scores of topics; omit per-topic scores")
        titles = topic_titles(self.scored_task) if self.scored_task else {}
        means = {row.key for row in self.records}
        rows = [
            row
            for scored_run in self.scored
            if Subject(**_subject(scored_run, self.scored_task)).key in means
            for row in topic_rows(scored_run, self.scored_task, titles, with_bounds=self.has_bounds)
        ]
        return Table(TopicScore, tuple(rows), self.warnings, self.notes)


def evaluate(
    runs: AnyRuns,
    task: str | None = None,
    evaluator: str = "both",
    *,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels | None = None,
    bounds: bool = False,
    teams: AnyTeams = None,
) -> Scores:
    """Scores runs in every dimension of a task.

    Args:
        runs: one run, a list of runs, or a dictionary such as ``{"mine": frame, "theirs": "run.txt"}``, which
            names them. Each can have any form of ``touche.AnyRun``: a path, a ``Run``, a PyTerrier or
            ir_measures frame, or scores by topic and document.
        task: the task's id; None if you only pass qrels.
        evaluator: ``trec_eval``, ``touche`` or ``both``.
        pairs: ``any-order`` adds a score that also counts pairs judged in the other order.
        measure: a measure instead of the task's: an ir_measures object or a name such as ``nDCG@10``.
            Several: ``nDCG@5,AP``.
        qrels: qrels instead of the task's, in any form of ``touche.AnyQrels``.
        bounds: add the lowest and highest score that grades of unjudged documents could give.
        teams: each run's team, as for ``lint``; by default the one in ir-metadata.yml next to the run.

    Returns:
        A ``touche.evaluation.scores.Score`` per run, dimension and evaluator, with values from 0 to 1.
        ``frame()`` returns a DataFrame, ``per_topic`` the topics' scores. Doubtful scores cause Python
        warnings. The notes explain why evaluators differ, and give ranks on the leaderboard.

    Raises:
        ToucheError: if a run is unusable or qrels are missing.

    Examples:
        >>> import touche
        >>> ranking = {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}}
        >>> qrels = {"1": {"a": 0, "b": 1}, "2": {"c": 1}}
        >>> [score] = touche.evaluate({"mine": ranking}, qrels=qrels, measure="RR")
        >>> score.tag, score.measure, score.mean
        ('mine', 'RR', 0.75)
    """
    check_choice("evaluator", evaluator, [*EVALUATORS, "both"])
    check_choice("order of pairs", pairs, ["exact", "any-order"])
    evaluators = [*EVALUATORS] if evaluator == "both" else [evaluator]
    sources = run_sources(runs)
    card = None if task is None else tasks.task(task)
    to_judge = judged(card, parse_measures(measure), qrels_source(qrels), any_order=pairs == "any-order")
    check_evaluators(to_judge, evaluators)
    team_of_run = known_teams(sources, teams)
    runs_as_read = read_sources(sources, by_stance=ranks_stances(to_judge))
    scored = score(runs_as_read, to_judge, evaluators, team_of_run)
    scores = table(scored, card, with_bounds=bounds)
    for text in scores.warnings:
        warn(text)
    return scores


def table(scored: Sequence[Scored], task: Task | None, *, with_bounds: bool = False) -> Scores:
    """Returns the table of means, with warnings and notes.

    Args:
        scored: the scored runs.
        task: their task, if there is one.
        with_bounds: whether to compute bounds, which takes long for many unjudged documents.
    """
    ranks = {scored_run: rank_of(scored_run, task) for scored_run in scored}
    return Scores(
        kind=Score,
        records=tuple(rows(scored, task, ranks, with_bounds=with_bounds)),
        warnings=all_warnings(scored, task),
        notes=all_notes(scored, task, ranks),
        scored=tuple(scored),
        scored_task=task,
        has_bounds=with_bounds,
    )


def rows(
    scored: Sequence[Scored],
    task: Task | None,
    ranks: Mapping[Scored, OwnRank],
    *,
    with_bounds: bool = False,
) -> list[Score]:
    """Returns one row for each mean.

    Args:
        scored: the scored runs.
        task: their task, if there is one.
        ranks: their ranks among published results.
        with_bounds: whether to compute bounds.
    """
    intervals = mean_intervals(scored)
    return [
        _row(scored_run, task, ranks[scored_run], intervals[scored_run], with_bounds) for scored_run in scored
    ]


def _row(
    scored_run: Scored,
    task: Task | None,
    rank: OwnRank,
    interval: tuple[float, float] | tuple[None, None],
    with_bounds: bool,
) -> Score:
    """Returns the row of a mean; arguments as for ``rows``."""
    evaluation = scored_run.evaluation
    low, high = interval
    bounds = bounds_of_mean(scored_run) if with_bounds else None
    return Score(
        **_subject(scored_run, task),
        mean=evaluation.mean,
        low=low,
        high=high,
        judged=evaluation.judged,
        least=bounds.least if bounds else None,
        greatest=bounds.greatest if bounds else None,
        topics=evaluation.topics,
        comparable=is_comparable(scored_run, task),
        results=evaluation.results,
        own_rank=rank,
        stances=evaluation.by_class() if isinstance(evaluation, StanceEvaluation) else {},
    )


def mean_intervals(
    scored: Sequence[Scored],
) -> dict[Scored, tuple[float, float] | tuple[None, None]]:
    """Returns the 95% interval of each mean, computed by bootstrapping topics; (None, None) if there are
    fewer than two topics.
    """
    intervals: dict[Scored, tuple[float, float] | tuple[None, None]] = {
        scored_run: scored_run.evaluation.interval
        for scored_run in scored
        if isinstance(scored_run.evaluation, StanceEvaluation)
    }
    rankings = [scored_run for scored_run in scored if scored_run not in intervals]
    values = [[*scored_run.evaluation.per_topic.values()] for scored_run in rankings]
    # All means in one call, because means over the same number of topics use the same resamples.
    for scored_run, interval in zip(rankings, bootstrap_intervals(values), strict=True):
        intervals[scored_run] = interval
    return intervals


def topic_rows(
    scored_run: Scored, task: Task | None, titles: Mapping[str, str], *, with_bounds: bool = False
) -> list[TopicScore]:
    """Returns a row per topic, or per ranking if each stance of a topic has its own.

    Args:
        scored_run: a scored run.
        task: its task, if there is one.
        titles: the topics' titles, if they are known.
        with_bounds: whether to compute bounds.
    """
    evaluation = scored_run.evaluation.per_ranking or scored_run.evaluation
    bounds = bounds_of_topics(scored_run) if with_bounds else {}
    subject = _subject(scored_run, task)
    return [
        TopicScore(
            **subject,
            topic=topic,
            title=titles.get(topic, ""),
            value=evaluation.per_topic[topic],
            judged=evaluation.judged_per_topic.get(topic),
            least=bounds[topic].least if topic in bounds else None,
            greatest=bounds[topic].greatest if topic in bounds else None,
        )
        for topic in topics_in_order(evaluation.per_topic, scored_run.judged)
    ]


def topics_in_order(topics: Iterable[str], judged: Judged) -> list[str]:
    """Sorts topics. Names of rankings, such as ``1 PRO``, are sorted by topic, then by stance in the task's
    order.
    """
    stances = judged.counted_lines.stances if judged.counted_lines else ()

    def place(ranking: str) -> tuple[tuple[int, str], int]:
        topic, _, stance = ranking.partition(" ")
        return in_order(topic), stances.index(stance) if stance in stances else 0

    return sorted(topics, key=place)


def _subject(scored_run: Scored, task: Task | None) -> dict[str, Any]:
    """Returns the values of the columns that say what a score is about, see ``Subject``."""
    return {
        "run": str(scored_run.run.path),
        "tag": scored_run.run.tag,
        "team": scored_run.team,
        "task": task.id if task else "",
        "dataset": task.dataset if task else "",
        "dimension": scored_run.judged.dimension,
        "any_order": scored_run.judged.any_order,
        "qrels": scored_run.judged.file,
        "measure": str(scored_run.judged.measure),
        "evaluator": scored_run.evaluator,
        "name": scored_run.name,
    }
