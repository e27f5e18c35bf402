"""Datasets as inputs of baselines: a task's topics with a corpus, a folder, or an id of ir_datasets."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from touche import tasks
from touche.data.places import (
    IR_DATASETS,
    check_exists,
    has_corpus,
    is_available,
    is_dataset,
    locate_corpus,
    locate_topics,
)
from touche.data.remedies import ELSEWHERE
from touche.data.sources import is_to_download, official, size_of_download
from touche.documents.collection import Documents
from touche.documents.discovery import Input, find, find_documents
from touche.documents.finding import side_files
from touche.documents.ir_datasets import IrDataset
from touche.errors import MissingDataError, ToucheError, counted
from touche.trec.topics import read_topics


def open_dataset(dataset: str) -> Input:
    """Returns topics and corpus of a dataset, such as ``touche-2020-task-1/sample``.

    A corpus without a folder in corpora/ is read through ir_datasets, if the task's card has an id of
    ir_datasets for the corpus. Shipped cards have such an id only for corpora that users have to save in the
    folder of ir_datasets by hand, so that nothing is downloaded.

    Raises:
        ToucheError: if the dataset is unknown or missing.
    """
    task, corpus = tasks.dataset(dataset)
    with naming_size(dataset):
        topics_file = locate_topics(task, corpus)
        if corpus.ir_datasets is None or has_corpus(corpus):
            documents: Documents = find_documents(locate_corpus(corpus))
        else:  # the corpus has no folder, so its side files are next to the topics
            documents = IrDataset(corpus.ir_datasets, side_files=side_files(topics_file.parent.iterdir()))
        source = Input.combine(read_topics(topics_file), topics_file, documents)
        is_whole = corpus is task.corpora["full"]
        return replace(source, statistics=corpus.statistics or "", is_whole=is_whole, dataset=dataset)


def opened(name: str, corpus: str | None = None, *, needs_documents: bool = True) -> Input:
    """Returns the input that a path or an id names.

    Args:
        name: the id of a dataset, the path of an input directory, or ``irds:`` and the id of a dataset of
            ir_datasets. If a dataset and a folder have the same name, it means the dataset.
        corpus: the id of a corpus of ir_datasets, for a directory that has only topics.
        needs_documents: whether a directory has to contain documents.

    Raises:
        ToucheError: if the directory or dataset is unknown or unusable.
    """
    if name.startswith(IR_DATASETS):
        if corpus is not None:
            raise ToucheError(f"{name} has its own corpus; omit --corpus")
        documents = IrDataset(name.removeprefix(IR_DATASETS))
        topics = tuple(documents.topics())
        return Input(topics, documents, description=f"{counted(len(topics), 'topic')} and {documents}")
    if not is_dataset(name):
        if not os.path.exists(name):  # noqa: PTH110 (Path.exists raises if it is too long)
            check_exists(name)  # raises an error with a similar name
        return find(Path(name), corpus, needs_documents=needs_documents)
    if corpus is not None:
        raise ToucheError(f"the dataset {name} has its own corpus; omit --corpus")
    return open_dataset(name)


@contextmanager
def naming_size(dataset: str) -> Iterator[None]:
    """Replaces the error of a missing published corpus by an error with the size of the download."""
    try:
        yield
    except MissingDataError as error:
        try:
            missing = [source for source in official([dataset]) if is_to_download(source)]
        except ToucheError:  # in an image, which has no ir_datasets, the size is unknown
            raise error from None
        _, corpus = tasks.dataset(dataset)
        # The error of an incomplete folder stays, because it names the missing files.
        has_folder = is_available("corpora", corpus.directory)
        is_corpus_missing = any(source.kind == "corpora" for source in missing)
        if is_corpus_missing and not has_folder:
            fetch = f"get it with: touche data fetch {dataset} ({size_of_download(missing)})"
            raise MissingDataError(f"{dataset} is missing; {fetch}, or {ELSEWHERE}") from None
        raise
