"""Opens what a baseline reads: a dataset (a task's topics with a corpus), a folder, or an ir_datasets id."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from touche import tasks
from touche.data import places
from touche.data.places import (
    IR_DATASETS,
    check_exists,
    find_corpus,
    is_dataset,
    locate_corpus,
    locate_topics,
)
from touche.data.remedies import ELSEWHERE
from touche.data.sources import is_to_download, official, size_of_download
from touche.documents.collection import Documents
from touche.documents.discovery import Input, find, find_documents
from touche.documents.ir_datasets import IrDataset
from touche.documents.side_files import side_files
from touche.errors import MissingDataError, ToucheError, counted
from touche.trec.topics import read_topics


def open_dataset(dataset: str) -> Input:
    """Returns a dataset's topics and corpus, e.g. ``touche-2020-task-1/sample``.

    If a corpus has no folder in corpora/, it's read with ir_datasets, provided that the card says which id it
    has in ir_datasets. Nothing is downloaded: shipped cards only name ids of corpora that ir_datasets can't
    download, so users have to save the files in ir_datasets' folder themselves.

    Raises:
        ToucheError: if the dataset is unknown or missing.
    """
    task, corpus = tasks.dataset(dataset)
    with explaining_missing_data(dataset):
        topics_file = locate_topics(task, corpus)
        if corpus.ir_datasets is None or find_corpus(corpus):
            documents: Documents = find_documents(locate_corpus(corpus))
        else:  # there is no corpus folder, so side files are searched next to the topics
            files = (path for path in topics_file.parent.iterdir() if path.is_file())
            documents = IrDataset(corpus.ir_datasets, side_files=side_files(files))
        source = Input.combine(read_topics(topics_file), topics_file, documents)
        is_whole = corpus is task.corpora["full"]
        return replace(source, statistics=corpus.statistics or "", is_whole=is_whole, dataset=dataset)


def opened(name: str, corpus: str | None = None, *, needs_documents: bool = True) -> Input:
    """Opens what a path or an id names.

    Args:
        name: a dataset id, an input directory, or ``irds:`` followed by an ir_datasets id. If a dataset and a
            folder have the same name, the dataset is used.
        corpus: the ir_datasets id of a corpus, for a directory that only contains topics.
        needs_documents: whether a directory must contain documents.

    Raises:
        ToucheError: if the directory or dataset is unknown or unusable.
    """
    if name.startswith(IR_DATASETS):
        if corpus:
            raise ToucheError(f"{name} has its own corpus; omit --corpus")
        documents = IrDataset(name.removeprefix(IR_DATASETS))
        topics = tuple(documents.topics())
        return Input(topics, documents, description=f"{counted(len(topics), 'topic')} and {documents}")
    if not is_dataset(name):
        if not os.path.exists(name):  # noqa: PTH110 (Path.exists raises if it is too long)
            check_exists(name)  # raises an error, which suggests a similar name
        return find(Path(name), corpus, needs_documents=needs_documents)
    if corpus:
        raise ToucheError(f"the dataset {name} has its own corpus; omit --corpus")
    return open_dataset(name)


@contextmanager
def explaining_missing_data(dataset: str) -> Iterator[None]:
    """Completes an error about missing data: adds how large the download is, and which other datasets of the
    task are on this machine.
    """
    try:
        yield
    except MissingDataError as error:
        here = ", ".join(places.available_parts(dataset))
        instead = f", or use what is here: {here}" if here else ""
        raise MissingDataError(f"{_with_size(error, dataset)}{instead}") from None


def _with_size(error: MissingDataError, dataset: str) -> str:
    """Returns the message of an error about missing data. If touche can fetch the corpus, the size of the
    download is added.
    """
    try:
        missing = [source for source in official([dataset]) if is_to_download(source)]
    except ToucheError:  # ir_datasets, which knows the size, isn't installed in container images
        return str(error)
    _, corpus = tasks.dataset(dataset)
    is_corpus_missing = any(source.kind == "corpora" for source in missing)
    # If the folder exists but is incomplete, keep the error's own message, because it names the missing
    # files.
    if not is_corpus_missing or places.find("corpora", corpus.directory):
        return str(error)
    fetch = f"get it with: touche data fetch {dataset} ({size_of_download(missing)})"
    return f"{dataset} is missing; {fetch}, or {ELSEWHERE}"
