"""The cards of the tasks: a TOML file each, checked against the records that it becomes."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from touche.errors import InputError, ToucheError, choice
from touche.io.opening import open_binary
from touche.tasks.measures import Measure, measure_of
from touche.tasks.records import OF_STANCE, SPOT_CHECK, STANCE, Evaluator, Published, Task

_LARGEST = 100_000  # bytes; real ones have less than twenty thousand
_DOTS = 500  # in a line; for each key such as a.b.c, tomllib takes memory by the square of its dots
_FRONT = "index"  # in a gallery each task has a page by its id
_SHOWN = 60  # characters of a name or value
_MOST = 1 << 63  # no whole number in TOML is larger
_NAMES = {
    str: "a text in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


@dataclass(frozen=True)
class _Row:
    """A row of a table of results, as a card has it."""

    team: str
    value: float
    run: str = ""
    tag: str = ""
    interval: tuple[float, ...] | None = None
    baseline: bool = False
    printed: str = ""


@dataclass(frozen=True)
class _Table:
    """A published table, as a card has it."""

    dimension: str
    sources: tuple[str, ...]
    runs: tuple[_Row, ...]
    evaluator: Evaluator | None = None
    qrels: str | None = None
    interval_note: str = ""


@dataclass(frozen=True)
class _StanceRow:
    """A row of a table of detected stances, as a card has it."""

    team: str
    tag: str
    value: float
    results: int
    team_value: float
    team_results: int
    baseline: bool = False


@dataclass(frozen=True)
class _StanceTable:
    """A published table of detected stances, as a card has it."""

    sources: tuple[str, ...]
    runs: tuple[_StanceRow, ...]


def id_of(card: Path) -> str:
    """The id of a task by the name of its card; those of spot checks are in a folder."""
    folder = card.absolute().parent.name
    return f"{folder}/{card.stem}" if folder == SPOT_CHECK else card.stem


def read_card(path: Path) -> Task:
    """The task that a card describes.

    Raises:
        ToucheError: if the card cannot be read, or something is wrong with one of its keys.
    """
    task, faults = _read(path)
    if task is None:
        raise ToucheError(f"{path}: {faults[0]}")
    return task


def faults_of(path: Path) -> list[str]:
    """All that is wrong with a card, a sentence each; what values mean is checked once their types are right.

    Raises:
        InputError: if the file is none that TOML can be read from.
    """
    return _read(path)[1]


def content_of(path: Path) -> dict[str, Any]:
    """The tables of a card as they stand there, unchecked.

    Raises:
        InputError: if the file cannot be read, is not UTF-8 or no TOML.
    """
    with open_binary(path) as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise InputError(path, f"larger than {_LARGEST} bytes, as no card is", "name a card")
    if any(line.count(b".") > _DOTS for line in content.splitlines()):
        raise InputError(path, f"more than {_DOTS} dots in a line, as no card has", "name a card")
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"not UTF-8 (byte 0x{content[error.start]:02x})"
        raise InputError(path, problem, "save the file in UTF-8", line) from error
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"broken TOML ({error})", "repair the file") from error


def _read(path: Path) -> tuple[Task | None, list[str]]:
    faults: list[str] = []
    card = _checked(Task, content_of(path), "", faults)
    faults = faults or list(_contradictions(card, id_of(path)))
    return (None if faults else _made(card)), faults


def _made(card: Any) -> Task:
    """A task of a card without faults, whose values are still those of TOML."""
    made: Task = replace(card, measure=_measure(card), published=_rankings(card), stance=_stances(card))
    return made


def _measure(card: Any) -> Measure:
    return measure_of(str(card.measure))  # which is none of TOML where the card has none


def _checked(kind: Any, value: Any, key: str, faults: list[str]) -> Any:
    """A value as the type that its record declares; where it is none, that is added to the faults."""
    origin, parts = get_origin(kind), get_args(kind)
    if type(None) in parts:
        return _checked(parts[0], value, key, faults)
    if is_dataclass(kind):
        return _checked_record(kind, value, key, faults)
    if origin is Literal and value not in parts:
        faults.append(
            f"{key}: {_shown(value)} is not known; {choice(value if type(value) is str else '', parts)}"
        )
    elif origin is Mapping and _is(dict, value, key, faults):
        return {name: _checked(parts[1], each, _within(key, name), faults) for name, each in value.items()}
    elif origin in (tuple, frozenset) and _is(list, value, key, faults):
        items = enumerate(value, 1)
        return origin([_checked(parts[0], each, f"{key}[{number}]", faults) for number, each in items])
    elif origin is Literal or (origin is None and _is(kind, value, key, faults)):
        return float(value) if kind is float else value
    return None


def _checked_record(kind: Any, value: Any, key: str, faults: list[str]) -> Any:
    if not _is(dict, value, key, faults):
        return None
    types = _types(kind)
    unknown = [name for name in value if name not in types]
    faults += [f"{_within(key, name)}: no such key; {choice(name, types)}" for name in unknown]
    for name in (each.name for each in fields(kind) if each.default is MISSING):
        if value.get(name, "") in ("", [], {}):
            problem = "empty; fill it" if name in value else "missing; add it"
            faults.append(f"{_within(key, name)}: {problem}")
    known = [name for name in value if name in types]
    made = {name: _checked(types[name], value[name], _within(key, name), faults) for name in known}
    return None if faults else kind(**made)


@cache
def _types(kind: Any) -> dict[str, Any]:
    """The types of a record's fields, in the form that a card has them."""
    of_card = {"measure": str, "published": tuple[_Table, ...], "stance": tuple[_StanceTable, ...]}
    return get_type_hints(kind) | (of_card if kind is Task else {})


def _is(kind: type[Any], value: Any, key: str, faults: list[str]) -> bool:
    fits = type(value) in ((int, float) if kind is float else (kind,))
    if not fits or (type(value) is int and abs(value) >= _MOST):
        faults.append(f"{key}: {_shown(value)} is not {_NAMES[kind]}; write one")
        return False
    odd = [each for each in _letters(value) if not each.isprintable()]
    if odd:  # a terminal would obey them
        faults.append(f"{key}: the character {odd[0]!r} cannot be shown; take it out")
    return not odd


def _letters(value: Any) -> str:
    """What is shown of a text, or of the names in a table."""
    texts = value if type(value) is dict else [value] if type(value) is str else []
    return "".join("".join(text.split()) for text in texts)


def _contradictions(card: Any, task_id: str) -> Iterator[str]:
    """What is wrong with values that have the right types."""
    yield from _wrong_ids(card.id, task_id)
    try:
        _measure(card)
    except ToucheError as error:
        yield str(error)
    yield from _strays(card)
    if "full" not in card.corpora:
        yield "corpora.full: missing; add it, the collection of the task"
    if not 0 <= card.rules.min_results <= card.rules.max_results or card.rules.max_results < 1:
        yield "rules.max_results: less than min_results, or than 1; make it larger"
    if card.rules.max_runs is not None and card.rules.max_runs < 1:
        yield "rules.max_runs: less than 1; leave it out where there is no limit"
    for number, table in enumerate(card.published, 1):
        for problem in _contradictions_of_table(table, card):
            yield f"published[{number}].{problem}"
    for number, of_stance in enumerate(card.stance, 1):
        for problem in _contradictions_of_stance(of_stance):
            yield f"stance[{number}].{problem}"


def _wrong_ids(given: str, task_id: str) -> Iterator[str]:
    """Ids that are not those of their files, or that lead to another page than that of the task."""
    if given != task_id:
        yield f"id: {_shown(given)} is not the name of the file; make it {task_id!r}, or rename the file"
    if task_id.casefold() == _FRONT:
        yield f"id: {task_id!r} is the name of a gallery's front page; give the file and its id another name"


def _strays(card: Any) -> Iterator[str]:
    """Names that lead out of the folders where topics, qrels and corpora are."""
    for key, name in _names_of_files(card):
        if Path(name).is_absolute() or ".." in Path(name).parts:
            yield f"{key}: {_shown(name)} leads elsewhere; write a name"


def _names_of_files(card: Any) -> Iterator[tuple[str, str]]:
    """The names of files and folders, with their keys."""
    yield "topics", card.topics
    for dimension, judgments in card.qrels.items():
        yield _within(_within("qrels", dimension), "file"), judgments.file
    for name, corpus in card.corpora.items():
        for key, each in [("directory", corpus.directory), *(("files", file) for file in corpus.files)]:
            yield _within(_within("corpora", name), key), each


def _contradictions_of_table(table: _Table, card: Any) -> Iterator[str]:
    judgments = card.qrels.get(table.dimension)
    if judgments is None:
        yield f"dimension: {_shown(table.dimension)} is not in qrels; {choice(table.dimension, card.qrels)}"
    elif table.qrels not in (None, judgments.file):
        yield f"qrels: not the file of {_within('qrels', table.dimension)}; make it {judgments.file!r}"
    for number, row in enumerate(table.runs, 1):
        if not 0 <= row.value <= 1:
            yield f"runs[{number}].value: {row.value} is not from 0 to 1; correct it"
        if row.interval is not None and not _holds(row.interval, row.value):
            yield f"runs[{number}].interval: not [low, high] from 0 to 1 with the value between; correct it"


def _contradictions_of_stance(table: _StanceTable) -> Iterator[str]:
    for number, row in enumerate(table.runs, 1):
        for name, value in (("value", row.value), ("team_value", row.team_value)):
            if not 0 <= value <= 1:
                yield f"runs[{number}].{name}: {value} is not from 0 to 1; correct it"
        if not 1 <= row.results <= row.team_results:
            yield f"runs[{number}].results: not from 1 to team_results; correct it"


def _holds(interval: tuple[float, ...], value: float) -> bool:
    return len(interval) == 2 and 0 <= interval[0] <= value <= interval[1] <= 1


def _rankings(card: Any) -> tuple[Published, ...]:
    rows = []
    for table in card.published:
        for row in table.runs:
            low, high = row.interval or (None, None)
            note = table.interval_note if row.interval else ""
            figures = {"measure": str(_measure(card)), "low": low, "high": high, "interval_note": note}
            rows.append(_published(card, table, row, **figures))
    dimensions = list(dict.fromkeys(row.dimension for row in rows))
    return tuple(sorted(rows, key=lambda row: (dimensions.index(row.dimension), -row.value)))


def _stances(card: Any) -> tuple[Published, ...]:
    lacking = dict.fromkeys(("low", "high", "evaluator", "qrels"))
    known = {"dimension": STANCE, "measure": OF_STANCE, "run": "", **lacking}
    rows = [_published(card, table, row, **known) for table in card.stance for row in table.runs]
    return tuple(sorted(rows, key=lambda row: -row.value))


def _published(card: Any, table: Any, row: Any, **others: Any) -> Published:
    """A row with what its table says of all; what has another name in the card is among the others."""
    names = {each.name for each in fields(Published)}
    said = {name: value for name, value in (vars(table) | vars(row)).items() if name in names}
    return Published(**said | others, task=card.id)


def _within(key: str, name: str) -> str:
    """The key of what stands in a table; a name with odd characters is quoted, as in TOML."""
    plain = _cut(name) if name.replace("-", "_").isidentifier() else _shown(name)
    return f"{key}.{plain}" if key else plain


def _shown(value: Any) -> str:
    try:
        return str(value).lower() if isinstance(value, bool) else _cut(repr(value))
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a huge number"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
