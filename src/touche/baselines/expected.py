"""A baseline's expected.toml: one record type per type of table."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from msgspec import Meta, field
from msgspec.structs import asdict, replace

from touche.baselines.baseline_options import as_arguments
from touche.baselines.loader import baseline_folder
from touche.errors import InputError, choice
from touche.io.opening import texts_in
from touche.io.toml import Name, Share, Strict, read_record
from touche.tasks import MACRO_F1, STANCE, Measure, choice_of_id, dataset, is_dataset, measure_of
from touche.tasks import datasets as known_datasets
from touche.tasks.per_topic import TopicValues, values_of_topics
from touche.tasks.reported import reported_results
from touche.tasks.task_records import SCRIPT, Evaluator, rounded
from touche.trec.runs import MAX_DEPTH

EXPECTED_FILE = "expected.toml"
PUBLISHED = "published"
REPORTED = "reported"
PINNED = "pinned"
_KINDS = (PUBLISHED, REPORTED, PINNED)

Tolerance = Annotated[float, Meta(gt=0, le=1)]
Option = str | bool | int | float
Options = dict[str, Option | Annotated[tuple[Option, ...], Meta(min_length=1)]]
OPTIONS_OF_RUN = (
    "h help i input o output corpus statistics keep-statistics tag team runner cpus memory "
    "time-limit seconds quiet verbose"
).split()
"""The names of ``touche run``'s own options."""
Absent = Annotated[str, Meta(max_length=0)]
"""A field that entries of expected.toml cannot have."""


class Expected(Strict, kw_only=True, frozen=True):
    """An expectation about a baseline's run.

    Attributes:
        baseline, entry: the baseline and the entry's index in its table, set by ``read_expected``.
        options: the baseline's options, by parameter name.
        run: the entry's official run, a path in runs/; empty for an entry without such a run.

    The expected value is in ``published``, ``reported`` or ``pinned``, which only subclasses have. ``touche
    regress --update`` rewrites pinned values; for a ranking, their key is ``digest``.
    """

    TABLE: ClassVar[str] = ""  # its table's name in expected.toml
    PINNED_KEY: ClassVar[str] = PINNED  # the current value's key in this table

    baseline: Absent = ""
    entry: Annotated[int, Meta(ge=0, le=0)] = 0  # 0 in expected.toml; ``read_expected`` sets it
    dataset: str = ""
    options: Options = field(default_factory=dict)
    run: Absent = ""

    def checked(self) -> Self:
        """Checks the entry against its task's card; returns it with the values that the card adds.

        Raises a ValueError as ``problem; remedy`` if they don't agree.
        """
        return self

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        """What is measured, such as ``relevance``, and the evaluator or model. Each is empty if the entry has
        none.
        """
        return "", ""

    @property
    def kind(self) -> str:
        """``published``, ``reported`` (for another implementation of the model) or ``pinned``."""
        return next((kind for kind in _KINDS if getattr(self, kind, None) is not None), PINNED)

    @property
    def value(self) -> float | str:
        """The expected value; empty if there is none."""
        value: float | str = getattr(self, self.kind, "")
        return value

    @property
    def topic_values(self) -> TopicValues:
        """The published values of single topics; empty if it's about something else."""
        return {}

    @property
    def command(self) -> str:
        """The baseline with its options, as on the command line."""
        return " ".join([self.baseline, *self.arguments])

    @property
    def arguments(self) -> list[str]:
        return as_arguments(self.options)

    @property
    def judgments(self) -> Collection[str]:
        """The names of the qrels files that it needs."""
        return ()

    @property
    def needs_rerun(self) -> bool:
        return True

    @property
    def record(self) -> dict[str, Any]:
        """A flat record for JSON."""
        # The expected value's field is named after its kind, but its key in the record is ``value``.
        other_fields = {name: value for name, value in asdict(self).items() if name not in _KINDS}
        return {"table": self.TABLE, **other_fields, "kind": self.kind, "value": self.value}

    def difference(self, got: float | str) -> float | None:
        """Returns a number minus the expected one; None for strings, such as digests."""
        return None if isinstance(got, str) or isinstance(self.value, str) else got - self.value

    def accepts(self, got: float | str) -> bool:
        """Returns whether a value is as expected.

        A string must be equal. A number must be printed like the published one, or be within the tolerance.
        """
        if isinstance(got, str) or isinstance(self.value, str):
            return got == self.value
        task, _ = dataset(self.dataset)
        is_printed_alike = self.kind == PUBLISHED and rounded(got, task.decimals) == self.value
        # All entries with a number have a tolerance, so the default is never used.
        return is_printed_alike or abs(got - self.value) <= getattr(self, "tolerance", 0)


Entry = TypeVar("Entry", bound=Expected)


class ExpectedScore(Expected, kw_only=True, frozen=True):
    """The mean score that a rerun must reach, or an official run's.

    Attributes:
        evaluator: ``trec_eval`` or ``touche``.
        measure: in ir_measures' notation.
        published, reported, pinned: the expected value, in one of them.
        tolerance: the largest difference in either direction.
        source: where a published or reported value comes from.
        system: a system that TIREx reports, instead of ``reported`` and ``source``
            (``touche.tasks.reported``).
    """

    TABLE: ClassVar[str] = "score"

    dimension: str
    evaluator: Evaluator
    qrels: str
    tolerance: Tolerance
    run: Name | Literal[""] = ""
    measure: str = ""
    published: Share | None = None
    reported: Share | None = None
    pinned: Share | None = None
    source: str = ""
    system: str = ""

    def checked(self) -> Self:
        task, _ = dataset(self.dataset)
        judgments = task.qrels.get(self.dimension)
        if judgments is None or judgments.file != self.qrels:
            raise ValueError(f"dimension and qrels do not belong to {task.id}; see its card")
        measure_of_task = task.measure_for(self.dimension)
        measure = _measure(self.measure, measure_of_task)
        # Macro F1 is for stances only, and stances for macro F1 only.
        scores_stances = self.dimension == STANCE
        if scores_stances != (measure is MACRO_F1):
            raise ValueError(f"{measure} does not score {self.dimension}; write {measure_of_task}")
        if self.evaluator not in measure.evaluators:
            raise ValueError(f"{self.evaluator} does not have {measure}; choose {measure.evaluators[0]}")
        entry = replace(self, measure=measure.name)
        if self.system:
            entry = entry._with_reported()
        if sum(getattr(entry, kind) is not None for kind in _KINDS) != 1:
            raise ValueError("write exactly one value: published, reported or pinned")
        if entry.pinned is None and not entry.source:
            raise ValueError(f"a {entry.kind} value has no source; add it")
        return entry

    def _with_reported(self) -> Self:
        """Returns the entry with the value that TIREx reports for its system, and the source."""
        for row in reported_results(self.dataset):
            is_same = (row.system, row.dimension) == (self.system, self.dimension)
            values = {"nDCG@10": row.ndcg_10, "P@10": row.precision_10}
            if is_same and self.measure in values:
                return replace(self, reported=values[self.measure], source=f"{row.source}: {row.system}")
        problem = f"no {self.measure} of {self.system!r} is reported for {self.dataset}"
        raise ValueError(f"{problem}; see: touche tasks {self.dataset} --reported")

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        value_name = self.dimension if self.has_task_measure else f"{self.dimension}, {self.measure}"
        return value_name, self.evaluator

    @property
    def has_task_measure(self) -> bool:
        """Whether the measure is the one on the task's card."""
        task, _ = dataset(self.dataset)
        return self.measure == task.measure_for(self.dimension).name

    @property
    def judgments(self) -> Collection[str]:
        return (self.qrels,)

    @property
    def needs_rerun(self) -> bool:
        """False if the entry names an official run, which is scored instead."""
        return not self.run


class ExpectedTopics(Expected, kw_only=True, frozen=True):
    """A run's published values for each topic of the dataset. A rerun must reproduce them all.

    ``tag`` is the run's tag in the table of published values. ``fitted`` is whether the baseline ranks this
    dataset with statistics that were fitted to that run's scores.
    """

    TABLE: ClassVar[str] = "topics"

    dimensions: Annotated[tuple[str, ...], Meta(min_length=1)]
    measure: str = ""
    tag: str
    fitted: bool = False

    def checked(self) -> Self:
        task, _ = dataset(self.dataset)
        entry = replace(self, measure=_measure(self.measure, task.measure).name)
        _ = entry.topic_values  # raises an error for an unknown dimension or tag
        return entry

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        return ", ".join(self.dimensions), SCRIPT

    @property
    def kind(self) -> str:
        return PUBLISHED

    @property
    def value(self) -> str:
        number = sum(len(values) for values in self.topic_values.values())
        return self.reproduced(number, number)

    @property
    def judgments(self) -> Collection[str]:
        task, _ = dataset(self.dataset)
        return [task.qrels[dimension].file for dimension in self.dimensions]

    @staticmethod
    def reproduced(number: int, total: int) -> str:
        """Returns in words how many topics have their published value."""
        return f"{number} of {total} published topic values"

    @property
    def topic_values(self) -> TopicValues:
        """The published value for each topic of the dataset, in each dimension.

        Raises:
            ValueError: if a tag or a value is missing in the table, or there are two values per topic.
        """
        return {dimension: self._published(dimension) for dimension in self.dimensions}

    def _published(self, dimension: str) -> Mapping[str, float]:
        """Returns the published value for each topic of the dataset; errors as for ``topic_values``."""
        task, _ = dataset(self.dataset)
        values_of_dimension = [
            value
            for value in values_of_topics(task)
            if (value.row.dimension, value.row.measure) == (dimension, self.measure)
        ]
        values_of_tag = [value for value in values_of_dimension if value.row.tag == self.tag]
        if not values_of_tag:
            remedy = choice(self.tag, dict.fromkeys(value.row.tag for value in values_of_dimension))
            problem = f"tag {self.tag!r} has no published values of topics for {dimension}, {self.measure}"
            raise ValueError(f"{problem}; {remedy}")
        if any(value.is_ambiguous for value in values_of_tag):
            raise ValueError(f"tag {self.tag!r} has several published values per topic; choose another tag")
        values = {value.topic: value.value for value in values_of_tag}
        # A whole dataset doesn't set only_topics; the table itself says which topics count.
        missing = [topic for topic in task.only_topics if topic not in values]
        if missing:
            problem = f"topic {missing[0]} has no published value of {self.tag!r} for {dimension}"
            raise ValueError(f"{problem}; choose another tag or dataset")
        return values


class ExpectedFigure(Expected, kw_only=True, frozen=True):
    """A figure for a run with pairs that needs no qrels; ``touche.regression.figures`` computes it."""

    TABLE: ClassVar[str] = "figure"

    name: Literal["pairs per topic", "within one argument"]
    pinned: Annotated[float, Meta(ge=0, le=MAX_DEPTH)]
    tolerance: Tolerance

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        return self.name, ""


class ExpectedRun(Expected, kw_only=True, frozen=True):
    """A ranking that must not change; its value is a digest (``touche.regression.comparing``)."""

    TABLE: ClassVar[str] = "run"
    PINNED_KEY: ClassVar[str] = "digest"

    pinned: str = field(name=PINNED_KEY)

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        return "ranking", ""


class OfficialRun(Expected, kw_only=True, frozen=True):
    """An official run to compare a rerun with. There is no expected value, so the comparison can't fail.

    ``run`` is a run in runs/, or a ``*.tsv`` file with topic, document and score on each line.
    """

    TABLE: ClassVar[str] = "official"

    run: Name

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        return "official run", ""

    @property
    def kind(self) -> str:
        return ""


class _File(Strict, frozen=True):
    """An expected.toml. A table is named after its entries' ``TABLE``."""

    score: tuple[ExpectedScore, ...] = ()
    topics: tuple[ExpectedTopics, ...] = ()
    official: tuple[OfficialRun, ...] = ()
    figure: tuple[ExpectedFigure, ...] = ()
    run: tuple[ExpectedRun, ...] = ()


def read_expected(baseline: str, datasets: Collection[str] = ()) -> list[Expected]:
    """Returns the entries in a baseline's expected.toml, table by table.

    Only entries for the ``datasets`` are returned and checked against their cards; if it is empty, all are.
    Options are checked without running the baseline's code.

    Raises:
        InputError: if the file is missing or broken, or an entry is incomplete or contains unknown names.
    """
    folder = baseline_folder(baseline)
    path = folder / EXPECTED_FILE
    exists = path.exists()
    tables = asdict(read_record(path, _File)) if exists else {}  # entries by table
    if not any(tables.values()):
        problem = "no entries in this file" if exists else "no such file"
        remedy = "write entries as in docs/reference/files.md, section Expected scores"
        raise InputError(path, problem, remedy)
    return checked_entries(path, baseline, tables, datasets)


def checked_entries(
    path: Path, baseline: str, tables: Mapping[str, Sequence[Entry]], datasets: Collection[str] = ()
) -> list[Entry]:
    """Returns a file's entries, table by table, with the values that the tasks' cards add.

    Args:
        path: the file, for messages.
        baseline: the baseline's name or path.
        tables: the entries by table, as in the file.
        datasets: only entries for these datasets are returned and checked against their cards; empty for all.

    Raises:
        InputError: if an entry is incomplete or contains unknown names.
    """
    expected = list[Entry]()
    for table, entries in tables.items():
        for index, entry in enumerate(entries):
            try:
                _check_options(entry.options)
                if not is_dataset(entry.dataset):
                    problem = f"dataset {entry.dataset!r} is not known"
                    raise ValueError(f"{problem}; {choice_of_id(entry.dataset, known_datasets())}")
                if not datasets or entry.dataset in datasets:
                    expected.append(replace(entry.checked(), baseline=baseline, entry=index))
            except ValueError as error:
                problem, _, remedy = str(error).partition("; ")
                entry_name = f"{table}[{index + 1}]"  # messages count from 1
                raise InputError(path, f"{entry_name}: {problem}", remedy or "correct it") from error
    return expected


def _check_options(options: Options) -> None:
    """Checks that options can only be the baseline's: they become words of the command ``touche run``.

    Otherwise the file's author could set that command's own options, such as an output. Whether the baseline
    has the options is checked when it is run.
    """
    for name, value in options.items():
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_-]*", name) or _plain(name) in map(_plain, OPTIONS_OF_RUN):
            problem = f"{name!r} is not an option of the baseline, but of touche run"
            raise ValueError(f"{problem}; name only the baseline's own options")
        for text in texts_in(value):
            if text.startswith("-") and text != "-":
                raise ValueError(f"{name} = {text!r} looks like another option; write no - at its start")


def _plain(option: str) -> str:
    """Returns an option's name with hyphens, and without the ``no-`` of a flag that is off."""
    return option.replace("_", "-").removeprefix("no-")


def _measure(name: str, measure_of_task: Measure) -> Measure:
    if not name:
        raise ValueError(f'measure is missing; add the line: measure = "{measure_of_task}"')
    return measure_of(name)
