"""Records that a report shows, independent of their source and their layout."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import ceil, floor
from pathlib import Path
from statistics import quantiles

from touche.evaluation.bounds import Bounds
from touche.evaluation.comparison import Comparison
from touche.evaluation.evaluators import Evaluation
from touche.evaluation.leaderboard import Level
from touche.evaluation.scores import TopicScore
from touche.evaluation.stances import StanceEvaluation
from touche.regression.outcomes import Outcome
from touche.tasks import Measure, Task
from touche.tasks.records import DECIMALS, SPOT_CHECK, rounded
from touche.trec.by_stance import ranking_names, topic_in
from touche.trec.topics import in_order

_POINT = 1.6  # width of a point, in hundredths of a strip
_FAR = 3  # interquartile ranges below the first quartile (Tukey 1977)

GIVEN, BASELINE, PUBLISHED = "given", "baseline", "published"


@dataclass(frozen=True)
class PublishedRerun:
    """A rerun of a published result.

    Attributes:
        baseline: name of the baseline.
        command: command line.
        tolerance: allowed difference of the rerun's score.
    """

    baseline: str
    command: str
    tolerance: float


@dataclass(frozen=True)
class LeaderboardRow:
    """A row of a leaderboard.

    Attributes:
        name: name of the run, or of team and run.
        kind: ``given``, ``baseline`` (the organizers' own) or ``published``.
        value: mean of the measure; None without topics.
        low, high: 95% confidence interval; None if none is published.
        judged: Judged@k; None for published results.
        source: source of a published value.
        tag: tag of a published run; empty if none is published.
        note: remark on the interval; empty for a 95% interval.
        listed: whether it is also in the short table and the plot: passed runs, baselines, and each team's
            best.
        doubtful: whether it is not comparable, because documents are unjudged or topics missing.
        team: name under which a run was published; empty if it was not.
        published: published value of this run, perhaps by another evaluator.
        number: rank from 1 among published runs, also of a passed run; without published runs, among the
            passed runs. Runs with equal printed values share a rank.
        results: N of detected stances; None for rankings.
        of_team: published macro F1 of detected stances and N, over all runs of the team.
        rerun: rerun of a published result; None if there is none.
        decimals: decimals of printed values, as in ``Task``.
        bounds: least and greatest mean, whatever the grades of unjudged documents; None for published results
            and measures without bounds.
        level: interval of the rank and group of a published run.
    """

    name: str
    kind: str
    value: float | None
    low: float | None
    high: float | None
    judged: float | None = None
    source: str = ""
    tag: str = ""
    note: str = ""
    listed: bool = True
    doubtful: bool = False
    team: str = ""
    published: float | None = None
    number: int = 1
    results: int | None = None
    of_team: tuple[float | None, int] | None = None
    rerun: PublishedRerun | None = None
    decimals: tuple[int, ...] = DECIMALS
    bounds: Bounds | None = None
    level: Level = field(default_factory=Level)

    @property
    def printed(self) -> float:
        """Value as printed in tables, which determines ranks; None is below all others."""
        return -1.0 if self.value is None else rounded(self.value, self.decimals)


@dataclass(frozen=True)
class Ranked:
    """Ranks of a document in a run.

    Attributes:
        run: name of the run.
        rank: rank from 1, in trec_eval's order.
        other: rank by the organizers' script if it differs, or 0 if it is not among the first; None if both
            ranks are equal.
        score: score in the run.
        stance: the detected stance, or ``Q0``.
    """

    run: str
    rank: int
    other: int | None
    score: float
    stance: str

    @property
    def best(self) -> int:
        """Better of both ranks."""
        return min(filter(None, (self.rank, self.other)))


@dataclass(frozen=True)
class ShownDocument:
    """A document among the first results of runs on a topic.

    Attributes:
        document: id of the document.
        labels: label in each dimension, as a word for stances; None if unjudged.
        places: ranks in each run that has the document.
        passages: passage of each part, with its kind and its pieces as in ``texts``; empty if the text is
            unknown.
        thumbnail: a small picture as a data URI; empty without one.
    """

    document: str
    labels: Mapping[str, int | str | None]
    places: Sequence[Ranked]
    passages: Sequence[tuple[str, Sequence[tuple[str, bool]]]]
    thumbnail: str = ""


@dataclass(frozen=True)
class Depth:
    """Evaluations of runs by nDCG at one depth k, by the names of the runs."""

    measure: Measure
    evaluations: Mapping[str, Evaluation]


@dataclass(frozen=True)
class View:
    """All figures of one dimension with one evaluator.

    Attributes:
        dimension, evaluator: dimension and evaluator.
        qrels, qrels_md5: file with the judgments, and its hash; empty if none is needed.
        board: leaderboard with all published runs, best first.
        topic_scores: scores of each run by topic.
        comparisons: comparison of each pair of runs; the correction is for all dimensions of the evaluator.
        depths: means at several depths; empty for a measure without depth.
        why_alone: why there are no published results, as a sentence; empty if there are some.
    """

    dimension: str
    evaluator: str
    qrels: str
    qrels_md5: str
    board: Sequence[LeaderboardRow]
    topic_scores: Mapping[str, Mapping[str, TopicScore]]
    comparisons: Sequence[Comparison]
    depths: Sequence[Depth] = ()
    why_alone: str = ""

    @property
    def id(self) -> str:
        """Name for files, such as ``relevance-trec_eval``."""
        return re.sub(r"[^\w.-]+", "-", f"{self.dimension}-{self.evaluator}")

    @property
    def listed(self) -> list[LeaderboardRow]:
        """Leaderboard with only the best run of each team."""
        return [place for place in self.board if place.listed]

    @property
    def published(self) -> int:
        """Number of published runs on the leaderboard."""
        return sum(place.kind != GIVEN or bool(place.team) for place in self.board)

    @property
    def groups(self) -> int:
        """Number of groups of published runs; 0 if the values of their topics are unknown."""
        return max((place.level.group or 0 for place in self.board), default=0)

    @property
    def runs(self) -> list[str]:
        """Names of the runs."""
        return list(self.topic_scores)

    @cached_property
    def topics(self) -> list[str]:
        """Topics for which at least one run has a score, in order."""
        return sorted({*chain.from_iterable(self.topic_scores.values())}, key=in_order)

    @property
    def reruns(self) -> list[LeaderboardRow]:
        """Rows with a rerun."""
        return [place for place in self.board if place.rerun]

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Scale of the leaderboard in tenths, over all intervals except those of runs far below."""
        fence = _fence([place.printed for place in self.board])
        places = [place for place in self.board if place.printed >= fence]
        ends = [end for each in places for end in (each.low, each.value, each.high) if end is not None]
        low, high = floor(10 * min(ends, default=0.0)) / 10, ceil(10 * max(ends, default=1.0)) / 10
        return low, max(high, low + 0.1)

    @cached_property
    def strip(self) -> "Strip":
        """All published runs as points on a line; at least one must exist."""
        return Strip([place for place in self.board if place.kind != GIVEN or place.team])

    def mean(self, run: str) -> LeaderboardRow:
        """Returns the row of a passed run."""
        return next(place for place in self.board if place.kind == GIVEN and place.name == run)

    def spread(self, topic: str) -> float:
        """Returns the range of the runs' scores on a topic."""
        values = [scores[topic].value for scores in self.topic_scores.values() if topic in scores]
        return max(values) - min(values)

    def against(self, run: str, reference: str) -> int:
        """Returns 1 or -1 if a run is significantly above or below another one, else 0."""
        for each in self.comparisons:
            if {each.run_a, each.run_b} == {run, reference} and each.significant:
                return 1 if (each.difference > 0) == (each.run_a == run) else -1
        return 0

    def of(self, run: str) -> list[Comparison]:
        """Returns the comparisons of a run with the others."""
        return [each for each in self.comparisons if run in (each.run_a, each.run_b)]


@dataclass(frozen=True)
class Point:
    """A run on a strip.

    Attributes:
        place: row of the leaderboard.
        x: position from 0 to 100; 0 for a run below the scale.
        level: position above the line, which separates points.
    """

    place: LeaderboardRow
    x: float
    level: int


@dataclass(frozen=True)
class Strip:
    """All published runs of one dimension as points on a line.

    Attributes:
        places: runs, best first; at least one.
    """

    places: Sequence[LeaderboardRow]

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Ends of the scale, in twentieths; runs far below all others are below the scale."""
        fence = _fence(values := [place.printed for place in self.places])
        low = floor(20 * min(value for value in values if value >= fence)) / 20
        return low, max(ceil(20 * max(values)) / 20, low + 0.05)

    @property
    def below(self) -> list[LeaderboardRow]:
        """Runs below the scale."""
        return [place for place in self.places if place.printed < self.bounds[0]]

    @property
    def median(self) -> LeaderboardRow:
        """Median run; the lower one of two."""
        return self.places[len(self.places) // 2]

    @property
    def points(self) -> list[Point]:
        """Points from left to right, stacked if they would overlap."""
        low, high = self.bounds
        points: list[Point] = []
        for place in reversed(self.places):
            x = round(100 * max(0.0, place.printed - low) / (high - low), 2)
            taken = {point.level for point in points if x - point.x < _POINT}
            points.append(Point(place, x, min(set(range(len(taken) + 1)) - taken)))
        return points


@dataclass(frozen=True)
class RunFile:
    """A passed run: its name in the report, its letters, its path and its md5."""

    name: str
    letters: str
    path: Path
    md5: str


@dataclass(frozen=True)
class StanceView:
    """Detected stances: scores of runs, and published scores.

    Attributes:
        board: row of each run and published run, best first; without ranks, because N differs.
        qrels, qrels_md5: file with the judged stances and its hash; empty without runs.
        runs: evaluations of runs, by name.
        compared: comparison of each pair of runs, on the documents that both have.
        notes: ranks of the runs.
    """

    board: Sequence[LeaderboardRow]
    qrels: str = ""
    qrels_md5: str = ""
    runs: Mapping[str, StanceEvaluation] = field(default_factory=dict)
    compared: Sequence[Comparison] = ()
    notes: Sequence[str] = ()

    @cached_property
    def strip(self) -> Strip | None:
        """Published runs as points on a line; None without published runs."""
        published = [place for place in self.board if place.kind != GIVEN or place.team]
        return Strip(published) if published else None


@dataclass(frozen=True)
class TaskReport:
    """Runs of one task among its published results, or only published results.

    Attributes:
        dataset: id of the task or dataset.
        task: the task.
        runs: run files; empty if there are only published results.
        reference: run that others are compared with; empty with fewer than two runs.
        views: view of each dimension and evaluator, those with most published results first.
        notes: ranks of the runs, and why the evaluators differ, by dimension.
        winners: best run over all dimensions, as a sentence.
        titles: titles of the topics; empty if the topics file is missing.
        topics: first results of each topic, each document once, best rank first.
        warnings: warnings about scores.
        missing_texts: why there are no texts; empty if there are texts.
        rendering: data on the first results for other viewers, such as TIRA's; None without texts.
        stance: detected stances; None if the task has none.
    """

    dataset: str
    task: Task
    runs: Sequence[RunFile]
    reference: str
    views: Sequence[View]
    notes: Mapping[str, Sequence[str]]
    winners: str
    titles: Mapping[str, str]
    topics: Mapping[str, Sequence[ShownDocument]]
    warnings: Sequence[str]
    missing_texts: str = ""
    rendering: Mapping[str, object] | None = None
    stance: StanceView | None = None

    @property
    def id(self) -> str:
        """Name for links and files."""
        return self.dataset.replace("/", "--")  # a single hyphen may be part of another id

    @property
    def dimensions(self) -> list[str]:
        """Dimensions of the views, in order."""
        return list(dict.fromkeys(view.dimension for view in self.views))

    @property
    def measures(self) -> str:
        """Measures of the views, separated by commas."""
        return ", ".join(dict.fromkeys(str(self.task.measure_for(name)) for name in self.dimensions))

    @property
    def columns(self) -> dict[str, list[str]]:
        """Names of each topic's rankings: the topic itself, or one for each stance."""
        if not self.task.rules.by_stance:
            return {topic: [topic] for topic in self.topics}
        return {
            topic: ranking_names([topic], self.task.rules.stances)
            for topic in dict.fromkeys(map(topic_in, self.topics))
        }

    @property
    def evaluators(self) -> list[str]:
        """Evaluators of the views, in order."""
        return list(dict.fromkeys(view.evaluator for view in self.views))

    @property
    def published_views(self) -> list[View]:
        """View of each dimension with the most published results, if it has any."""
        first: dict[str, View] = {}
        for view in self.views:
            first.setdefault(view.dimension, view)
        return [view for view in first.values() if view.published]

    @property
    def reruns(self) -> list[str]:
        """Baselines that rerun a published result of the task."""
        boards = [view.board for view in self.published_views] + ([self.stance.board] if self.stance else [])
        return sorted({place.rerun.baseline for board in boards for place in board if place.rerun})

    @property
    def letters(self) -> dict[str, str]:
        """Letters of each run, by name."""
        return {run.name: run.letters for run in self.runs}

    def views_of(self, evaluator: str) -> list[View]:
        """Returns the views of an evaluator, one per dimension."""
        return [view for view in self.views if view.evaluator == evaluator]

    def mean_place(self, run: str, evaluator: str) -> float:
        """Returns the mean over dimensions of a run's rank among the passed runs."""
        places = [
            1 + sum(view.mean(other.name).printed > view.mean(run).printed for other in self.runs)
            for view in self.views_of(evaluator)
        ]
        return sum(places) / len(places)

    def by_mean_place(self, evaluator: str) -> list[str]:
        """Returns the runs, best mean rank first."""
        return sorted((run.name for run in self.runs), key=lambda run: self.mean_place(run, evaluator))


def _fence(values: Sequence[float]) -> float:
    """Returns the value below which a run is far below all others."""
    if len(values) < 4:
        return min(values, default=0.0)
    first, _, third = quantiles(values, n=4)
    return first - _FAR * (third - first)


@dataclass(frozen=True)
class Report:
    """A whole report.

    Attributes:
        title: heading.
        command: command line that creates it.
        parts: one part per task.
        outcomes: outcomes of a regression; empty without one.
        remarks: missing parts, and where times were measured.
        gallery: whether it shows published results of tasks, each on its own page.
    """

    title: str
    command: str
    parts: Sequence[TaskReport]
    outcomes: Sequence[Outcome] = ()
    remarks: Sequence[str] = ()
    gallery: bool = False

    def toy_of(self, part: TaskReport) -> TaskReport | None:
        """Returns the part on the toy collection with the same kind of documents as a task."""
        toys = (each for each in self.parts if each.dataset.startswith(SPOT_CHECK))
        return next((each for each in toys if each.task.rules.unit == part.task.rules.unit), None)

    @property
    def divided(self) -> bool:
        """Whether every part has its own page."""
        return self.gallery or bool(self.outcomes) or len(self.parts) > 1
