"""Reads task cards: TOML files, in which unknown keys and wrong types are errors."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, field
from msgspec.structs import asdict

from touche.errors import InputError, choice
from touche.io.toml import Name, Share, Strict, Text, read_record
from touche.tasks.measures import MACRO_F1, measure_of
from touche.tasks.task_records import (
    DECIMALS,
    MEASURE,
    STANCE,
    UNKNOWN,
    Corpus,
    Count,
    Evaluator,
    Judgments,
    Published,
    Rules,
    Task,
    card_id,
)

# No task may have this id, because the gallery names each page after its task and has an index page.
_FRONT_PAGE = "index"

Texts = Annotated[tuple[Text, ...], Meta(min_length=1)]


class _Ranking(Strict, frozen=True):
    """A row in a results table."""

    team: Text
    value: Share
    run: str = ""
    tag: str = ""
    interval: tuple[Share, Share] | None = None
    baseline: bool = False
    printed: str = ""

    def __post_init__(self) -> None:
        if self.interval and not self.interval[0] <= self.value <= self.interval[1]:
            raise ValueError("interval is not [low, high] around the value; correct it")


class _Rankings(Strict, frozen=True):
    """A published table."""

    dimension: Text
    sources: Texts
    runs: Annotated[tuple[_Ranking, ...], Meta(min_length=1)]
    evaluator: Evaluator | None = None
    qrels: str | None = None
    interval_note: str = ""
    measure: str = ""
    topics: Count | None = None

    def __post_init__(self) -> None:
        if self.measure:  # if it's missing, ``_Card`` reports that
            measure_of(self.measure)


class _Stance(Strict, frozen=True):
    """A row in a table of detected stances."""

    team: Text
    tag: Text
    value: Share
    results: Count
    team_value: Share
    team_results: Count
    baseline: bool = False

    def __post_init__(self) -> None:
        if self.results > self.team_results:
            raise ValueError("results is larger than team_results; correct it")


class _Stances(Strict, frozen=True):
    """A published table of detected stances."""

    sources: Texts
    runs: Annotated[tuple[_Stance, ...], Meta(min_length=1)]
    measure: str = ""


class _Card(Strict, frozen=True):
    """A card. ``Task``, ``Judgments``, ``Corpus`` and ``Rules`` describe its keys."""

    id: Text
    title: Text
    url: Text
    topics: Name
    qrels: Annotated[dict[str, Judgments], Meta(min_length=1)]
    corpora: dict[str, Corpus]
    rules: Rules
    measure: str = MEASURE.name
    excluded_topics: tuple[str, ...] = ()
    note: str = ""
    published: tuple[_Rankings, ...] = ()
    stance: tuple[_Stances, ...] = ()
    results_note: str = ""
    least_judged: dict[str, Annotated[float, Meta(ge=0, le=1)]] = field(default_factory=dict)
    decimals: Annotated[tuple[Annotated[int, Meta(ge=1, le=15)], ...], Meta(min_length=1)] = DECIMALS

    def __post_init__(self) -> None:
        if measure_of(self.measure) is MACRO_F1:
            raise ValueError(f"measure {self.measure!r} is only for stances; name a measure of rankings")
        if STANCE in self.qrels and not {*self.rules.stances} - {UNKNOWN}:
            raise ValueError("rules.stances is missing; list the stances that qrels.stance judges")
        by_stance = self.rules.by_stance
        if any(bool(judgments.question) != by_stance for judgments in self.qrels.values()):
            raise ValueError(
                'qrels have questions only if rules.rankings is "topic and stance"; correct one of them'
            )
        if self.decimals[-1] != DECIMALS[-1]:
            problem = f"decimals ends with {self.decimals[-1]}, but all tables print {DECIMALS[-1]} decimals"
            raise ValueError(f"{problem}; end it with {DECIMALS[-1]}, as in [4, 3] for values rounded twice")
        if "full" not in self.corpora:
            raise ValueError("corpora.full is missing; add the collection of the task")
        self._check_tables()

    def _check_tables(self) -> None:
        """Raises an error if a table of published values names no measure, if it's for judgments that aren't
        on the card, or if it contains a run twice.
        """
        if self.results_note and (self.published or self.stance):
            raise ValueError("results_note says why there are no results, but the card has some; remove it")
        _check_tags([("stance", row.team, row.tag) for table in self.stance for row in table.runs])
        _check_tags(
            [
                (f"{table.dimension}, {table.measure}, {table.evaluator}, {table.topics}", row.team, row.tag)
                for table in self.published
                for row in table.runs
            ]
        )
        for number, stances in enumerate(self.stance, 1):
            _check_measure(f"stance[{number}]", stances.measure, MACRO_F1.name)
            if stances.measure != MACRO_F1.name:
                raise ValueError(f"stance[{number}].measure: stances are scored by macro F1; correct it")
        for number, table in enumerate(self.published, 1):
            key = f"published[{number}]"
            _check_measure(key, table.measure, self.measure)
            judgments = self.qrels.get(table.dimension)
            if judgments is None:
                nearest = choice(table.dimension, self.qrels)
                raise ValueError(f"{key}.dimension {table.dimension!r} is not in qrels; {nearest}")
            if table.qrels not in (None, judgments.file):
                remedy = f"write {judgments.file!r}"
                raise ValueError(f"{key}.qrels is not the file of qrels.{table.dimension}; {remedy}")


def _check_tags(rows: Sequence[tuple[str, str, str]]) -> None:
    """Raises an error if a run has two results. Tags can be missing, because not all published tables contain
    them; such rows aren't checked.

    Args:
        rows: for each result, what it is about (such as the dimension), the team and the tag.
    """
    for (_, team, tag), number in Counter(row for row in rows if row[2]).items():
        if number > 1:
            raise ValueError(f"{team} has {number} results of the run {tag!r} in one table; correct the tags")


def _check_measure(key: str, measure: str, example: str) -> None:
    """Raises an error if a table names no measure. The task's measure isn't used as a default, because it can
    change, while published values stay the same.
    """
    if not measure:
        raise ValueError(f'{key}: measure is missing; add the measure of these values: measure = "{example}"')


def read_card(path: Path) -> Task:
    """Returns the task on a card.

    Raises:
        InputError: if the card can't be read or has an error.
    """
    card = read_record(path, _Card)
    task_id = card_id(path)
    if card.id != task_id:
        problem = f"id: {card.id!r} differs from the name of the file"
        raise InputError(path, problem, f"write {task_id!r}, or rename the file")
    if task_id.casefold() == _FRONT_PAGE:  # compared without case, because some file systems ignore it
        problem = f"id: {task_id!r} is the name of the gallery's front page"
        raise InputError(path, problem, "change the name of the file and its id")
    attributes = asdict(card)
    del attributes["stance"]  # these tables become rows of ``published`` below
    attributes["measure"] = measure_of(card.measure)
    attributes["published"] = (*_best_first([*_rows_of_rankings(card)]), *_best_first(_rows_of_stances(card)))
    return Task(**attributes)


def _rows_of_rankings(card: _Card) -> Iterator[Published]:
    """Yields the rows of the ranking tables."""
    for table in card.published:
        measure = str(measure_of(table.measure))
        for row in table.runs:
            low, high = row.interval or (None, None)
            yield Published(
                task=card.id,
                dimension=table.dimension,
                measure=measure,
                team=row.team,
                run=row.run,
                tag=row.tag,
                value=row.value,
                low=low,
                high=high,
                baseline=row.baseline,
                evaluator=table.evaluator,
                qrels=table.qrels,
                sources=table.sources,
                interval_note=table.interval_note if row.interval else "",
                printed=row.printed,
                topics=table.topics,
            )


def _rows_of_stances(card: _Card) -> list[Published]:
    """Returns the rows of the stance tables."""
    return [
        Published(
            task=card.id,
            dimension=STANCE,
            measure=MACRO_F1.name,
            team=row.team,
            run="",
            tag=row.tag,
            value=row.value,
            low=None,
            high=None,
            baseline=row.baseline,
            evaluator=None,
            qrels=None,
            sources=table.sources,
            results=row.results,
            team_value=row.team_value,
            team_results=row.team_results,
        )
        for table in card.stance
        for row in table.runs
    ]


def _best_first(rows: Sequence[Published]) -> list[Published]:
    """Sorts the rows of each kind (see ``Published.kind``) by descending value. The kinds stay in the card's
    order.
    """
    kinds = list(dict.fromkeys(row.kind for row in rows))
    return sorted(rows, key=lambda row: (kinds.index(row.kind), -row.value))
