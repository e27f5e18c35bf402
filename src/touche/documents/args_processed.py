"""args_processed.csv of 2022 task 1: arguments split into sentences, as Python literals in CSV."""

import ast
import ctypes
import io
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import orjson

from touche.documents.argsme import Premise, RawArgument
from touche.documents.boundaries import end_of_rows
from touche.documents.document_records import Argument, Sentence
from touche.documents.pieces import Piece, Window, pieces_of_records
from touche.errors import InputError
from touche.io.compiled import NUMBER, POINTER, compiled
from touche.io.csv_rows import read_rows
from touche.io.identifiers import check_new_id, quoted
from touche.io.opening import LONGEST_LINE, open_binary

_T = TypeVar("_T")

_REMEDY = "fetch the file again"
# Follows the argument's id.
_SENTENCE_SUFFIX = re.compile("__(CONC|PREMISE)__[1-9][0-9]{0,5}", re.ASCII)
# Raised by ``parse_literal``.
_LITERAL_ERRORS = (msgspec.MsgspecError, ValueError, SyntaxError, TypeError, MemoryError, RecursionError)


class _Sentence(msgspec.Struct):
    """A sentence as stored in files."""

    sent_id: str
    sent_text: str


def pieces_of_args_processed(path: Path) -> Iterator[Piece]:
    """Yields the rows in pieces."""
    with open_binary(path) as file:
        rows = read_rows(partial(file.readline, LONGEST_LINE), path, _REMEDY)
        header_end, column_names = next(rows, (0, []))  # the header's last line; 0 if there is no header
        parse_rows = partial(_parse_rows, column_names=column_names)
        window = Window(path, file, parse_rows, line=header_end + 1)
        yield from pieces_of_records(window, "a row", end_of_rows)


def _parse_rows(
    piece: Piece, seen: set[str], wanted: Collection[str] | None, column_names: Sequence[str]
) -> Iterator[Argument]:
    """Parses a piece using the header's names. Other arguments as in ``Piece.documents``."""
    # Skip blank lines all at once: a small gzipped file can contain millions.
    raw = piece.raw.lstrip(b"\n")
    blank_lines = len(piece.raw) - len(raw)  # one byte each
    first_line = piece.line + blank_lines
    for line, cells in read_rows(io.BytesIO(raw).readline, piece.path, _REMEDY, first_line):
        row = dict(zip(column_names, cells, strict=False))  # rows can be too short or too long
        is_wanted = wanted is None or row.get("id") in wanted
        if cells and is_wanted:  # a blank row has no cells
            yield _parse_argument(row, piece.path, line, seen)


def _parse_argument(row: dict[str, str], path: Path, line: int, seen: set[str]) -> Argument:
    try:
        premises = parse_literal(row["premises"], list[Premise])
        sentences = parse_literal(row["sentences"], list[_Sentence])
        record = RawArgument(row["id"], row["conclusion"], premises)
    except KeyError as error:
        raise InputError(path, f"no column {error}", _REMEDY, line=line) from error
    except _LITERAL_ERRORS as error:
        reason = error if isinstance(error, msgspec.ValidationError) else "not a literal of strings and lists"
        problem = f"premises or sentences are not a list of records ({reason})"
        raise InputError(path, problem, _REMEDY, line=line) from error
    check_new_id(record.id, "argument", seen, path, line)
    sentence_ids = set[str]()
    for sentence in sentences:
        id = sentence.sent_id
        belongs = id.startswith(record.id) and _SENTENCE_SUFFIX.fullmatch(id.removeprefix(record.id))
        if not belongs or id in sentence_ids:
            problem = f"sentence id {quoted(id)} occurs twice, or does not belong to argument {record.id}"
            raise InputError(path, problem, _REMEDY, line=line)
        sentence_ids.add(id)
    return record.argument(tuple(Sentence(sentence.sent_id, sentence.sent_text) for sentence in sentences))


def parse_literal(literal: str, kind: type[_T]) -> _T:
    """Returns a Python literal's value, checked against a type, or raises one of ``_LITERAL_ERRORS``.

    Converts the literal to JSON if possible, because JSON parses much faster than Python.
    """
    try:
        return msgspec.json.decode(as_json(literal.encode()), type=kind)
    except msgspec.DecodeError:
        # Rarely, only Python can read the literal. Otherwise its type is wrong, and this fails again.
        with warnings.catch_warnings(action="ignore"):  # the corpus contains invalid escapes such as \d
            value: Any = ast.literal_eval(literal)
        return msgspec.json.decode(orjson.dumps(value), type=kind)


def as_json(literal: bytes) -> memoryview:
    """Returns a literal as JSON; empty if only Python can read it."""
    # JSON takes at most two bytes per byte of the literal. One more is for the empty literal, because
    # ctypes can't refer to an empty buffer.
    buffer = bytearray(2 * len(literal) + 1)
    begin_of_buffer = ctypes.byref(ctypes.c_char.from_buffer(buffer))
    size = _library().json_of_literal(literal, len(literal), begin_of_buffer)
    return memoryview(buffer)[: max(size, 0)]  # -1 if only Python can read the literal


@cache
def _library() -> Any:
    return compiled(
        Path(__file__).with_name("literals.so"),
        {"json_of_literal": (NUMBER, ctypes.c_char_p, NUMBER, POINTER)},
    )
