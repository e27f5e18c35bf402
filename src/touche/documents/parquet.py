"""Parquet: tables with the fields of documents.jsonl, also for parsed web pages."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from touche.documents.jsonl import PAGE_FIELDS, parse_document
from touche.documents.pages import Page, RawPage
from touche.documents.records import Document
from touche.errors import InputError, one_line
from touche.io.identifiers import check_new_id
from touche.io.json_lines import text_field
from touche.io.opening import open_binary, unpacks_too_far
from touche.io.optional import imported

_T = TypeVar("_T")

ID = "docno"
COLUMNS = (ID, *PAGE_FIELDS)  # of saved pages
_READ_COLUMNS = {ID, "text", "html", "url", *PAGE_FIELDS}
_ROWS_IN_MEMORY = 64  # at a time, because a row may be long


def read_documents_parquet(path: Path, seen: set[str]) -> Iterator[Document | Page | RawPage]:
    """Reads a table with the columns ``docno`` and ``text``; a null is a missing value.

    A web page has ``html`` and ``url``, or the fields of ``Page``, instead of the text.

    Args:
        path: the file.
        seen: ids of the collection so far; repeating one is an error.

    Raises:
        InputError: if the file is not Parquet, or a row is broken or repeats an id; the message names the
            row, from 1.
        ToucheError: if pyarrow is not installed.
    """
    with open_binary(path) as file:
        for row, record in enumerate(_records(path, file), 1):
            id = check_new_id(text_field(record, ID, path, row), "document", seen, path, row)
            yield parse_document(id, record, path, row)


def count_rows(path: Path) -> int:
    """Returns the number of rows, which the end of the file states.

    Raises:
        InputError: if the file is not Parquet.
        ToucheError: if pyarrow is not installed.
    """
    with open_binary(path) as file, _arrow_errors(path):
        return int(arrow().parquet.ParquetFile(file).metadata.num_rows)


def _records(path: Path, file: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Yields the values of each row by the names of their columns, without nulls."""
    with _arrow_errors(path):
        table = arrow().parquet.ParquetFile(file)
        columns = _checked_columns(path, table)
        for batch in table.iter_batches(_ROWS_IN_MEMORY, columns=columns):
            for record in batch.to_pylist():
                yield {name: value for name, value in record.items() if value is not None}


@contextmanager
def _arrow_errors(path: Path) -> Iterator[None]:
    """Raises InputError for all errors of pyarrow."""
    pyarrow = arrow()
    try:
        yield
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:  # the latter for strings not in UTF-8
        problem = f"not a readable Parquet file ({one_line(str(error))})"
        raise InputError(
            path, problem, "check that this is the right file, and that it is complete"
        ) from error


def _checked_columns(path: Path, table: Any) -> list[str]:
    """Returns the names of the columns that are read, after checks of their types and of all sizes.

    Raises:
        InputError: if a column contains neither strings nor whole numbers, or decompresses to an implausible
            size.
    """
    types = arrow().types
    type_tests = [
        types.is_string,
        types.is_large_string,
        types.is_integer,
        types.is_dictionary,  # numbered distinct values, such as pandas' categories
        types.is_null,  # a column without values
    ]
    columns = [column for column in table.schema_arrow if column.name in _READ_COLUMNS]
    for column in columns:
        if not any(has_type(column.type) for has_type in type_tests):
            raise InputError(path, f"the column {column.name} contains {column.type}", "write it as strings")
    row_groups = [table.metadata.row_group(index) for index in range(table.metadata.num_row_groups)]
    chunks = [group.column(index) for group in row_groups for index in range(group.num_columns)]
    if any(unpacks_too_far(chunk.total_compressed_size, chunk.total_uncompressed_size) for chunk in chunks):
        raise InputError(path, "it decompresses to an implausible size", "check that this is the right file")
    return [column.name for column in columns]


def saving_pages(documents: Iterable[_T], opened: AbstractContextManager[IO[bytes]]) -> Iterator[_T]:
    """Yields documents unchanged, and writes the parsed web pages among them to a table for later runs.

    Args:
        documents: documents of any kind.
        opened: opens the file, which is complete after the last document.

    Raises:
        InputError: if the file cannot be written.
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
            if len(rows) == _ROWS_IN_MEMORY:
                table.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema))
                rows.clear()
        table.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema))


def check_no_pages(folder: str, names: Iterable[str]) -> None:
    """Raises InputError if a folder contains pages already, because new ones would be mixed with them."""
    if any(name.endswith(".parquet") for name in names):
        raise InputError(folder, "the folder contains pages", "empty it, or choose another folder")


def arrow() -> Any:
    """Returns the library for Parquet.

    Raises:
        ToucheError: if pyarrow is not installed.
    """
    imported("pyarrow.parquet", "parquet")  # so that the library has its attribute ``parquet``
    return imported("pyarrow", "parquet")
