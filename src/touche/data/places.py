"""Finds topics, qrels and corpora, which can be in $TOUCHE_DATA, among the shipped files, or in the user's
cache folder.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from os.path import exists
from pathlib import Path

from touche import tasks
from touche.data.remedies import ELSEWHERE, is_published, remedy
from touche.errors import MissingDataError, ToucheError
from touche.io.opening import is_file_or_folder
from touche.io.origin import clone
from touche.io.writing import cache_folder
from touche.tasks import Corpus, Task
from touche.tasks import is_dataset as is_dataset
from touche.tasks.task_records import dataset_with
from touche.trec.topics import paths_named, topics_named

IR_DATASETS = "irds:"
"""Prefix of the ids of ir_datasets, as in PyTerrier."""


@cache
def shipped() -> Path | None:
    """Returns the folder with the shipped baselines, topics, qrels and corpora. It's in the clone of the
    repository, or in the installed package.

    hatch_build.py puts these files into the wheel. Returns None in container images, which don't contain
    them.
    """
    packaged = Path(__file__).parents[1] / "shipped"
    return clone() or (packaged if packaged.is_dir() else None)


def shipped_baselines() -> list[str]:
    """Returns the names of the shipped baselines; empty in a container image."""
    root = shipped()
    return sorted(path.parent.name for path in root.glob("baselines/*/baseline.py")) if root else []


def locate(kind: str, name: str) -> Path:
    """Returns the path of a data file or folder.

    Args:
        kind: ``topics``, ``qrels``, ``corpora`` or ``runs``.
        name: the file's or folder's name.

    Raises:
        MissingDataError: if it's missing. The message names the searched folders.
    """
    path = find(kind, name)
    if path is None:
        searched = ", ".join(str(folder / kind) for folder in _data_folders())
        problem = f"{kind}/{name} is missing (searched in {searched})"
        raise MissingDataError(f"{problem}; {remedy(f'{kind}/{name}')}")
    return path


def find(kind: str, name: str, folders: Sequence[Path] | None = None) -> Path | None:
    """Returns the path of a data file or folder; None if it's missing.

    Args:
        kind: ``topics``, ``qrels``, ``corpora`` or ``runs``. Runs can be packed with gzip.
        name: the file's or folder's name.
        folders: the data folders to search; None for all.
    """
    names = [name, f"{name}.gz"] if kind == "runs" else [name]
    paths = [folder / kind / name for folder in folders or _data_folders() for name in names]
    here = filter(exists, paths)  # not Path.exists, which raises an error if we have no access
    return next(filter(is_file_or_folder, here), None)


def locate_topics(task: Task, corpus: Corpus) -> Path:
    """Returns the path of a dataset's topics file. If the corpus is for some of the topics only, it's a file
    in the corpus' folder. Otherwise it's the task's file in topics/, or, if that is missing, BEIR's
    ``queries.jsonl`` in the corpus' folder.

    Raises:
        MissingDataError: if it's missing.
    """
    if corpus.topics:  # the corpus is for some of the task's topics only, so they must be in its folder
        folder = locate_corpus(corpus)
        return topics_named(sorted(path for path in folder.iterdir() if path.is_file()), folder)
    beir_folder = None if find("topics", task.topics) else find_corpus(corpus)
    if beir_folder:
        queries = paths_named(beir_folder.iterdir(), ["queries.jsonl"])
        if queries and queries[0].is_file():
            return queries[0]
    return locate("topics", task.topics)


def is_address(name: str) -> bool:
    """Returns whether an input is an address such as ``s3a://bucket/corpus``, which only Spark can open."""
    return re.match("[a-z][a-z0-9+.-]*://", name, re.IGNORECASE) is not None


def check_exists(name: str) -> None:
    """Checks that there is a directory or dataset with this name. The dataset's files can be missing.

    Raises:
        ToucheError: if there is neither a directory nor a dataset with this name.
    """
    if not os.path.isdir(name) and not is_dataset(name):  # noqa: PTH112 (Path.is_dir raises without access)
        remedy_text = "name a folder"  # in a container image, there are no datasets that we could suggest
        if shipped():
            here = f"check the path, or choose a dataset that is here: {', '.join(available_datasets())}"
            remedy_text = tasks.choice_of_id(name, tasks.datasets(), here)
        raise ToucheError(f"{name}: no such directory or dataset; {remedy_text}")


def available_datasets() -> list[str]:
    """Returns the ids of the datasets whose topics and corpus are on this machine.

    Empty in a container image, because it contains no data and reads only the input folder.
    """
    return [name for name in tasks.datasets() if has_dataset(name)] if shipped() else []


def available_parts(dataset: str) -> list[str]:
    """Returns the ids of those datasets on this machine that belong to the same task as this one."""
    task, _ = tasks.dataset(dataset)
    names = (dataset_with(task.id, name) for name in task.corpora)
    return [name for name in names if has_dataset(name)]


def has_dataset(dataset: str) -> bool:
    """Returns whether a dataset's topics and corpus are on this machine."""
    task, corpus = tasks.dataset(dataset)
    with suppress(MissingDataError):
        locate_topics(task, corpus)
        return find_corpus(corpus) is not None
    return False


def locate_corpus(corpus: Corpus) -> Path:
    """Returns the folder of a complete corpus.

    Raises:
        MissingDataError: if the folder is missing, empty or incomplete.
    """
    folder = locate("corpora", corpus.directory)
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    missing = [file for file in corpus.files if file not in names]
    # If the folder contains none of the files, it isn't incomplete: it contains the corpus in another form.
    has_some_files = len(missing) < len(corpus.files)
    is_incomplete = bool(missing) and has_some_files
    if names and not is_incomplete:
        return folder
    problem = f"incomplete, without {', '.join(missing)}" if names else "empty"
    # Fetching again doesn't help if the broken folder isn't in ``data_home``, because it may be found first.
    is_at_home = folder.parent == data_home() / "corpora"
    removal = "" if is_at_home else "; remove that folder first"
    raise MissingDataError(f"{folder} is {problem}; {remedy(f'corpora/{corpus.directory}')}{removal}")


def remedy_for(datasets: Iterable[str]) -> str:
    """Returns how to get missing datasets: the command to fetch those that touche can fetch. If it can't
    fetch any of them, how to get the first missing file or folder.
    """
    fetchable = []
    not_fetchable = []  # paths of missing files and folders that touche can't fetch
    for dataset in datasets:
        task, corpus = tasks.dataset(dataset)
        folder = f"corpora/{corpus.directory}"
        paths = [folder, f"topics/{task.topics}", *(f"qrels/{qrels.file}" for qrels in task.qrels.values())]
        kinds_and_names = [path.split("/", 1) for path in paths]
        missing = [f"{kind}/{name}" for kind, name in kinds_and_names if not find(kind, name)]
        unpublished = [path for path in missing if not is_published(path)]
        if missing and not unpublished:
            fetchable.append(dataset)
        # Add the corpus' folder as the last one: if no file is missing, something in this folder must be.
        not_fetchable += [*unpublished, folder]
    if fetchable:
        return f"get it with: touche data fetch {' '.join(fetchable)}, or {ELSEWHERE}"
    return remedy(not_fetchable[0])


def find_corpus(corpus: Corpus) -> Path | None:
    """Returns the folder of a complete corpus; None if it's missing, empty or incomplete."""
    with suppress(MissingDataError):
        return locate_corpus(corpus)
    return None


def whole_corpus(dataset_id: str) -> Path | None:
    """Returns the folder of a dataset's whole corpus; None if it's missing."""
    task, _ = tasks.dataset(dataset_id)
    return find_corpus(task.corpora["full"])


def data_home() -> Path:
    """Returns the folder into which data is fetched: the clone of the repository, or, outside of a clone, the
    user's cache folder.
    """
    return clone() or cache_folder()


def _data_folders() -> Iterator[Path]:
    """Yields the data folders in search order.

    Raises:
        ToucheError: if ``TOUCHE_DATA`` contains anything but folders.
    """
    for folder in tasks.data_folders():
        if not folder.is_dir():
            problem = f"TOUCHE_DATA names {str(folder)!r}, which is not a folder"
            raise ToucheError(f"{problem}; set it to folders with topics/, qrels/ and corpora/, or unset it")
        yield folder
    shipped_folder = shipped()
    if shipped_folder:
        yield shipped_folder
    yield cache_folder()
