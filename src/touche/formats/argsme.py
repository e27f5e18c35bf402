"""args-me.json: the args.me corpus (Ajjour et al. 2019), one JSON object of any size."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeGuard

import orjson

from touche.errors import InputError
from touche.formats.boundaries import DEEPEST_JSON, Event, JsonBounds
from touche.formats.documents import Argument
from touche.formats.pieces import Cutter, Piece, blocks, documents_in
from touche.io.identifiers import new_id
from touche.io.json_lines import text_field
from touche.io.opening import LONGEST_LINE, open_binary

_REMEDY = "fetch the file again"
_BLANKS = b" \t\n\r"
# Escapes in JSON: a pair of surrogates, half of one, or any other.
_HEX = "[0-9a-fA-F]{2}"
_ESCAPE = re.compile(
    rf"\\(?:u[dD][89abAB]{_HEX}\\u[dD][c-fC-F]{_HEX}|(?P<half>u[dD][89a-fA-F]{_HEX})|.)".encode(), re.DOTALL
)


def read_argsme_json(path: Path, seen: set[str] | None = None) -> Iterator[Argument]:
    """Reads a file of the args.me corpus: one object ``{"arguments": [...]}``, of any size.

    Raises:
        InputError: naming the line at which the JSON is broken, or an argument lacks a part or repeats an id.
    """
    return documents_in(pieces_of_argsme(path), seen)


def pieces_of_argsme(path: Path) -> Iterator[Piece]:
    """Yields what is in the list of arguments in pieces, and checks all that surrounds it.

    Raises:
        InputError: if the file cannot be read, its JSON is broken outside of the list or nested absurdly
            deep, there is a second list, or an argument has 64 MiB or more.
    """
    split = _Split(path)
    with open_binary(path, lambda: split.cutter.last_line) as file:
        for block in blocks(file):
            yield from split.pieces(block)
        yield from split.rest()


class _Split:
    """A file that is being split: the elements of its list, and a skeleton that is JSON without them."""

    def __init__(self, path: Path) -> None:
        self.cutter = Cutter(path, "an argument", _arguments_of)
        self._path, self._bounds = path, JsonBounds()
        self._skeleton, self._ahead = b"", 0  # lines by which the file is ahead of the skeleton
        self._lists, self._is_empty = 0, True

    def pieces(self, block: bytes) -> Iterator[Piece]:
        at = 0
        while at < len(block):
            in_list, bound = self._bounds.in_list, self._bounds.look(block, at)
            if in_list and bound.last >= 0:
                self._is_empty = False
                yield self.cutter.cut(memoryview(block)[at : bound.last], bound.first - at)
                at = bound.last + 1
            if in_list:
                self.cutter.hold(block[at : bound.at])
            else:
                self._surround(block[at : bound.at])
            at = bound.at
            if bound.event is Event.BEGIN:
                self._check(b"]}")
                self._lists += 1
                if self._lists > 1:
                    problem, remedy = '"arguments" occurs a second time', "put all arguments into one list"
                    raise InputError(self._path, problem, remedy, self.cutter.line)
            elif bound.event is Event.END:
                yield from self._last()
                self._ahead = self.cutter.line - 1 - self._skeleton.count(b"\n")
            elif bound.event is Event.DEEP:
                problem = f"broken JSON (nested deeper than {DEEPEST_JSON} levels)"
                raise InputError(self._path, problem, _REMEDY, self.cutter.last_line)

    def rest(self) -> Iterator[Piece]:
        if self._bounds.in_list:
            yield from self._last()
            raise InputError(self._path, "broken JSON (it is cut off)", _REMEDY, self.cutter.line)
        self._check(b"")

    def _last(self) -> Iterator[Piece]:
        piece = self.cutter.cut(b"", 0)
        if not self._is_empty or piece.raw.strip(_BLANKS):
            yield piece

    def _surround(self, raw: bytes) -> None:
        self._skeleton += raw
        self.cutter.line += raw.count(b"\n")
        if len(self._skeleton) >= LONGEST_LINE:
            problem = "64 MiB or more beside the arguments"
            raise InputError(self._path, problem, "check that this is the right file", self.cutter.line)

    def _check(self, ending: bytes) -> None:
        _loads(self._skeleton + ending, self._path, 1 + self._ahead)


def _arguments_of(piece: Piece, seen: set[str], among: Collection[str] | None) -> Iterator[Argument]:
    for number, fields in enumerate(_records(piece)):
        try:
            argument = argument_of(fields, piece.path, piece.line, seen)
        except InputError as error:
            line, _ = next(islice(_elements(piece), number, None))
            raise InputError(piece.path, error.problem, error.remedy, line) from error
        if among is None or argument.id in among:
            yield argument


def _records(piece: Piece) -> Iterable[Any]:
    """Parses the elements of a piece at once; one by one if any of them is broken."""
    try:
        if records := orjson.loads(b"[%b]" % piece.raw):
            return records  # type: ignore[no-any-return]
    except orjson.JSONDecodeError:
        pass
    return (_loads(raw, piece.path, line) for line, raw in _elements(piece))


def _elements(piece: Piece) -> Iterator[tuple[int, bytes]]:
    """Each element of a piece, with the line in which it begins."""
    bounds, line, at = JsonBounds(in_list=True, every=True), piece.line, 0
    event = Event.COMMA
    while event is Event.COMMA:
        event, end, _, _ = bounds.look(piece.raw, at)
        raw = piece.raw[at:end]
        element = raw.lstrip(_BLANKS)
        yield line + raw.count(b"\n", 0, len(raw) - len(element)), element
        line, at = line + raw.count(b"\n"), end + 1


def _loads(raw: bytes, path: Path, line: int) -> Any:
    """What JSON says that begins in a line; half a pair of surrogates is a question mark."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        whole = _ESCAPE.sub(lambda escape: b"?" if escape["half"] else escape[0], raw)
        if whole != raw:
            return _loads(whole, path, line)
        problem, lines = _fault(raw, error)
        raise InputError(path, problem, _REMEDY, line + lines) from error


def _fault(raw: bytes, error: orjson.JSONDecodeError) -> tuple[str, int]:
    """What is wrong with JSON, and how many lines below the first."""
    try:
        raw.decode()
    except UnicodeDecodeError as fault:
        return f"not UTF-8 (byte 0x{raw[fault.start]:02x})", raw.count(b"\n", 0, fault.start)
    return f"broken JSON ({error.msg})", error.lineno - 1


def argument_of(fields: Any, path: Path, line: int, seen: set[str]) -> Argument:
    """The argument that a record holds.

    Raises:
        InputError: if a part is missing, or the id occurs a second time.
    """
    if not isinstance(fields, dict) or not are_records(premises := fields.get("premises"), "text"):
        problem, remedy = "an argument without premises", 'give it "premises": [{"text", "stance"}]'
        raise InputError(path, problem, remedy, line)
    return Argument(
        id=new_id(text_field(fields, "id", path, line), "argument", seen, path, line),
        conclusion=text_field(fields, "conclusion", path, line),
        premises=tuple(premise["text"] for premise in premises),
        stance=_text(premises[0], "stance") if premises else "",
        page=_text(fields.get("context"), "sourceText"),
        discussion=_text(fields.get("context"), "discussionTitle"),
    )


def _text(record: Any, name: str) -> str:
    """A text that need not be there."""
    found = record.get(name) if isinstance(record, dict) else None
    return found if isinstance(found, str) else ""


def are_records(value: Any, *names: str) -> TypeGuard[list[dict[str, Any]]]:
    """Whether a value is a list of objects that have texts under these names."""
    if not isinstance(value, list):
        return False
    for record in value:  # plain loops, as there are millions of sentences
        if not isinstance(record, dict):
            return False
        for name in names:
            if not isinstance(record.get(name), str):
                return False
    return True
