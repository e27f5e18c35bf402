"""A score's rank among published scores. Only comparable scores are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from touche.data.places import find
from touche.data.publishers import official_md5
from touche.evaluation.ranks import groups, rank_interval, rank_intervals, resampled_thousandths
from touche.evaluation.scoring import Judged, Scored
from touche.evaluation.significance import resampled_means
from touche.io.opening import md5
from touche.tasks import STANCE, Measure, Published, Task
from touche.tasks.per_topic import identifies_run, topic_values
from touche.tasks.task_records import DECIMALS, rounded
from touche.trec.by_stance import topic_in

UNJUDGED_LIMIT = 0.10  # unjudged share of the first results, above which scores aren't comparable


@dataclass(frozen=True)
class Level:
    """How certain a run's rank in a published table is, given the scores on single topics.

    Attributes:
        low, high: the rank's 95% interval, computed by bootstrapping topics. The rank is among all runs for
            which the value of every topic is published. None if this run isn't one of them.
        group: the run's group, from 1. A group consists of runs that the paired t-test, Holm-corrected for
            all pairs in the table, does not separate from the group's first run. None if the values of topics
            aren't published.
        reason: why the interval and the group are None; empty if they aren't.
    """

    low: int | None = None
    high: int | None = None
    group: int | None = None
    reason: str = ""


def levels(published: Sequence[Published]) -> list[Level]:
    """Returns the level of each row in a published table.

    Args:
        published: the rows for one dimension and measure, best first.
    """
    levels_of_rows = dict[Published, Level]()
    # The topics' values of each row, if they are published for every topic.
    complete = dict[Published, list[float]]()
    for row in published:
        values = topic_values(row)
        if isinstance(values, str):  # a sentence that says why there are no values
            levels_of_rows[row] = Level(reason=values)
        # Stances aren't compared topic by topic, because runs detect them for different numbers of passages.
        elif row.dimension == STANCE:
            levels_of_rows[row] = Level(reason="N differs")
        else:
            complete[row] = [*values.values()]
    if complete:
        values_of_rows = [*complete.values()]
        intervals = rank_intervals(values_of_rows)
        for row, (low, high), group in zip(complete, intervals, groups(values_of_rows), strict=True):
            levels_of_rows[row] = Level(low=low, high=high, group=group)
    return [levels_of_rows[row] for row in published]


@dataclass(frozen=True, kw_only=True)
class OwnRank(Level):
    """A run's rank among published runs. Attributes as in ``Level``, plus:

    Attributes:
        rank: from 1; runs with equal printed means share a rank. Each attribute is None if the run has no
            such value.
        runs: how many runs are ranked, including this one.
        covered_runs: which runs the interval takes into account, in words; empty if these are all ranked
            runs.
    """

    rank: int | None = None
    runs: int = 0
    covered_runs: str = ""

    def __str__(self) -> str:
        if self.rank is None:
            return ""
        text = f"rank {self.rank} of {self.runs}"
        return text if self.low is None else f"{text} (95%: {self.low} to {self.high}{self.covered_runs})"


def own_rank(
    task: Task, published: Sequence[Published], mean: float, per_topic: Mapping[str, float]
) -> OwnRank:
    """Returns a score's rank among published runs, with its 95% interval by bootstrapping topics.

    Published runs with a value for each topic are resampled together with the run and divided into groups
    with it, as in ``levels``. If there are no such runs, only the run itself is resampled, and it gets no
    group. A published run with the same value for every topic is taken to be the run itself, so it isn't
    counted as another run.

    Args:
        task: the task.
        published: results to compare with, at least one, best first.
        mean: the measure's mean; it's rounded like the tables before it is compared.
        per_topic: the run's value for each topic.
    """
    printed = rounded(mean, task.decimals)
    run_values = {topic: rounded(value, task.decimals) for topic, value in per_topic.items()}
    values_of_rows = {row: topic_values(row) for row in published}
    itself = None
    if identifies_run(run_values):
        itself = next((row for row, values in values_of_rows.items() if values == run_values), None)
    other_rows = [row for row in published if row is not itself]
    rank = 1 + sum(rounded(row.value) > printed for row in other_rows)
    runs = len(other_rows) + 1
    if len(per_topic) < 2 or not other_rows:
        return OwnRank(rank=rank, runs=runs, reason="an interval needs two topics, and another run")
    complete = {  # other runs with a value for each of this run's topics
        row: values
        for row, values in values_of_rows.items()
        if row is not itself and not isinstance(values, str) and values.keys() == run_values.keys()
    }
    if not complete:
        # The run's topic values aren't rounded here, because only means are compared with published values.
        means = resampled_means([*per_topic.values()])
        for decimals in task.decimals:  # rounded like the published means
            means = np.round(means, decimals)
        # One column: the same means are used for all resamples.
        fixed_values = np.array([[row.value] for row in other_rows])
        low, high = rank_interval(fixed_values, means)
        reason = "no values of its topics are published, so there are no groups"
        return OwnRank(
            rank=rank, runs=runs, low=low, high=high, reason=reason, covered_runs=" among fixed values"
        )
    # ``topic_values`` sorts the topics, so they are in the same order for all runs.
    topics = next(iter(complete.values()))
    values_by_rank = [[*values.values()] for values in complete.values()]
    position = sum(rounded(row.value) > printed for row in complete)
    values_by_rank.insert(position, [run_values[topic] for topic in topics])
    sums = resampled_thousandths(values_by_rank)
    low, high = rank_interval(sums, sums[position])
    is_complete = len(complete) == len(other_rows)
    covered_runs = "" if is_complete else f" among {len(values_by_rank)} with a value for each topic"
    group = groups(values_by_rank)[position]
    return OwnRank(rank=rank, runs=runs, low=low, high=high, group=group, covered_runs=covered_runs)


def rank_of(scored_run: Scored, task: Task | None) -> OwnRank:
    """Returns the rank of a score, or why it has none."""
    rows = published_with(scored_run, task)
    evaluation = scored_run.evaluation
    if task is None or not scored_run.judged.is_official:
        reason = "no values are published for these judgments"
    elif not rows:
        reason = why_no_rank(task, scored_run.judged.dimension, scored_run.judged.any_order)
    elif not scored_run.is_ranking:
        reason = "stances have no rank, because N, the number of documents, differs between runs"
    elif evaluation.mean is None:
        reason = "there is no topic to average over"
    elif other_md5(scored_run.judged):
        reason = "not comparable: the qrels are not the publisher's"
    elif not is_complete(scored_run, task):
        reason = "not comparable: too many results are unjudged, or topics are missing"
    else:
        return own_rank(task, rows, evaluation.mean, evaluation.per_topic)
    return OwnRank(reason=reason)


def is_comparable(scored_run: Scored, task: Task | None) -> bool:
    """Returns whether a mean is comparable with published values, if there are any.

    For stances, N must be the same as for a published value. Rankings must be complete (see ``is_complete``),
    and the task's dataset must contain all topics, unless the judgments are the user's own.
    """
    if other_md5(scored_run.judged):
        return False
    if not scored_run.is_ranking:
        published = {row.results for row in task.published if row.dimension == STANCE} if task else set()
        return scored_run.judged.is_official and scored_run.evaluation.results in published
    return is_complete(scored_run, task) and not (task and task.only_topics)


def is_complete(scored_run: Scored, task: Task | None) -> bool:
    """Returns whether a ranking has results for all judged topics, and only few of the first results are
    unjudged.
    """
    evaluation = scored_run.evaluation
    qrels = scored_run.judged.qrels
    topics = {*map(topic_in, qrels)} if evaluation.per_ranking else qrels.keys()
    limit = unjudged_limit(task, scored_run.judged.measure)
    return evaluation.judged_per_topic.keys() >= topics and evaluation.unjudged <= limit


def unjudged_limit(task: Task | None, measure: Measure) -> float:
    """Returns the unjudged share above which a score isn't comparable with published ones."""
    limit = judged_limit(task, measure)
    return UNJUDGED_LIMIT if limit is None else round(1 - limit, 9)


def judged_limit(task: Task | None, measure: Measure) -> float | None:
    """Returns the smallest judged share of any published run; None if unknown."""
    return task.least_judged.get(measure.judged) if task else None


def other_md5(judged: Judged) -> str:
    """Returns the md5 of the qrels that the publisher offers, if the file has a different md5; otherwise an
    empty string.
    """
    expected = official_md5(f"qrels/{judged.file}")
    path = find("qrels", judged.file) if expected else None
    return expected if path and md5(path) != expected else ""


def published_with(scored_run: Scored, task: Task | None) -> list[Published]:
    """Returns the published results comparable to a score, best first."""
    judged = scored_run.judged
    if task is None or not judged.is_official or judged.any_order:
        return []
    return comparable(
        task, judged.dimension, scored_run.evaluator, scored_run.evaluation.results, judged.measure
    )


def why_no_rank(task: Task, dimension: str, any_order: bool) -> str:
    """Returns why a run can't be ranked among the task's published values, or that there are none."""
    rows = [row for row in task.published if row.dimension == dimension]
    if not task.published:
        return "the task has no published values"
    if task.only_topics:
        return "published means are over all topics of the task, so a mean of some topics has no rank"
    if rows and dimension == STANCE:
        sizes = sorted(row.results for row in rows if row.results is not None)  # N of each published run
        return f"published values are over {sizes[0]:,} to {sizes[-1]:,} documents; compare only equal N"
    kinds = {f"{row.measure} by {row.evaluator or 'an unknown evaluator'}" for row in rows}
    kinds = kinds or {"other judgments"}  # published values exist, but only for other dimensions
    order = ", with pairs in the judged order" if any_order else ""
    values = f"published values are of {' and '.join(sorted(kinds))}{order}"
    return f"{values}; only values of the same measure, judgments and evaluator are comparable"


def comparable(
    task: Task, dimension: str, evaluator: str, results: int | None = None, measure: Measure | None = None
) -> list[Published]:
    """Returns published results comparable to a score: same measure, topics, judgments, N and evaluator.

    Args:
        task: the run's task.
        dimension: a name in ``task.qrels``.
        evaluator: the score's evaluator.
        results: the number of passages with a detected stance, N in the overview; None for rankings.
        measure: the score's measure; None for the task's own.

    Returns:
        The rows, best first.
    """
    if task.only_topics:  # published values cover all topics, so a score on some topics isn't comparable
        return []
    name = str(measure or task.measure_for(dimension))
    return [
        row
        for row in task.published
        if row.dimension == dimension
        and row.measure == name
        and row.results == results
        and row.topics is None  # covers all topics
        and row.evaluator in (None, evaluator)
        and row.qrels in (None, task.qrels[dimension].file)
    ]


def shortlist(published: Sequence[Published]) -> list[Published]:
    """Returns each team's best run, and all the organizers' runs.

    Args:
        published: results for one dimension, best first.
    """
    best: dict[str, Published] = {}
    for row in published:
        best.setdefault(row.team, row)
    return [row for row in published if row.baseline or row is best[row.team]]


def rank(row: Published, published: Sequence[Published]) -> int:
    """Returns a row's rank from 1. Rows with equal printed values share a rank."""
    return 1 + sum(rounded(other.value) > rounded(row.value) for other in published)


def names(published: Sequence[Published]) -> list[str]:
    """Returns the rows' names. If there are several organizers' baselines, their names include the tag."""
    needs_tags = sum(row.baseline for row in published) > 1
    return [f"{row.name} ({row.tag})" if needs_tags and row.baseline else row.name for row in published]


def standing(
    value: float, published: Sequence[Published], decimals: Sequence[int] = DECIMALS, rank: str = ""
) -> str:
    """Describes which published scores a score lies between, and the baselines' scores.

    Args:
        value: the measure's mean; it's rounded like the tables before it is compared.
        published: results to compare with, at least one, best first.
        decimals: the tables' decimals, as in ``Task``.
        rank: the rank in words, from ``own_rank``.
    """
    printed = rounded(value, decimals)
    best = shortlist(published)
    names_of_rows = dict(zip(published, names(published), strict=True))

    def label(row: Published, separator: str = " ") -> str:
        prefix = "the baseline " if row.baseline else ""
        # If a team is named without a tag, its best run is meant.
        name = names_of_rows[row] if row in best or not row.tag else f"{row.name} ({row.tag})"
        return f"{prefix}{name}{separator}{row.value:.3f}"

    higher = [row for row in published if rounded(row.value) > printed]
    equal = [row for row in published if rounded(row.value) == printed]
    lower = [row for row in published if rounded(row.value) < printed]
    if equal:
        mentioned = equal  # rows that the sentence in ``position`` already names
        position = f"level with {' and '.join(dict.fromkeys(map(label, equal)))}"
    elif higher and lower:
        # There is at least one: the first row of all has a higher score, and is the best run of its team.
        above = [row for row in best if row in higher][-1]
        # Possibly none of the lower rows is its team's best run. Then take the first of them.
        below = next((row for row in best if row in lower), lower[0])
        mentioned = [above, below]
        position = f"between {label(above)} and {label(below)}"
    elif higher:
        mentioned = higher[-1:]
        position = f"below {label(higher[-1])}{', the lowest published' if len(published) > 1 else ''}"
    else:
        mentioned = lower[:1]
        position = f"above {label(lower[0])}{', the highest published' if len(published) > 1 else ''}"
    baselines = [label(row, ": ") for row in best if row.baseline and row not in mentioned]
    parts = [position, *([rank] if rank else []), *baselines]
    # Rows with a number of results are about stances, which only touche evaluates, so the evaluator is known.
    is_evaluator_unknown = any(row.evaluator is None and row.results is None for row in published)
    if is_evaluator_unknown:
        parts.append("the evaluator of the published scores is not stated")
    return "; ".join(parts)
