"""From runs to what a report shows of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from textwrap import shorten

from touche import tasks
from touche.data.places import corpus_at_hand, locate, locate_corpus
from touche.evaluation.comparison import Comparison, comparisons, not_compared
from touche.evaluation.leaderboard import comparable, names, shortlist
from touche.evaluation.notes import notes_of, warnings_of
from touche.evaluation.scores import Evaluated
from touche.files import md5
from touche.formats.documents import AnyDocument, Argument
from touche.formats.runs import RunLine, in_order_of_rank, in_order_of_score
from touche.report.records import (
    BASELINE,
    GIVEN,
    PUBLISHED,
    Part,
    Place,
    Result,
    RunFile,
    TopicResults,
    View,
    in_order,
)
from touche.tasks import PAIR, Corpus, Published, Task
from touche.tira.inputs import find_documents

_LONGEST = 700  # characters of a text that are shown
Tops = Mapping[str, Mapping[str, Sequence[RunLine]]]  # the first lines, by run and topic


def part_of(found: Sequence[Evaluated], dataset: str) -> Part:
    """What is to be shown of evaluated runs of a task, with the texts of what they rank first.

    Args:
        found: all runs in all dimensions, with both evaluators.
        dataset: the id of the task, or of a dataset with another corpus, whose texts are then shown.

    Raises:
        ToucheError: if a file is not at hand any more, or the corpus is broken.
    """
    task = found[0].task
    corpus = tasks.dataset(dataset)[1] if dataset in tasks.datasets() else task.corpora["full"]
    runs = [each for each in found if each.dimension == found[0].dimension]
    tops = _tops(runs)
    at_hand = corpus_at_hand(corpus)
    texts = texts_of(_ids(tops, task), find_documents(locate_corpus(corpus))) if at_hand else {}
    views, faults = _views(found)
    return Part(
        dataset,
        task,
        [RunFile(each.name, each.path, md5(each.path)) for each in runs],
        views,
        _topics(tops, found, texts),
        [*_partial(task, corpus), *faults, *warnings_of(found)],
        "" if at_hand else f"Texts are not shown, as corpora/{corpus.directory} is not at hand.",
    )


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


def _views(found: Sequence[Evaluated]) -> tuple[list[View], list[str]]:
    """The views, that with most published results first; and which runs could not be compared."""
    dimensions: dict[str, list[Evaluated]] = {}
    for each in found:
        dimensions.setdefault(each.dimension, []).append(each)
    hashes = {runs[0].qrels: md5(locate("qrels", runs[0].qrels)) for runs in dimensions.values()}
    several = len({each.path for each in found}) > 1
    views: list[View] = []
    faults: list[str] = []
    for evaluator in found[0].scores:
        compared = comparisons(found, evaluator) if several else []
        faults += not_compared(found, evaluator)
        for dimension, runs in dimensions.items():
            of_dimension = [each for each in compared if each.dimension == dimension]
            views.append(_view(runs, evaluator, of_dimension, hashes[runs[0].qrels]))
    return sorted(views, key=lambda view: -sum(place.kind != GIVEN for place in view.board)), faults


def _view(runs: Sequence[Evaluated], evaluator: str, compared: Sequence[Comparison], qrels_md5: str) -> View:
    first = runs[0]
    published = comparable(first.task, first.dimension, evaluator)
    listed = shortlist(published)
    named = zip(published, names(published), strict=True)
    rows = (_published(row, name, row in listed) for row, name in named)
    board = [*(_place(each, evaluator) for each in runs), *rows]
    return View(
        first.dimension,
        evaluator,
        first.qrels,
        qrels_md5,
        sorted(board, key=lambda place: -place.printed),
        {each.name: each.topic_scores[evaluator] for each in runs},
        compared,
        notes_of(runs),
    )


def _published(row: Published, name: str, listed: bool) -> Place:
    kind = BASELINE if row.baseline else PUBLISHED
    figures = row.value, row.low, row.high, None
    return Place(name, kind, *figures, row.sources[0], row.tag, row.interval_note, listed)


def _place(run: Evaluated, evaluator: str) -> Place:
    score = run.scores[evaluator]
    low, high = (score.low, score.high) if score.topics > 1 else (None, None)
    return Place(run.name, GIVEN, score.mean, low, high, score.judged, doubtful=not score.comparable)


def _tops(runs: Iterable[Evaluated]) -> Tops:
    """The first results of each topic; where the evaluators order them otherwise, for each evaluator."""
    tops: dict[str, dict[str, list[RunLine]]] = {}
    for each in runs:
        by_score, by_rank = (
            _first(order(each.lines), each.task.cutoff) for order in (in_order_of_score, in_order_of_rank)
        )
        for topic, top in by_score.items():
            if by_rank[topic] == top:
                tops.setdefault(each.name, {})[topic] = top
            else:
                tops.setdefault(f"{each.name}, as trec_eval orders it", {})[topic] = top
                tops.setdefault(f"{each.name}, as touche orders it", {})[topic] = by_rank[topic]
    return tops


def _first(lines: Iterable[RunLine], cutoff: int) -> dict[str, list[RunLine]]:
    tops: dict[str, list[RunLine]] = {}
    for line in lines:
        top = tops.setdefault(line.topic, [])
        if len(top) < cutoff:
            top.append(line)
    return tops


def _ids(tops: Tops, task: Task) -> set[str]:
    """Of documents; where pairs are ranked, of their sentences."""
    documents = {line.document for of_run in tops.values() for top in of_run.values() for line in top}
    return {id for each in documents for id in _ids_of(each, task)}


def _ids_of(document: str, task: Task) -> list[str]:
    return document.split(",") if task.rules.unit == PAIR else [document]


def _topics(tops: Tops, found: Sequence[Evaluated], texts: Mapping[str, str]) -> list[TopicResults]:
    task, titles = found[0].task, found[0].titles
    qrels = {each.dimension: each.judgments for each in found}
    judged = {topic for of_dimension in qrels.values() for topic in of_dimension}
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
        for number in sorted(numbers, key=in_order)
    ]
