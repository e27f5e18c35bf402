"""Is a rerun the same system as its original? A verdict with its error rate.

A large p-value doesn't show that two runs come from the same system: of all pairs of different teams' runs of
2021 task 1, the paired t-test finds no difference for 61%. Equal values of single topics do show it, because
different systems rarely have them. To know how rarely, we compare the published topic values of all pairs of
teams' runs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import comb, prod
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from touche.errors import counted
from touche.evaluation.equality import SMALLEST_DIFFERENCE
from touche.tasks import Task
from touche.tasks import task as task_with_id
from touche.tasks.per_topic import TopicValues, runs_with_topics, tasks_with_topics
from touche.tasks.task_records import MEASURE, rounded

IDENTICAL = "identical"
REPRODUCED = "reproduced"
SIMILAR = "similar"
NOT_SHOWN = "not shown"
EQUAL = 0.9  # a rerun counts as reproduced only if at least this share of its values equals the original's
# At most this share of pairs of different teams' runs may be as close as the rerun and its original.
OTHER_TEAMS = 0.01
# The same limit for pairs of one team's runs; higher, because many are variants of one system.
SAME_TEAM = 0.10
# At most this share of pairs of different teams' runs may have means as close, to call runs similar.
SIMILAR_MEANS = 0.05
FITTED = (
    "The shares are for independent systems, but the rerun ranks with frequencies that were fitted to the "
    "original's scores: the equal values show its formula and analysis, not its frequencies."
)
_ON_MEANS = "By the organizers' script, the means differ by at most {:.3f}, and so do those of {}: {}."
_SETS = 200  # how many random sets of topics are drawn; means over each set are compared
_TOLERANCE = 0.01  # a difference between means, used as an example in ``note_on_means``
_DIFFERENT_TEAMS = "different teams' runs"
_OF_ARGUMENTS = "touche-2021-task-1"
_OF_PASSAGES = "touche-2022-task-2"


def same_system(
    task: Task,
    measure: str,
    original: TopicValues,
    rerun: TopicValues,
    tag: str = "",
    *,
    fitted: bool = False,
) -> str:
    """Returns sentences that say whether a rerun is the same system as its original.

    Args:
        task, measure, original, rerun, tag: as for ``closeness``.
        fitted: as for ``verdict_sentences``.

    Returns:
        The sentences. If only means are published for the task and no values of topics, the sentences are
        about means. Empty if the measure isn't nDCG@5, the only one with published values of topics, if
        nothing is published about the task, or if no topic has values.
    """
    topics = set[str]().union(*original.values(), *rerun.values())
    if measure != MEASURE.name or not task.published or not topics:
        return ""
    close = closeness(task, measure, original, rerun, tag)
    if close:
        return verdict_sentences(close, fitted=fitted)
    differences = [
        fmean(original[name].get(topic, 0) - rerun[name].get(topic, 0) for topic in topics)
        for name in original
    ]  # a topic without results counts as 0
    return means_sentence(task, max(map(abs, differences)), len(topics))


def verdict_sentences(close: "Closeness", *, fitted: bool = False) -> str:
    """Returns the verdict in words, with the numbers that it follows from.

    Args:
        close: how close the rerun is.
        fitted: whether the rerun ranks with statistics that were fitted to the original's scores. The verdict
            then says so: how often two systems are that close is counted on independent systems, and such a
            rerun isn't independent of the original.
    """
    is_shown = close.verdict in (IDENTICAL, REPRODUCED)
    equal = f"{close.equal} of {close.values} topic values are equal"
    topics = counted(close.topics, "topic")
    teams = _pairs(close.share_of_pairs, close.pairs, _DIFFERENT_TEAMS)
    teams_by_means = _pairs(close.share_of_means, close.pairs, _DIFFERENT_TEAMS)
    on_means = _ON_MEANS.format(close.difference, teams_by_means, close.verdict)
    if is_shown:
        verdict = f"{equal}: {close.verdict}. On {topics}, {teams} would pass."
    elif not close.has_enough_equal:
        verdict = f"{equal}. {on_means}"
    elif close.is_mostly_zero:
        verdict = f"{equal}, but only {close.positive} of these are above 0. {on_means}"
    else:
        one_team = _pairs(close.share_of_team_pairs, close.team_pairs, "one team's runs")
        verdict = f"{equal}, but on {topics} so are those of {teams} and of {one_team}. {on_means}"
    if not close.equal:
        return verdict
    copy = "a copy, so it is reproduced, too" if is_shown else "a copy"
    as_close = [f"{name}, {copy}" for name in close.copies]
    if close.same_team:
        as_close.append(f"{close.same_team} of the same team")
    if close.other_teams:
        as_close.append(f"{close.other_teams} of other teams")
    others = f"Other published runs as close: {'; '.join(as_close) or 'none'}."
    next_run = f"The next has {close.next} of {close.values}."
    return " ".join([verdict, others, next_run, *([FITTED] if fitted and is_shown else [])])


def means_sentence(task: Task, difference: float, topics: int) -> str:
    """Returns the verdict if only two means are known and no values of topics. Means can show at most that
    two runs are similar.

    Args:
        task: the task. If no values of its topics are published, a similar task's pairs of runs are counted.
        difference: the largest difference between the two runs' means, over the dimensions.
        topics: how many topics the means cover. Pairs of published runs are compared on random sets of as
            many topics, or on all topics if there are fewer.
    """
    nearest = _OF_ARGUMENTS if task.rules.unit in ("argument", "sentence pair") else _OF_PASSAGES
    task_id = task.id if task.id in tasks_with_topics() else nearest
    teams, share = _pairs_within(task_id, difference, topics)
    return _ON_MEANS.format(difference, teams, _by_means(share))


def note_on_means() -> str:
    """Returns sentences that say what can be concluded if a rerun has the same mean as the original. Printed
    below tables that only compare means.
    """
    arguments, _ = _pairs_within(_OF_ARGUMENTS, _TOLERANCE, 50)
    passages, _ = _pairs_within(_OF_PASSAGES, _TOLERANCE, 50)
    return (
        f"a mean that a rerun reaches shows at most that the two runs are {SIMILAR}: {arguments}, and "
        f"{passages}, have means within {_TOLERANCE} ({MEASURE.name})"
    )


def _by_means(share: float) -> str:
    """Returns the verdict on two means, given the share of pairs of different teams' runs whose means are as
    close.
    """
    return SIMILAR if share <= SIMILAR_MEANS else NOT_SHOWN


def _pairs_within(task_id: str, difference: float, topics: int) -> tuple[str, float]:
    """Returns for how many pairs of a task's runs the means for relevance differ by at most ``difference``.

    Returns:
        The number in words, and as a share.
    """
    published = _published_runs(task_id, MEASURE.name, ("relevance",))
    assert published is not None  # the tasks that this function is called for have published values
    share = _share_of_means(published, min(topics, len(published.topics)), difference)
    pairs = int((~published.same_team).sum())
    return f"{_pairs(share, pairs, _DIFFERENT_TEAMS)} in {task_id} for relevance", share


def _pairs(share: float, number: int, whose: str) -> str:
    """Returns a share of a number of pairs in words, with two digits."""
    if not share:
        return f"none of {number:,} pairs of {whose}"
    percent = f"{float(f'{100 * share:.2g}'):g}%" if share >= 1e-6 else "less than 0.0001%"
    return f"{percent} of pairs of {whose}"


@dataclass(frozen=True, kw_only=True)
class Closeness:
    """How close a rerun's topic values are to its original's, and how often other runs are as close.

    Shares of pairs are over all pairs of the task's published runs that have a value for each topic. Pairs
    that are equal in every topic are left out: they are copies, which means the same system.

    Attributes:
        topics: how many topics are compared.
        values: how many values are compared, one per topic and dimension.
        equal: how many of these are equal after rounding to the decimals of the published tables.
        positive: how many of the equal values are above 0. A value of 0 says only that neither run found
            anything.
        difference: the largest difference between the two runs' means, over the dimensions.
        copies: the other published runs that equal the original in each of the task's topics.
        same_team: how many runs of the original's team are as close to the original as the rerun is; copies
            aren't counted.
        other_teams: how many runs of other teams are as close to the original as the rerun is; copies aren't
            counted.
        next: how many values the closest of the remaining runs (those that are less close than the rerun) has
            in common with the original.
        pairs: the number of pairs of different teams' runs.
        share_of_pairs: the share of these pairs that have at least as many equal values as rerun and
            original. If fewer topics are compared than the task has, the mean share over all sets of that
            many topics.
        team_pairs: the number of pairs of one team's runs.
        share_of_team_pairs: the same share, for the pairs of one team's runs.
        share_of_means: the share of pairs of different teams' runs whose means differ by at most
            ``difference`` in each dimension. If fewer topics are compared than the task has, the mean share
            over random sets of that many topics.
    """

    topics: int
    values: int
    equal: int
    positive: int
    difference: float
    copies: Sequence[str]
    same_team: int
    other_teams: int
    next: int
    pairs: int
    share_of_pairs: float
    team_pairs: int
    share_of_team_pairs: float
    share_of_means: float

    @property
    def verdict(self) -> str:
        """``identical``, ``reproduced``, ``similar`` or ``not shown``.

        It isn't enough to look at the shares of pairs. First, the same number of equal values, e.g. 39 of
        100, can be rare in two tasks and frequent in a third. Second, the compared topics can be topics on
        which many runs have equal values. Therefore the verdict also requires that no other run is as close
        to the original.
        """
        is_rare = self.share_of_pairs <= OTHER_TEAMS and self.share_of_team_pairs <= SAME_TEAM
        is_closest = not (self.same_team or self.other_teams)
        if self.has_enough_equal and not self.is_mostly_zero and is_rare and is_closest:
            return IDENTICAL if self.equal == self.values else REPRODUCED
        return _by_means(self.share_of_means)

    @property
    def has_enough_equal(self) -> bool:
        """Whether enough values are equal for the verdict ``reproduced``."""
        return self.equal >= EQUAL * self.values

    @property
    def is_mostly_zero(self) -> bool:
        """Whether at least half of the equal values are 0."""
        return 2 * self.positive <= self.equal


def closeness(
    task: Task, measure: str, original: TopicValues, rerun: TopicValues, tag: str = ""
) -> Closeness | None:
    """Compares a rerun's topic values with its original's, and counts how many published runs are as close.

    Args:
        task: the task.
        measure: the values' measure, such as ``nDCG@5``.
        original: the original's values, published or computed from its run. Only topics for which the
            original has a value in each dimension are compared.
        rerun: the rerun's values. A missing value counts as different from the original's, and as 0 in the
            mean.
        tag: the original's tag, used to find the original among the published runs, because it doesn't count
            as another run. If no run has this tag, the original is recognized by its values, but only if all
            topics are compared.

    Returns:
        The closeness, or None if no values of topics are published for these dimensions, or if there is no
        topic to compare.
    """
    dimensions = tuple(original)
    published = _published_runs(task.id, measure, dimensions)
    all_topics = published.topics if published else []
    topics = [topic for topic in all_topics if all(topic in original[name] for name in dimensions)]
    if published is None or not topics:
        return None
    # The two runs:
    original_values = _array(original, dimensions, topics)
    rerun_values = _array(rerun, dimensions, topics)
    is_equal = original_values == rerun_values  # a missing value is nan, which isn't equal to anything
    equal = int(is_equal.sum())
    differences = original_values.mean(axis=1) - np.nan_to_num(rerun_values).mean(axis=1)
    difference = float(abs(differences).max())
    # The other published runs on the same topics:
    values = published.values[:, :, [all_topics.index(topic) for topic in topics]]
    in_common = (values == original_values).sum(axis=(1, 2))
    # Find the original by its tag, because its run can differ from the published values on a few topics, and
    # because other runs can have the same values if only few topics are compared.
    has_tag = (published.tags == tag) & (in_common >= EQUAL * original_values.size)
    has_all_values = (in_common == original_values.size) & (topics == all_topics)
    itself = next(iter([*np.flatnonzero(has_tag), *np.flatnonzero(has_all_values)]), None)
    is_copy = np.zeros(len(values), bool)
    from_team = np.zeros(len(values), bool)
    if itself is not None:
        # True for the original itself, too.
        is_copy = (published.values == published.values[itself]).all(axis=(1, 2))
        from_team = published.teams == published.teams[itself]
    as_close = (in_common >= equal) & ~is_copy
    # All pairs of published runs:
    shares = _shares_of_sets(published, len(topics), equal)
    same_team = published.same_team
    return Closeness(
        topics=len(topics),
        values=original_values.size,
        equal=equal,
        positive=int((is_equal & (original_values > 0)).sum()),
        difference=difference,
        copies=[
            f"{published.teams[run]} ({published.tags[run]})"
            for run in np.flatnonzero(is_copy)
            if run != itself
        ],
        same_team=int((as_close & from_team).sum()),
        other_teams=int((as_close & ~from_team).sum()),
        next=int(in_common[(in_common < equal) & ~is_copy].max(initial=0)),
        pairs=int((~same_team).sum()),
        share_of_pairs=float(shares[~same_team].mean()),
        team_pairs=int(same_team.sum()),
        share_of_team_pairs=float(shares[same_team].mean()),
        share_of_means=_share_of_means(published, len(topics), difference),
    )


@dataclass(frozen=True)
class _PublishedRuns:
    """A task's published runs that have a value for each topic, and their pairs.

    Runs that are equal in every topic aren't a pair: they are copies, which means the same system.

    Attributes:
        teams, tags: each run's team and tag.
        topics: the topics.
        values: the runs' values, in the shape (runs, dimensions, topics).
        first, second: for each pair, the index of its first and of its second run.
        same_team: whether a pair's runs are from one team.
        equal: for each pair and topic, in how many dimensions both values are equal, in the shape (pairs,
            topics).
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
def _published_runs(task_id: str, measure: str, dimensions: tuple[str, ...]) -> _PublishedRuns | None:
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
    values = np.array([_array(run.values, dimensions, topics) for run in complete])
    teams = np.array([run.team for run in complete])
    first, second = np.triu_indices(len(complete), 1)
    equal = (values[first] == values[second]).sum(axis=1)
    differ = ~(equal == len(dimensions)).all(axis=1)
    return _PublishedRuns(
        teams=teams,
        tags=np.array([run.tag for run in complete]),
        topics=topics,
        values=values,
        first=first[differ],
        second=second[differ],
        same_team=(teams[first] == teams[second])[differ],
        equal=equal[differ],
    )


def _array(values: TopicValues, dimensions: Sequence[str], topics: Sequence[str]) -> NDArray[np.float64]:
    """Returns a run's values in the shape (dimensions, topics), rounded like the tables; nan for a missing
    topic.
    """
    return np.array(
        [
            [rounded(values[name][topic]) if topic in values.get(name, {}) else np.nan for topic in topics]
            for name in dimensions
        ]
    )


def _shares_of_sets(published: _PublishedRuns, topics: int, least: int) -> NDArray[np.float64]:
    """Returns, for each pair, the share of all sets of topics with at least ``least`` equal values."""
    rows, row_of_pair = np.unique(np.sort(published.equal, axis=1), axis=0, return_inverse=True)
    shares = np.zeros(len(rows))
    # Other pairs don't have enough equal values even on the topics with the most of them, so their share is
    # 0.
    for row in np.flatnonzero(rows[:, -topics:].sum(axis=1) >= least):
        shares[row] = share_of_sets(Counter(rows[row].tolist()), topics, least)
    return shares[row_of_pair.ravel()]


def share_of_sets(equal: Mapping[int, int], topics: int, least: int) -> float:
    """Returns the share of all sets of topics in which two runs have enough equal values.

    Args:
        equal: the number of topics by the number of equal values: ``{0: 20, 1: 5}`` if the runs have no equal
            value on 20 topics and one on 5 topics.
        topics: how many topics a set has.
        least: how many equal values are enough.
    """
    none, *some = (equal.get(value, 0) for value in range(max(equal) + 1))
    sets = 0
    # The set contains ``numbers[0]`` topics with 1 equal value, ``numbers[1]`` topics with 2, and so on. All
    # its other topics have no equal value.
    for numbers in product(*(range(available + 1) for available in some)):
        rest = topics - sum(numbers)
        total = sum(number * value for value, number in enumerate(numbers, start=1))
        if rest >= 0 and total >= least:
            sets += comb(none, rest) * prod(map(comb, some, numbers))
    return sets / comb(none + sum(some), topics)


def _share_of_means(published: _PublishedRuns, topics: int, difference: float) -> float:
    """Returns the share of pairs of different teams' runs whose means differ by at most ``difference``."""
    random = np.random.default_rng(0)
    different_teams = ~published.same_team
    shares = []
    for _ in range(_SETS if topics < len(published.topics) else 1):
        chosen = random.choice(len(published.topics), topics, replace=False)
        means = published.values[:, :, chosen].mean(axis=2)
        distances = abs(means[published.first] - means[published.second]).max(axis=1)
        is_close = distances <= difference + SMALLEST_DIFFERENCE
        shares.append(float(is_close[different_teams].mean()))
    return fmean(shares)
