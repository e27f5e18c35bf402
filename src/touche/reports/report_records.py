"""What a report shows, independent of where it comes from and how it looks."""

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import ceil, floor
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

from touche.errors import counted
from touche.evaluation.comparison import Comparison
from touche.evaluation.evaluators import Evaluation
from touche.evaluation.score_columns import name_in_team
from touche.evaluation.scores import Score
from touche.io.identifiers import in_order
from touche.reports.published_results import PublishedResult
from touche.tasks import Measure, Published, Task
from touche.tasks.per_topic import sentences_on_copies
from touche.tasks.public_runs import (
    DIFFERENT,
    EVALUATED,
    NOT_EVALUATED,
    NOT_LISTED,
    NOT_PUBLIC,
    Check,
    checks,
)
from touche.tasks.reported import Reported, reported_results
from touche.tasks.task_records import CUTOFF, MEASURE
from touche.trec.by_stance import ranking_names, topic_in

_POINT_WIDTH = 1.6  # in hundredths of a strip
_FAR = 3  # interquartile ranges below the first quartile (Tukey 1977)

# Kinds of leaderboard rows.
GIVEN = "given"  # a run that the user passed
BASELINE = "baseline"  # an organizers' published run
PUBLISHED = "published"  # a team's published run


@dataclass(frozen=True)
class LeaderboardRow:
    """A leaderboard row: a given run's score, a published result, or both if a given run is also published.

    Attributes:
        name: the run's name, or team and run.
        number: the rank from 1. Given runs are ranked among the published runs as by ``touche evaluate``, and
            None if it refuses to rank them. If there are no published runs, they are ranked among each other.
            Runs with equal printed values share a rank.
        printed: the value as printed in tables, which determines ranks; -1, below all others, if there is
            none.
        score: a given run's score; None for other published runs.
        published: the published result; None if a given run isn't published.
        published_as: the name that a given run was published under; otherwise empty.
        check: how a published value was checked; with empty texts for a value of the user.
        doubtful: whether a given run isn't comparable with others, because documents are unjudged, topics are
            missing, or the judgments aren't the publisher's.
        is_baseline: whether a given run is marked as a baseline.
    """

    name: str
    number: int | None
    printed: float
    score: Score | None
    published: PublishedResult | None
    published_as: str = ""
    check: Check = Check("")  # noqa: RUF009 (immutable)
    doubtful: bool = False
    is_baseline: bool = False

    @property
    def look(self) -> str:
        """How it is drawn: its ``kind``, or ``baseline`` for a given run that is marked as one."""
        return BASELINE if self.is_baseline else self.kind

    @property
    def label(self) -> str:
        """The name in plots: of a given run with a known team, the team with the run's name in it."""
        if self.score and self.score.team:
            return f"{self.score.team} ({name_in_team(self.score)})"
        return self.name

    @property
    def shown(self) -> Score | Published:
        """What the row shows, with its interval and N: a given run's score, or else the published row."""
        return self.score or self._published_row

    @property
    def kind(self) -> str:
        """``given``, ``baseline`` (the organizers' own) or ``published``."""
        if self.score:
            return GIVEN
        return BASELINE if self._published_row.baseline else PUBLISHED

    @property
    def value(self) -> float | None:
        """The measure's mean; None without topics."""
        return self.score.mean if self.score else self._published_row.value

    @property
    def note(self) -> str:
        """A remark on the interval; empty for a 95% interval."""
        return "" if self.score else self._published_row.interval_note

    @property
    def _published_row(self) -> Published:
        """The row in the published table; only for rows without a score."""
        assert self.published is not None  # a row has at least one of them
        return self.published.row

    @property
    def listed(self) -> bool:
        """Whether it's in the short table and the plot: given runs, baselines, and each team's best."""
        return self.score is not None or (self.published is not None and self.published.is_shortlisted)


@dataclass(frozen=True)
class Ranked:
    """A document's ranks in a run.

    Attributes:
        run: the run's name.
        rank: the rank in trec_eval's order, from 1; 0 if the document isn't among the first results.
        script_rank: the rank with the organizers' script; 0 likewise.
        score: the score in the run.
        stance: the detected stance, or ``Q0``.
    """

    run: str
    rank: int
    script_rank: int
    score: float
    stance: str

    @property
    def best(self) -> int:
        """The better rank; at least one of them is a rank."""
        return min(filter(None, (self.rank, self.script_rank)))  # 0 isn't a rank


@dataclass(frozen=True)
class ShownDocument:
    """A document among runs' first results for a topic.

    Attributes:
        document: the document's id.
        labels: the label in each dimension, as a word for stances; None if unjudged.
        ranks: the ranks in each run that contains the document.
        passages: each part's kind and passage, in pieces as in ``texts.passage``; empty if there is no text.
        why_no_text: why there is no text; empty if there is.
    """

    document: str
    labels: Mapping[str, int | str | None]
    ranks: Sequence[Ranked]
    passages: Sequence[tuple[str, Sequence[tuple[str, bool]]]]
    why_no_text: str = ""


@dataclass(frozen=True)
class View:
    """All figures for one dimension with one evaluator.

    Attributes:
        dimension, evaluator, measure: dimension, evaluator and measure.
        board: the leaderboard with all published runs, best first. Stances have no ranks, because N differs.
        qrels, qrels_md5: the judgments' file and its hash; empty if none is needed, or it isn't a file.
        evaluations: the evaluator's evaluation of each run.
        comparisons: each pair of runs compared; corrected over all the evaluator's dimensions.
        depths: each run's evaluations with nDCG at several depths; empty for other measures.
    """

    dimension: str
    evaluator: str
    measure: Measure
    board: Sequence[LeaderboardRow]
    qrels: str = ""
    qrels_md5: str = ""
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    comparisons: Sequence[Comparison] = ()
    depths: Mapping[str, Mapping[str, Evaluation]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The name for files, such as ``relevance-trec_eval``."""
        return re.sub(r"[^\w.-]+", "-", f"{self.dimension}-{self.evaluator}")

    @property
    def listed(self) -> list[LeaderboardRow]:
        """The short leaderboard, with only each team's best published run."""
        return [row for row in self.board if row.listed]

    @property
    def run_rows(self) -> dict[str, LeaderboardRow]:
        """The given runs' rows by name, best first."""
        return {row.name: row for row in self.board if row.kind == GIVEN}

    @property
    def has_unjudged(self) -> bool:
        """Whether a given run has unjudged results; then the board shows their share and bounds of means."""
        shares = [row.score.judged for row in self.run_rows.values() if row.score]
        return any(share is not None and share < 1 for share in shares)

    @property
    def published_count(self) -> int:
        """How many published runs are on the leaderboard."""
        return sum(row.published is not None for row in self.board)

    @property
    def groups(self) -> int:
        """How many groups of published runs there are; 0 if their topic values are unknown."""
        return len({row.published.level.group for row in self.board if row.published} - {None})

    @cached_property
    def topics(self) -> list[str]:
        """Topics with a score for at least one run, in order."""
        topics = (evaluation.per_topic for evaluation in self.evaluations.values())
        return sorted({*chain.from_iterable(topics)}, key=in_order)

    @property
    def reruns(self) -> list[LeaderboardRow]:
        """The rows with a rerun."""
        return [row for row in self.board if row.published and row.published.rerun]

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The ends of the leaderboard's scale, multiples of 0.1. Runs far below the others aren't on it."""
        fence = _fence([row.printed for row in self.board])  # runs below it are far below the others
        rows = [row for row in self.board if row.printed >= fence]
        ends = [end for row in rows for end in (row.shown.low, row.value, row.shown.high)]
        values = [end for end in ends if end is not None]
        return _scale(values or [0.0, 1.0], parts=10)  # without any mean, a measure's whole range

    @cached_property
    def strip(self) -> "Strip":
        """All published runs as points on a line. There must be at least one."""
        return Strip([row for row in self.board if row.published])

    def spread(self, topic: str) -> float:
        """Returns the range of the runs' scores on a topic."""
        values = [
            evaluation.per_topic[topic]
            for evaluation in self.evaluations.values()
            if topic in evaluation.per_topic
        ]
        return max(values) - min(values)

    def against(self, run: str, reference: str) -> int:
        """Returns 1 or -1 if a run is significantly above or below another one, otherwise 0."""
        for comparison in self.comparisons:
            if comparison.significant and {comparison.run_a, comparison.run_b} == {run, reference}:
                higher = comparison.run_a if comparison.difference > 0 else comparison.run_b
                return 1 if higher == run else -1
        return 0

    def shared_topics(self, comparison: Comparison) -> str:
        """Returns the topics that a comparison covers, if its runs don't have all: the shorter of the lists
        of included and omitted topics.
        """
        run_a = self.evaluations[comparison.run_a].per_topic
        run_b = self.evaluations[comparison.run_b].per_topic
        shared = [topic for topic in self.topics if topic in run_a and topic in run_b]
        others = [topic for topic in self.topics if topic not in shared]
        if not others:
            return ""
        return f"all but {', '.join(others)}" if len(others) <= len(shared) else f"only {', '.join(shared)}"

    def comparisons_with(self, run: str) -> list[Comparison]:
        """Returns a run's comparisons with the others."""
        return [comparison for comparison in self.comparisons if run in (comparison.run_a, comparison.run_b)]


@dataclass(frozen=True)
class Point:
    """A run on a strip.

    Attributes:
        row: its leaderboard row.
        x: the position from 0 to 100; 0 for a run below the scale.
        level: the position above the line, from 0; points on one level don't overlap.
    """

    row: LeaderboardRow
    x: float
    level: int


@dataclass(frozen=True)
class Strip:
    """All published runs for one dimension as points on a line.

    Attributes:
        rows: the runs, best first; at least one.
    """

    rows: Sequence[LeaderboardRow]

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The scale's ends, multiples of 0.05. Runs far below all others are below the scale."""
        values = [row.printed for row in self.rows]
        fence = _fence(values)
        return _scale([value for value in values if value >= fence], parts=20)

    @property
    def below(self) -> list[LeaderboardRow]:
        """The runs below the scale."""
        lowest, _ = self.scale
        return [row for row in self.rows if row.printed < lowest]

    @property
    def median(self) -> LeaderboardRow:
        """The median run. Of two middle runs, the lower one."""
        return self.rows[len(self.rows) // 2]

    @property
    def points(self) -> list[Point]:
        """Points from left to right, stacked where they would overlap."""
        low, high = self.scale
        points: list[Point] = []
        for row in reversed(self.rows):
            x = round(100 * max(0.0, row.printed - low) / (high - low), 2)
            taken_levels = {point.level for point in points if x - point.x < _POINT_WIDTH}
            possible_levels = set(range(len(taken_levels) + 1))  # at least one of them is free
            points.append(Point(row, x, level=min(possible_levels - taken_levels)))
        return points


def _fence(values: Sequence[float]) -> float:
    """Returns the value below which a run is far below all others."""
    if len(values) < 4:  # too few for quartiles, so no run is far below
        return min(values, default=0.0)
    first, _, third = quantiles(values, n=4)
    return first - _FAR * (third - first)


def _scale(values: Sequence[float], parts: int) -> tuple[float, float]:
    """Returns the ends of a scale that contains the values: different multiples of ``1 / parts``."""
    low = floor(parts * min(values)) / parts
    return low, max(ceil(parts * max(values)) / parts, low + 1 / parts)


@dataclass(frozen=True)
class RunFile:
    """A given run: its name in the report, its letters, its path and its md5."""

    name: str
    letters: str
    path: Path
    md5: str


@dataclass(frozen=True)
class TaskReport:
    """A task's runs among its published results, or just published results.

    Attributes:
        dataset: the id of the task or dataset.
        task: the task; None for runs with only the user's judgments.
        is_official: whether the task's own judgments are used, for which there may be published results.
        views: a view per dimension and evaluator, starting with those with the most published results.
        runs: the run files; empty if there are only published results.
        reference: the run that others are compared with; empty if there are fewer than two runs.
        notes: why evaluators differ, and why stances weren't compared, by dimension.
        equal_to_published: the verdict on each run that equals a published run in every topic.
        titles: the topics' titles; empty if the topics file is missing.
        topics: first results by ranking name, each document once, best rank first. The name is the topic's
            number, or like ``1 PRO`` if stances are ranked separately.
        warnings: warnings about scores.
        missing_texts: why there are no texts; empty if there are.
        stance: detected stances; None if the task doesn't ask for any.
    """

    dataset: str
    task: Task | None
    views: Sequence[View]
    is_official: bool = True
    runs: Sequence[RunFile] = ()
    reference: str = ""
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    equal_to_published: list[str] = field(default_factory=list)
    titles: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, Sequence[ShownDocument]] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    missing_texts: str = ""
    stance: View | None = None

    @property
    def id(self) -> str:
        """A name for links and files."""
        return self.dataset.replace("/", "--")  # a single hyphen can be part of another id

    @property
    def title(self) -> str:
        """The task's title; the name of the judgments if there is no task."""
        return self.task.title if self.task else self.dataset

    @property
    def results_note(self) -> str:
        """Why the task's results are missing; may be empty."""
        return self.task.results_note if self.task else ""

    @property
    def notes_on_judgments(self) -> dict[str, str]:
        """What the judgments are, for each dimension of the views whose name doesn't say it."""
        qrels = self.task.qrels if self.task and self.is_official else {}
        return {
            dimension: qrels[dimension].note
            for dimension in self.dimensions
            if dimension in qrels and qrels[dimension].note
        }

    @property
    def has_published(self) -> bool:
        """Whether results are published for the judgments."""
        return self.task is not None and self.is_official and bool(self.task.published)

    @cached_property
    def copies(self) -> list[str]:
        """Which published runs are equal in every topic, a sentence per pair."""
        return sentences_on_copies(self.task) if self.task and self.has_published else []

    @cached_property
    def checked(self) -> str:
        """Which published values were re-evaluated, in words; empty without an index of public runs."""
        verdicts = Counter(check.verdict for check in checks(self.task).values()) if self.task else Counter()
        if not verdicts:
            return ""
        not_listed = verdicts[NOT_LISTED]
        if not_listed == verdicts.total():
            return "The teams' runs should be public, in an archive that nobody has listed yet"
        not_public = verdicts[NOT_PUBLIC]
        if not_public == verdicts.total():
            return "The teams' runs aren't public, so published values can't be re-evaluated"
        different = verdicts[DIFFERENT]
        evaluated = verdicts[EVALUATED] + different
        parts = []
        if evaluated:
            among = f", {different} of them different" if different else ""
            parts.append(f"{counted(evaluated, 'published value')} re-evaluated from the teams' runs{among}")
        if verdicts[NOT_EVALUATED]:
            parts.append(f"{counted(verdicts[NOT_EVALUATED], 'value')} with a public run not re-evaluated")
        if not_listed:
            values = counted(not_listed, "value")
            parts.append(f"{values} whose run should be public, in an archive that nobody has listed yet")
        if not_public:
            parts.append(f"{counted(not_public, 'value')} without a public run")
        return "; ".join(parts)

    @property
    def dimensions(self) -> list[str]:
        """The views' dimensions, in order."""
        return list(dict.fromkeys(view.dimension for view in self.views))

    @property
    def measures(self) -> str:
        """The views' measures, separated by commas."""
        return ", ".join(dict.fromkeys(str(view.measure) for view in self.views))

    @property
    def measure(self) -> Measure:
        """The first view's measure; the task's own if there are no rankings."""
        if self.views:
            return self.views[0].measure
        return self.task.measure if self.task else MEASURE

    @property
    def cutoff(self) -> int:
        """The number of scored results; the usual one if all results are scored."""
        return self.measure.cutoff or CUTOFF

    @property
    def rankings_by_topic(self) -> dict[str, list[str]]:
        """The names of each topic's rankings: the topic itself, or a name such as ``1 PRO`` per stance.

        They are keys of ``topics``, except for rankings without results.
        """
        return {
            topic: ranking_names([topic], self.task.rules.ranked_stances if self.task else ())
            for topic in dict.fromkeys(map(topic_in, self.topics))
        }

    @property
    def evaluators(self) -> list[str]:
        """The views' evaluators, in order."""
        return list(dict.fromkeys(view.evaluator for view in self.views))

    @property
    def published_views(self) -> list[View]:
        """For each dimension with published results, the view that shows the most."""
        views: dict[str, View] = {}
        for view in self.views:  # starts with those with the most published results
            views.setdefault(view.dimension, view)
        return [views[dimension] for dimension in self.dimensions if views[dimension].published_count]

    @property
    def reported(self) -> tuple[Reported, ...]:
        """TIREx's systems, which nobody submitted; empty for other qrels, or if topics are missing."""
        if self.task is None or not self.is_official or self.task.only_topics:
            return ()
        return reported_results(self.task.id)

    @property
    def reruns(self) -> list[str]:
        """Baselines that rerun one of the task's published results."""
        views = [*self.published_views, *([self.stance] if self.stance else [])]
        commands = {row.published.rerun for view in views for row in view.reruns if row.published}
        return sorted({shlex.split(command)[2] for command in commands})  # touche run BASELINE ...

    @property
    def letters(self) -> dict[str, str]:
        """Each run's letters by name."""
        return {run.name: run.letters for run in self.runs}

    def views_by(self, evaluator: str) -> list[View]:
        """Returns an evaluator's views, one per dimension."""
        return [view for view in self.views if view.evaluator == evaluator]

    def published_as(self, run: str) -> str:
        """Returns the name that a given run was published under; empty if it wasn't."""
        return next((name for view in self.views if (name := view.run_rows[run].published_as)), "")

    def mean_rank(self, run: str, evaluator: str) -> float | None:
        """Returns a run's rank among the given runs with a place, averaged over dimensions; None if it has no
        place in one of them.
        """
        ranks = []
        for view in self.views_by(evaluator):
            own_row = view.run_rows[run]
            if own_row.number is None:
                return None
            rows = [row for row in view.run_rows.values() if row.number is not None]
            ranks.append(1 + sum(row.printed > own_row.printed for row in rows))
        return fmean(ranks)

    def by_mean_rank(self, evaluator: str) -> list[str]:
        """Returns the runs, best mean rank first; runs without one come last."""
        ranks = {run.name: self.mean_rank(run.name, evaluator) for run in self.runs}
        return sorted(ranks, key=lambda run: (ranks[run] is None, ranks[run] or 0))


@dataclass(frozen=True)
class Report:
    """A whole report.

    Attributes:
        title: the heading.
        command: the command line that creates it.
        parts: a part per task.
        outcomes: the outcomes of ``touche.regress``; empty without a regression.
        remarks: what's missing, and where times were measured.
        gallery: whether it shows tasks' published results, each on its own page.
    """

    title: str
    command: str
    parts: Sequence[TaskReport]
    outcomes: Sequence[Any] = ()
    remarks: Sequence[str] = ()
    gallery: bool = False

    @property
    def divided(self) -> bool:
        """Whether every part has its own page."""
        return self.gallery or bool(self.outcomes) or len(self.parts) > 1
