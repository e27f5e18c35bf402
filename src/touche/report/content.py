"""What a report shows, as records; nothing here knows how it will look."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from itertools import starmap
from pathlib import Path
from textwrap import shorten

from touche import tasks
from touche.comparison import Comparison, compare
from touche.data import corpus_at_hand, locate, locate_corpus, titles_of
from touche.documents import AnyDocument, Argument
from touche.evaluation import CUTOFF, EVALUATORS, MEASURE
from touche.files import md5
from touche.notes import grouped, notes_of, shared_tags, warnings_of
from touche.regression import Outcome
from touche.runs import RunLine, in_order_of_score
from touche.scores import Score, ScoredRun, TopicScore, score_runs
from touche.standing import DIGITS, comparable
from touche.tasks import PAIR, Task
from touche.tira import find_documents

_LONGEST = 700  # characters of a text that are shown
Tops = Mapping[str, Mapping[str, Sequence[RunLine]]]  # the first lines, by run and topic
GIVEN, BASELINE, PUBLISHED = "given", "baseline", "published"


@dataclass(frozen=True)
class Place:
    """A row of a leaderboard.

    Attributes:
        name: the run, or team and run.
        kind: ``given``, ``baseline`` (the organizers' own) or ``published``.
        value: mean nDCG@5.
        low, high: its 95% confidence interval, or None where none was printed.
        judged: Judged@5, or None for published results.
        source: where a published value is printed.
    """

    name: str
    kind: str
    value: float
    low: float | None
    high: float | None
    judged: float | None = None
    source: str = ""


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
    """A topic, and the first results of each run for it."""

    number: str
    title: str
    results: Mapping[str, Sequence[Result]]


@dataclass(frozen=True)
class View:
    """All figures of one dimension with one evaluator.

    Attributes:
        dimension, evaluator: which.
        qrels, qrels_md5: the file with the judgments.
        board: the leaderboard, best first.
        topic_scores: nDCG@5 of each run by topic.
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
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(self.topic_scores)

    @cached_property
    def topics(self) -> list[str]:
        """The topics that one of the runs has a score for, in their order."""
        found = {topic for scores in self.topic_scores.values() for topic in scores}
        return sorted(found, key=_in_order)

    def value(self, run: str, topic: str) -> float | None:
        """nDCG@5, or None where the evaluator leaves the topic out."""
        score = self.topic_scores[run].get(topic)
        return score.value if score else None

    def spread(self, topic: str) -> float:
        """How far apart the runs are on a topic."""
        values = [value for run in self.runs if (value := self.value(run, topic)) is not None]
        return max(values) - min(values)


@dataclass(frozen=True)
class Part:
    """Runs of one task.

    Attributes:
        dataset: the id of the task or dataset.
        task: the task.
        runs: the path of each run by its name.
        views: for each dimension and evaluator, that with most published results first.
        topics: the first results.
        warnings: what puts scores in doubt.
        missing_texts: why there are no texts; empty where there are.
    """

    dataset: str
    task: Task
    runs: Mapping[str, Path]
    views: Sequence[View]
    topics: Sequence[TopicResults]
    warnings: Sequence[str]
    missing_texts: str = ""

    @cached_property
    def titles(self) -> dict[str, str]:
        """The titles of the topics; none where they are not at hand."""
        return titles_of(self.task)

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
    """

    title: str
    command: str
    parts: Sequence[Part]
    outcomes: Sequence[Outcome] = ()
    version: str = version("touche-baselines")
    measure: str = MEASURE
    cutoff: int = CUTOFF
    digits: int = DIGITS


def part_of(paths: Sequence[Path], dataset: str) -> Part:
    """Scores and compares runs of a task, and looks up the texts of what they rank first.

    Args:
        paths: the run files.
        dataset: the id of the task, or of a dataset with another corpus, whose texts are then shown.

    Raises:
        ToucheError: if judgments are not at hand, or a file is unusable or for another task.
    """
    task = tasks.task(dataset)
    scored = score_runs(paths, task)
    corpus = tasks.dataset(dataset)[1] if dataset in tasks.datasets() else task.corpora["full"]
    runs = {each.name: each for each in scored if each.dimension == scored[0].dimension}
    tops = {name: _first_of_each_topic(each.lines) for name, each in runs.items()}
    at_hand = corpus_at_hand(corpus)
    texts = texts_of(_ids(tops, task), find_documents(locate_corpus(corpus))) if at_hand else {}
    return Part(
        dataset,
        task,
        {name: each.path for name, each in runs.items()},
        _views(scored),
        _topics(tops, scored, texts),
        [*shared_tags(scored), *grouped(note for each in scored for note in warnings_of(each))],
        "" if at_hand else f"Texts are not shown, as corpora/{corpus.directory} is not at hand.",
    )


def texts_of(ids: set[str], documents: Iterable[AnyDocument]) -> dict[str, str]:
    """The texts of documents, or of sentences, by id; reads no further than it must."""
    found: dict[str, str] = {}
    for document in documents:
        sentences = (document.sentences or ()) if isinstance(document, Argument) else ()
        for each in (document, *sentences):
            if each.id in ids:
                found[each.id] = each.text
        if len(found) == len(ids):
            break
    return found


def _views(scored: Sequence[ScoredRun]) -> list[View]:
    dimensions = list(dict.fromkeys(each.dimension for each in scored))
    several = len({each.path for each in scored}) > 1
    views = []
    for evaluator in EVALUATORS:
        compared = compare(scored, evaluator) if several else []
        for dimension in dimensions:
            of_dimension = [each for each in scored if each.dimension == dimension]
            comparisons = [each for each in compared if each.dimension == dimension]
            views.append(_view(of_dimension, evaluator, comparisons))
    published = {view.id: sum(place.kind != GIVEN for place in view.board) for view in views}
    return sorted(views, key=lambda view: -published[view.id])


def _view(scored: Sequence[ScoredRun], evaluator: str, comparisons: Sequence[Comparison]) -> View:
    first = scored[0]
    return View(
        first.dimension,
        evaluator,
        first.file,
        md5(locate("qrels", first.file)),
        _board(scored, evaluator),
        {
            each.name: {row.topic: row for row in each.topic_scores if row.evaluator == evaluator}
            for each in scored
        },
        comparisons,
        grouped(note for each in scored for note in notes_of(each)),
    )


def _board(scored: Sequence[ScoredRun], evaluator: str) -> list[Place]:
    """The given runs among the published ones that they may be compared with."""
    published = [
        Place(
            row.name,
            BASELINE if row.baseline else PUBLISHED,
            row.value,
            row.low,
            row.high,
            source=row.sources[0],
        )
        for row in comparable(scored[0].task, scored[0].dimension, evaluator)
    ]
    given = [
        _place(each.name, score) for each in scored for score in each.scores if score.evaluator == evaluator
    ]
    return sorted([*given, *published], key=lambda place: -place.value)


def _place(name: str, score: Score) -> Place:
    several = score.topics > 1
    low, high = (score.low, score.high) if several else (None, None)
    return Place(name, GIVEN, score.mean, low, high, score.judged)


def _first_of_each_topic(lines: Iterable[RunLine]) -> dict[str, list[RunLine]]:
    """The first five of each topic, in the order of trec_eval."""
    tops: dict[str, list[RunLine]] = {}
    for line in in_order_of_score(lines):
        top = tops.setdefault(line.topic, [])
        if len(top) < CUTOFF:
            top.append(line)
    return tops


def _ids(tops: Tops, task: Task) -> set[str]:
    """Of documents; where pairs are ranked, of their sentences."""
    documents = {line.document for of_run in tops.values() for top in of_run.values() for line in top}
    return {id for each in documents for id in _ids_of(each, task)}


def _ids_of(document: str, task: Task) -> list[str]:
    return document.split(",") if task.rules.unit == PAIR else [document]


def _topics(tops: Tops, scored: Sequence[ScoredRun], texts: Mapping[str, str]) -> list[TopicResults]:
    task, titles = scored[0].task, titles_of(scored[0].task)
    qrels = {each.dimension: each.qrels for each in scored}
    judged = {topic for each in scored for topic in each.qrels}
    numbers = {topic for of_run in tops.values() for topic in of_run if topic in judged}

    def result(rank: int, line: RunLine) -> Result:
        labels = {name: of.get(line.topic, {}).get(line.document) for name, of in qrels.items()}
        text = "  |  ".join(texts[id] for id in _ids_of(line.document, task) if id in texts)
        return Result(rank, line.document, line.score, labels, shorten(text, _LONGEST, placeholder=" …"))

    return [
        TopicResults(
            number,
            titles.get(number, ""),
            {name: [*starmap(result, enumerate(of.get(number, []), 1))] for name, of in tops.items()},
        )
        for number in sorted(numbers, key=_in_order)
    ]


def _in_order(number: str) -> tuple[int, str]:
    """So that topic 2 precedes topic 10."""
    return len(number), number
