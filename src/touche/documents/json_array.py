"""One JSON array of documents, such as pandas writes with ``to_json(orient="records")``."""

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

import orjson

from touche.documents.argsme import elements
from touche.documents.boundaries import DEEP, TOO_DEEP, JsonBounds
from touche.documents.field_names import TEXTS, document_in
from touche.documents.pages import RawPage
from touche.documents.pieces import Cutter, Piece, pieces_of_blocks
from touche.documents.records import AnyDocument
from touche.errors import InputError
from touche.io.opening import check_utf8, open_binary

_REMEDY = "write one array of objects, and check that the file is complete"
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")  # perhaps a byte order mark, then blanks
_MOST_READ = 1 << 12  # bytes, to see whether a file is an array


def is_json_array(path: Path) -> bool:
    """Returns whether a file begins as an array; False if the file cannot be read."""
    with suppress(InputError), open_binary(path) as file:
        return bool(_BEGIN.match(file.read(_MOST_READ)))
    return False


def pieces_of_json_array(path: Path) -> Iterator[Piece]:
    """Yields the array in pieces, each of whole elements with the comma or bracket behind them.

    Raises:
        InputError: if the file cannot be read, the array has no end or is nested too deeply, or an element
            has 64 MiB or more.
    """
    bounds = JsonBounds(in_list=True)
    with open_binary(path) as file:
        cutter = Cutter(path, "a document", _parse_elements, file=file)
        head = bytearray()  # all bytes up to the bracket that begins the array
        while not head.endswith(b"["):
            byte = file.read(1)
            if not byte:
                raise InputError(path, "no JSON array", _REMEDY)
            head += byte
        cutter.skip(head)

        def ends_of_elements(block: bytes) -> tuple[int, int]:
            stop, _, first_comma, last_comma = bounds.look(block, 0)
            if stop == DEEP:
                raise InputError(path, TOO_DEEP, _REMEDY, line=cutter.last_line)
            # Bytes after the end of the array are in the last piece, whose parsing refuses them.
            return first_comma, last_comma + 1  # 0 if there is no comma; a comma belongs to its element

        yield from pieces_of_blocks(file, cutter, ends_of_elements)
        if bounds.in_list:
            raise InputError(path, "broken JSON (the array has no end)", _REMEDY, line=cutter.line)


def _parse_elements(
    piece: Piece, seen: set[str], wanted: Collection[str] | None
) -> Iterator[AnyDocument | RawPage]:
    """Parses a piece; the arguments are those of ``Piece.documents``."""
    raw = piece.raw.rstrip()  # blanks may follow the bracket that ends the array
    if not raw.endswith((b",", b"]")):
        line = piece.line + raw.count(b"\n")
        raise InputError(piece.path, "broken JSON (the array has no end)", _REMEDY, line=line)
    content = raw[:-1]  # without the comma or bracket
    try:
        records = orjson.loads(b"[%b]" % content)
    except orjson.JSONDecodeError as error:
        check_utf8(piece.raw.split(b"\n"), piece.path, piece.line)  # because its error has another remedy
        line = piece.line + error.lineno - 1
        raise InputError(piece.path, f"broken JSON ({error.msg})", _REMEDY, line=line) from error
    lines = [line for line, _ in elements(content, piece.line)]
    for line, record in zip(lines, records, strict=False):  # an empty array has one line and no record
        if not isinstance(record, dict):
            raise InputError(piece.path, "not a JSON object", _REMEDY, line=line)
        fields = {name: value for name, value in record.items() if value is not None}
        texts = [record[name] for name in TEXTS if name in record]
        # If all texts are null, the text is empty, like an empty cell of a table; a missing text is an error.
        if texts and all(text is None for text in texts):
            fields["text"] = ""
        document = document_in(fields, piece.path, line, seen, wanted)
        if document:
            yield document
