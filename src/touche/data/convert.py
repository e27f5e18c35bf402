"""Converts datasets to the format of BEIR."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from touche import tasks
from touche.data.datasets import open_dataset
from touche.data.judgments import task_qrels
from touche.documents.beir import corpus_line, judgment_lines, query_line
from touche.errors import InputError, MissingDataError
from touche.io.identifiers import as_path
from touche.io.progress import watched
from touche.io.temporary import temporary_folder
from touche.io.writing import make_folder, whole
from touche.tasks import STANCE, Task

_log = logging.getLogger(__name__)


def write_beir(dataset: str, output: str | PathLike[str]) -> list[Path]:
    """Writes a dataset in the format of BEIR.

    Args:
        dataset: the id of a task or dataset whose topics and corpus are available.
        output: the folder for corpus.jsonl, queries.jsonl and qrels/. The qrels of the task's first dimension
            are test.tsv; other files have the names of their dimensions. Missing qrels are a warning.
            The folder appears whole or not at all.

    Returns:
        The written files.

    Raises:
        InputError: if the folder is not empty, or cannot be written.
        MissingDataError: if topics or corpus are missing.
        ToucheError: if there is no such dataset, or one of the files is broken.

    Examples:
        >>> import tempfile, touche
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sorted(path.name for path in touche.write_beir("spot-check/passages", folder))
        ['corpus.jsonl', 'queries.jsonl', 'test.tsv']
    """
    folder = as_path("output", output)
    is_empty_folder = folder.is_dir() and not any(folder.iterdir())
    if folder.exists() and not is_empty_folder:
        raise InputError(folder, "not an empty folder", "choose a new folder")
    source = open_dataset(dataset)
    task, _ = tasks.dataset(dataset)
    task.check_one_ranking("BEIR")
    files: dict[str, Iterable[str]] = {
        "queries.jsonl": map(query_line, source.topics),
        **_qrels_files(task),
        "corpus.jsonl": map(corpus_line, watched(source.documents, "writing", "documents", None)),
    }
    write_folder(files, folder)
    return [folder / name for name in files]


def write_folder(files: Mapping[str, Iterable[str]], folder: Path) -> None:
    """Writes files of lines into a new folder, which appears whole or not at all.

    Args:
        files: the lines of each file by its path in the folder.
        folder: the folder.

    Raises:
        InputError: if the folder cannot be written.
    """
    with whole_folder(folder) as part:
        for path, lines in files.items():
            make_folder((part / path).parent)
            with whole(part / path) as file:  # to raise InputError; the folder is whole anyway
                file.writelines(line.encode() for line in lines)


def _qrels_files(task: Task) -> dict[str, Iterable[str]]:
    """Returns the lines of each file of qrels by its path; warns about omitted qrels."""
    files: dict[str, Iterable[str]] = {}
    for index, dimension in enumerate(task.qrels):
        # Programs for BEIR's format read the split ``test`` by default, so the first dimension is this split.
        name = "qrels/test.tsv" if index == 0 else f"qrels/{dimension}.tsv"
        if dimension == STANCE:
            _log.warning("BEIR's format has no stances, so %s is not written", name)
            continue
        try:
            files[name] = judgment_lines(task_qrels(task, dimension))
        except MissingDataError as error:
            _log.warning("%s is not written: %s", name, error)
    return files


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yields a path in a hidden folder; what the block makes there is renamed to ``folder`` at the end.

    ``folder`` may exist if it is empty. A killed process leaves the hidden folder behind.
    """
    target = Path(os.path.realpath(folder))  # a link stays, and its target is replaced
    make_folder(target.parent)
    with temporary_folder(".touche-part-", within=target.parent) as scratch:
        part = scratch / target.name
        yield part
        try:
            part.replace(target)
        except OSError as error:  # such as for a mount point
            raise InputError(
                folder, f"cannot be replaced ({error.strerror})", "choose a new folder"
            ) from error
