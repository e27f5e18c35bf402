"""First results of runs: each document once, with its rank in every run, its labels and its text.

Also in the format of TIRA's viewers (TIRA's rendering of runs, and DiffIR).
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from touche.documents.images import picture
from touche.evaluation.scores import Evaluated
from touche.reports.records import Ranked, ShownDocument
from touche.reports.texts import passage, terms_of
from touche.reports.thumbnails import thumbnail
from touche.tasks import PAIR, STANCE, Task
from touche.trec.topics import in_order

RENDERED = 10  # results of each topic that viewers show

Texts = Mapping[str, Sequence[tuple[str, str]]]  # kind and text of a document's parts
Ranks = Mapping[str, Mapping[str, Sequence[Ranked]]]  # by topic and document, one for each run that has it


def ranks_of(runs: Iterable[Evaluated]) -> Ranks:
    """Returns the ranks of each run's first documents, by either evaluator."""
    ranks: dict[str, dict[str, list[Ranked]]] = {}
    for run in runs:
        lines, depth = run.lines, max(run.task.cutoff, RENDERED)
        for topic, order in lines.by_score.items():
            first = [places[:depth].tolist() for places in (order, lines.by_rank[topic])]
            by_score, by_rank = ({place: rank for rank, place in enumerate(places, 1)} for places in first)
            places = dict.fromkeys([*by_score, *by_rank])
            for place, line in zip(places, lines.take([*places]), strict=True):
                rank, other = by_score.get(place, 0), by_rank.get(place, 0)
                ranked = Ranked(run.name, rank, None if other == rank else other, line.score, line.stance)
                ranks.setdefault(topic, {}).setdefault(line.document, []).append(ranked)
    return ranks


def ids_of(document: str, task: Task) -> list[str]:
    """Returns the id of a document, or the ids of a pair's sentences."""
    return document.split(",") if task.rules.unit == PAIR else [document]


def rendering_of(ranks: Ranks, run: Evaluated, texts: Texts) -> dict[str, object]:
    """Returns a run for a viewer: topics, texts, and labels of one dimension.

    Args:
        ranks: ranks of all first results.
        run: one of the runs, for its judgments and titles.
        texts: known texts.
    """

    def text(document: str) -> str:
        return " ".join(text for id in ids_of(document, run.task) for _, text in texts.get(id, ()) if text)

    labels = {topic: run.judgments.get(topic, {}) for topic in ranks}
    return {
        "queries": {topic: {"qid": topic, "query": run.titles.get(topic, "")} for topic in ranks},
        "documents": {id: {"docno": id, "text": text(id)} for of_topic in ranks.values() for id in of_topic},
        "qrels": {
            topic: {id: labels[topic][id] for id in of_topic if id in labels[topic]}
            for topic, of_topic in ranks.items()
        },
    }


def topics_of(
    ranks: Ranks, runs: Sequence[Evaluated], texts: Texts, images: Path | None = None
) -> dict[str, list[ShownDocument]]:
    """Returns each judged topic with its first results.

    Args:
        ranks: ranks of all first results.
        runs: the runs, for their judgments.
        texts: known texts.
        images: the folder of the collection, if its documents are images.
    """
    thumbnails: dict[str, str] = {}
    task, qrels = runs[0].task, {run.dimension: run.judgments for run in runs}
    topics: dict[str, list[ShownDocument]] = {}
    for topic in sorted(ranks.keys() & set[str]().union(*qrels.values()), key=in_order):
        terms = terms_of(runs[0].titles.get(topic, ""))
        topics[topic] = []
        for document, ranked in ranks[topic].items():
            judged = {name: labels.get(topic, {}).get(document) for name, labels in qrels.items()}
            labels: dict[str, int | str | None] = {**judged}
            if (stance := judged.get(STANCE)) is not None:
                labels[STANCE] = task.stances[stance]
            parts = [part for id in ids_of(document, task) for part in texts.get(id, ()) if part[1].strip()]
            passages = [(kind, passage(text, terms)) for kind, text in parts]
            if places := [place for place in ranked if place.best <= task.cutoff]:
                if images and document not in thumbnails:
                    thumbnails[document] = thumbnail(picture(images, document))
                topics[topic].append(
                    ShownDocument(
                        document=document,
                        labels=labels,
                        places=places,
                        passages=passages,
                        thumbnail=thumbnails.get(document, ""),
                    )
                )
        topics[topic].sort(key=lambda shown: (min(place.best for place in shown.places), -len(shown.places)))
    return topics
