"""args_processed.csv of 2022 task 1: arguments in sentences, in columns of Python literals."""

import csv
import io
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeGuard

from touche.errors import InputError
from touche.formats.argsme import are_records, argument_of
from touche.formats.boundaries import CsvBounds
from touche.formats.documents import Argument, Sentence
from touche.formats.pieces import Cutter, Piece, documents_in, pieces_of_blocks
from touche.formats.python_literals import value_of
from touche.io.identifiers import quoted
from touche.io.opening import decoded, open_binary

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
    cutter, bounds = Cutter(path, "a row", partial(_arguments_of, columns=())), CsvBounds()
    with open_binary(path, lambda: cutter.last_line) as file:
        if file.peek(len(BOM_UTF8)).startswith(BOM_UTF8):  # type: ignore[attr-defined]
            file.read(len(BOM_UTF8))
        found = pieces_of_blocks(file, cutter, bounds.look)
        for first in islice(found, 1):
            header, rest = _header_of(first)
            cutter.read = partial(_arguments_of, columns=header)
            yield replace(rest, read=cutter.read)
        yield from found


def _header_of(piece: Piece) -> tuple[list[str], Piece]:
    """The cells of the first row, and a piece without it."""
    first, last = CsvBounds().look(piece.raw)
    end = first + 1 if last else len(piece.raw)
    rest = replace(piece, raw=piece.raw[end:], line=piece.line + piece.raw.count(b"\n", 0, end))
    _, header = next(_rows(replace(piece, raw=piece.raw[:end])), (piece.line, []))
    return header, rest


def _rows(piece: Piece) -> Iterator[tuple[int, list[str]]]:
    """The cells of every row that is not blank, with the line in which it ends."""
    csv.field_size_limit(_LONGEST_CSV_FIELD)
    raw = piece.raw.lstrip(b"\n")  # a small gzipped file can hold millions of blank lines
    first = piece.line + len(piece.raw) - len(raw)
    rows = csv.reader(decoded(io.BytesIO(raw), piece.path, first), strict=True)
    try:
        for row in rows:
            if row:
                yield first - 1 + rows.line_num, row
    except csv.Error as error:
        line = first - 1 + rows.line_num
        raise InputError(piece.path, f"broken CSV ({error})", "fetch the file again", line) from error


def _arguments_of(
    piece: Piece, seen: set[str], among: Collection[str] | None, columns: Sequence[str]
) -> Iterator[Argument]:
    for line, cells in _rows(piece):
        row = dict(zip(columns, cells, strict=False))  # it may be too short, or too long
        if among is None or row.get("id") in among:
            yield _processed_argument_of(row, piece.path, line, seen)


def _processed_argument_of(row: dict[str, Any], path: Path, line: int, seen: set[str]) -> Argument:
    columns = {name: _records(row.get(name), name, path, line) for name in ("premises", "sentences")}
    argument = argument_of(dict(row) | columns, path, line, seen)
    sentences = columns["sentences"]
    if not _are_sentences(sentences):
        problem, remedy = "sentences that are no list of sent_id and sent_text", "fetch the file again"
        raise InputError(path, problem, remedy, line)
    if problem := _wrong_id([each["sent_id"] for each in sentences], argument.id):
        raise InputError(path, problem, "fetch the file again", line)
    return replace(
        argument, sentences=tuple(Sentence(each["sent_id"], each["sent_text"]) for each in sentences)
    )


def _wrong_id(ids: Sequence[str], argument: str) -> str:
    """What is wrong with the ids of an argument's sentences, or nothing."""
    for id in ids:
        if not (id.startswith(argument) and _SENTENCE_ID.fullmatch(id, len(argument))):
            return f"sentence id {quoted(id)} does not belong to argument {argument}"
    if len(set(ids)) == len(ids):
        return ""
    repeated = next(id for id, count in Counter(ids).items() if count > 1)
    return f"sentence id {quoted(repeated)} occurs a second time"


def _records(text: str | None, name: str, path: Path, line: int) -> Any:
    """The value of a column, which is a Python literal."""
    if text is None:
        raise InputError(path, f'no column "{name}"', "fetch the file again", line)
    try:
        return value_of(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise InputError(path, f'"{name}" is no Python literal', "fetch the file again", line) from error


def _are_sentences(value: Any) -> TypeGuard[list[dict[str, str]]]:
    return are_records(value, "sent_id", "sent_text")
