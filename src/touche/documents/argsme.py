"""args-me.json, the args.me corpus (Ajjour et al. 2019): one large JSON object."""

import re
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import orjson

from touche.documents.boundaries import BEGIN, COMMA, DEEP, END, TOO_DEEP, json_bounds
from touche.documents.document_records import AnyDocument, Argument, Sentence
from touche.documents.pieces import Piece, Window, check_length
from touche.errors import InputError
from touche.io.identifiers import check_new_id, is_word
from touche.io.opening import check_utf8, open_binary

_AROUND = "text around the arguments"
_REMEDY = "fetch the file again"
_FIELDS = 'write "id", "conclusion" and "premises": [{"text"}]'
_BLANKS = b" \t\n\r"
_ID_WITH_CHECKSUM = re.compile(r"S[0-9a-f]{1,8}-A([0-9a-f]{1,8})")
_ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")  # optionally after a byte order mark
_MOST_READ = 1 << 12  # bytes, enough to recognize an array
_JAVA_INTEGERS = 1 << 32
# JSON escapes: a surrogate pair, half a pair, or any other.
_HEX = "[0-9a-fA-F]{2}"
_ESCAPE = re.compile(
    rf"\\(?:u[dD][89abAB]{_HEX}\\u[dD][c-fC-F]{_HEX}|(?P<half>u[dD][89a-fA-F]{_HEX})|.)".encode(), re.DOTALL
)


class Premise(msgspec.Struct):
    """A premise as stored in files."""

    text: str
    stance: str | None = None


class _Context(msgspec.Struct, rename="camel"):
    """Where an argument comes from, as stored in files."""

    source_text: str | None = None
    discussion_title: str | None = None


class RawArgument(msgspec.Struct):
    """An argument as stored in files. The id is a string, or a whole number of up to 64 bits."""

    raw_id: str | Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] = msgspec.field(name="id")
    conclusion: str
    premises: list[Premise]
    context: _Context | None = None

    @property
    def id(self) -> str:
        return str(self.raw_id)

    def argument(self, sentences: tuple[Sentence, ...] | None = None) -> Argument:
        """Returns the argument, with its first premise's stance."""
        stance = self.premises[0].stance if self.premises else None
        context = self.context or _Context()
        return Argument(
            id=self.id,
            conclusion=self.conclusion,
            premises=tuple(premise.text for premise in self.premises),
            stance=stance or "",
            sentences=sentences,
            page=context.source_text or "",
            discussion=context.discussion_title or "",
        )


_RECORD = msgspec.json.Decoder(RawArgument)
_RECORDS = msgspec.json.Decoder(list[RawArgument])


def is_altered(document: AnyDocument) -> bool:
    """Returns whether an argument's text contradicts its id; False if the id contains no checksum.

    In ids of version 2020-04-01, such as ``S1039ff27-Afc270c6``, the second part is a checksum in
    hexadecimal: 31 times the premise's hash (Java's String.hashCode) plus the conclusion's, modulo 2^32. The
    rule is not documented; it was inferred by comparing ids with texts.
    """
    id_parts = _ID_WITH_CHECKSUM.fullmatch(document.id)
    if id_parts is None or not isinstance(document, Argument) or len(document.premises) != 1:
        return False
    checksum = (31 * _java_hash(document.premises[0]) + _java_hash(document.conclusion)) % _JAVA_INTEGERS
    return checksum != int(id_parts[1], 16)


def _java_hash(text: str) -> int:
    """Returns Java's String.hashCode modulo 2^32: a sum over UTF-16 units, each times a power of 31."""
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
    factors = np.full(len(units), 31, dtype=np.uint32)
    factors[:1] = 1  # the last unit's factor is 31 ** 0
    powers = np.multiply.accumulate(factors, dtype=np.uint32)  # 32-bit integers overflow as in Java
    return int(np.vdot(units, powers[::-1]))


def is_argsme(path: Path) -> bool:
    """Returns whether a file starts like args.me's, or is named like it."""
    begin = beginning(path)
    has_key = b'"arguments"' in begin or b'"premises"' in begin
    return not is_list(begin) and (has_key or path.name.startswith("args-me"))


def is_list(begin: bytes) -> bool:
    """Returns whether a file starts like a JSON array."""
    return _ARRAY.match(begin) is not None


def beginning(path: Path) -> bytes:
    """Returns a file's first bytes, enough to recognize its content."""
    with open_binary(path) as file:
        return file.read(_MOST_READ)


def pieces_of_argsme(path: Path) -> Iterator[Piece]:
    """Yields the list of arguments in pieces, and checks the JSON around it at the end.

    The list's key is ``arguments``. If an object repeats the key, each list is read.
    """
    around = bytearray()  # Newlines replace the arguments, so that errors name the right lines.
    with open_binary(path) as file:
        window = Window(path, file, _parse_arguments)
        depth = 0
        has_list = True
        while has_list:
            text, has_list = _cut_around(window, depth)
            around += text.raw
            first_line = window.line
            if has_list:
                yield from _cut_list(window)
            around += b"\n" * (window.line - first_line)
            check_length(len(around), _AROUND, path, line=1)
            depth = 2
    _check_json(bytes(around), path)


def _check_json(raw: bytes, path: Path) -> None:
    try:
        orjson.loads(raw.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError as error:
        check_utf8(raw.split(b"\n"), path)  # because its error suggests a better remedy
        raise InputError(path, f"broken JSON ({error.msg})", _REMEDY, line=error.lineno) from error


def _cut_around(window: Window, depth: int) -> tuple[Piece, bool]:
    """Cuts the text before the next list, or before the file's end; returns it and whether a list follows.

    Args:
        depth: the text's depth: 0, or 2 for the bracket that ends a list.
    """
    while True:
        stop, end, _ = json_bounds(window.raw, window.begin, in_list=False, depth=depth)
        if stop == BEGIN:
            return window.cut(end), True
        _check_depth(window, stop, end)
        if not window.read_more(_AROUND):
            return window.cut(len(window.raw)), False


def _cut_list(window: Window) -> Iterator[Piece]:
    """Cuts a list into pieces, up to its bracket or the file's end. A comma between pieces is in neither."""
    after_comma = False
    is_open = True
    while is_open:
        stop, end, last_comma = json_bounds(window.raw, window.begin, in_list=True)
        if stop != END and last_comma >= 0:
            yield window.cut(last_comma)
            window.cut(last_comma + 1)
            after_comma = True
        _check_depth(window, stop, end)
        is_open = stop != END and window.read_more("an argument")
    rest = window.cut(end if stop == END else len(window.raw))
    # After a comma, even blanks are a piece: parsing them reports the missing argument.
    if after_comma or rest.raw.strip(_BLANKS):
        yield rest


def _check_depth(window: Window, stop: int, end: int) -> None:
    """Raises an error if the search in a window stopped at a place that is nested too deeply."""
    if stop == DEEP:
        window.cut(end)
        raise InputError(window.path, TOO_DEEP, _REMEDY, line=window.line)


def _parse_arguments(piece: Piece, seen: set[str], wanted: Collection[str] | None) -> Iterator[Argument]:
    for line, record in _records(piece, seen):
        check_new_id(record.id, "argument", seen, piece.path, line)
        if wanted is None or record.id in wanted:
            yield record.argument()


def _records(piece: Piece, seen: set[str]) -> Iterable[tuple[int, RawArgument]]:
    """Parses a piece at once, or if that fails, one record at a time to find the broken line.

    Each record comes with a line for errors. For records without errors, the piece's first line will do.
    """
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        piece.raw.decode()  # also checks UTF-8 in other keys' values, which msgspec skips
        records = _RECORDS.decode(b"[%b]" % piece.raw)
        ids = {record.id for record in records}
        # As in check_new_id: when an id fails, its line must be found.
        are_new = len(ids) == len(records) and seen.isdisjoint(ids)
        # A piece without records is just the blanks after a comma, which is an error.
        if records and are_new and all(is_word(id) for id in ids):
            return ((piece.line, record) for record in records)
    return ((line, _record(raw, piece.path, line)) for line, raw in elements(piece.raw, piece.line))


def elements(raw_list: bytes, line: int) -> Iterator[tuple[int, bytes]]:
    """Yields each element of a JSON list with the number of its first line. The list starts on line
    ``line``.
    """
    end = -1  # as if a comma came before the first element
    stop = COMMA
    while stop == COMMA:
        begin = end + 1
        stop, end, _ = json_bounds(raw_list, begin, in_list=True, every_comma=True)
        raw = raw_list[begin:end]
        element = raw.lstrip(_BLANKS)
        leading_blanks = raw[: len(raw) - len(element)]
        yield line + leading_blanks.count(b"\n"), element
        line += raw.count(b"\n")


def argument_of_record(record: dict[str, Any], path: Path, line: int) -> Argument:
    """Returns the argument in a JSON lines object."""
    try:
        return msgspec.convert(record, RawArgument).argument()
    except msgspec.ValidationError as error:
        raise InputError(path, f"not an argument ({error})", _FIELDS, line=line) from error


def _record(raw: bytes, path: Path, line: int) -> RawArgument:
    """Parses an argument. Half a surrogate pair, which UTF-8 can't encode, becomes a question mark."""
    check_utf8(raw.split(b"\n"), path, line)
    repaired = _ESCAPE.sub(lambda escape: b"?" if escape["half"] else escape[0], raw)
    try:
        return _RECORD.decode(repaired)
    except msgspec.ValidationError as error:
        raise InputError(path, f"not an argument ({error})", _FIELDS, line=line) from error
    except msgspec.DecodeError as error:
        raise InputError(path, f"broken JSON ({error})", _REMEDY, line=line) from error
