"""args-me.json: the args.me corpus (Ajjour et al. 2019), one JSON object of any size."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TypeGuard

import ijson

from touche.errors import InputError
from touche.files import LineCounter, new_id, open_binary, text_field
from touche.formats.documents import Argument

_DEEPEST_JSON = 100  # levels; real arguments have six


def read_argsme_json(path: Path, seen: set[str] | None = None) -> Iterator[Argument]:
    """Reads a file of the args.me corpus: one object ``{"arguments": [...]}``, of any size.

    Raises:
        InputError: naming the line at which the JSON is broken, or an argument lacks a part or repeats an id.
    """
    seen = set() if seen is None else seen
    line = 0
    with open_binary(path, lambda: line + 1) as file:
        counter = _ShallowJson(file)
        try:
            for fields in ijson.items(counter, "arguments.item", use_float=True):
                line = counter.line
                yield argument_of(fields, path, line, seen)
        except (ijson.JSONError, ValueError, SystemError) as error:
            raise InputError(path, _reason(error), "fetch the file again", max(1, counter.line)) from error


def argument_of(fields: Any, path: Path, line: int, seen: set[str]) -> Argument:
    """The argument that a record holds.

    Raises:
        InputError: if a part is missing, or the id occurs a second time.
    """
    if not isinstance(fields, dict) or not _are_premises(premises := fields.get("premises")):
        problem, remedy = "an argument without premises", 'give it "premises": [{"text", "stance"}]'
        raise InputError(path, problem, remedy, line)
    return Argument(
        id=new_id(text_field(fields, "id", path, line), "argument", seen, path, line),
        conclusion=text_field(fields, "conclusion", path, line),
        premises=tuple(premise["text"] for premise in premises),
        stance=_stance(premises[0]) if premises else "",
    )


def _stance(premise: dict[str, Any]) -> str:
    stance = premise.get("stance")
    return stance if isinstance(stance, str) else ""


def are_records(value: Any, *names: str) -> bool:
    """Whether a value is a list of objects that have texts under these names."""
    return isinstance(value, list) and all(
        isinstance(record, dict) and all(isinstance(record.get(name), str) for name in names)
        for record in value
    )


class _ShallowJson(LineCounter):
    """Refuses JSON nested absurdly deep, for which ijson would take memory by the square of the depth."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, limit=1 << 20)  # a text of many pieces takes time by the square of them
        self._depth, self._events = 0, ijson.sendable_list()
        self._parser = ijson.basic_parse_coro(self._events)

    def read(self, size: int = -1) -> bytes:
        piece = super().read(size)
        if piece:
            self._parser.send(piece)
        for event, _ in self._events:
            self._depth += event.startswith("start_") - event.startswith("end_")
            if self._depth > _DEEPEST_JSON:
                raise ijson.JSONError(f"nested deeper than {_DEEPEST_JSON} levels")
        self._events.clear()
        return piece


def _reason(error: Exception) -> str:
    """What the JSON parser says, without the excerpt that it adds on further lines."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 (byte 0x{error.object[error.start]:02x})"
    if not isinstance(error, ijson.JSONError):
        return "broken JSON (a number of too many digits)"
    said = error.args[0] if error.args else ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return f"broken JSON ({text.splitlines()[0].rstrip('. ') if text.strip() else 'it is cut off'})"


def _are_premises(value: Any) -> TypeGuard[list[dict[str, str]]]:
    return are_records(value, "text")
