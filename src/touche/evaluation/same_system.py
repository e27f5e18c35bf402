"""Is a rerun the same system as its original? A verdict with its error rate.

A large p-value doesn't show that two runs come from the same system: of all pairs of different teams' runs of
2021 task 1, the paired t-test finds no difference for 61%. Equal values of single topics do show it, because
different systems rarely have them. How rarely is counted on the published topic values of all teams' runs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from touche.errors import counted
from touche.evaluation.equality import SMALLEST_DIFFERENCE
from touche.evaluation.scoring import Scored
from touche.tasks import Task
from touche.tasks import task as task_with_id
from touche.tasks.per_topic import TopicValues, runs_with_topics, tasks_with_topics
from touche.tasks.task_records import MEASURE, rounded

IDENTICAL = "identical"
REPRODUCED = "reproduced"
SIMILAR = "similar"
NOT_SHOWN = "not shown"
EQUAL = 0.9  # the share of a reproduced run's values that are equal, at least
OTHER_TEAMS = 0.01  # the share of pairs of different teams' runs that may be as close as a reproduced run
SAME_TEAM = 0.10  # the same for pairs of one team's runs, many of which are variants of one system
SIMILAR_MEANS = 0.05  # the share of pairs of different teams' runs whose means may be as close
_SETS = 200  # random sets of topics, over which means are compared
_OF_PASSAGES = "touche-2022-task-2"
_NEAREST = {"argument": "touche-2021-task-1", "sentence pair": "touche-2021-task-1"}  # by the ranked unit
FITTED = (
    "The shares are for independent systems, but the rerun ranks with frequencies that were fitted to the "
    "original's scores: the equal values show its formula and analysis, not its frequencies."
)


@dataclass(frozen=True, kw_only=True)
class Closeness:
    """How close a rerun's topic values are to its original's, and how often other runs are as close.

    Shares of pairs are over all pairs of the task's published runs that have a value for each topic. Pairs
    that are equal in every topic are left out: they are copies, which means the same system.

    Attributes:
        topics: how many topics are compared.
        values: how many values are compared, one per topic and dimension.
        equal: how many of these are equal, to the published tables' decimals.
        difference: the largest difference between the two runs' means, over the dimensions.
        copies: how many other published runs equal the original in each of the task's topics.
        other_teams: how many other teams' runs, without copies, are as close to the original as the rerun.
        same_team: how many of the same team's runs, without copies, are as close.
        next: the most values that any run that isn't as close has in common with the original.
        pairs: the number of pairs of different teams' runs.
        share_of_pairs: the share of these pairs with at least as many equal values, as the mean over all sets
            of as many topics.
        team_pairs: the number of pairs of one team's runs.
        share_of_team_pairs: the share of these pairs with at least as many equal values.
        share_of_means: the share of pairs of different teams' runs whose means differ by at most as much in
            each dimension, as the mean over random sets of as many topics.
    """

    topics: int
    values: int
    equal: int
    difference: float
    copies: int
    other_teams: int
    same_team: int
    next: int
    pairs: int
    share_of_pairs: float
    team_pairs: int
    share_of_team_pairs: float
    share_of_means: float

    @property
    def verdict(self) -> str:
        """``identical``, ``reproduced``, ``similar`` or ``not shown``.

        The shares of pairs alone would not do: equal values that are rare enough in two tasks, e.g. 39 of
        100, are too frequent in the third.
        """
        is_rare = self.share_of_pairs <= OTHER_TEAMS and self.share_of_team_pairs <= SAME_TEAM
        if is_rare and self.equal >= EQUAL * self.values:
            return IDENTICAL if self.equal == self.values else REPRODUCED
        return SIMILAR if self.share_of_means <= SIMILAR_MEANS else NOT_SHOWN


def same_system(task: Task, original: Sequence[Scored], rerun: Sequence[Scored]) -> str:
    """Returns whether a rerun is the same system as its original, in sentences.

    Args:
        task: the task.
        original, rerun: both runs' scores in the same dimensions, computed by the organizers' script.

    Returns:
        The sentences; empty if the measure isn't nDCG@5, the only one with published values of topics.
    """
    if str(original[0].judged.measure) != MEASURE.name:
        return ""
    values, rerun_values = (
        {one.judged.dimension: one.evaluation.per_topic for one in scored} for scored in (original, rerun)
    )
    close = closeness(task, MEASURE.name, values, rerun_values, original[0].run.tag)
    if close is not None:
        return verdict_sentences(close)
    topics = set[str]().union(*values.values(), *rerun_values.values())
    differences = [
        fmean(values[name].get(topic, 0) - rerun_values[name].get(topic, 0) for topic in topics)
        for name in values
    ]  # a topic that a run lacks counts 0
    return means_sentence(task, max(map(abs, differences)), len(topics))


def verdict_sentences(close: Closeness, *, fitted: bool = False) -> str:
    """Returns a verdict with the counts that decide it.

    Args:
        close: how close the rerun is.
        fitted: whether the rerun ranks with statistics that were fitted to the original's scores. The shares
            of pairs are for independent systems, and such a rerun isn't independent.
    """
    topics = counted(close.topics, "topic")
    equal = f"{close.equal} of {close.values} topic values are equal"
    teams = f"{_percent(close.share_of_pairs, close.pairs)} of different teams' runs"
    if close.verdict in (IDENTICAL, REPRODUCED):
        first = f"{equal}: {close.verdict}. On {topics}, {teams} would pass."
    elif close.verdict == NOT_SHOWN and close.equal == close.values:
        one_team = f"{_percent(close.share_of_team_pairs, close.team_pairs)} of one team's runs"
        first = f"{equal}, but on {topics} so are {teams} and {one_team}: {NOT_SHOWN}."
    else:
        means = f"the means differ by at most {close.difference:.3f}"
        as_close = f"{_percent(close.share_of_means, close.pairs)} of different teams' runs are as close"
        first = f"{equal}, and {means}; {as_close}: {close.verdict}."
    kinds = {
        "a copy": close.copies,
        "of the same team": close.same_team,
        "of another team": close.other_teams,
    }
    number = sum(kinds.values())
    next_run = f"the next has {close.next} of {close.values}"
    if not number:
        others = f"No other published run comes as close; {next_run}."
    elif number == 1:
        [kind] = [kind for kind, runs in kinds.items() if runs]
        others = f"Of the other published runs, one comes as close, {kind}; {next_run}."
    else:
        which = ", ".join(f"{runs} {kind}" for kind, runs in kinds.items() if runs)
        others = f"Of the other published runs, {number} come as close ({which}); {next_run}."
    independent = f" {FITTED}" if fitted and close.verdict in (IDENTICAL, REPRODUCED) else ""
    return f"{first} {others}{independent}"


def means_sentence(task: Task, difference: float, topics: int) -> str:
    """Returns what two means can show without values of topics: at most that two runs are similar.

    Args:
        task: the task. If no values of its topics are published, a similar task's pairs of runs are counted.
        difference: the largest difference between the two runs' means, over the dimensions.
        topics: the number of topics that the means cover. Pairs of runs are compared on as many, or on all if
            these are fewer.
    """
    task_id = task.id if task.id in tasks_with_topics() else _NEAREST.get(task.rules.unit, _OF_PASSAGES)
    table = _table(task_id, MEASURE.name, ("relevance",))
    assert table is not None  # each of these tasks has a table
    share = _share_of_means(table, min(topics, len(table.topics)), difference)
    pairs = f"{_percent(share, int((~table.same_team).sum()))} of different teams' runs in {task_id}"
    verdict = SIMILAR if share <= SIMILAR_MEANS else NOT_SHOWN
    return f"The means differ by at most {difference:.3f}, and so do those of {pairs}: {verdict}."


def _percent(share: float, pairs: int) -> str:
    """Returns a share of pairs in words, with two digits."""
    if not share:
        return f"none of {pairs:,} pairs"
    return f"{100 * share:.2g}% of pairs" if share >= 1e-6 else "less than 0.0001% of pairs"


@dataclass(frozen=True)
class _Table:
    """The published values of a task's runs that have a value for each topic.

    Attributes:
        teams, tags: each run's team and tag.
        topics: the topics.
        values: the runs' values, in the shape (runs, dimensions, topics).
        first, second: the indexes of both runs of each pair, without copies.
        same_team: whether a pair's runs are from one team.
        equal: each pair's number of equal dimensions by topic, in the shape (pairs, topics).
    """

    teams: NDArray[np.str_]
    tags: NDArray[np.str_]
    topics: list[str]
    values: NDArray[np.float64]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    same_team: NDArray[np.bool_]
    equal: NDArray[np.intp]


@cache
def _table(task_id: str, measure: str, dimensions: tuple[str, ...]) -> _Table | None:
    """Returns a task's published topic values in these dimensions; None if there are fewer than two runs."""
    runs = runs_with_topics(task_with_id(task_id), measure)
    topics = sorted(
        {topic for run in runs for dimension in dimensions for topic in run.values.get(dimension, ())}
    )
    complete = [
        run for run in runs if all(run.values.get(name, {}).keys() >= {*topics} for name in dimensions)
    ]
    if len(complete) < 2:
        return None
    values = np.array([_values_of(run.values, dimensions, topics) for run in complete])
    teams = np.array([run.team for run in complete])
    first, second = np.triu_indices(len(complete), 1)
    equal = (values[first] == values[second]).sum(axis=1)
    differ = ~(equal == len(dimensions)).all(axis=1)
    return _Table(
        teams=teams,
        tags=np.array([run.tag for run in complete]),
        topics=topics,
        values=values,
        first=first[differ],
        second=second[differ],
        same_team=(teams[first] == teams[second])[differ],
        equal=equal[differ],
    )


def _values_of(values: TopicValues, dimensions: Sequence[str], topics: Sequence[str]) -> list[list[float]]:
    """Returns a run's values as a row per dimension, rounded like the tables; nan for a missing topic."""
    return [
        [rounded(values[name][topic]) if topic in values.get(name, {}) else np.nan for topic in topics]
        for name in dimensions
    ]


def closeness(
    task: Task, measure: str, original: TopicValues, rerun: TopicValues, tag: str = ""
) -> Closeness | None:
    """Compares a rerun's topic values with its original's, and both with the task's published runs.

    Args:
        task: the task.
        measure: the values' measure, such as ``nDCG@5``.
        original: the original's values, published or computed from its run. The topics with a value in each
            dimension are compared.
        rerun: the rerun's values. A missing value isn't equal, and counts 0 in the mean.
        tag: the original's tag, which tells it from its copies among the published runs.

    Returns:
        None if no values of topics are published for these dimensions, or there is no topic to compare.
    """
    dimensions = tuple(original)
    table = _table(task.id, measure, dimensions)
    if table is None:
        return None
    topics = [topic for topic in table.topics if all(topic in original[name] for name in dimensions)]
    if not topics:
        return None
    original_values = np.array(_values_of(original, dimensions, topics))
    rerun_values = np.array(_values_of(rerun, dimensions, topics))  # nan isn't equal to anything
    positions = [table.topics.index(topic) for topic in topics]
    equal = int((original_values == rerun_values).sum())
    difference = float(abs(original_values.mean(axis=1) - np.nan_to_num(rerun_values).mean(axis=1)).max())
    published = table.values[:, :, positions]
    in_common = (published == original_values).sum(axis=(1, 2))
    # The original itself is the published run with all its values, preferably the one with its tag.
    same = np.flatnonzero(in_common == len(topics) * len(dimensions))
    itself = next((index for index in same if table.tags[index] == tag), next(iter(same), None))
    is_copy = np.zeros(len(published), bool)
    from_team = np.zeros(len(published), bool)
    if itself is not None:
        is_copy = (table.values == table.values[itself]).all(axis=(1, 2))  # also true for itself
        from_team = table.teams == table.teams[itself]
    as_close = (in_common >= equal) & ~is_copy
    shares = _shares(table, len(topics), equal)
    return Closeness(
        topics=len(topics),
        values=len(topics) * len(dimensions),
        equal=equal,
        difference=difference,
        copies=max(0, int(is_copy.sum()) - 1),
        other_teams=int((as_close & ~from_team).sum()),
        same_team=int((as_close & from_team).sum()),
        next=int(in_common[in_common < equal].max(initial=0)),
        pairs=int((~table.same_team).sum()),
        share_of_pairs=float(shares[~table.same_team].mean()),
        team_pairs=int(table.same_team.sum()),
        share_of_team_pairs=float(shares[table.same_team].mean()),
        share_of_means=_share_of_means(table, len(topics), difference),
    )


def _shares(table: _Table, topics: int, least: int) -> NDArray[np.float64]:
    """Returns, for each pair, the share of sets of ``topics`` topics with at least ``least`` equal values."""
    counts, which = np.unique(np.sort(table.equal, axis=1), axis=0, return_inverse=True)
    shares = [share_of_sets(Counter(row.tolist()), topics, least) for row in counts]
    return np.array(shares)[which.ravel()]


def _share_of_means(table: _Table, topics: int, difference: float) -> float:
    """Returns how many pairs of different teams' runs have means that differ by at most ``difference``."""
    random = np.random.default_rng(0)
    first = table.first[~table.same_team]
    second = table.second[~table.same_team]
    shares = []
    for _ in range(_SETS):
        chosen = random.choice(len(table.topics), topics, replace=False)
        means = table.values[:, :, chosen].mean(axis=2)
        distances = abs(means[first] - means[second]).max(axis=1)  # the largest over the dimensions
        shares.append(float((distances <= difference + SMALLEST_DIFFERENCE).mean()))
    return fmean(shares)


def share_of_sets(equal: Mapping[int, int], topics: int, least: int) -> float:
    """Returns the share of all sets of topics in which two runs have enough equal values.

    Args:
        equal: in how many topics the runs have 0, 1, 2, ... equal values.
        topics: how many topics a set has.
        least: how many equal values are enough.
    """
    sets = Counter({(0, 0): 1})  # how many sets there are with so many topics and so many equal values
    for equal_in_topic, available in equal.items():
        larger = Counter[tuple[int, int]]()
        for (size, total), number in sets.items():
            for added in range(min(available, topics - size) + 1):
                larger[size + added, total + added * equal_in_topic] += number * comb(available, added)
        sets = larger
    enough = sum(number for (size, total), number in sets.items() if size == topics and total >= least)
    return enough / comb(sum(equal.values()), topics)
