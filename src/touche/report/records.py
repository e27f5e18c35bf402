"""What a report shows, as records; nothing here knows where it comes from, or how it will look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from touche.evaluation.comparison import Comparison
from touche.evaluation.leaderboard import DIGITS
from touche.evaluation.scores import TopicScore
from touche.regression.running import Outcome
from touche.tasks import CUTOFF, MEASURE, Task

GIVEN, BASELINE, PUBLISHED = "given", "baseline", "published"


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

    @property
    def printed(self) -> float:
        """The value as tables print it, by which places are given; none is below all others."""
        return -1.0 if self.value is None else round(self.value, DIGITS)


@dataclass(frozen=True)
class Result:
    """One of the first results of a run for a topic.

    Attributes:
        rank: from 1.
        document: its id.
        score: that of the run.
        labels: the label in each dimension; None where it is not judged.
        text: the text, shortened; empty where it is not known.
    """

    rank: int
    document: str
    score: float
    labels: Mapping[str, int | None]
    text: str


@dataclass(frozen=True)
class TopicResults:
    """A topic, and the first results of each run for it; where the evaluators see others, those of each."""

    number: str
    title: str
    results: Mapping[str, Sequence[Result]]


@dataclass(frozen=True)
class View:
    """All figures of one dimension with one evaluator.

    Attributes:
        dimension, evaluator: which.
        qrels, qrels_md5: the file with the judgments.
        board: the leaderboard with all published runs, best first.
        topic_scores: those of each run by topic.
        comparisons: every two runs compared; the correction is for all dimensions of the evaluator.
        notes: where the runs stand, and what must be known.
    """

    dimension: str
    evaluator: str
    qrels: str
    qrels_md5: str
    board: Sequence[Place]
    topic_scores: Mapping[str, Mapping[str, TopicScore]]
    comparisons: Sequence[Comparison]
    notes: Sequence[str]

    @property
    def id(self) -> str:
        """Such as ``relevance-trec_eval``."""
        return f"{self.dimension}-{self.evaluator}".replace(" ", "-").replace(",", "")

    @property
    def listed(self) -> list[Place]:
        """The leaderboard without the lesser runs of the teams."""
        return [place for place in self.board if place.listed]

    @property
    def notes_on_intervals(self) -> list[str]:
        """What one must know about printed intervals."""
        return list(dict.fromkeys(place.note for place in self.board if place.note))

    @property
    def has_published(self) -> bool:
        """Whether there are published results to compare with."""
        return any(place.kind != GIVEN for place in self.board)

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(self.topic_scores)

    @cached_property
    def topics(self) -> list[str]:
        """The topics that one of the runs has a score for, in their order."""
        found = {topic for scores in self.topic_scores.values() for topic in scores}
        return sorted(found, key=in_order)

    def place(self, of: Place) -> int:
        """From 1; those that are level to the printed digits share it."""
        return 1 + sum(place.printed > of.printed for place in self.board)

    def value(self, run: str, topic: str) -> float | None:
        """The score, or None where the evaluator leaves the topic out."""
        score = self.topic_scores[run].get(topic)
        return score.value if score else None

    def title(self, topic: str) -> str:
        """The title of a topic; empty where it is not known."""
        return next(scores[topic].title for scores in self.topic_scores.values() if topic in scores)

    def judged(self, run: str, topic: str) -> float | None:
        """Judged@k, or None where the run lacks the topic."""
        score = self.topic_scores[run].get(topic)
        return score.judged if score else None

    def spread(self, topic: str) -> float:
        """How far apart the runs are on a topic."""
        values = [value for run in self.runs if (value := self.value(run, topic)) is not None]
        return max(values) - min(values)


@dataclass(frozen=True)
class RunFile:
    """A run that was given: its name in the report, its path, and its md5."""

    name: str
    path: Path
    md5: str


@dataclass(frozen=True)
class Part:
    """Runs of one task.

    Attributes:
        dataset: the id of the task or dataset.
        task: the task.
        runs: the files.
        views: for each dimension and evaluator, that with most published results first.
        topics: the first results.
        warnings: what puts scores in doubt.
        missing_texts: why there are no texts; empty where there are.
    """

    dataset: str
    task: Task
    runs: Sequence[RunFile]
    views: Sequence[View]
    topics: Sequence[TopicResults]
    warnings: Sequence[str]
    missing_texts: str = ""

    @property
    def id(self) -> str:
        """A name for links within the page."""
        return self.dataset.replace("/", "-")


@dataclass(frozen=True)
class Page:
    """A whole report.

    Attributes:
        title: its heading.
        command: the command line that makes it.
        parts: one for each task.
        outcomes: of a regression; empty where there was none.
        remarks: what is missing, and where times were measured.
    """

    title: str
    command: str
    parts: Sequence[Part]
    outcomes: Sequence[Outcome] = ()
    remarks: Sequence[str] = ()

    @property
    def measures(self) -> str:
        """Those of the parts, such as ``nDCG@5``."""
        return " and ".join(dict.fromkeys(str(part.task.measure) for part in self.parts)) or str(MEASURE)

    @property
    def cutoffs(self) -> str:
        """Their k in words."""
        return " or ".join(dict.fromkeys(str(part.task.cutoff) for part in self.parts)) or str(CUTOFF)


def in_order(number: str) -> tuple[int, str]:
    """So that topic 2 precedes topic 10."""
    return len(number), number
