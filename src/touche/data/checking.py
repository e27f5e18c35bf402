"""Checks the files that a task's card names, and the ids in them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from os import PathLike
from pathlib import Path

from touche import tasks
from touche.data.judgments import task_qrels
from touche.data.places import locate, locate_corpus, locate_topics
from touche.errors import InputError, MissingDataError
from touche.io.identifiers import names_or_paths, quoted
from touche.tasks import PAIR, STANCE, Corpus, Task
from touche.tasks.cards import read_card
from touche.tasks.public_runs import public_runs
from touche.trec.by_stance import topic_in
from touche.trec.framed import Table
from touche.trec.qrels import Qrels
from touche.trec.topics import read_topics


@dataclass(frozen=True)
class CheckedCard:
    """A checked task card.

    Attributes:
        path: the card's path.
        problem: the first problem with its location and remedy; empty if there is none.
        topics: the number of topics; None if their file is missing.
        unjudged_topics: the number of topics without judgments; None if the topics' file or all files of
            qrels are missing.
        judgments: the number of judgments; None if all files of qrels are missing.
        documents: the number of documents in the whole corpus; None if it's missing or consists of web pages,
            which we would have to parse.
        other_corpora: the number of documents in each other corpus by its name on the card, unless it's
            missing or consists of web pages.
        missing: the missing files and folders.
    """

    path: str
    problem: str = ""
    topics: int | None = None
    unjudged_topics: int | None = None
    judgments: int | None = None
    documents: int | None = None
    other_corpora: dict[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


def check_cards(cards: str | PathLike[str] | Sequence[str | PathLike[str]]) -> Table[CheckedCard]:
    """Checks task cards for unknown keys, wrong types and contradictions, together with the files they name.

    Available files are checked for their format, and for whether all judged topics and documents exist. The
    documents of smaller corpora must be in the whole corpus.

    Args:
        cards: the path of a card, or several paths.

    Returns:
        A ``CheckedCard`` per card, with its first problem.

    Examples:
        >>> import touche
        >>> touche.check_cards("my-task.toml")[0].problem
        'my-task.toml: cannot be read (No such file or directory); check the path'
    """
    paths = names_or_paths("card", cards)
    return Table(CheckedCard, tuple(_checked(Path(path)) for path in paths))


def _checked(card: Path) -> CheckedCard:
    """Checks a card. If it has no errors, also checks the files that it names."""
    try:
        task = read_card(card)
        tasks.check_name(card)
        return check_files(card, task)
    except InputError as error:
        return CheckedCard(str(card), str(error))


def check_files(card: Path, task: Task) -> CheckedCard:
    """Checks those of a task's topics, judgments and corpora that are on this machine.

    Args:
        card: the card, for error messages.
        task: the task on the card.

    Returns:
        A record that says what is available and what is missing. Its ``problem`` is always empty, because
        problems are raised as errors.

    Raises:
        InputError: if a file is broken, or if it contains a topic or document that should be in another file,
            but isn't.
    """
    public_runs(task)  # raises an error unless each published result is listed exactly once
    missing = list[str]()
    topics = _check_topics(card, task, missing)
    ids_by_corpus = _check_documents(card, task, topics, missing)
    all_ids = ids_by_corpus.pop("full", None)
    available_qrels = _check_judgments(task, topics, all_ids, missing)
    # The keys of qrels are topics such as ``1``, or rankings such as ``1 PRO`` if each stance has its own
    # ranking.
    judged_topics = {topic_in(ranking) for ranking in chain.from_iterable(available_qrels)}
    judgments = sum(len(grades) for qrels in available_qrels for grades in qrels.values())
    return CheckedCard(
        path=str(card),
        topics=None if topics is None else len(topics),
        unjudged_topics=len(topics - judged_topics) if topics is not None and judged_topics else None,
        judgments=judgments if available_qrels else None,
        documents=None if all_ids is None else len(all_ids),
        other_corpora={name: len(ids) for name, ids in ids_by_corpus.items() if ids is not None},
        missing=tuple(missing),
    )


def _check_topics(card: Path, task: Task, missing: list[str]) -> set[str] | None:
    """Checks the card's topics and returns all topic numbers; None if the file is missing.

    Args:
        card: the card, for error messages.
        task: the task on the card.
        missing: a list of missing files, to which the file with topics is appended if it's missing.
    """
    file = f"topics/{task.topics}"
    try:
        topics = _topics(task, task.corpora["full"])
    except MissingDataError:
        missing.append(file)
        return None
    topics_in_card = [number for corpus in task.corpora.values() for number in corpus.topics]
    _check_known(card, topics_in_card, topics, "topic", file)
    return topics


def _check_documents(
    card: Path, task: Task, topics: set[str] | None, missing: list[str]
) -> dict[str, frozenset[str] | None]:
    """Checks that the topics of each corpus are topics of the task, and that its documents are in the whole
    corpus.

    Args:
        card: the card, for error messages.
        task: the task on the card.
        topics: all topic numbers; None if unknown.
        missing: a list of missing files, to which missing corpora are appended.

    Returns:
        The ids in each available corpus by its name on the card; None for web pages, which we would have to
        parse.
    """
    from touche.documents.ids import read_ids  # takes 54 ms

    ids_by_corpus: dict[str, frozenset[str] | None] = {}
    # The whole corpus comes first, because the others are compared with it.
    for name in sorted(task.corpora, key=lambda name: name != "full"):
        corpus = task.corpora[name]
        folder = f"corpora/{corpus.directory}"
        try:
            path = locate_corpus(corpus)
        except MissingDataError:
            missing.append(folder)
            continue
        ids = read_ids(path, of_sentences=task.rules.unit == PAIR)  # None for web pages
        ids_by_corpus[name] = ids
        whole_folder = f"corpora/{task.corpora['full'].directory}"
        _check_known(path, ids or (), ids_by_corpus.get("full"), "document", whole_folder)
        if corpus.topics:  # if empty, the corpus is for all of the task's topics
            # The topics in the corpus' folder, to compare with ``corpus.topics``, which are on the card.
            own_topics = _topics(task, corpus)
            _check_known(card, corpus.topics, own_topics, "topic", folder)
            _check_known(path, own_topics, topics, "topic", f"topics/{task.topics}")
    return ids_by_corpus


def _check_judgments(
    task: Task, topics: set[str] | None, all_ids: frozenset[str] | None, missing: list[str]
) -> list[Qrels]:
    """Checks that judged topics and documents exist. Returns the qrels that are on this machine.

    Args:
        task: the task.
        topics: all topic numbers; None if unknown.
        all_ids: all document ids; None if unknown.
        missing: a list of missing files, to which missing qrels are appended.
    """
    available = list[Qrels]()
    for dimension, judgments in task.qrels.items():
        try:
            qrels = task_qrels(task, dimension)
        except MissingDataError:
            missing.append(f"qrels/{judgments.file}")
            continue
        available.append(qrels)
        path = locate("qrels", judgments.file)
        _check_known(path, map(topic_in, qrels), topics, "topic", f"topics/{task.topics}")
        ids = _judged_ids(qrels, dimension, task)
        _check_known(path, ids, all_ids, "document", f"corpora/{task.corpora['full'].directory}")
    return available


def _topics(task: Task, corpus: Corpus) -> set[str]:
    """Returns a corpus' topic numbers."""
    return {topic.number for topic in read_topics(locate_topics(task, corpus))}


def _judged_ids(qrels: Qrels, dimension: str, task: Task) -> Iterator[str]:
    """Yields the ids of judged documents. If the task ranks pairs, yields the ids of both sentences in each
    judged pair, except for stances, which are always judged for documents.
    """
    for result in chain.from_iterable(qrels.values()):
        if dimension == STANCE:
            yield result
        else:
            yield from task.rules.ids_of(result)


def _check_known(
    path: Path, ids: Iterable[str], known: Collection[str] | None, noun: str, source: str
) -> None:
    """Raises an InputError if one of the ids is unknown.

    Args:
        path: the file or folder that contains the ids.
        ids: the topic or document ids.
        known: the known ids; None if they aren't on this machine, so that nothing can be checked.
        noun: ``topic`` or ``document``.
        source: the file or folder that contains the known ids, as a path below the data folder.
    """
    unknown = [] if known is None else [*dict.fromkeys(id for id in ids if id not in known)]  # each once
    if unknown:
        first = quoted(unknown[0])
        if len(unknown) == 1:
            problem = f"{noun} {first} is not in {source}"
        else:
            problem = f"{noun} {first} and {len(unknown) - 1:,} more are not in {source}"
        raise InputError(path, problem, "correct the ids in one of the two files")
