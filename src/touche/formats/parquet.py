"""Parquet: records as in documents.jsonl; parsed web pages are kept so, too."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, TypeVar

from touche.errors import InputError, imported, one_line
from touche.formats.documents import Document
from touche.formats.jsonl import PAGE_FIELDS, document_of_record
from touche.formats.pages import Page, RawPage
from touche.io.identifiers import new_id
from touche.io.json_lines import text_field
from touche.io.opening import open_binary, unpacks_too_far

_T = TypeVar("_T")

ID = "docno"
COLUMNS = (ID, *PAGE_FIELDS)  # of pages
_READ = {ID, "text", "html", "url", *PAGE_FIELDS}
_ROWS = 64  # that are held at a time, as each may be long


def read_documents_parquet(path: Path, seen: set[str] | None = None) -> Iterator[Document | Page | RawPage]:
    """Reads a table with the columns ``docno`` and ``text``, of which those that are null are not there.

    In place of the text a web page can have ``html`` and ``url``, or the fields of ``Page``.

    Args:
        path: the file.
        seen: ids of the collection so far, to refuse repeated ones.

    Raises:
        InputError: naming the file that is no Parquet, or the row, from 1, that is broken or repeats an id.
        ToucheError: if pyarrow is not installed.
    """
    seen = set() if seen is None else seen
    with open_binary(path) as file:
        for row, record in enumerate(_records(path, file), 1):
            id = new_id(text_field(record, ID, path, row), "document", seen, path, row)
            yield document_of_record(id, record, path, row)


def _records(path: Path, file: IO[bytes]) -> Iterator[dict[str, Any]]:
    pyarrow = arrow()
    try:
        table = pyarrow.parquet.ParquetFile(file)
        columns = _columns(path, table)
        for batch in table.iter_batches(_ROWS, columns=columns):
            for record in batch.to_pylist():
                yield {name: value for name, value in record.items() if value is not None}
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        problem = f"no Parquet that can be read ({one_line(str(error))})"
        raise InputError(path, problem, "check that this is the right file, and whole") from error


def _columns(path: Path, table: Any) -> list[str]:
    """The columns that are read.

    Raises:
        InputError: if one holds no texts, nor whole numbers as ids may be, or unpacks to what no texts do.
    """
    types = arrow().types
    of_text = (types.is_string, types.is_large_string, types.is_integer, types.is_dictionary, types.is_null)
    columns = [column for column in table.schema_arrow if column.name in _READ]
    for column in columns:
        if not any(is_of(column.type) for is_of in of_text):
            raise InputError(path, f"the column {column.name} holds {column.type}", "write it as texts")
    groups = [table.metadata.row_group(number) for number in range(table.metadata.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    if any(unpacks_too_far(each.total_compressed_size, each.total_uncompressed_size) for each in chunks):
        raise InputError(path, "it unpacks to what no texts do", "check that this is the right file")
    return [column.name for column in columns]


def kept(documents: Iterable[_T], opened: AbstractContextManager[IO[bytes]]) -> Iterator[_T]:
    """Yields documents on, and keeps the web pages among them in a file that can be read in their place.

    Args:
        documents: any.
        opened: opens the file, which is whole once all documents were taken.

    Raises:
        InputError: if it cannot be written.
        ToucheError: if pyarrow is not installed.
    """
    pyarrow = arrow()
    schema = pyarrow.schema([(name, pyarrow.string()) for name in COLUMNS])
    with opened as file, pyarrow.parquet.ParquetWriter(file, schema) as table:
        rows: list[dict[str, str | None]] = []
        for document in documents:
            yield document
            if isinstance(document, Page):
                rows.append({ID: document.id} | {name: getattr(document, name) for name in PAGE_FIELDS})
            if len(rows) == _ROWS:
                table.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema))
                rows.clear()
        table.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema))


def check_no_fields(where: str, names: Iterable[str]) -> None:
    """Raises InputError if files of a folder hold fields, with which others would be mixed."""
    if any(name.endswith(".parquet") for name in names):
        raise InputError(where, "there are fields in it", "empty it, or give another folder")


def arrow() -> Any:
    """The library that reads and writes it.

    Raises:
        ToucheError: if it is not installed.
    """
    imported("pyarrow.parquet", "parquet")  # here, because only this format needs it
    return imported("pyarrow", "parquet")
