"""What a report shows, as records; nothing here knows where it comes from, or how it will look."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import ceil, floor
from pathlib import Path
from statistics import quantiles

from touche.evaluation.comparison import Comparison
from touche.evaluation.evaluators import Evaluation
from touche.evaluation.leaderboard import DIGITS
from touche.evaluation.scores import TopicScore, in_order
from touche.evaluation.stances import StanceEvaluation
from touche.regression.running import Outcome
from touche.tasks import Measure, Task
from touche.tasks.records import SPOT_CHECK

_POINT = 1.6  # the width of a point, in hundredths of a strip
_FAR = 3  # interquartile ranges below the first quartile (Tukey 1977)

GIVEN, BASELINE, PUBLISHED = "given", "baseline", "published"


@dataclass(frozen=True)
class Rerun:
    """How a published result is rerun here.

    Attributes:
        baseline: the name of the baseline.
        command: the command line.
        tolerance: how far the rerun's score may differ.
    """

    baseline: str
    command: str
    tolerance: float


@dataclass(frozen=True)
class Place:
    """A row of a leaderboard.

    Attributes:
        name: the run, or team and run.
        kind: ``given``, ``baseline`` (the organizers' own) or ``published``.
        value: the mean of the measure; None where the evaluator has no topic to average over.
        low, high: its 95% confidence interval, or None where none was printed.
        judged: Judged@k, or None for published results.
        source: where a published value is printed.
        tag: that of a published run; empty where none was printed.
        note: what one must know about the interval; empty where it is a 95% one.
        listed: whether it is in the short table and the plot, too: given, a baseline, or the best of a team.
        doubtful: whether it is not comparable, as documents are unjudged or topics missing.
        team: the name under which a run was published, if it is a published one.
        published: the published value of this run, which may be by another evaluator.
        number: its place from 1: of a published run among these, of a given one the place that it would have
            there; where nothing is published, among the given. Runs level to the printed digits share it.
        results: N of detected stances; None for rankings.
        of_team: the published macro F1 and N of all runs of the team together, of detected stances.
        rerun: how a published result is rerun here; None where it cannot be.
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
    rerun: Rerun | None = None

    @property
    def printed(self) -> float:
        """The value as tables print it, by which places are given; none is below all others."""
        return -1.0 if self.value is None else round(self.value, DIGITS)


@dataclass(frozen=True)
class Ranked:
    """Where a run has a document.

    Attributes:
        run: its name.
        rank: from 1, in the order of trec_eval.
        other: the rank by the organizers' script, where that is another one, and 0 where it is not among the
            first; else None.
        score: that of the run.
        stance: the detected stance, or ``Q0``.
    """

    run: str
    rank: int
    other: int | None
    score: float
    stance: str

    @property
    def best(self) -> int:
        """The better of both ranks."""
        return min(filter(None, (self.rank, self.other)))


@dataclass(frozen=True)
class ShownDocument:
    """A document that runs have among their first results of a topic.

    Attributes:
        document: its id.
        labels: the label in each dimension, of stances its word; None where it is not judged.
        places: where each run has it that does.
        passages: what is to be read of each part of it, its kind and its pieces as in ``texts``; none where
            the text is not known.
    """

    document: str
    labels: Mapping[str, int | str | None]
    places: Sequence[Ranked]
    passages: Sequence[tuple[str, Sequence[tuple[str, bool]]]]


@dataclass(frozen=True)
class Depth:
    """The evaluations of the runs by nDCG where k results are looked at, by the names of the runs."""

    measure: Measure
    evaluations: Mapping[str, Evaluation]


@dataclass(frozen=True)
class View:
    """All figures of one dimension with one evaluator.

    Attributes:
        dimension, evaluator: which.
        qrels, qrels_md5: the file with the judgments; empty where none is needed.
        board: the leaderboard with all published runs, best first.
        topic_scores: those of each run by topic.
        comparisons: every two runs compared; the correction is for all dimensions of the evaluator.
        depths: the means at several depths; none of a measure that has no such thing.
        why_alone: why no published result is here, in a sentence; empty where there are some.
    """

    dimension: str
    evaluator: str
    qrels: str
    qrels_md5: str
    board: Sequence[Place]
    topic_scores: Mapping[str, Mapping[str, TopicScore]]
    comparisons: Sequence[Comparison]
    depths: Sequence[Depth] = ()
    why_alone: str = ""

    @property
    def id(self) -> str:
        """Such as ``relevance-trec_eval``, for the names of files."""
        return re.sub(r"[^\w.-]+", "-", f"{self.dimension}-{self.evaluator}")

    @property
    def listed(self) -> list[Place]:
        """The leaderboard without the lesser runs of the teams."""
        return [place for place in self.board if place.listed]

    @property
    def published(self) -> int:
        """How many published runs the leaderboard has."""
        return sum(place.kind != GIVEN or bool(place.team) for place in self.board)

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(self.topic_scores)

    @cached_property
    def topics(self) -> list[str]:
        """The topics that one of the runs has a score for, in their order."""
        return sorted({*chain.from_iterable(self.topic_scores.values())}, key=in_order)

    @property
    def reruns(self) -> list[Place]:
        """The rows that can be rerun here."""
        return [place for place in self.board if place.rerun]

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The scale of the leaderboard in tenths: of all intervals but those of runs that are far below."""
        fence = _fence([place.printed for place in self.board])
        places = [place for place in self.board if place.printed >= fence]
        ends = [end for each in places for end in (each.low, each.value, each.high) if end is not None]
        low, high = floor(10 * min(ends, default=0.0)) / 10, ceil(10 * max(ends, default=1.0)) / 10
        return low, max(high, low + 0.1)

    @cached_property
    def strip(self) -> "Strip":
        """All published runs as points on a line; only where some are."""
        return Strip([place for place in self.board if place.kind != GIVEN or place.team])

    def mean(self, run: str) -> Place:
        """The row of a run that was given."""
        return next(place for place in self.board if place.kind == GIVEN and place.name == run)

    def spread(self, topic: str) -> float:
        """How far apart the runs are on a topic."""
        values = [scores[topic].value for scores in self.topic_scores.values() if topic in scores]
        return max(values) - min(values)

    def against(self, run: str, reference: str) -> int:
        """1 and -1 where a run is significantly above and below another one, else 0."""
        for each in self.comparisons:
            if {each.run_a, each.run_b} == {run, reference} and each.significant:
                return 1 if (each.difference > 0) == (each.run_a == run) else -1
        return 0

    def of(self, run: str) -> list[Comparison]:
        """The comparisons of a run with the others."""
        return [each for each in self.comparisons if run in (each.run_a, each.run_b)]


@dataclass(frozen=True)
class Point:
    """A run on a strip.

    Attributes:
        place: the row of the leaderboard.
        x: the position from 0 to 100; 0 for a run that is below the scale.
        level: the position above the line, so that points do not cover each other.
    """

    place: Place
    x: float
    level: int


@dataclass(frozen=True)
class Strip:
    """All published runs of one dimension as points on a line.

    Attributes:
        places: the runs, best first; at least one.
    """

    places: Sequence[Place]

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The ends of the scale, in twentieths; runs that are far below all others are below the scale."""
        fence = _fence(values := [place.printed for place in self.places])
        low = floor(20 * min(value for value in values if value >= fence)) / 20
        return low, max(ceil(20 * max(values)) / 20, low + 0.05)

    @property
    def below(self) -> list[Place]:
        """The runs below the scale."""
        return [place for place in self.places if place.printed < self.bounds[0]]

    @property
    def median(self) -> Place:
        """The run in the middle; of two, the lower one."""
        return self.places[len(self.places) // 2]

    @property
    def points(self) -> list[Point]:
        """The points, from left to right, stacked where they would overlap."""
        low, high = self.bounds
        points: list[Point] = []
        for place in reversed(self.places):
            x = round(100 * max(0.0, place.printed - low) / (high - low), 2)
            taken = {point.level for point in points if x - point.x < _POINT}
            points.append(Point(place, x, min(set(range(len(taken) + 1)) - taken)))
        return points


@dataclass(frozen=True)
class RunFile:
    """A run that was given: its name in the report, the letters that stand for it, its path, and its md5."""

    name: str
    letters: str
    path: Path
    md5: str


@dataclass(frozen=True)
class StanceView:
    """Detected stances: scores of runs, and published ones.

    Attributes:
        board: a row for each run and published run, the best first; no ranks, because N differs.
        qrels, qrels_md5: the file with the judged stances and its hash; empty without runs.
        runs: the evaluations of runs, by their names.
        compared: every two runs, on the documents that both have.
        notes: where the runs stand.
    """

    board: Sequence[Place]
    qrels: str = ""
    qrels_md5: str = ""
    runs: Mapping[str, StanceEvaluation] = field(default_factory=dict)
    compared: Sequence[Comparison] = ()
    notes: Sequence[str] = ()

    @cached_property
    def strip(self) -> Strip | None:
        """The published runs as points on a line; None where nothing is published."""
        published = [place for place in self.board if place.kind != GIVEN or place.team]
        return Strip(published) if published else None


@dataclass(frozen=True)
class TaskReport:
    """Runs of one task among its published results, or these alone.

    Attributes:
        dataset: the id of the task or dataset.
        task: the task.
        runs: the files; none where published results stand alone.
        reference: the run that others are held against; empty where there are not two.
        views: for each dimension and evaluator, that with most published results first.
        notes: by dimension, where the runs stand, and why the evaluators differ.
        winners: which run is the best over all dimensions, in a sentence.
        titles: those of the topics; none where the topics file is not at hand.
        topics: the first results of each topic, each document once, that with the best place first.
        warnings: what puts scores in doubt.
        missing_texts: why there are no texts; empty where there are.
        rendering: what other viewers need of the first results, such as TIRA's; None without texts.
        stance: detected stances; None where the task has none.
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
        """A name for links and files."""
        return self.dataset.replace("/", "--")  # a single one may be part of another dataset's id

    @property
    def dimensions(self) -> list[str]:
        """Those of the views, in their order."""
        return list(dict.fromkeys(view.dimension for view in self.views))

    @property
    def evaluators(self) -> list[str]:
        """Those of the views, in their order."""
        return list(dict.fromkeys(view.evaluator for view in self.views))

    @property
    def published_views(self) -> list[View]:
        """Of each dimension the view with the most published results, where it has some."""
        first: dict[str, View] = {}
        for view in self.views:
            first.setdefault(view.dimension, view)
        return [view for view in first.values() if view.published]

    @property
    def reruns(self) -> list[str]:
        """The baselines that rerun a published result of the task."""
        boards = [view.board for view in self.published_views] + ([self.stance.board] if self.stance else [])
        return sorted({place.rerun.baseline for board in boards for place in board if place.rerun})

    @property
    def letters(self) -> dict[str, str]:
        """The letters of each run, by its name."""
        return {run.name: run.letters for run in self.runs}

    def views_of(self, evaluator: str) -> list[View]:
        """A view for each dimension that has one by an evaluator."""
        return [view for view in self.views if view.evaluator == evaluator]

    def mean_place(self, run: str, evaluator: str) -> float:
        """The mean of a run's places among the given runs over the dimensions."""
        places = [
            1 + sum(view.mean(other.name).printed > view.mean(run).printed for other in self.runs)
            for view in self.views_of(evaluator)
        ]
        return sum(places) / len(places)

    def by_mean_place(self, evaluator: str) -> list[str]:
        """The runs, that with the best mean place first."""
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
        title: its heading.
        command: the command line that makes it.
        parts: one for each task.
        outcomes: of a regression; empty where there was none.
        remarks: what is missing, and where times were measured.
        gallery: whether it shows the published results of tasks, each on a page of its own.
    """

    title: str
    command: str
    parts: Sequence[TaskReport]
    outcomes: Sequence[Outcome] = ()
    remarks: Sequence[str] = ()
    gallery: bool = False

    def toy_of(self, part: TaskReport) -> TaskReport | None:
        """The part on the toy collection that ranks the same kind of documents as a task."""
        toys = (each for each in self.parts if each.dataset.startswith(SPOT_CHECK))
        return next((each for each in toys if each.task.rules.unit == part.task.rules.unit), None)

    @property
    def divided(self) -> bool:
        """Whether every part has a page of its own."""
        return self.gallery or bool(self.outcomes) or len(self.parts) > 1
