"""Where topics, qrels and corpora are: in $TOUCHE_DATA, with what ships, or in the user's cache folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from touche import tasks
from touche.collection.discovery import Input, find, find_documents, side_files
from touche.collection.documents import Documents
from touche.collection.ir_datasets import IrDataset
from touche.data.remedies import ELSEWHERE, in_bytes, remedy
from touche.errors import NotAtHandError, ToucheError, choice
from touche.formats.qrels import Qrels, read_qrels, read_stances
from touche.formats.topics import read_topics
from touche.io.writing import cache_folder
from touche.origin import clone
from touche.tasks import STANCE, Corpus, Task


def shipped() -> Path | None:
    """The folder with the baselines, topics, qrels and corpora that ship: the clone, else the package's.

    A wheel has them inside of the package, where hatch_build.py puts them; an image has none, hence None.
    """
    own = Path(__file__).parents[1] / "shipped"
    return clone() or (own if own.is_dir() else None)


def locate(kind: str, name: str) -> Path:
    """The path of a data file or folder.

    Args:
        kind: ``topics``, ``qrels`` or ``corpora``.
        name: the name of the file or folder in there.

    Raises:
        NotAtHandError: if it is not at hand; the message names the places that were looked at.
    """
    places = list(_places())
    for place in places:
        if os.path.exists(path := place / kind / name):  # noqa: PTH110 (that of Path raises where access is denied)
            return path
    looked = ", ".join(str(place / kind) for place in places)
    raise NotAtHandError(f"{kind}/{name} is not at hand (looked in {looked}); {remedy(f'{kind}/{name}')}")


def at_hand(kind: str, name: str) -> bool:
    """Whether ``locate`` finds it."""
    with suppress(NotAtHandError):
        return bool(locate(kind, name))
    return False


@contextmanager
def naming_size(dataset: str) -> Iterator[None]:
    """Names the size of a published corpus in the error that it is missing."""
    try:
        yield
    except NotAtHandError as error:
        from touche.data.fetching import official  # here, because it imports this module

        try:
            missing = [source for source in official([dataset]) if source.url and not source.place()]
        except ToucheError:  # as in an image, which fetches nothing
            raise error from None
        no_folder = not at_hand("corpora", tasks.dataset(dataset)[1].directory)
        if no_folder and any(source.kind == "corpora" for source in missing):
            size = in_bytes(sum(source.size for source in missing))
            fetch = f"get it with: touche data fetch {dataset} ({size})"
            raise NotAtHandError(f"{dataset} is not at hand; {fetch}, or {ELSEWHERE}") from None
        raise


def open_dataset(dataset: str) -> Input:
    """Topics and corpus of a dataset, such as ``touche-2020-task-1/sample``.

    A corpus without a folder in corpora/ is read through ir_datasets, if its card names one there. Cards that
    ship name only those that ir_datasets does not download.

    Raises:
        ToucheError: if there is no such dataset, or it is not at hand.
    """
    task, corpus = tasks.dataset(dataset)
    with naming_size(dataset):
        topics = _topics_of(task, corpus)
        documents: Documents
        if corpus.ir_datasets is None or corpus_at_hand(corpus):
            documents = find_documents(locate_corpus(corpus))
        else:
            documents = IrDataset(corpus.ir_datasets, side_files=side_files(topics.parent.iterdir()))
        return Input.of(read_topics(topics), topics, documents)


def _topics_of(task: Task, corpus: Corpus) -> Path:
    """The file with the topics; a data set of BEIR has them in the folder of its corpus."""
    if at_hand("topics", task.topics) or not corpus_at_hand(corpus):
        return locate("topics", task.topics)
    own = sorted(locate_corpus(corpus).glob("queries.jsonl*"))
    return own[0] if own else locate("topics", task.topics)


def opened(given: str, corpus: str | None = None, *, needs_documents: bool = True) -> Input:
    """The input that a path or an id names.

    Args:
        given: the path of an input directory, or the id of a dataset.
        corpus: the id of a corpus of ir_datasets, for a directory that holds topics only.
        needs_documents: whether a directory has to hold documents.

    Raises:
        ToucheError: if there is neither such a directory nor such a dataset, or it is unusable.
    """
    if Path(given).exists():
        return find(Path(given), corpus, needs_documents=needs_documents)
    check_exists(given)
    if corpus is not None:
        raise ToucheError(f"the dataset {given} has its own corpus; leave --corpus out")
    return open_dataset(given)


def check_exists(given: str) -> None:
    """Makes sure that there is such a directory or dataset, at hand or not.

    Raises:
        ToucheError: if there is neither.
    """
    if not Path(given).is_dir() and given not in tasks.datasets():
        problem = f"{given}: no such directory, and no such dataset"
        raise ToucheError(f"{problem}; {choice(given, tasks.datasets()) if shipped() else 'name a folder'}")


def datasets_at_hand() -> list[str]:
    """The ids of the datasets whose topics and corpora are in folders here."""
    return [name for name in tasks.datasets() if dataset_at_hand(name)]


def dataset_at_hand(dataset: str) -> bool:
    """Whether topics and corpus of a dataset are in folders here."""
    task, corpus = tasks.dataset(dataset)
    with suppress(NotAtHandError):
        return bool(_topics_of(task, corpus)) and corpus_at_hand(corpus)
    return False


def locate_corpus(corpus: Corpus) -> Path:
    """The folder of a corpus that is there as a whole.

    Raises:
        NotAtHandError: if it is nowhere, empty, or some of its parts are missing.
    """
    folder = locate("corpora", corpus.directory)
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    missing = [file for file in corpus.files if file not in there]
    if not there or 0 < len(missing) < len(corpus.files):
        problem = f"{folder} is {'incomplete, without ' + ', '.join(missing) if there else 'empty'}"
        # Fetched data goes to the user's folder, and this one would still come first.
        hidden = "" if folder.parent == home() / "corpora" else "; remove that folder first"
        raise NotAtHandError(f"{problem}; {remedy(f'corpora/{corpus.directory}')}{hidden}")
    return folder


def corpus_at_hand(corpus: Corpus) -> bool:
    """Whether ``locate_corpus`` finds it."""
    with suppress(NotAtHandError):
        return bool(locate_corpus(corpus))
    return False


def qrels_of(task: Task, dimension: str) -> Qrels:
    """The judgments of a task in one dimension; stances as their places in ``task.stances``.

    Raises:
        ToucheError: if they are not at hand or the file is broken.
    """
    judgments = task.qrels[dimension]
    if dimension == STANCE:
        return read_stances(locate("qrels", judgments.file), task.stances, task.excluded_topics)
    return read_qrels(locate("qrels", judgments.file), task.excluded_topics, judgments.labels or None)


def titles_of(task: Task) -> dict[str, str]:
    """The titles of a task's topics by number; none if the topics file is not at hand, or not known.

    Raises:
        InputError: if the file is broken.
    """
    if not (task.topics and at_hand("topics", task.topics)):
        return {}
    return {topic.number: topic.title for topic in read_topics(locate("topics", task.topics))}


def home() -> Path:
    """Where fetched data goes: the clone, else the user's cache folder."""
    return clone() or cache_folder()


def _places() -> Iterator[Path]:
    for folder in tasks.data_folders():
        if not folder.is_dir():
            problem = f"TOUCHE_DATA names {str(folder)!r}, which is not a folder"
            raise ToucheError(f"{problem}; name folders with topics/, qrels/ and corpora/, or unset it")
        yield folder
    if root := shipped():
        yield root
    yield cache_folder()
