"""Makes datasets with some of a task's topics. They contain the documents that are judged for these
topics.
"""

import logging
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from functools import partial
from pathlib import Path

from touche import tasks
from touche.data.judgments import task_qrels
from touche.data.places import find_corpus, locate
from touche.data.whole_folders import whole_folder
from touche.documents.argsme import is_altered
from touche.documents.beir import corpus_line, query_line
from touche.documents.discovery import find_documents
from touche.documents.document_records import AnyDocument, Argument
from touche.documents.jsonl import pieces_of_jsonl
from touche.documents.pieces import parse_pieces
from touche.errors import InputError
from touche.io.csv_rows import read_rows
from touche.io.opening import LONGEST_LINE, open_binary
from touche.io.writing import make_folder, write_whole
from touche.tasks import STANCE, Task
from touche.trec.qrels import Qrels
from touche.trec.run_forms import QrelsSource
from touche.trec.topics import read_topics

_COLUMNS = "q_id doc_id rel qual query concl prem stance query_clean query_clean_lem".split()
_REMEDY = "fetch it again"
# Corpora in which each id contains a checksum of the text. Excludes the processed corpus, because many of its
# texts were changed and don't match.
_FOLDER_WITH_CHECKSUMS = re.compile(r"argsme-2020-04-01(?!-processed).*")
_log = logging.getLogger(__name__)

Judged = Mapping[str, Qrels]
"""The qrels of the dataset's topics by dimension."""


def write_judged(dataset_id: str, source: Path, data_folder: Path, target: Path) -> int:
    """Writes a dataset with some of a task's topics, in BEIR's format. The folder appears only when it's
    complete.

    Args:
        dataset_id: the id of the dataset.
        source: the whole corpus, as a folder or as a file of passages; or a table ``*.tsv`` of judged
            arguments.
        data_folder: a folder whose topics/ and qrels/ come before the searched folders'.
        target: the folder to write.

    Returns:
        The number of documents.

    Raises:
        InputError: if the source is broken, contains other grades than the qrels, or doesn't contain all
            judged documents.
        MissingDataError: if topics or qrels are missing.
    """
    task, corpus = tasks.dataset(dataset_id)
    judged = _qrels_by_dimension(task, data_folder)
    ids = _judged_ids(judged)
    # A dictionary, because a table contains an argument several times if it's judged for several topics.
    documents = {document.id: document for document in _read_source(source, judged) if document.id in ids}
    _check_complete(source, ids, documents.keys())
    # Check the texts of the whole corpus here. Those in a table were already checked by
    # ``read_judged_arguments``.
    for document in documents.values():
        if is_altered(document):
            _log.warning("%s: the text of %s does not match the checksum in its id", source, document.id)
    topics = read_topics(_locate(data_folder, "topics", task.topics))
    queries = "".join(query_line(topic) for topic in topics if topic.number in corpus.topics)
    with whole_folder(target) as part:
        make_folder(part)
        write_whole(part / "queries.jsonl", queries)
        write_whole(part / "corpus.jsonl", "".join(map(corpus_line, documents.values())))
    return len(documents)


def copy_dataset(dataset_id: str, source: Path, data_folder: Path, target: Path) -> None:
    """Copies the folder of a dataset. The new folder appears only when it's complete.

    Args:
        dataset_id: the id of the dataset.
        source: the folder.
        data_folder: a folder whose topics/ and qrels/ come before the searched folders'.
        target: the folder to write.

    Raises:
        InputError: if a text does not match its id, a judged document is missing, or the folder cannot be
            read or written.
        MissingDataError: if qrels are missing.
    """
    ids = set()
    for document in find_documents(source):
        ids.add(document.id)
        if is_altered(document):
            problem = f"the text of {document.id} does not match the checksum in its id"
            raise InputError(source, problem, "copy the folder again")
    task, _ = tasks.dataset(dataset_id)
    _check_complete(source, _judged_ids(_qrels_by_dimension(task, data_folder)), ids)
    with whole_folder(target) as part:
        shutil.copytree(source, part)


def compare_texts(datasets: Iterable[str] = ()) -> Iterator[tuple[Path, int, list[str]]]:
    """Compares each text in version 2020-04-01 of args.me with the checksum in its id.

    Args:
        datasets: the ids of datasets; if empty, all published ones. Corpora that are missing, or that aren't
            args.me, are skipped.

    Yields:
        For each file: its path, the number of arguments in it, and the ids of those whose text doesn't match.
    """
    # Samples are not published.
    published = (name for name in tasks.datasets() if not name.endswith("/sample"))
    tasks_and_corpora = map(tasks.dataset, datasets or published)
    # Each corpus once, because several datasets can have the same.
    for corpus in dict.fromkeys(corpus for _, corpus in tasks_and_corpora):
        has_checksums = _FOLDER_WITH_CHECKSUMS.fullmatch(corpus.directory)
        folder = find_corpus(corpus) if has_checksums else None
        if not folder:
            continue
        documents = find_documents(folder)
        for path in documents.paths:
            count = 0
            altered_ids = list[str]()
            for document in replace(documents, paths=(path,)):  # read the documents in this file only
                count += 1
                if is_altered(document):
                    altered_ids.append(document.id)
            yield path, count, altered_ids


def read_judged_arguments(path: Path, judged: Judged) -> Iterator[Argument]:
    """Reads a table of judged arguments: tab-separated with a header, a row for each topic and argument.

    An argument that is judged for several topics is yielded several times.

    Args:
        path: the file.
        judged: the qrels that the grades in the file have to equal.

    Raises:
        InputError: if columns are missing, a text does not match its id, or a grade differs from the qrels;
            the message names the line.
    """
    with open_binary(path) as file:
        rows = read_rows(partial(file.readline, LONGEST_LINE), path, _REMEDY, delimiter="\t")
        for number, (line, cells) in enumerate(rows):
            is_header = number == 0
            if len(cells) != len(_COLUMNS) or (is_header and cells != _COLUMNS):
                problem = f"other columns than {', '.join(_COLUMNS)}"
                raise InputError(path, problem, _REMEDY, line=line)
            if is_header:
                continue
            row = dict(zip(_COLUMNS, cells, strict=True))
            argument = Argument(row["doc_id"], row["concl"], (row["prem"],), stance=row["stance"])
            contradiction = _contradiction(row, argument, judged)
            if contradiction:
                raise InputError(path, contradiction, _REMEDY, line=line)
            yield argument


def _contradiction(row: Mapping[str, str], argument: Argument, judged: Judged) -> str:
    """Returns in what a row contradicts the checksum in the argument's id or the qrels; empty if it
    contradicts neither.

    Args:
        row: the row's cells by column name.
        argument: the argument in the row.
        judged: the qrels.
    """
    if is_altered(argument):
        return f"the text of argument {argument.id} does not match the checksum in its id"
    for column, dimension in (("rel", "relevance"), ("qual", "quality")):
        grade = judged[dimension].get(row["q_id"], {}).get(argument.id)
        if grade is None or row[column] != str(grade):
            judgment = f"{dimension} of {argument.id} for topic {row['q_id']}"
            return f"{judgment} is {row[column]}, but {grade} in the qrels"
    return ""


def _read_source(source: Path, judged: Judged) -> Iterable[AnyDocument]:
    """Returns the documents in a folder, in a table of judged arguments, or in a file of passages."""
    if source.is_dir():
        return find_documents(source)
    if source.suffix == ".tsv":
        return read_judged_arguments(source, judged)
    return parse_pieces(pieces_of_jsonl(source), seen=set())


def _qrels_by_dimension(task: Task, data_folder: Path) -> Judged:
    """Returns the qrels by dimension. Stances are left out, because their labels aren't grades."""
    return {
        dimension: task_qrels(
            task, dimension, QrelsSource(_locate(data_folder, "qrels", judgments.file), None)
        )
        for dimension, judgments in task.qrels.items()
        if dimension != STANCE
    }


def _judged_ids(judged: Judged) -> Set[str]:
    """Returns the ids of the documents that are judged in any dimension."""
    return {id for qrels in judged.values() for grades in qrels.values() for id in grades}


def _check_complete(source: Path, judged_ids: Set[str], present_ids: Set[str]) -> None:
    """Raises an InputError if a judged document is missing in the source."""
    missing = judged_ids - present_ids
    if missing:
        problem = f"{len(missing)} of {len(judged_ids)} judged documents are missing, such as {min(missing)}"
        raise InputError(source, problem, _REMEDY)


def _locate(data_folder: Path, kind: str, name: str) -> Path:
    """Returns the path of a file in the data folder, or the result of ``locate`` if it isn't there."""
    path = data_folder / kind / name
    return path if path.is_file() else locate(kind, name)
