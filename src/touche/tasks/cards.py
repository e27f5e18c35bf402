"""The cards of the tasks, a TOML file each, decoded strictly into the records of a task."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import asdict

from touche.errors import InputError, ToucheError, choice
from touche.io.strict import Name, Share, Strict, Text, decode
from touche.io.toml import read_toml
from touche.tasks.measures import measure_of
from touche.tasks.records import (
    MEASURE,
    OF_STANCE,
    STANCE,
    Corpus,
    Evaluator,
    Judgments,
    Published,
    Rules,
    Task,
    Unit,
    id_of,
)

_COLUMNS = {field.name for field in fields(Published)}
_FRONT = "index"  # in a gallery each task has a page by its id

Count = Annotated[int, Meta(ge=1)]
Texts = Annotated[tuple[Text, ...], Meta(min_length=1)]


class _Corpus(Strict):
    directory: Name
    ir_datasets: Text | None = None
    files: tuple[Name, ...] = ()


class _Judgments(Strict):
    file: Name
    labels: frozenset[int] = frozenset()


class _Rules(Strict):
    unit: Unit
    stances: tuple[Text, ...] = ()
    max_results: Count = 1000
    min_results: Annotated[int, Meta(ge=0)] = 0
    max_runs: Count | None = None

    def __post_init__(self) -> None:
        if self.min_results > self.max_results:
            raise ValueError("max_results is less than min_results; make it larger")


class _Ranking(Strict):
    """A row of a table of results."""

    team: Text
    value: Share
    run: str = ""
    tag: str = ""
    interval: tuple[Share, Share] | None = None
    baseline: bool = False
    printed: str = ""

    def __post_init__(self) -> None:
        if self.interval and not self.interval[0] <= self.value <= self.interval[1]:
            raise ValueError("interval is not [low, high] with the value between; correct it")


class _Rankings(Strict):
    """A published table."""

    dimension: Text
    sources: Texts
    runs: Annotated[tuple[_Ranking, ...], Meta(min_length=1)]
    evaluator: Evaluator | None = None
    qrels: str | None = None
    interval_note: str = ""


class _Stance(Strict):
    """A row of a table of detected stances."""

    team: Text
    tag: Text
    value: Share
    results: Count
    team_value: Share
    team_results: Count
    baseline: bool = False

    def __post_init__(self) -> None:
        if self.results > self.team_results:
            raise ValueError("results is more than team_results; correct it")


class _Stances(Strict):
    """A published table of detected stances."""

    sources: Texts
    runs: Annotated[tuple[_Stance, ...], Meta(min_length=1)]


class _Card(Strict):
    id: Text
    title: Text
    url: Text
    topics: Name
    qrels: Annotated[dict[str, _Judgments], Meta(min_length=1)]
    corpora: dict[str, _Corpus]
    rules: _Rules
    measure: str = MEASURE.name
    excluded_topics: tuple[str, ...] = ()
    note: str = ""
    published: tuple[_Rankings, ...] = ()
    stance: tuple[_Stances, ...] = ()
    results_note: str = ""

    def __post_init__(self) -> None:
        try:
            measure_of(self.measure)
        except ToucheError as error:
            raise ValueError(str(error)) from error
        if "full" not in self.corpora:
            raise ValueError("corpora.full is missing; add the collection of the task")
        for number, table in enumerate(self.published, 1):
            self._check_judgments(f"published[{number}]", table)

    def _check_judgments(self, key: str, table: _Rankings) -> None:
        if table.dimension not in self.qrels:
            nearest = choice(table.dimension, self.qrels)
            raise ValueError(f"{key}.dimension {table.dimension!r} is not in qrels; {nearest}")
        file = self.qrels[table.dimension].file
        if table.qrels not in (None, file):
            raise ValueError(f"{key}.qrels is not the file of qrels.{table.dimension}; make it {file!r}")


def read_card(path: Path) -> Task:
    """Returns the task that a card describes.

    Raises:
        InputError: if the card cannot be read, or something is wrong with one of its keys.
    """
    card, task_id = decode(read_toml(path), _Card, path), id_of(path)
    if card.id != task_id:
        problem = f"id: {card.id!r} is not the name of the file"
        raise InputError(path, problem, f"make it {task_id!r}, or rename the file")
    if task_id.casefold() == _FRONT:
        problem = f"id: {task_id!r} is the name of a gallery's front page"
        raise InputError(path, problem, "give the file and its id another name")
    records = {
        "qrels": {name: Judgments(**asdict(each)) for name, each in card.qrels.items()},
        "corpora": {name: Corpus(**asdict(each)) for name, each in card.corpora.items()},
        "rules": Rules(**asdict(card.rules)),
        "measure": measure_of(card.measure),
        "published": _rankings(card),
        "stance": _stances(card),
    }
    return Task(**asdict(card) | records)


def _rankings(card: _Card) -> tuple[Published, ...]:
    rows, measure = [], str(measure_of(card.measure))
    for table in card.published:
        for row in table.runs:
            low, high = row.interval or (None, None)
            note = table.interval_note if row.interval else ""
            others = {"low": low, "high": high, "interval_note": note, "measure": measure}
            rows.append(_published(card, table, row, **others))
    dimensions = list(dict.fromkeys(row.dimension for row in rows))
    return tuple(sorted(rows, key=lambda row: (dimensions.index(row.dimension), -row.value)))


def _stances(card: _Card) -> tuple[Published, ...]:
    lacking = dict.fromkeys(("low", "high", "evaluator", "qrels"))
    others = {"dimension": STANCE, "measure": OF_STANCE, "run": "", **lacking}
    rows = [_published(card, table, row, **others) for table in card.stance for row in table.runs]
    return tuple(sorted(rows, key=lambda row: -row.value))


def _published(card: _Card, table: Strict, row: Strict, **others: Any) -> Published:
    """Returns a row with what its table says of all its rows."""
    columns = asdict(table) | asdict(row) | others
    return Published(task=card.id, **{name: columns[name] for name in columns if name in _COLUMNS})
