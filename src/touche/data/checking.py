"""Checks of the files that a task's card names, and of the ids in them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from touche.data.ids import ids_of_result
from touche.data.judgments import task_qrels
from touche.data.places import locate, locate_corpus, locate_topics
from touche.errors import InputError, MissingDataError
from touche.io.identifiers import quoted
from touche.tasks import PAIR, STANCE, Corpus, Task
from touche.trec.by_stance import topic_in
from touche.trec.qrels import Qrels
from touche.trec.topics import read_topics


@dataclass
class CheckedFiles:
    """The contents of a task's files.

    Attributes:
        topics: the number of topics; None if their file is missing.
        unjudged_topics: the number of topics without a judgment; None if their file or all qrels are missing.
        judgments: the number of judgments; None if all qrels are missing.
        documents: the number of documents in the whole corpus; None if it is missing, or has web pages,
            which would have to be parsed.
        other_corpora: the number of documents in each other corpus, by its name in the card; the corpora
            that are missing or have web pages are left out.
        missing: the files and folders that are missing.
    """

    topics: int | None = None
    unjudged_topics: int | None = None
    judgments: int | None = None
    documents: int | None = None
    other_corpora: dict[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


def check_files(card: Path, task: Task) -> CheckedFiles:
    """Checks topics, judgments and corpora of a task, as far as they are available.

    Args:
        card: the card, for error messages.
        task: the task in the card.

    Raises:
        InputError: if a file is broken, or names a topic or a document that another file lacks.
    """
    checked = CheckedFiles()
    all_topics = _check_topics(card, task, checked)
    all_ids = _check_documents(card, task, checked, all_topics)
    _check_judgments(task, checked, all_topics, all_ids)
    return checked


def _check_topics(card: Path, task: Task, checked: CheckedFiles) -> set[str] | None:
    """Checks the topics in the card, and returns the numbers of all topics; None if their file is missing.

    Args:
        card: the card, for error messages.
        task: the task in the card.
        checked: gets the number of topics, or the missing file.
    """
    file = f"topics/{task.topics}"
    try:
        topics = _topics(task, task.corpora["full"])
    except MissingDataError:
        checked.missing += (file,)
        return None
    checked.topics = len(topics)
    topics_in_card = [number for corpus in task.corpora.values() for number in corpus.topics]
    _check_known(card, topics_in_card, topics, "topic", file)
    return topics


def _check_documents(
    card: Path, task: Task, checked: CheckedFiles, all_topics: set[str] | None
) -> frozenset[str] | None:
    """Checks that the topics of each corpus are in the task, and its ids in the whole corpus.

    Returns the ids in the whole corpus; None if it is missing or has web pages.

    Args:
        card: the card, for error messages.
        task: the task in the card.
        checked: gets the numbers of documents, and the missing folders.
        all_topics: the numbers of all topics, or None if they are unknown.
    """
    ids_by_corpus: dict[str, frozenset[str] | None] = {}  # of each available corpus; None for web pages
    for name, corpus in task.corpora.items():
        try:
            ids_by_corpus[name] = _document_ids(task, corpus)
        except MissingDataError:
            checked.missing += (f"corpora/{corpus.directory}",)
    all_ids = ids_by_corpus.pop("full", None)
    checked.documents = None if all_ids is None else len(all_ids)
    for name, ids in ids_by_corpus.items():
        corpus = task.corpora[name]
        if corpus.topics:  # otherwise, its topics are those of the task
            own_topics = _topics(task, corpus)  # those in its folder
            _check_known(card, corpus.topics, own_topics, "topic", f"corpora/{corpus.directory}")
            if all_topics is not None:
                _check_known(locate_corpus(corpus), own_topics, all_topics, "topic", f"topics/{task.topics}")
        if ids is not None:
            checked.other_corpora[name] = len(ids)
            if all_ids is not None:
                whole_folder = f"corpora/{task.corpora['full'].directory}"
                _check_known(locate_corpus(corpus), ids, all_ids, "document", whole_folder)
    return all_ids


def _check_judgments(
    task: Task, checked: CheckedFiles, all_topics: set[str] | None, all_ids: frozenset[str] | None
) -> None:
    """Checks the judged topics and documents.

    Args:
        task: the task.
        checked: gets the numbers of judgments and of unjudged topics, and the missing files.
        all_topics: the numbers of all topics, or None if they are unknown.
        all_ids: the ids of all documents, or None if they are unknown.
    """
    judged_topics: set[str] = set()
    for dimension, judgments in task.qrels.items():
        try:
            qrels = task_qrels(task, dimension)
        except MissingDataError:
            checked.missing += (f"qrels/{judgments.file}",)
            continue
        path = locate("qrels", judgments.file)
        checked.judgments = (checked.judgments or 0) + sum(map(len, qrels.values()))
        judged_topics |= {topic_in(ranking) for ranking in qrels}  # a ranking is 1 or 1 PRO, for example
        if all_topics is not None:
            _check_known(path, map(topic_in, qrels), all_topics, "topic", f"topics/{task.topics}")
        if all_ids is not None:
            ids = _judged_ids(qrels, dimension, task)
            _check_known(path, ids, all_ids, "document", f"corpora/{task.corpora['full'].directory}")
    if all_topics is not None and judged_topics:
        checked.unjudged_topics = len(all_topics - judged_topics)


def _topics(task: Task, corpus: Corpus) -> set[str]:
    """Returns the numbers of the topics of a corpus."""
    return {topic.number for topic in read_topics(locate_topics(task, corpus))}


def _document_ids(task: Task, corpus: Corpus) -> frozenset[str] | None:
    """Returns the ids in a corpus: of sentences if the task ranks pairs of them. None for web pages."""
    from touche.documents.ids import read_ids  # here, because it takes 54 ms

    return read_ids(locate_corpus(corpus), of_sentences=task.rules.unit == PAIR)


def _judged_ids(qrels: Qrels, dimension: str, task: Task) -> Iterator[str]:
    """Yields the ids of judged documents, or of both sentences in a judged pair.

    Stances are always judged for documents.
    """
    for grades in qrels.values():
        for result in grades:
            if dimension == STANCE:
                yield result
            else:
                yield from ids_of_result(result, task.rules)


def _check_known(path: Path, ids: Iterable[str], known: Collection[str], noun: str, source: str) -> None:
    """Raises InputError if an id is unknown.

    Args:
        path: the file or folder with the ids.
        ids: the ids of topics or documents.
        known: the known ids.
        noun: what the ids are of, ``topic`` or ``document``.
        source: the file or folder of the known ids, below the data folder.
    """
    unknown = [*dict.fromkeys(id for id in ids if id not in known)]
    if unknown:
        first = quoted(unknown[0])
        if len(unknown) == 1:
            problem = f"{noun} {first} is not in {source}"
        else:
            problem = f"{noun} {first} and {len(unknown) - 1:,} more are not in {source}"
        raise InputError(path, problem, "correct the ids in one of the two files")
