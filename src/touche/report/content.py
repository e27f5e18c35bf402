"""What a report shows, as records; nothing here knows how it will look."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from itertools import starmap
from pathlib import Path
from textwrap import shorten

from touche import tasks
from touche.comparison import Comparison, compare
from touche.data import corpus_at_hand, locate, locate_corpus, titles_of
from touche.documents import AnyDocument, Argument
from touche.errors import ToucheError
from touche.evaluation import CUTOFF, EVALUATORS, MEASURE
from touche.files import md5
from touche.images import origin
from touche.notes import Note, grouped, is_doubtful, notes_of, shared_tags, warnings_of
from touche.progress import watched
from touche.regression import Outcome
from touche.runs import RunLine, in_order_of_rank, in_order_of_score
from touche.scores import Score, ScoredRun, TopicScore, score_runs
from touche.standing import DIGITS, comparable
from touche.tasks import PAIR, Corpus, Published, Task
from touche.tira import find_documents

_LONGEST = 700  # characters of a text that are shown
Record = tuple[ScoredRun, Mapping[str, Score], Sequence[TopicScore]]
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
        doubtful: whether it is not comparable, as documents are unjudged or topics missing.
    """

    name: str
    kind: str
    value: float
    low: float | None
    high: float | None
    judged: float | None = None
    source: str = ""
    doubtful: bool = False

    @property
    def printed(self) -> float:
        """The value as tables print it, by which places are given."""
        return round(self.value, DIGITS)


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
        board: the leaderboard, best first.
        topic_scores: nDCG@5 of each run by topic.
        comparisons: every two runs compared; the correction is for all dimensions of the evaluator.
        notes: where the runs stand, and what must be known.
        selection: which runs are in the published table; empty for all.
    """

    dimension: str
    evaluator: str
    qrels: str
    qrels_md5: str
    board: Sequence[Place]
    topic_scores: Mapping[str, Mapping[str, TopicScore]]
    comparisons: Sequence[Comparison]
    notes: Sequence[str]
    selection: str = ""

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

    def place(self, of: Place) -> int:
        """From 1; those that are level to the printed digits share it."""
        return 1 + sum(place.printed > of.printed for place in self.board)

    def value(self, run: str, topic: str) -> float | None:
        """nDCG@5, or None where the evaluator leaves the topic out."""
        score = self.topic_scores[run].get(topic)
        return score.value if score else None

    def judged(self, run: str, topic: str) -> float | None:
        """Judged@5, or None where the run lacks the topic."""
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

    @cached_property
    def titles(self) -> dict[str, str]:
        """The titles of the topics; none where they are not at hand."""
        return titles_of(self.task)

    @property
    def id(self) -> str:
        """A name for links within the page."""
        return self.dataset.replace("/", "-")


def _program() -> str:
    """The versions of what computes the figures; of a clone, its commit, too."""
    here = Path(__file__).parent
    commit = f" (commit {origin(here)['revision']})" if here.parents[1].name == "src" else ""
    evaluator = f"trec_eval by pytrec_eval-terrier {version('pytrec_eval-terrier')}"
    return f"touche-baselines {version('touche-baselines')}{commit}, {evaluator}"


@dataclass(frozen=True)
class Page:
    """A whole report.

    Attributes:
        title: its heading.
        command: the command line that makes it.
        parts: one for each task.
        outcomes: of a regression; empty where there was none.
        made_by: the program and its versions.
        remarks: what is missing, and where times were measured.
    """

    title: str
    command: str
    parts: Sequence[Part]
    outcomes: Sequence[Outcome] = ()
    made_by: str = field(default_factory=_program)
    remarks: Sequence[str] = ()
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
    runs = [each for each in scored if each.dimension == scored[0].dimension]
    tops = _tops(runs)
    at_hand = corpus_at_hand(corpus)
    texts = texts_of(_ids(tops, task), find_documents(locate_corpus(corpus))) if at_hand else {}
    views, faults = _views(scored)
    return Part(
        dataset,
        task,
        [RunFile(each.name, each.path, md5(each.path)) for each in runs],
        views,
        _topics(tops, scored, texts),
        [*_partial(task, corpus), *shared_tags(scored), *faults, *grouped(_warnings(scored))],
        "" if at_hand else f"Texts are not shown, as corpora/{corpus.directory} is not at hand.",
    )


def _warnings(scored: Sequence[ScoredRun]) -> Iterator[Note]:
    for each in scored:
        yield from warnings_of(each)


def _partial(task: Task, corpus: Corpus) -> Iterator[str]:
    if task.published and corpus != task.corpora["full"]:
        yield (
            "published results are on the whole corpus, this dataset is a part of it; "
            "a run on this part is not comparable with them"
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


def _views(scored: Sequence[ScoredRun]) -> tuple[list[View], list[str]]:
    """The views, and why runs could not be compared."""
    dimensions = list(dict.fromkeys(each.dimension for each in scored))
    notes = {name: grouped(_notes(scored, name)) for name in dimensions}
    records = [
        (each, {score.evaluator: score for score in each.scores}, each.topic_scores)
        for each in watched(scored, "bootstrap", "rows", len(scored))
    ]
    views, faults = [], []
    for evaluator in EVALUATORS:
        compared, fault = _compared(scored, evaluator)
        faults += fault
        for dimension in dimensions:
            of_dimension = [record for record in records if record[0].dimension == dimension]
            comparisons = [each for each in compared if each.dimension == dimension]
            views.append(_view(of_dimension, evaluator, comparisons, notes[dimension]))
    return sorted(views, key=lambda view: -sum(place.kind != GIVEN for place in view.board)), faults


def _compared(scored: Sequence[ScoredRun], evaluator: str) -> tuple[list[Comparison], list[str]]:
    """All comparisons, or why there are none: one odd run does not cost the report."""
    if len({each.path for each in scored}) < 2:
        return [], []
    try:
        return compare(scored, evaluator), []
    except ToucheError as error:
        return [], [f"runs are not compared by {evaluator}: {error}"]


def _notes(scored: Sequence[ScoredRun], dimension: str) -> Iterator[Note]:
    for each in scored:
        if each.dimension == dimension:
            yield from notes_of(each)


def _view(
    records: Sequence[Record], evaluator: str, comparisons: Sequence[Comparison], notes: Sequence[str]
) -> View:
    first = records[0][0]
    published = comparable(first.task, first.dimension, evaluator)
    given = [_place(each, scores[evaluator]) for each, scores, _ in records]
    return View(
        first.dimension,
        evaluator,
        first.file,
        md5(locate("qrels", first.file)),
        sorted([*given, *map(_published, published)], key=lambda place: -place.printed),
        {
            each.name: {row.topic: row for row in rows if row.evaluator == evaluator}
            for each, _, rows in records
        },
        comparisons,
        notes,
        next((row.selection for row in published if row.selection), ""),
    )


def _published(row: Published) -> Place:
    kind = BASELINE if row.baseline else PUBLISHED
    return Place(row.name, kind, row.value, row.low, row.high, source=row.sources[0])


def _place(scored: ScoredRun, score: Score) -> Place:
    several = score.topics > 1
    low, high = (score.low, score.high) if several else (None, None)
    doubtful = is_doubtful(scored, score.evaluator)
    return Place(scored.name, GIVEN, score.mean, low, high, score.judged, doubtful=doubtful)


def _tops(runs: Iterable[ScoredRun]) -> Tops:
    """The first five of each topic; where the evaluators order them otherwise, for each evaluator."""
    tops: dict[str, dict[str, list[RunLine]]] = {}
    for each in runs:
        by_score, by_rank = (_first(order(each.lines)) for order in (in_order_of_score, in_order_of_rank))
        for topic, top in by_score.items():
            if by_rank[topic] == top:
                tops.setdefault(each.name, {})[topic] = top
            else:
                tops.setdefault(f"{each.name}, as trec_eval orders it", {})[topic] = top
                tops.setdefault(f"{each.name}, as touche orders it", {})[topic] = by_rank[topic]
    return tops


def _first(lines: Iterable[RunLine]) -> dict[str, list[RunLine]]:
    tops: dict[str, list[RunLine]] = {}
    for line in lines:
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
            {name: [*starmap(result, enumerate(of[number], 1))] for name, of in tops.items() if number in of},
        )
        for number in sorted(numbers, key=_in_order)
    ]


def _in_order(number: str) -> tuple[int, str]:
    """So that topic 2 precedes topic 10."""
    return len(number), number
