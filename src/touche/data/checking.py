"""Checks of the files that a task's card names, and of the ids in both."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from touche.data.ids import ids_of_result
from touche.data.judgments import task_qrels
from touche.data.places import locate, locate_corpus, locate_topics
from touche.errors import InputError, MissingDataError
from touche.io.identifiers import quoted
from touche.tasks import PAIR, STANCE, Task
from touche.trec.by_stance import topic_in
from touche.trec.qrels import Qrels
from touche.trec.topics import read_topics


@dataclass
class CheckedFiles:
    """The contents of a task's files.

    Attributes:
        topics, judgments, documents: their numbers; None if a file is missing, and for collections of web
            pages, which would have to be parsed.
        missing: the files and folders that are missing.
    """

    topics: int | None = None
    judgments: int | None = None
    documents: int | None = None
    missing: tuple[str, ...] = ()


def check_files(card: Path, task: Task) -> CheckedFiles:
    """Checks topics, judgments and whole corpus of a task, as far as they are available.

    Args:
        card: the card, for error messages.
        task: the task in the card.

    Raises:
        InputError: if a file is broken, or names a topic or a document that another one lacks.
    """
    checked = CheckedFiles()
    corpus = task.corpora["full"]
    topics_name = f"topics/{task.topics}"
    corpus_name = f"corpora/{corpus.directory}"
    numbers = None  # those of all topics
    try:
        numbers = {topic.number for topic in read_topics(locate_topics(task, corpus))}
        checked.topics = len(numbers)
        numbers_in_card = [number for part in task.corpora.values() for number in part.topics]
        _check_known(card, numbers_in_card, numbers, "topic", topics_name)
    except MissingDataError:
        checked.missing += (topics_name,)
    ids = None  # those of all documents
    try:
        from touche.documents.ids import read_ids  # here, because it takes 54 ms

        ids = read_ids(locate_corpus(corpus), of_sentences=task.rules.unit == PAIR)
        checked.documents = None if ids is None else len(ids)
    except MissingDataError:
        checked.missing += (corpus_name,)
    for dimension, judgments in task.qrels.items():
        try:
            qrels = task_qrels(task, dimension)
        except MissingDataError:
            checked.missing += (f"qrels/{judgments.file}",)
            continue
        path = locate("qrels", judgments.file)
        checked.judgments = (checked.judgments or 0) + sum(map(len, qrels.values()))
        if numbers is not None:
            _check_known(path, map(topic_in, qrels), numbers, "topic", topics_name)
        if ids is not None:
            _check_known(path, _judged_ids(qrels, dimension, task), ids, "document", corpus_name)
    return checked


def _judged_ids(qrels: Qrels, dimension: str, task: Task) -> Iterator[str]:
    """Yields the judged ids: two for each pair of sentences. Stances are judged for single documents."""
    for grades in qrels.values():
        for result in grades:
            if dimension == STANCE:
                yield result
            else:
                yield from ids_of_result(result, task.rules)


def _check_known(path: Path, ids: Iterable[str], known: Collection[str], noun: str, source: str) -> None:
    """Raises InputError if ids in a file are unknown: ``source`` is the file or folder of the known ones."""
    unknown = [*dict.fromkeys(id for id in ids if id not in known)]
    if unknown:
        others = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        problem = f"{noun} {quoted(unknown[0])}{others} is not in {source}"
        raise InputError(path, problem, "correct the ids in one of the two")
