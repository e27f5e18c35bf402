"""args_processed.csv of 2022 task 1: arguments split into sentences, in columns of Python literals."""

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
from touche.documents.boundaries import CsvBounds
from touche.documents.pieces import Cutter, Piece, pieces_of_blocks
from touche.documents.records import Argument, Sentence
from touche.errors import InputError
from touche.io.compiled import NUMBER, POINTER, compiled
from touche.io.csv_rows import read_rows
from touche.io.identifiers import check_new_id, quoted
from touche.io.opening import LONGEST_LINE, open_binary

_T = TypeVar("_T")

_REMEDY = "fetch the file again"
_SENTENCE_ID = re.compile("__(CONC|PREMISE)__[1-9][0-9]{0,5}", re.ASCII)  # follows the argument's id
_NO_LITERAL = (msgspec.MsgspecError, ValueError, SyntaxError, TypeError, MemoryError, RecursionError)


class _Sentence(msgspec.Struct):
    sent_id: str
    sent_text: str


def pieces_of_args_processed(path: Path) -> Iterator[Piece]:
    """Yields the rows in pieces that know the names of their columns.

    Raises:
        InputError: if the file cannot be read, its header is broken, or a row has 64 MiB or more.
    """
    with open_binary(path) as file:
        cutter = Cutter(path, "a row", partial(_parse_rows, columns=()), file=file)
        line, header = next(read_rows(partial(file.readline, LONGEST_LINE), path, _REMEDY), (0, []))
        cutter.line = line + 1
        cutter.read = partial(_parse_rows, columns=header)
        begin = file.tell() if file.seekable() else 0  # compressed files have no places
        yield from pieces_of_blocks(file, cutter, CsvBounds().look, begin)


def _parse_rows(
    piece: Piece, seen: set[str], among: Collection[str] | None, columns: Sequence[str]
) -> Iterator[Argument]:
    raw = piece.raw.lstrip(b"\n")  # a small gzipped file can contain millions of blank lines
    first = piece.line + len(piece.raw) - len(raw)
    for line, cells in read_rows(io.BytesIO(raw).readline, piece.path, _REMEDY, first):
        row = dict(zip(columns, cells, strict=False))  # rows can be too short or too long
        if cells and (among is None or row.get("id") in among):
            yield _parse_argument(row, piece.path, line, seen)


def _parse_argument(row: dict[str, str], path: Path, line: int, seen: set[str]) -> Argument:
    try:
        premises = parse_literal(row["premises"], list[Premise])
        sentences = parse_literal(row["sentences"], list[_Sentence])
        record = RawArgument(row["id"], row["conclusion"], premises)
    except KeyError as error:
        raise InputError(path, f"no column {error}", _REMEDY, line=line) from error
    except _NO_LITERAL as error:
        reason = error if isinstance(error, msgspec.ValidationError) else "not a literal of strings and lists"
        problem = f"premises or sentences are not a list of records ({reason})"
        raise InputError(path, problem, _REMEDY, line=line) from error
    check_new_id(record.id, "argument", seen, path, line)
    ids = set[str]()
    for id in (sentence.sent_id for sentence in sentences):
        is_own = id.startswith(record.id) and _SENTENCE_ID.fullmatch(id, len(record.id))
        if not is_own or id in ids:
            problem = f"sentence id {quoted(id)} occurs twice, or does not belong to argument {record.id}"
            raise InputError(path, problem, _REMEDY, line=line)
        ids.add(id)
    return record.argument(tuple(Sentence(part.sent_id, part.sent_text) for part in sentences))


def parse_literal(literal: str, kind: type[_T]) -> _T:
    """Returns the value of a Python literal as the passed type.

    Raises:
        ValueError, SyntaxError, TypeError, MemoryError, RecursionError: if it is not a literal, contains half
            a surrogate pair, or has another type (``msgspec.ValidationError``).
    """
    try:
        return msgspec.json.decode(as_json(literal.encode()), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):  # rare
        with warnings.catch_warnings(action="ignore"):  # the corpus has invalid escapes such as \d
            value: Any = ast.literal_eval(literal)
        return msgspec.json.decode(orjson.dumps(value), type=kind)


def as_json(literal: bytes) -> memoryview:
    """Returns a literal as JSON; empty if only Python can read it."""
    room = bytearray(2 * len(literal) + 1)
    size = _library().json_of_literal(literal, len(literal), ctypes.byref(ctypes.c_char.from_buffer(room)))
    return memoryview(room)[: max(size, 0)]


@cache
def _library() -> Any:
    functions = {"json_of_literal": (NUMBER, ctypes.c_char_p, NUMBER, POINTER)}
    return compiled(Path(__file__).with_name("literals.so"), functions)
