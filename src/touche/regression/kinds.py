"""What can be asked of a baseline: a kind of record for each kind of table in an expected.toml."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from touche.baselines.options import arguments_of
from touche.data.places import at_hand, corpus_at_hand, locate, open_dataset
from touche.errors import ToucheError
from touche.evaluation.ndcg import EVALUATORS
from touche.evaluation.scores import Evaluated, evaluated
from touche.formats.runs import MAX_DEPTH, RunLine, read_run
from touche.identify.counts import NAMED
from touche.identify.hypotheses import MAXIMUM, SUM, Hypothesis
from touche.identify.models import MODELS
from touche.pairs.figures import MEASURES
from touche.regression.checks import is_number, wrong_measure, wrong_number, wrong_run, wrong_text
from touche.regression.official import held
from touche.tasks import PAIR, dataset, measure_of

PUBLISHED, REPORTED, PINNED = "published", "reported", "pinned"
GIVEN = (PUBLISHED, REPORTED, PINNED)
PARAMETERS = ("parameters", "official_parameters", "rerun_parameters")
_DIGITS = 5  # of pinned numbers
LARGEST = 2**63 - 1  # that TOML promises


@dataclass(frozen=True)
class Rerun:
    """A run that a baseline has just written.

    Attributes:
        dataset: the id of the dataset that it ranks.
        lines: the run.
        evaluated: the run in each dimension whose judgments are at hand and fit it.
        faults: why it could not be evaluated in others, by dimension.
    """

    dataset: str
    lines: Sequence[RunLine]
    evaluated: Sequence[Evaluated]
    faults: Mapping[str, str]

    @classmethod
    def of(cls, path: Path, dataset_id: str) -> "Rerun":
        """Reads and evaluates a run file.

        Raises:
            InputError: if it is no run.
        """
        task, lines = dataset(dataset_id)[0], read_run(path)
        found, faults = list[Evaluated](), dict[str, str]()
        for dimension in [name for name, each in task.qrels.items() if at_hand("qrels", each.file)]:
            try:
                found.append(evaluated(path, lines, task, dimension))
            except ToucheError as error:
                faults[dimension] = str(error)
        return cls(dataset_id, lines, found, faults)


@dataclass(frozen=True)
class Measured:
    """What an entry asks for, measured.

    Attributes:
        got: a number or a digest.
        judged: Judged@k, where there are judgments.
        remark: what else was found.
    """

    got: float | str
    judged: float | None = None
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What is asked of a run of a baseline; each kind of entry is a kind of its own.

    Attributes:
        baseline: the name or path of its folder, as it was asked for.
        entry: the number of the entry among those of its table, from 0.
        dataset: the id of the dataset.
        options: options of the baseline, by the names of its parameters.
        run: an official run in runs/ that the entry is about; empty where it is about the rerun alone.
        kind: ``published``, ``reported`` (of another implementation of the same model) or ``pinned``.
        value: what is expected.
    """

    TABLE: ClassVar[str] = ""
    PINNED_AS: ClassVar[str] = PINNED  # the key of what --update rewrites
    KEYS: ClassVar[Iterable[str]] = ()  # beside dataset and options

    baseline: str
    entry: int = 0
    dataset: str = ""
    options: Mapping[str, Any]
    run: str = ""
    kind: str = PINNED
    value: float | str = ""

    @property
    def names(self) -> tuple[str, str]:
        """What is measured, and by which evaluator."""
        return "", ""

    @property
    def command(self) -> str:
        """The baseline with its options, as one would type it."""
        return " ".join([self.baseline, *self.arguments])

    @property
    def arguments(self) -> list[str]:
        """The options as words of the command line."""
        return arguments_of(self.options)

    @property
    def at_hand(self) -> bool:
        """Whether topics, corpus and whatever else is needed are there."""
        task, corpus = dataset(self.dataset)
        return at_hand("topics", task.topics) and corpus_at_hand(corpus)

    @property
    def reruns(self) -> bool:
        """Whether the baseline has to be run for it."""
        return True

    def measured(self, rerun: Rerun) -> Measured:
        """What a rerun has; or, where an entry needs none, the official run.

        Raises:
            ToucheError: if it cannot be measured.
        """
        raise NotImplementedError

    def difference(self, got: float | str) -> float | None:
        """By how much a number is above what is expected; None for what is no number."""
        return None if isinstance(got, str) or isinstance(self.value, str) else got - self.value

    def rounded(self, got: float | str) -> float | str:
        """As it is pinned."""
        return got if isinstance(got, str) else round(got, _DIGITS)

    def accepts(self, got: float | str) -> bool:
        """Whether it is what is expected."""
        return got == self.value

    @classmethod
    def problem(cls, entry: Mapping[str, Any]) -> str:
        """What is wrong with the keys of its own, or nothing."""
        return ""


@dataclass(frozen=True, kw_only=True)
class ExpectedNumber(Expected):
    """A number to be reached.

    Attributes:
        tolerance: by how much it may differ, in both directions.
    """

    tolerance: float

    def accepts(self, got: float | str) -> bool:
        difference = self.difference(got)
        return difference is not None and abs(difference) <= self.tolerance


@dataclass(frozen=True, kw_only=True)
class ExpectedScore(ExpectedNumber):
    """A mean score to be reached by a rerun, or one that an official run has.

    Attributes:
        dimension, evaluator, qrels: what is measured, as in ``touche.evaluation.scores.Score``.
        measure: in the notation of ir_measures, where it is not that of the task.
        source: where a published or reported value is printed.
    """

    TABLE: ClassVar[str] = "score"
    KEYS: ClassVar[Iterable[str]] = (
        "dimension",
        "evaluator",
        "qrels",
        "measure",
        PUBLISHED,
        REPORTED,
        PINNED,
        "tolerance",
        "source",
        "run",
    )

    dimension: str
    evaluator: str
    qrels: str
    measure: str = ""
    source: str = ""

    @property
    def names(self) -> tuple[str, str]:
        return ", ".join(filter(None, (self.dimension, self.measure))), self.evaluator

    @property
    def at_hand(self) -> bool:
        there = at_hand("runs", self.run) if self.run else super().at_hand
        return there and at_hand("qrels", self.qrels)

    @property
    def reruns(self) -> bool:
        return not self.run

    def measured(self, rerun: Rerun) -> Measured:
        for each in rerun.evaluated:
            if each.dimension == self.dimension:
                measure = measure_of(self.measure) if self.measure else each.task.measure
                found = EVALUATORS[self.evaluator](each.lines, each.judgments, measure)
                if found.mean is not None:
                    return Measured(found.mean, found.judged)
        problem = f"{self.evaluator} has no topic to average over; check the run"
        raise ToucheError(rerun.faults.get(self.dimension, problem))

    @classmethod
    def problem(cls, entry: Mapping[str, Any]) -> str:
        values = [kind for kind in GIVEN if kind in entry]
        if len(values) != 1:
            return "needs either a published, a reported or a pinned value"
        task = dataset(entry["dataset"])[0]
        texts = {"measure": str(task.measure), "source": "", **entry}
        if wrong := wrong_text(texts, "dimension", "evaluator", "qrels", "measure", "source"):
            return wrong
        if wrong := wrong_number(entry, values[0], 1):
            return wrong
        judgments = task.qrels.get(entry["dimension"])
        if judgments is None or judgments.file != entry["qrels"] or entry["evaluator"] not in EVALUATORS:
            return "names a dimension, qrels or evaluator that its task does not have"
        if values != [PINNED] and not entry.get("source"):
            return f"has a {values[0]} value without a source"
        return wrong_measure(texts["measure"], entry["evaluator"]) or wrong_run({"run": ".", **entry})


@dataclass(frozen=True, kw_only=True)
class ExpectedFigure(ExpectedNumber):
    """A figure of a run of pairs that needs no judgments.

    Attributes:
        name: a key of ``touche.pairs.figures.MEASURES``.
    """

    TABLE: ClassVar[str] = "figure"
    KEYS: ClassVar[Iterable[str]] = ("name", PINNED, "tolerance")

    name: str

    @property
    def names(self) -> tuple[str, str]:
        return self.name, ""

    def measured(self, rerun: Rerun) -> Measured:
        return Measured(float(MEASURES[self.name](rerun.lines, open_dataset(self.dataset).documents)))

    @classmethod
    def problem(cls, entry: Mapping[str, Any]) -> str:
        if dataset(entry["dataset"])[0].rules.unit != PAIR:
            return "asks for a figure of what are no pairs"
        if entry.get("name") not in MEASURES:
            return f"needs one of {', '.join(MEASURES)} as its name"
        return wrong_number(entry, PINNED, MAX_DEPTH)


@dataclass(frozen=True, kw_only=True)
class ExpectedRun(Expected):
    """A ranking that must stay what it is, document by document: its value is a digest, see ``digest_of``."""

    TABLE: ClassVar[str] = "run"
    PINNED_AS: ClassVar[str] = "digest"
    KEYS: ClassVar[Iterable[str]] = ("digest",)

    @property
    def names(self) -> tuple[str, str]:
        return "ranking", ""

    def measured(self, rerun: Rerun) -> Measured:
        return Measured(digest_of(rerun.lines))

    @classmethod
    def problem(cls, entry: Mapping[str, Any]) -> str:
        return wrong_text(entry, "digest")


@dataclass(frozen=True, kw_only=True)
class ExpectedFormula(ExpectedNumber):
    """A formula that the scores of an official run meet, and those of the rerun; the value is the share met.

    Attributes:
        run: a run in runs/, or a file ``*.tsv`` with topic, document and score on each line.
        model, analysis, fields, combination: of the formula, as in ``touche.identify.hypotheses.Hypothesis``;
            the analysis is ``standard`` or ``english``.
        parameters: of the formula, which have to come out of the scores of both.
        official_parameters, rerun_parameters: those that come out of the scores of one, as they hold what the
            collections differ in.
        median: the largest median error that passes.
    """

    TABLE: ClassVar[str] = "official"
    KEYS: ClassVar[Iterable[str]] = (
        "run",
        "model",
        "analysis",
        "fields",
        "combination",
        *PARAMETERS,
        "median",
        PINNED,
        "tolerance",
    )

    model: str
    analysis: str
    fields: Sequence[str]
    parameters: Mapping[str, float]
    median: float
    combination: str = ""
    official_parameters: Mapping[str, float] = field(default_factory=dict)
    rerun_parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, str]:
        return "official scores", self.model

    @property
    def at_hand(self) -> bool:
        return at_hand("runs", self.run) and super().at_hand

    @property
    def formula(self) -> Hypothesis:
        """What is held against the scores."""
        return Hypothesis(self.model, NAMED[self.analysis], tuple(self.fields), self.combination)

    def measured(self, rerun: Rerun) -> Measured:
        run = locate("runs", self.run)
        both = self.parameters
        known = {**both, **self.official_parameters}, {**both, **self.rerun_parameters}
        found = held(run, rerun.lines, self.dataset, self.formula, known)
        if found.median > self.median:
            problem = f"the median error is {found.median:.2g}, above {self.median:g}"
            raise ToucheError(f"{problem} ({found.share:.1%} of the scores are met)")
        return Measured(found.share, remark=str(found))

    @classmethod
    def problem(cls, entry: Mapping[str, Any]) -> str:
        fields, parameters = entry.get("fields"), [entry.get(name, {}) for name in PARAMETERS]
        if wrong := wrong_text(entry, "model", "analysis"):
            return wrong
        if entry["model"] not in MODELS or entry["analysis"] not in NAMED:
            known = f"{', '.join(MODELS)}; {', '.join(NAMED)}"
            return f"needs a model and an analysis that touche identify knows ({known})"
        if not isinstance(fields, list) or not all(isinstance(each, str) for each in fields):
            return "needs a list of texts as its fields"
        if (len(fields), entry.get("combination", "")) not in ((1, ""), (2, SUM), (2, MAXIMUM)):
            return f"needs one field, or two and their combination, {SUM} or {MAXIMUM}"
        if not all(map(_are_parameters, parameters)) or not parameters[0]:
            return "needs parameters such as { mu = 2000 }"
        if not is_number(entry.get("median"), 1e-9, 1):
            return "needs a number above 0, and at most 1, as its median"
        return wrong_run(entry) or wrong_number(entry, PINNED, 1)


def _are_parameters(value: Any) -> bool:
    return isinstance(value, dict) and all(is_number(each, 1e-9, LARGEST) for each in value.values())


KINDS: Mapping[str, type[Expected]] = {
    kind.TABLE: kind for kind in (ExpectedScore, ExpectedFormula, ExpectedFigure, ExpectedRun)
}


def digest_of(run: Iterable[RunLine]) -> str:
    """What a ranking is, in 16 hexadecimal digits: those of its lines ``topic rank document``, as they stand.

    In the shell: ``awk '{print $1, $4, $3}' run.txt | sha256sum | head -c 16``.
    """
    lines = (f"{line.topic} {line.rank} {line.document}\n" for line in run)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
