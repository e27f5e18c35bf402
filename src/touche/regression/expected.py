"""The entries of expected.toml: a record type for each type of table."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from msgspec import Meta, field
from msgspec.structs import asdict, force_setattr, replace

from touche.baselines.loader import baseline_folder
from touche.baselines.options import as_arguments
from touche.data.datasets import open_dataset
from touche.data.places import has_dataset, is_available, locate
from touche.errors import InputError, ToucheError, choice
from touche.evaluation.evaluators import EVALUATORS, Evaluation
from touche.evaluation.scores import Evaluated, evaluate_dimension
from touche.io.toml import Name, Positive, Share, Strict, read_record
from touche.tasks import MACRO_F1, STANCE, Measure, dataset, datasets, is_dataset, measure_of
from touche.tasks.per_topic import published_topics
from touche.tasks.records import Evaluator, rounded
from touche.tasks.reported import reported_results
from touche.trec.columns import Run
from touche.trec.runs import MAX_DEPTH, read_run

EXPECTED_FILE = "expected.toml"
PUBLISHED = "published"
REPORTED = "reported"
PINNED = "pinned"
_KINDS = (PUBLISHED, REPORTED, PINNED)
_DIGITS = 5  # decimals of pinned numbers
SCRIPT: Evaluator = "touche"  # the organizers' script, whose values are published per topic

Tolerance = Annotated[float, Meta(gt=0, le=1)]
Option = str | bool | int | float
Options = dict[str, Option | Annotated[tuple[Option, ...], Meta(min_length=1)]]
Parameters = Annotated[dict[str, Positive], Meta(min_length=1)]
Model = Literal["LMDirichlet", "BM25", "Lucene's classic", "DPH", "DLH", "PL2"]
"""The names in ``touche.identification.models.MODELS``, whose import is slow."""
Absent = Annotated[str, Meta(max_length=0)]
"""A field that entries of expected.toml cannot have."""


class MeasuredRun(NamedTuple):
    """The run that entries measure: one that the baseline has just written, or an official run.

    Attributes:
        dataset: the id of its dataset.
        lines: the run.
        scored: the evaluated run in each dimension with available qrels, or the error of its evaluation.
    """

    dataset: str
    lines: Run
    scored: Mapping[str, Evaluated | ToucheError]

    @classmethod
    def read(cls, path: Path, dataset_id: str) -> "MeasuredRun":
        """Reads and evaluates a run file.

        Raises:
            InputError: if it is not a run.
        """
        task, _ = dataset(dataset_id)
        lines = read_run(path)
        scored = dict[str, Evaluated | ToucheError]()
        for dimension, judgments in task.qrels.items():
            if is_available("qrels", judgments.file):
                try:
                    scored[dimension] = evaluate_dimension(lines, task, dimension)
                except ToucheError as error:  # only entries of this dimension raise it, in ``evaluated``
                    scored[dimension] = error
        return cls(dataset=dataset_id, lines=lines, scored=scored)

    def evaluated(self, dimension: str) -> Evaluated:
        """Returns the evaluated run in a dimension with available qrels.

        Raises:
            ToucheError: if its evaluation failed.
        """
        result = self.scored[dimension]
        if isinstance(result, ToucheError):
            raise result
        return result

    def evaluation(self, dimension: str, measure: str, evaluator: str) -> Evaluation:
        """Returns the evaluation by a measure, which can differ from the task's.

        Raises:
            ToucheError: if the run's evaluation in this dimension failed.
        """
        evaluated = self.evaluated(dimension)
        task, _ = dataset(self.dataset)
        if measure == task.measure_for(dimension).name:
            return evaluated.evaluations[evaluator]
        return EVALUATORS[evaluator](evaluated.lines, evaluated.judgments, measure_of(measure))


@dataclass(frozen=True)
class TopicValue:
    """A published value of a topic, and that of a rerun.

    Attributes:
        dimension: the judged dimension.
        topic: the number of the topic.
        published: the published value, three decimals.
        rerun: the value of the rerun, with the decimals of the table; None if there is none for the topic.
    """

    dimension: str
    topic: str
    published: float
    rerun: float | None

    @property
    def difference(self) -> float | None:
        """``rerun`` minus ``published``."""
        return None if self.rerun is None else round(self.rerun - self.published, 3)


@dataclass(frozen=True)
class Measured:
    """What an entry measures.

    Attributes:
        got: a number or a digest.
        judged: Judged@k; None without qrels.
        remark: other results, as a text.
        topics: the published and the measured value of each topic; empty for an entry with one value.
    """

    got: float | str
    judged: float | None = None
    remark: str = ""
    topics: Sequence[TopicValue] = ()


class Expected(Strict, kw_only=True, frozen=True):
    """An expectation about a run of a baseline.

    Attributes:
        baseline, entry: the baseline and the index of the entry in its table, added by ``read_expected``.
        dataset: the id of the dataset.
        options: options of the baseline, by the names of its parameters.
        run: the entry's official run, a path in runs/; empty without one.

    The expected value is in the field ``published``, ``reported`` or ``pinned``, which only subclasses have.
    ``touche regress --update`` rewrites pinned values, which have the key ``digest`` for a ranking.
    """

    TABLE: ClassVar[str] = ""  # the name of its table in expected.toml
    PINNED_KEY: ClassVar[str] = PINNED  # the key of the current value in this table

    baseline: Absent = ""
    entry: Annotated[int, Meta(ge=0, le=0)] = 0  # 0 in expected.toml; ``read_expected`` sets it
    dataset: str = ""
    options: Options = field(default_factory=dict)
    run: Absent = ""

    def __post_init__(self) -> None:
        # Only an entry has a table; this class itself stands for a baseline without entries.
        if self.TABLE and not is_dataset(self.dataset):
            raise ValueError(f"dataset {self.dataset!r} is not known; {choice(self.dataset, datasets())}")

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        """What is measured, such as ``relevance``, and the evaluator or model; empty if there is none."""
        return "", ""

    @property
    def kind(self) -> str:
        """``published``, ``reported`` (for another implementation of the model) or ``pinned``."""
        return next((kind for kind in _KINDS if getattr(self, kind, None) is not None), PINNED)

    @property
    def value(self) -> float | str:
        """The expected value; empty without an entry."""
        value: float | str = getattr(self, self.kind, "")
        return value

    @property
    def command(self) -> str:
        """The baseline with its options, as on the command line."""
        return " ".join([self.baseline, *self.arguments])

    @property
    def arguments(self) -> list[str]:
        """The options as words of the command line."""
        return as_arguments(self.options)

    @property
    def available(self) -> bool:
        """Whether the necessary files are available: run, topics and corpus; scores also need qrels."""
        has_run = self.run == "" or is_available("runs", self.run)
        return has_run and (not self.needs_rerun or has_dataset(self.dataset))

    @property
    def needs_rerun(self) -> bool:
        """Whether the entry needs a rerun of the baseline."""
        return True

    @property
    def record(self) -> dict[str, Any]:
        """A flat record for JSON."""
        # The expected value is in a field with the name of its kind, but in the record its key is ``value``.
        own = {name: value for name, value in asdict(self).items() if name not in _KINDS}
        return {"table": self.TABLE, **own, "kind": self.kind, "value": self.value}

    def measured(self, run: MeasuredRun) -> Measured:
        """Measures a rerun, or the official run if the entry needs no rerun.

        Raises:
            ToucheError: if the measurement is impossible.
        """
        raise NotImplementedError

    def difference(self, got: float | str) -> float | None:
        """Returns a number minus the expected one; None for texts, such as digests."""
        return None if isinstance(got, str) or isinstance(self.value, str) else got - self.value

    def accepts(self, got: float | str) -> bool:
        """Returns whether a value is as expected: the same digest, or a number within the tolerance."""
        difference = self.difference(got)
        if difference is None:
            return got == self.value
        # All entries with a number have a tolerance, so the default 0 is never used.
        return abs(difference) <= getattr(self, "tolerance", 0)

    def pinned_to(self, got: float | str) -> "Expected":
        """Returns the entry with another value, rounded as pinned values are."""
        return replace(self, pinned=got if isinstance(got, str) else round(got, _DIGITS))


class ExpectedScore(Expected, kw_only=True, frozen=True):
    """The mean score that a rerun has to reach, or that an official run has.

    Attributes:
        dimension, evaluator, qrels: as in ``touche.evaluation.scores.Score``.
        measure: the measure in the notation of ir_measures.
        published, reported, pinned: the expected value, in one of the three.
        tolerance: the largest difference, in both directions.
        source: the source of a published or reported value.
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

    def __post_init__(self) -> None:
        super().__post_init__()
        task, _ = dataset(self.dataset)
        judgments = task.qrels.get(self.dimension)
        if judgments is None or judgments.file != self.qrels:
            raise ValueError(f"dimension and qrels do not belong to {task.id}; see its card")
        measure_of_task = task.measure_for(self.dimension)
        measure = _measure(self.measure, measure_of_task)
        # Stances are scored by macro F1 only, and macro F1 scores only stances.
        is_of_stances = self.dimension == STANCE
        if is_of_stances != (measure is MACRO_F1):
            raise ValueError(f"{measure} does not score {self.dimension}; write {measure_of_task}")
        if self.evaluator not in measure.evaluators:
            raise ValueError(f"{self.evaluator} does not have {measure}; choose {measure.evaluators[0]}")
        force_setattr(self, "measure", measure.name)  # entries are frozen, even in __post_init__
        if self.system:
            self._set_reported()
        if sum(getattr(self, kind) is not None for kind in _KINDS) != 1:
            raise ValueError("write exactly one value: published, reported or pinned")
        if self.pinned is None and not self.source:
            raise ValueError(f"a {self.kind} value has no source; add it")

    def _set_reported(self) -> None:
        """Sets ``reported`` and ``source`` to those of the system that TIREx reports."""
        rows = {row.system: row for row in reported_results(self.dataset)}
        columns = {"nDCG@10": "ndcg_10", "P@10": "precision_10"}  # of such a row, by measure
        is_reported = self.system in rows and self.measure in columns and self.dimension == "relevance"
        if not is_reported:
            problem = f"no {self.measure} of {self.system!r} is reported for {self.dataset}"
            raise ValueError(f"{problem}; see: touche tasks {self.dataset} --reported")
        row = rows[self.system]
        force_setattr(self, "reported", getattr(row, columns[self.measure]))
        force_setattr(self, "source", f"{row.source}: {self.system}")

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        value_name = self.dimension if self.has_task_measure else f"{self.dimension}, {self.measure}"
        return value_name, self.evaluator

    @property
    def has_task_measure(self) -> bool:
        """Whether the measure is that of the task's card."""
        task, _ = dataset(self.dataset)
        return self.measure == task.measure_for(self.dimension).name

    @property
    def needs_rerun(self) -> bool:
        """Whether the entry needs a rerun: one with an official run scores that run."""
        return not self.run

    @property
    def available(self) -> bool:
        return is_available("qrels", self.qrels) and super().available

    def accepts(self, got: float | str) -> bool:
        """Returns whether a score is printed as the published one, or is within the tolerance."""
        if self.kind == PUBLISHED and isinstance(got, float):
            task, _ = dataset(self.dataset)
            if rounded(got, task.decimals) == self.published:
                return True
        return super().accepts(got)

    def measured(self, run: MeasuredRun) -> Measured:
        """Returns the mean in the dimension, by the entry's evaluator and measure."""
        evaluation = run.evaluation(self.dimension, self.measure, self.evaluator)
        if evaluation.mean is None:
            raise ToucheError(f"{self.evaluator} scores no topic, so there is no mean; check the run")
        return Measured(evaluation.mean, evaluation.judged)


class ExpectedTopics(Expected, kw_only=True, frozen=True):
    """The published values of a run in each topic of the dataset. A rerun has to have all of them.

    Attributes:
        dimensions: the judged dimensions.
        measure: the measure of the values.
        tag: the tag of the run in the table of published values.
    """

    TABLE: ClassVar[str] = "topics"

    dimensions: Annotated[tuple[str, ...], Meta(min_length=1)]
    measure: str = ""
    tag: str

    def __post_init__(self) -> None:
        super().__post_init__()
        task, _ = dataset(self.dataset)
        force_setattr(self, "measure", _measure(self.measure, task.measure).name)
        for dimension in self.dimensions:
            self._published(dimension)  # raises an error for an unknown dimension

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        return ", ".join(self.dimensions), SCRIPT

    @property
    def kind(self) -> str:
        return PUBLISHED

    @property
    def value(self) -> str:
        number = sum(len(self._published(dimension)) for dimension in self.dimensions)
        return _reproduced(number, number)

    @property
    def available(self) -> bool:
        task, _ = dataset(self.dataset)
        files = [task.qrels[dimension].file for dimension in self.dimensions]
        return all(is_available("qrels", file) for file in files) and super().available

    def measured(self, run: MeasuredRun) -> Measured:
        """Returns how many topics have their published value; the remark names the others."""
        values = [value for dimension in self.dimensions for value in self._values(run, dimension)]
        different = [value for value in values if value.rerun != value.published]
        remark = ", ".join(
            f"{value.dimension} of topic {value.topic} is {value.rerun} instead of {value.published}"
            for value in different
        )
        return Measured(_reproduced(len(values) - len(different), len(values)), remark=remark, topics=values)

    def _values(self, run: MeasuredRun, dimension: str) -> Iterator[TopicValue]:
        """Yields the published value of each topic, and that of the run with as many decimals."""
        values = run.evaluation(dimension, self.measure, SCRIPT).per_topic
        decimals = run.evaluated(dimension).task.decimals
        for topic, published in self._published(dimension).items():
            printed = rounded(values[topic], decimals) if topic in values else None
            yield TopicValue(dimension=dimension, topic=topic, published=published, rerun=printed)

    def _published(self, dimension: str) -> dict[str, float]:
        """Returns the published value of each topic of the dataset.

        Raises:
            ValueError: if the table lacks the tag, or a value, or has two values per topic.
        """
        task, _ = dataset(self.dataset)
        subject = (dimension, self.measure)
        rows_of_dimension = [row for row in published_topics(task) if (row.dimension, row.measure) == subject]
        rows = [row for row in rows_of_dimension if row.tag == self.tag]
        if not rows:
            remedy = choice(self.tag, dict.fromkeys(row.tag for row in rows_of_dimension))
            problem = f"tag {self.tag!r} has no published values of topics for {dimension}, {self.measure}"
            raise ValueError(f"{problem}; {remedy}")
        if any(row.is_ambiguous for row in rows):
            raise ValueError(f"tag {self.tag!r} has several published values per topic; choose another tag")
        values = {row.topic: row.value for row in rows}
        # In a whole dataset, which has no only_topics, the table itself says which topics count.
        missing = [topic for topic in task.only_topics if topic not in values]
        if missing:
            problem = f"topic {missing[0]} has no published value of {self.tag!r} for {dimension}"
            raise ValueError(f"{problem}; choose another tag or dataset")
        return values


def _measure(name: str, measure_of_task: Measure) -> Measure:
    """Returns the measure of an entry.

    Raises:
        ValueError: if it has none, or an unknown one.
    """
    if not name:
        raise ValueError(f'measure is missing; add the line: measure = "{measure_of_task}"')
    return measure_of(name)


def _reproduced(number: int, total: int) -> str:
    """Returns a value of ``ExpectedTopics``: how many topics have their published value."""
    return f"{number} of {total} published topic values"


class ExpectedFigure(Expected, kw_only=True, frozen=True):
    """A figure of a run of pairs that needs no qrels; its name is a key of ``figures.MEASURES``."""

    TABLE: ClassVar[str] = "figure"

    name: Literal["pairs per topic", "within one argument", "coherence of the first five"]
    pinned: Annotated[float, Meta(ge=0, le=MAX_DEPTH)]
    tolerance: Tolerance

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        return self.name, ""

    def measured(self, run: MeasuredRun) -> Measured:
        from touche.regression.figures import MEASURES  # here, because few entries need its 35 ms

        return Measured(float(MEASURES[self.name](run.lines, open_dataset(self.dataset).documents)))


class ExpectedRun(Expected, kw_only=True, frozen=True):
    """A ranking that must not change; its value is a digest, see ``ranking_digest``."""

    TABLE: ClassVar[str] = "run"
    PINNED_KEY: ClassVar[str] = "digest"

    pinned: str = field(name=PINNED_KEY)

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        return "ranking", ""

    def measured(self, run: MeasuredRun) -> Measured:
        return Measured(ranking_digest(run.lines))


class ExpectedFormula(Expected, kw_only=True, frozen=True):
    """A formula that the scores of an official run and of the rerun follow; the value is the share of scores.

    Attributes:
        run: a run in runs/, or a file ``*.tsv`` with topic, document and score on each line.
        model, analysis, fields, combination: the formula, as in ``touche.identification.hypotheses``.
        parameters: parameters of the formula, which have to be inferred from the scores of both runs.
        official_parameters, rerun_parameters: parameters of only one run, because they depend on the
            collection.
        official_mean_lengths, rerun_mean_lengths: known mean lengths of the fields in one run's collection;
            k1 and b of BM25 are then parameters.
        median: the largest median error that passes.
        pinned, tolerance: the share of reproduced scores, and the largest difference.
    """

    TABLE: ClassVar[str] = "official"

    run: Name
    model: Model
    analysis: Literal["standard", "english"]
    fields: Annotated[tuple[str, ...], Meta(min_length=1, max_length=2)]
    parameters: Parameters
    median: Tolerance
    pinned: Share
    tolerance: Tolerance
    combination: Literal["", "sum", "maximum"] = ""
    official_parameters: dict[str, Positive] = field(default_factory=dict)
    rerun_parameters: dict[str, Positive] = field(default_factory=dict)
    official_mean_lengths: dict[str, Positive] = field(default_factory=dict)
    rerun_mean_lengths: dict[str, Positive] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        has_two_fields = len(self.fields) == 2
        if has_two_fields != bool(self.combination):
            problem = "fields and combination do not fit"
            raise ValueError(f"{problem}; write one field, or two and their combination")

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        return "official scores", self.model

    def measured(self, run: MeasuredRun) -> Measured:
        """Returns the share of the official run's scores that the formula reproduces.

        The rerun has to follow the same formula, and the median error may be at most ``median``.
        """
        # Here, because few entries need these 106 ms.
        from touche.identification.counts import NAMED
        from touche.identification.hypotheses import Hypothesis
        from touche.identification.samples import read_scores
        from touche.regression.official_runs import ScoredRun, formula_fit

        hypothesis = Hypothesis(
            model=self.model,
            analysis=NAMED[self.analysis],
            fields=self.fields,
            combination=self.combination,
        )
        official = ScoredRun(
            lines=read_scores(locate("runs", self.run)),
            parameters=self.parameters | self.official_parameters,
            mean_lengths=self.official_mean_lengths,
        )
        rerun = ScoredRun(
            lines=run.lines,
            parameters=self.parameters | self.rerun_parameters,
            mean_lengths=self.rerun_mean_lengths,
        )
        share, remark = formula_fit(hypothesis, self.dataset, official, rerun, self.median)
        return Measured(share, remark=remark)


class _File(Strict, frozen=True):
    """An expected.toml; the name of a table is the ``TABLE`` of its entries."""

    score: tuple[ExpectedScore, ...] = ()
    topics: tuple[ExpectedTopics, ...] = ()
    official: tuple[ExpectedFormula, ...] = ()
    figure: tuple[ExpectedFigure, ...] = ()
    run: tuple[ExpectedRun, ...] = ()


def read_expected(baseline: str) -> list[Expected]:
    """Returns the entries of a baseline's expected.toml, table by table.

    Args:
        baseline: the name of the baseline, or the path of its folder.

    Raises:
        InputError: if the file is missing or broken, or an entry is incomplete or has unknown names.
    """
    path = baseline_folder(baseline) / EXPECTED_FILE
    exists = path.exists()
    tables = asdict(read_record(path, _File)) if exists else {}  # entries, by the name of the table
    if not any(tables.values()):
        problem = "no entries in this file" if exists else "no such file"
        remedy = "write entries as in docs/reference/files.md, section Expected scores"
        raise InputError(path, problem, remedy)
    return [
        replace(entry, baseline=baseline, entry=index)
        for entries in tables.values()
        for index, entry in enumerate(entries)
    ]


def ranking_digest(run: Run) -> str:
    """Returns the digest of a ranking, 16 hexadecimal digits: that of its lines ``topic rank document``.

    In the shell: ``awk '{print $1, $4, $3}' run.txt | sha256sum | head -c 16``.
    """
    columns = zip(run.topics, run.ranks, run.documents, strict=True)
    lines = (f"{topic} {rank} {document}\n" for topic, rank, document in columns)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
