"""What runs rank first: each document once, with its place in every run, its labels and its text.

Also as TIRA's viewers read it (TIRA's rendering of runs, and DiffIR).
"""

from collections.abc import Iterable, Mapping, Sequence

from touche.evaluation.scores import Evaluated
from touche.formats.runs import RunLine, in_order_of_rank, in_order_of_score
from touche.report.records import Ranked, ShownDocument, TopicResults, in_order
from touche.report.texts import passage, terms_of
from touche.tasks import PAIR, Task

RENDERED = 10  # results of each topic that viewers show

Texts = Mapping[str, Sequence[tuple[str, str]]]  # kind and text of what a document consists of
Ranks = Mapping[tuple[str, str, str], Ranked]  # by topic, document and run


def first(ordered: Iterable[RunLine], depth: int) -> dict[str, list[RunLine]]:
    """The first lines of each topic, in the order given."""
    tops: dict[str, list[RunLine]] = {}
    for line in ordered:
        top = tops.setdefault(line.topic, [])
        if len(top) < depth:
            top.append(line)
    return tops


def ranks_of(runs: Iterable[Evaluated]) -> dict[tuple[str, str, str], Ranked]:
    """Where each run has the documents that it ranks first, by either evaluator."""
    ranks = {}
    for run in runs:
        depth = max(run.task.cutoff, RENDERED)
        by_score, by_rank = (
            first(order(run.lines), depth) for order in (in_order_of_score, in_order_of_rank)
        )
        for topic, lines in by_score.items():
            others = {line.document: rank for rank, line in enumerate(by_rank[topic], 1)}
            for rank, line in enumerate(lines, 1):
                other = others.get(line.document, 0)
                place = Ranked(run.name, rank, None if other == rank else other, line.score)
                ranks[topic, line.document, run.name] = place
            for line in by_rank[topic]:
                place = Ranked(run.name, 0, others[line.document], line.score)
                ranks.setdefault((topic, line.document, run.name), place)
    return ranks


def ids_of(document: str, task: Task) -> list[str]:
    """Of the document; where pairs are ranked, of their sentences."""
    return document.split(",") if task.rules.unit == PAIR else [document]


def rendering_of(ranks: Ranks, run: Evaluated, texts: Texts) -> dict[str, object]:
    """Returns what a viewer needs of a run: the topics, the texts, and the labels of one dimension.

    Args:
        ranks: everything that is among the first results.
        run: one of the runs, whose judgments and titles are taken.
        texts: those that are known.
    """
    topics: dict[str, dict[str, int | None]] = {}
    for topic, document, _ in ranks:
        topics.setdefault(topic, {})[document] = run.judgments.get(topic, {}).get(document)
    return {
        "queries": {topic: {"qid": topic, "query": run.titles.get(topic, "")} for topic in topics},
        "documents": {
            id: {"docno": id, "text": _whole_text(id, run.task, texts)}
            for id in dict.fromkeys(id for labels in topics.values() for id in labels)
        },
        "qrels": {
            topic: {id: label for id, label in labels.items() if label is not None}
            for topic, labels in topics.items()
        },
    }


def _whole_text(document: str, task: Task, texts: Texts) -> str:
    """The text of a document; empty where it is not known."""
    return " ".join(text for id in ids_of(document, task) for _, text in texts.get(id, ()) if text)


def topics_of(ranks: Ranks, runs: Sequence[Evaluated], texts: Texts) -> list[TopicResults]:
    """Each topic that has judgments, with what is among the first results that are scored."""
    task, titles = runs[0].task, runs[0].titles
    qrels = {each.dimension: each.judgments for each in runs}
    judged = {topic for of_dimension in qrels.values() for topic in of_dimension}
    topics: dict[str, dict[str, list[Ranked]]] = {}
    for (topic, document, _), place in ranks.items():
        if topic in judged and _is_scored(place, task.cutoff):
            topics.setdefault(topic, {}).setdefault(document, []).append(place)

    def one(topic: str, document: str, places: Sequence[Ranked]) -> ShownDocument:
        labels = {name: of.get(topic, {}).get(document) for name, of in qrels.items()}
        parts = [part for id in ids_of(document, task) for part in texts.get(id, ()) if part[1].strip()]
        terms = terms_of(titles.get(topic, ""))
        return ShownDocument(document, labels, places, [passage(*part, terms) for part in parts])

    return [
        TopicResults(
            number,
            titles.get(number, ""),
            [one(number, *each) for each in sorted(topics[number].items(), key=_best_first)],
        )
        for number in sorted(topics, key=in_order)
    ]


def _is_scored(place: Ranked, cutoff: int) -> bool:
    return any(0 < rank <= cutoff for rank in (place.rank, place.other or 0))


def _best_first(document: tuple[str, Sequence[Ranked]]) -> tuple[int, int]:
    """The best place that a document has, then how many runs have it."""
    _, places = document
    return min(place.rank or place.other or 0 for place in places), -len(places)
