"""Compares runs pairwise: differences, corrected paired tests, and decisive topics."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, count, product
from math import nan
from pathlib import Path
from statistics import fmean
from string import ascii_lowercase
from types import MappingProxyType
from typing import TYPE_CHECKING

from touche import tasks
from touche.data.judgments import topic_titles
from touche.errors import ToucheError, check_choice, choice, counted, warn
from touche.evaluation.bounds import bounds_of_difference
from touche.evaluation.equality import are_equal, without_last_digits, without_rounding_errors
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.judged import judged
from touche.evaluation.leaderboard import published_with
from touche.evaluation.notes import all_warnings
from touche.evaluation.scores import topics_in_order
from touche.evaluation.scoring import (
    Judged,
    Scored,
    check_evaluators,
    ranks_stances,
    score,
    unique_names,
)
from touche.evaluation.significance import (
    SIGNIFICANT,
    bootstrap_interval,
    differences_of,
    effect_size,
    holm,
    printed_p,
    randomisation_test,
    t_test,
)
from touche.evaluation.stances import stance_difference
from touche.evaluation.teams import AnyTeams, known_teams
from touche.io.grouping import group_by
from touche.io.identifiers import expanded, is_path
from touche.io.opening import resolved
from touche.io.progress import watched
from touche.tasks import Task
from touche.tasks.measures import parse_measures
from touche.tasks.per_topic import tasks_with_topics, topic_values
from touche.tasks.task_records import rounded
from touche.tira.metadata import different_statistics
from touche.trec.columns import Run
from touche.trec.framed import Table
from touche.trec.run_forms import (
    AnyQrels,
    AnyRun,
    RunSource,
    SeveralRuns,
    qrels_source,
    read_sources,
    run_of,
    run_sources,
)

if TYPE_CHECKING:
    from ir_measures.measures import Measure

_FEWEST = 2  # common topics needed for a test
UNDEFINED = "all topics differ by the same amount"  # so the variance is 0, and t is undefined
_ONLY_T_TEST = "published runs are compared only by the t-test; omit the other options"
_PUBLISHED_BY = "touche"  # the evaluator that computed the published topic values
_ROUNDED = "mean B is the mean of rounded topic values; it can differ from the published mean by 0.001"

# Scores of run A and run B, by topic; only topics that both runs have.
PairedScores = Mapping[str, tuple[float, float]]
TopicValues = Mapping[str, float]  # a run's scores by topic


@dataclass(frozen=True)
class PairOfRuns:
    """Runs A and B in one dimension.

    Attributes:
        run_a, run_b: the runs' names, as in ``Subject.name``: tags, or paths if tags aren't unique.
        task, dataset, dimension, qrels, measure, evaluator: what is scored, as in ``Subject``.
        path_a, path_b: the runs' paths, as in ``Subject.run``; not columns.
    """

    run_a: str
    run_b: str
    task: str
    dataset: str
    dimension: str
    qrels: str
    measure: str
    evaluator: str
    path_a: str = field(repr=False, compare=False, kw_only=True)
    path_b: str = field(repr=False, compare=False, kw_only=True)


@dataclass(frozen=True, kw_only=True)
class Comparison(PairOfRuns):
    """Compares run A with run B in one dimension, over the topics that the evaluator scores for both.

    Scores that only differ by rounding errors are ties everywhere: in ``difference``, in the tests, and in
    ``won``, ``lost`` and ``tied``; see ``differences_of``. Stances aren't tested: their ``significant`` is
    False, and their other test results are None.

    Attributes:
        mean_a, mean_b: the mean scores of run A and run B.
        difference: ``mean_a - mean_b``.
        low, high: the difference's 95% confidence interval, computed by bootstrapping topics. Unlike the
            p-values with ``holm`` in their name, it isn't corrected for the number of comparisons.
        effect_size: Cohen's d of the paired scores; None if all topics differ by the same amount.
        p_t_test: the paired t-test's two-sided p-value; None if all topics differ by the same amount.
        p_t_test_holm: ``p_t_test``, corrected for the number of comparisons in ``family``.
        significant: whether ``p_t_test_holm`` is below 0.05.
        p_randomisation, p_randomisation_holm: the paired randomisation test's two-sided p-value, and the same
            after correction; None unless requested.
        won, lost, tied: on how many topics A scores higher, lower, or the same.
        topics: how many topics were compared.
        results: N, how many documents with a judged stance are in both runs; None for rankings.
        least, greatest: bounds on the difference for any grades of unjudged documents among the first k. A
            document in both runs gets one grade. None unless requested, and for measures without bounds.
        can_change: whether some grades would change the winner; None without bounds.
        family: in words, which comparisons Holm's correction covers: all comparisons of the measure, in all
            dimensions. It isn't a column.
    """

    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    effect_size: float | None = None
    p_t_test: float | None = None
    p_t_test_holm: float | None = None
    significant: bool = False
    p_randomisation: float | None = None
    p_randomisation_holm: float | None = None
    won: int | None = None
    lost: int | None = None
    tied: int | None = None
    topics: int
    results: int | None = None
    least: float | None = None
    greatest: float | None = None
    can_change: bool | None = None
    family: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TopicDifference(PairOfRuns):
    """The difference between two runs on one topic. Attributes as in ``PairOfRuns`` and ``TopicScore``."""

    topic: str
    title: str
    value_a: float
    value_b: float
    difference: float


@dataclass(frozen=True, repr=False)
class Comparisons(Table[Comparison]):
    """A table of comparisons. Attributes as in ``Table``, plus:

    Attributes:
        pairs: each pair of rankings with the values of run A and of run B by topic; empty if runs are
            compared with published runs.
        total: the number of comparisons in the whole table, even for a slice.
        scored_task: the task, which knows the topics' titles.
    """

    pairs: Sequence[tuple[PairOfRuns, TopicValues, TopicValues]] = field(default=(), compare=False)
    total: int = field(default=0, compare=False)
    scored_task: Task | None = field(default=None, compare=False)

    @property
    def per_topic(self) -> Table[TopicDifference]:
        """The differences on each topic, pair by pair, the largest first.

        If this table is a slice of another one, only the pairs in the slice are covered. The whole table also
        covers pairs with too few topics for a test.

        Raises:
            ToucheError: if the runs are compared with published runs.
        """
        if self.records and not self.pairs:
            raise ToucheError(_ONLY_T_TEST)
        titles = topic_titles(self.scored_task) if self.scored_task else {}
        is_slice = len(self.records) < self.total
        compared = {*map(_pair_of, self.records)}
        differences = [
            difference
            for pair, values_a, values_b in self.pairs
            if not is_slice or _pair_of(pair) in compared
            for difference in topic_differences(pair, values_a, values_b, titles)
        ]
        return Table(TopicDifference, tuple(differences), self.warnings)


def _pair_of(row: PairOfRuns) -> tuple[str, str, str, str, str]:
    """Returns what identifies a row's pair of runs, its dimension and its evaluator."""
    return row.run_a, row.run_b, row.dimension, row.measure, row.evaluator


def compare(
    runs: SeveralRuns,
    task: str | None = None,
    evaluator: str | None = None,
    *,
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels | None = None,
    randomisation: bool = False,
    bounds: bool = False,
    reference: AnyRun | None = None,
    published: bool = False,
    teams: AnyTeams = None,
) -> Comparisons:
    """Compares each pair of runs in every dimension of a task.

    Args:
        runs: at least two runs, as for ``evaluate``.
        task: the task's id; None if you only pass qrels.
        evaluator: ``trec_eval`` or ``touche``; by default the evaluator that computed most of the task's
            published results. If nothing is published, or if touche doesn't know the measure, the default is
            trec_eval.
        measure: a measure instead of the task's, as for ``evaluate``.
        qrels: qrels instead of the task's, in any form of ``touche.AnyQrels``.
        randomisation: add the randomisation test.
        bounds: add the lowest and highest difference that grades of unjudged documents could lead to.
        reference: the run, tag or path to compare each other run with; None compares all pairs.
        published: compare each run with every published run, using published topic values, instead of with
            each other. The evaluator is then touche, which computed them.
        teams: as for ``evaluate``. Runs with one tag are called ``TEAM (TAG)``.

    Returns:
        A ``touche.evaluation.comparison.Comparison`` per pair of runs, dimension and measure, with
        differences in the measure's unit. ``frame()`` returns a DataFrame, and ``per_topic`` the differences
        on each topic. Pairs with fewer than two common topics are missing and cause a Python warning.

    Raises:
        ToucheError: if a run is unusable, the reference isn't one of the runs, qrels are missing, or no pair
            has a common topic.

    Examples:
        >>> import touche
        >>> qrels = {topic: {"a": 1, "b": 0} for topic in "1234"}
        >>> good = {topic: {"a": 2.0, "b": 1.0} for topic in "1234"}
        >>> bad = good | {topic: {"a": 1.0, "b": 2.0} for topic in "34"}
        >>> [comparison] = touche.compare({"good": good, "bad": bad}, qrels=qrels, measure="RR")
        >>> comparison.run_a, comparison.difference, comparison.significant
        ('good', 0.25, False)
    """
    if evaluator is not None:
        check_choice("evaluator", evaluator, EVALUATORS)
    if published and (randomisation or bounds or reference is not None):
        raise ToucheError(_ONLY_T_TEST)
    sources = run_sources(runs)
    card = None if task is None else tasks.task(task)
    to_judge = judged(card, parse_measures(measure), qrels_source(qrels))
    # Published values were computed with touche. If touche doesn't know the measure, no pair can be compared,
    # and the error says which tasks have published values.
    chosen = _PUBLISHED_BY if published else evaluator or usual_evaluator(card, to_judge)
    if not published:
        check_evaluators(to_judge, [chosen])
    runs_as_read = read_sources(sources, by_stance=ranks_stances(to_judge))
    team_of_run = known_teams(sources, teams)
    scored = score(runs_as_read, to_judge, [chosen], team_of_run)
    if published:
        table = published_comparisons(scored, card)
    else:
        path = find_reference(reference, sources, runs_as_read, team_of_run)
        table = comparisons(scored, card, path, randomisation=randomisation, bounds=bounds)
        if not table and not table.per_topic:
            raise nothing_to_compare(table.warnings)
    warnings = (*table.warnings, *all_warnings(scored, card), *different_statistics(sources))
    table = replace(table, warnings=warnings)
    for text in table.warnings:
        warn(text)
    return table


def nothing_to_compare(
    why_missing: Sequence[str], remedy: str = "pass runs that share at least two scored topics"
) -> ToucheError:
    """Returns the error that is raised if no pair of runs can be compared.

    Args:
        why_missing: sentences that say why pairs of runs can't be compared; the error's message contains the
            first one.
        remedy: what to do.
    """
    why = f": {why_missing[0]}" if why_missing else ""
    return ToucheError(f"nothing to compare{why}; {remedy}")


def usual_evaluator(task: Task | None, judged: Sequence[Judged]) -> str:
    """Returns the evaluator of most published results of a task; trec_eval if there are none, or if touche
    doesn't know a measure.
    """
    knows_all = all("touche" in scored_run.measure.evaluators for scored_run in judged)
    return task.usual_evaluator if task and knows_all and judged[0].is_official else "trec_eval"


def run_letters(runs: Iterable[str]) -> dict[str, str]:
    """Returns each run's letter: a to z, then aa to zz and so on."""
    letters = chain.from_iterable(product(ascii_lowercase, repeat=length) for length in count(1))
    return dict(zip(runs, map("".join, letters), strict=False))


def find_reference(
    reference: AnyRun | None,
    sources: Sequence[RunSource],
    runs: Sequence[Run],
    teams: Mapping[Path, str] = MappingProxyType({}),
) -> Path | None:
    """Returns the path of the run to compare others with, or None if there is none.

    Args:
        reference: the path, name or tag of one of the runs, or a run in memory. A run in memory is found
            among the others because its lines are the same.
        sources: the runs as they were passed.
        runs: the runs as they were read.
        teams: each run's team by the run's path; needed because some runs' names contain the team.

    Raises:
        ToucheError: if the reference isn't one of the runs, or if several runs have this tag or these lines.
    """
    if reference is None:
        return None
    if is_path(reference):
        return _path_of(expanded(reference), sources, runs, teams)
    paths = [source.name for source in sources if source.passed is reference]
    if not paths:
        # Ignore the tag, because for runs in a dictionary it was replaced with the key.
        untagged = run_of(reference).called("")
        paths = [run.path for run in runs if run.called("") == untagged]
    if len(paths) != 1:
        problem = f"{len(paths)} of the runs have" if paths else "none of the runs has"
        raise ToucheError(f"{problem} the same lines as the reference; pass one of the runs, or its tag")
    return paths[0]


def _path_of(name: str, sources: Sequence[RunSource], runs: Sequence[Run], teams: Mapping[Path, str]) -> Path:
    """Returns the path of the run that a name stands for. The name can be a path, a key if the runs are in a
    dictionary, or a tag.

    Raises:
        ToucheError: if no run has this name, or several runs have it as their tag.
    """
    at_path = [
        source.name
        for source in sources
        if str(source.name) == name or (is_path(source.passed) and resolved(source.path) == resolved(name))
    ]
    names = unique_names({run.path: run.tag for run in runs}, teams)
    paths = at_path or [run.path for run in runs if name in (run.tag, names[run.path])]
    if len(paths) > 1:
        what = "name or path" if at_path else "tag"
        raise ToucheError(f"{len(paths)} runs have the {what} {name!r}; pass a path, such as {paths[0]}")
    if not paths:
        raise ToucheError(f"no run is called {name!r}; {choice(name, names.values())}")
    return paths[0]


def comparisons(
    scored: Sequence[Scored],
    task: Task | None,
    reference: Path | None = None,
    randomisation: bool = False,
    bounds: bool = False,
    intervals: bool = True,
) -> Comparisons:
    """Compares runs in every dimension. The correction covers all comparisons with the same measure.

    Args:
        scored: the scored runs, all with the same evaluator in each dimension.
        task: their task, if there is one.
        reference: the path of a run to compare each other run with; None compares all pairs.
        randomisation: whether to add the randomisation test, which takes longer.
        bounds: whether to add each difference's bounds, which take longer.
        intervals: whether to compute confidence intervals, which takes most of the time; if not, ``low`` and
            ``high`` are NaN.

    Returns:
        The comparisons. Pairs with too few common topics, or too few common documents with a judged stance,
        are missing and cause a warning.

    Raises:
        ToucheError: if there is only one run.
    """
    names = {scored_run.run.path: scored_run.name for scored_run in scored}
    if len(names) < 2:
        raise ToucheError(
            "a comparison needs at least two runs; pass another, or compare with published runs"
        )
    pairs_of_runs = [*_pairs(scored, reference)]
    # Computed only once, although a run is in several pairs.
    values = {scored_run: _values(scored_run) for scored_run in scored}
    # Pairs of rankings with their values, even if they can't be tested, because ``per_topic`` shows them.
    pairs = list[tuple[PairOfRuns, TopicValues, TopicValues]]()
    compared = list[Comparison]()
    why_missing = list[str]()
    for a, b in watched(pairs_of_runs, "testing", "comparisons", len(pairs_of_runs)):
        pair = _pair(a, b, task)
        try:
            if a.is_ranking:
                pairs.append((pair, values[a], values[b]))
                scores = _common_scores(values[a], values[b])
                comparison = _comparison(pair, scores, randomisation, intervals)
                compared.append(_with_bounds(comparison, a, b) if bounds else comparison)
            else:
                compared.append(_stance_comparison(pair, a, b))
        except ToucheError as error:
            by = f" by {pair.evaluator}" if a.is_ranking else ""
            where = f"{pair.dimension}{by}"
            why_missing.append(f"{a.name} and {b.name} are not compared in {where}: {error}")
    compared = _corrected(compared, names[reference] if reference else "")
    return Comparisons(
        kind=Comparison,
        records=tuple(compared),
        warnings=tuple(why_missing),
        notes=tuple(conclusions(compared)),
        pairs=pairs,
        total=len(compared),
        scored_task=task,
    )


def _values(scored_run: Scored) -> TopicValues:
    """Returns the value of each topic that the evaluator averages over, in topic order."""
    values = scored_run.evaluation.per_topic
    return {topic: values[topic] for topic in topics_in_order(values, scored_run.judged)}


def why_untested(compared: Comparisons) -> list[str]:
    """Returns a sentence for each pair of runs that ``comparisons`` left out or for which the t-test is
    undefined.
    """
    undefined = [row for row in compared if row.p_t_test is None]
    return [*compared.warnings, *conclusions(undefined)]


def published_comparisons(scored: Sequence[Scored], task: Task | None) -> Comparisons:
    """Compares runs with each published run, using published topic values (the organizers' script's).

    Args:
        scored: the scored runs; runs that touche didn't score are left out. Their scores are rounded before
            the comparison, because the published values are rounded.
        task: their task, if there is one.

    Returns:
        The comparisons, corrected over all with the same measure. A published run is left out, with a
        warning, if it doesn't have a value for each topic, or if it has the same values as the run that it is
        compared with.

    Raises:
        ToucheError: if there is nothing to compare.
    """
    compared = list[Comparison]()
    # A dictionary, because several runs can get the same sentence: keeps one of each, in order.
    why_missing = dict[str, None]()
    by_touche = [
        scored_run for scored_run in scored if scored_run.is_ranking and scored_run.evaluator == _PUBLISHED_BY
    ]
    for scored_run in by_touche:
        run_values = _values(scored_run)
        dimension = scored_run.judged.dimension
        for row in published_with(scored_run, task):
            name = f"{row.name} ({row.tag})"
            values = topic_values(row)
            if isinstance(values, str):  # a sentence that says why there are no values
                why_missing[f"{name} is not compared in {dimension}: {values}"] = None
                continue
            scores = {
                topic: (rounded(run_values[topic]), values[topic]) for topic in run_values if topic in values
            }
            if len(scores) < _FEWEST:  # the published run is for other topics
                continue
            if scores.keys() == run_values.keys() and all(value == other for value, other in scores.values()):
                equal = "both have the same value in every topic"
                why_missing[f"{scored_run.name} is not compared with {name}, because {equal}"] = None
            else:
                # Only name and path differ: the published run is scored with the same measure and judgments.
                pair = replace(_pair(scored_run, scored_run, task), run_b=name, path_b="")
                compared.append(_comparison(pair, scores))
    compared = _corrected(compared, "published runs")
    if not compared:
        remedy = f"pass runs of {' or '.join(tasks_with_topics())}, and no other measure or qrels"
        raise nothing_to_compare([*why_missing], remedy)
    return Comparisons(
        kind=Comparison,
        records=tuple(compared),
        warnings=tuple(why_missing),
        notes=(*_counts_of_published(compared), _ROUNDED),
    )


def topic_differences(
    pair: PairOfRuns, values_a: TopicValues, values_b: TopicValues, titles: Mapping[str, str]
) -> list[TopicDifference]:
    """Returns two runs' differences on their common topics, the largest first.

    Args:
        pair: the two runs.
        values_a, values_b: their values by topic.
        titles: the topics' titles; empty if unknown.
    """
    scores = _common_scores(values_a, values_b)
    rows = [
        TopicDifference(
            **vars(pair),
            topic=topic,
            title=titles.get(topic, ""),
            value_a=value_a,
            value_b=value_b,
            difference=difference,
        )
        for (topic, (value_a, value_b)), difference in zip(scores.items(), _differences(scores), strict=True)
    ]
    return sorted(rows, key=lambda row: -abs(row.difference))


def conclusions(compared: Sequence[Comparison]) -> list[str]:
    """Returns a sentence per comparison: which run scores higher, by how much, and what the test says."""
    return [f"{row.measure}, {row.dimension}: {_finding(row)}; {_significance(row)}" for row in compared]


def _counts_of_published(compared: Sequence[Comparison]) -> list[str]:
    """Returns a sentence per run, measure and dimension: how many published runs differ significantly."""
    sentences = list[str]()
    by_run = group_by(compared, lambda row: (row.path_a, row.measure, row.dimension))
    for rows in by_run.values():
        first = rows[0]
        significant = [row.difference for row in rows if row.significant]
        above = sum(difference > 0 for difference in significant)
        below = len(significant) - above
        sides = f"significantly above {above} and below {below} of {counted(len(rows), 'published run')}"
        sentences.append(f"{first.measure}, {first.dimension}: {first.run_a} is {sides}")
    return sentences


def _finding(row: Comparison) -> str:
    """Returns which run has the higher mean, and by how much."""
    size = abs(row.difference)
    if are_equal(row.difference, 0):
        return f"{row.run_a} and {row.run_b} have the same mean"
    side = "above" if row.difference > 0 else "below"
    amount = f"{size:.3f}" if size >= 0.0005 else "less than 0.001"
    return f"{row.run_a} is {amount} {side} {row.run_b}"


def _significance(row: Comparison) -> str:
    """Returns in words whether a difference is significant, and for which comparisons the p-value is
    corrected.
    """
    excludes_0 = row.low > 0 or row.high < 0
    if row.results is not None:
        side = "excludes" if excludes_0 else "contains"
        return f"stances have no test, and the 95% interval {side} 0"
    if row.tied == row.topics:
        return f"all {row.topics} topics are ties"
    if row.p_t_test is None or row.p_t_test_holm is None:
        return f"{UNDEFINED}, so the paired t-test is undefined"
    correction = f"p {printed_p(row.p_t_test_holm)} after Holm's correction for {row.family}"
    if row.significant:
        return f"significant, {correction}"
    nothing = f"not significant, {correction}; the test says nothing about smaller differences"
    if not excludes_0:
        return nothing
    if row.p_t_test < SIGNIFICANT:
        return f"{nothing}; the interval excludes 0 because it is not corrected"
    return f"{nothing}; the interval excludes 0 because the bootstrap makes it narrower than the t-test does"


def _pairs(scored: Sequence[Scored], reference: Path | None) -> Iterator[tuple[Scored, Scored]]:
    """Yields each pair of runs, for each measure and dimension. If there is a reference, yields only the
    pairs of another run and the reference.
    """
    for in_dimension in group_by(
        scored, lambda scored_run: (scored_run.judged.measure, scored_run.judged.dimension)
    ).values():
        if reference is None:
            yield from combinations(in_dimension, 2)
        else:
            others = [scored_run for scored_run in in_dimension if scored_run.run.path != reference]
            # Empty if the reference detects no stances, because then it isn't scored in this dimension.
            of_reference = [scored_run for scored_run in in_dimension if scored_run.run.path == reference]
            yield from product(others, of_reference)


def _pair(a: Scored, b: Scored, task: Task | None) -> PairOfRuns:
    """Returns a record that says which runs are compared, and in which dimension. Both runs must be scored
    with the same judgments, measure and evaluator.
    """
    return PairOfRuns(
        run_a=a.name,
        run_b=b.name,
        task=task.id if task else "",
        dataset=task.dataset if task else "",
        dimension=a.judged.dimension,
        qrels=a.judged.file,
        measure=str(a.judged.measure),
        evaluator=a.evaluator,
        path_a=str(a.run.path),
        path_b=str(b.run.path),
    )


def _common_scores(values_a: TopicValues, values_b: TopicValues) -> PairedScores:
    """Returns both runs' values for each common topic."""
    return {topic: (values_a[topic], values_b[topic]) for topic in values_a if topic in values_b}


def _differences(scores: PairedScores) -> list[float]:
    """Returns the difference on each topic, 0 for ties."""
    return differences_of([a for a, _ in scores.values()], [b for _, b in scores.values()])


def _comparison(
    pair: PairOfRuns, scores: PairedScores, randomisation: bool = False, intervals: bool = True
) -> Comparison:
    """Compares two runs, without correcting the p-values.

    Raises:
        ToucheError: if they have too few topics in common.
    """
    if len(scores) < _FEWEST:
        have = "topic is" if len(scores) == 1 else "topics are"
        raise ToucheError(f"{len(scores)} {have} scored for both, but a test needs {_FEWEST}")
    differences = _differences(scores)
    low, high = without_rounding_errors(bootstrap_interval(differences) if intervals else (nan, nan))
    won = sum(difference > 0 for difference in differences)
    lost = sum(difference < 0 for difference in differences)
    return Comparison(
        **vars(pair),
        mean_a=without_last_digits(fmean(a for a, _ in scores.values())),
        mean_b=without_last_digits(fmean(b for _, b in scores.values())),
        difference=float(without_rounding_errors(fmean(differences))),
        low=float(low),
        high=float(high),
        effect_size=effect_size(differences),
        p_t_test=t_test(differences),
        p_randomisation=randomisation_test(differences) if randomisation else None,
        won=won,
        lost=lost,
        tied=len(differences) - won - lost,
        topics=len(differences),
    )


def _with_bounds(comparison: Comparison, a: Scored, b: Scored) -> Comparison:
    """Adds the bounds on the difference to a comparison, if there are any."""
    bounds = bounds_of_difference(a, b)
    if bounds is None:
        return comparison
    low, high = without_rounding_errors([bounds.least, bounds.greatest])
    b_can_win = low < 0
    a_can_win = high > 0
    can_change = (b_can_win and comparison.difference >= 0) or (a_can_win and comparison.difference <= 0)
    return replace(comparison, least=bounds.least, greatest=bounds.greatest, can_change=bool(can_change))


def _corrected(compared: Sequence[Comparison], reference: str) -> list[Comparison]:
    """Corrects p-values for the number of comparisons with the same measure, using Holm's method.

    Args:
        compared: the comparisons.
        reference: in words, what all runs are compared with, for ``family``; empty if all pairs are compared.
    """
    corrected = list[Comparison]()
    for measure, of_measure in group_by(compared, lambda comparison: comparison.measure).items():
        number = counted(len(of_measure), "comparison")
        with_reference = f" with {reference}" if reference else ""
        family = f"{'all ' if len(of_measure) > 1 else ''}{number} of {measure}{with_reference}"
        p_t_tests = holm([comparison.p_t_test for comparison in of_measure])
        p_randomisations = holm([comparison.p_randomisation for comparison in of_measure])
        corrected += [
            replace(
                comparison,
                p_t_test_holm=p_t_test,
                p_randomisation_holm=p_randomisation,
                significant=p_t_test is not None and p_t_test < SIGNIFICANT,
                family=family,
            )
            for comparison, p_t_test, p_randomisation in zip(
                of_measure, p_t_tests, p_randomisations, strict=True
            )
        ]
    return corrected


def _stance_comparison(pair: PairOfRuns, a: Scored, b: Scored) -> Comparison:
    """Compares two runs on the documents with a judged stance that are in both.

    Raises:
        ToucheError: if there are too few such documents.
    """
    first, second, interval = stance_difference(a.run, b.run, a.judged.qrels, a.judged.stances)
    low, high = without_rounding_errors(interval)
    # A mean is None only if there are no documents. Here both runs have some documents in common.
    assert first.mean is not None and second.mean is not None
    return Comparison(
        **vars(pair),
        mean_a=first.mean,
        mean_b=second.mean,
        difference=float(without_rounding_errors(first.mean - second.mean)),
        low=float(low),
        high=float(high),
        topics=first.topics,
        results=first.results,
    )
