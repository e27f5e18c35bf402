"""Checks of the files that a task's card names, and of the ids in both."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from touche.data.ids import ids_of_result
from touche.data.judgments import task_qrels
from touche.data.places import locate, locate_corpus, locate_topics
from touche.errors import InputError, MissingDataError
from touche.io.identifiers import quoted
from touche.tasks import PAIR, STANCE, Task
from touche.trec.by_stance import topic_in
from touche.trec.topics import read_topics

_T = TypeVar("_T")


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

    def available(name: str, read: Callable[[], _T]) -> _T | None:
        try:
            return read()
        except MissingDataError:
            checked.missing += (name,)
            return None

    topics = available(f"topics/{task.topics}", lambda: read_topics(locate_topics(task, corpus)))
    numbers = None if topics is None else {topic.number for topic in topics}
    if numbers is not None:
        checked.topics = len(numbers)
        own = [number for part in task.corpora.values() for number in part.topics]
        _check(card, own, numbers, "topic", f"topics/{task.topics}")
    folder = available(f"corpora/{corpus.directory}", lambda: locate_corpus(corpus))
    ids = None
    if folder:
        from touche.documents.ids import read_ids  # here, because it takes 54 ms

        ids = read_ids(folder, of_sentences=task.rules.unit == PAIR)
        checked.documents = None if ids is None else len(ids)
    for dimension, judgments in task.qrels.items():
        qrels = available(f"qrels/{judgments.file}", lambda name=dimension: task_qrels(task, name))  # type: ignore[misc]
        if qrels is None:
            continue
        path = locate("qrels", judgments.file)
        checked.judgments = (checked.judgments or 0) + sum(map(len, qrels.values()))
        if numbers is not None:
            _check(path, map(topic_in, qrels), numbers, "topic", f"topics/{task.topics}")
        if ids is not None:
            results = dict.fromkeys(result for labels in qrels.values() for result in labels)
            judged = (
                results
                if dimension == STANCE
                else (id for result in results for id in ids_of_result(result, task.rules))
            )
            _check(path, judged, ids, "document", f"corpora/{corpus.directory}")
    return checked


def _check(path: Path, ids: Iterable[str], known: Collection[str], noun: str, where: str) -> None:
    unknown = [*dict.fromkeys(id for id in ids if id not in known)]
    if unknown:
        others = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        problem = f"{noun} {quoted(unknown[0])}{others} is not in {where}"
        raise InputError(path, problem, "correct the ids in one of both")
