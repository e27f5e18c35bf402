"""args_processed.csv of 2022 task 1: arguments in sentences, in columns of Python literals."""

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from touche.errors import InputError
from touche.formats.argsme import are_records, argument_of
from touche.formats.boundaries import CsvBounds
from touche.formats.documents import Argument, Sentence
from touche.formats.pieces import Cutter, Piece, documents_in, pieces_of_blocks
from touche.formats.python_literals import value_of
from touche.io.identifiers import quoted
from touche.io.opening import LONGEST_LINE, decoded, open_binary

_REMEDY = "fetch the file again"
_LONGEST_CSV_FIELD = 1 << 26  # characters; beyond this a quote has been left open
_SENTENCE_ID = re.compile("__(CONC|PREMISE)__[1-9][0-9]{0,5}", re.ASCII)  # after the id of the argument


def read_args_processed_csv(path: Path, seen: set[str] | None = None) -> Iterator[Argument]:
    """Reads args_processed.csv of 2022 task 1, whose premises and sentences are Python literals.

    Raises:
        InputError: naming the line that is broken, holds no literal, or repeats an id.
    """
    return documents_in(pieces_of_args_processed(path), seen)


def pieces_of_args_processed(path: Path) -> Iterator[Piece]:
    """Yields the rows in pieces, which know their columns.

    Raises:
        InputError: if the file cannot be read, its header is broken, or a row has 64 MiB or more.
    """
    cutter = Cutter(path, "a row", partial(_arguments_of, columns=()))
    with open_binary(path, lambda: cutter.last_line) as file:
        line, header = next(_rows(partial(file.readline, LONGEST_LINE), path), (0, []))
        cutter.line, cutter.read = line + 1, partial(_arguments_of, columns=header)
        yield from pieces_of_blocks(file, cutter, CsvBounds().look)


def _rows(read_line: Callable[[], bytes], path: Path, first: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Yields the cells of every row, none for a blank one, with the line in which it ends."""
    csv.field_size_limit(_LONGEST_CSV_FIELD)
    rows = csv.reader(decoded(iter(read_line, b""), path, first), strict=True)
    try:
        for row in rows:
            yield first - 1 + rows.line_num, row
    except csv.Error as error:
        problem, line = f"broken CSV ({error})", first - 1 + rows.line_num
        raise InputError(path, problem, _REMEDY, line) from error


def _arguments_of(
    piece: Piece, seen: set[str], among: Collection[str] | None, columns: Sequence[str]
) -> Iterator[Argument]:
    raw = piece.raw.lstrip(b"\n")  # a small gzipped file can contain millions of blank lines
    first = piece.line + len(piece.raw) - len(raw)
    for line, cells in _rows(io.BytesIO(raw).readline, piece.path, first):
        row: dict[str, Any] = dict(zip(columns, cells, strict=False))  # it may be too short, or too long
        if cells and (among is None or row.get("id") in among):
            yield _processed_argument_of(row, piece.path, line, seen)


def _processed_argument_of(row: dict[str, Any], path: Path, line: int, seen: set[str]) -> Argument:
    columns = {name: _value_of_column(row, name, path, line) for name in ("premises", "sentences")}
    argument = argument_of(row | columns, path, line, seen)
    sentences = columns["sentences"]
    if not are_records(sentences, "sent_id", "sent_text"):
        raise InputError(path, "sentences that are no list of sent_id and sent_text", _REMEDY, line)
    ids = set[str]()
    for id in (sentence["sent_id"] for sentence in sentences):
        if not (id.startswith(argument.id) and _SENTENCE_ID.fullmatch(id, len(argument.id))):
            problem = f"sentence id {quoted(id)} does not belong to argument {argument.id}"
            raise InputError(path, problem, _REMEDY, line)
        if id in ids:
            raise InputError(path, f"sentence id {quoted(id)} occurs a second time", _REMEDY, line)
        ids.add(id)
    return replace(
        argument, sentences=tuple(Sentence(each["sent_id"], each["sent_text"]) for each in sentences)
    )


def _value_of_column(row: dict[str, Any], name: str, path: Path, line: int) -> Any:
    """Reads the Python literal in a column."""
    if name not in row:
        raise InputError(path, f'no column "{name}"', _REMEDY, line)
    try:
        return value_of(row[name])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise InputError(path, f'"{name}" is no Python literal', _REMEDY, line) from error
