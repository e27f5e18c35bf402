"""Checks that formulas explain the scores of official runs and of reruns.

A baseline's formulas.toml, next to its expected.toml, has the formulas.

If only part of the corpus is available, we fit the numbers that depend on the whole corpus: a collection
probability or weight per term and field, the same for all topics. Everything else follows from the formula.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from msgspec import Meta, field

from touche import tasks
from touche.baselines.expected import Expected, Tolerance, checked_entries
from touche.baselines.loader import baseline_folder
from touche.data.datasets import open_dataset
from touche.data.places import find, has_dataset, locate, remedy_for, shipped_baselines
from touche.data.public_run_sources import public_run_sources
from touche.data.remedies import ELSEWHERE, remedy
from touche.errors import ToucheError, choice
from touche.io.progress import watched
from touche.io.toml import Name, Positive, Share, Strict, read_record
from touche.lab.identification.counts import NAMED
from touche.lab.identification.fitting import Fit
from touche.lab.identification.hypotheses import Hypothesis
from touche.lab.identification.parameters import shared_numbers
from touche.lab.identification.samples import Array, Sample, sample_of
from touche.lab.identification.search import fits_of
from touche.regression.comparing import outcome_of
from touche.regression.outcomes import MISSING, Outcome, Regression, failed
from touche.runners.baseline_runs import run
from touche.trec.columns import Run
from touche.trec.scores_files import read_scores

_LEAST_RERUN_SHARE = 0.999  # share of a rerun's scores that the formula must reproduce; the rest is rounding
_MAX_RELATIVE_ERROR = 1e-4  # for a parameter
FORMULAS_FILE = "formulas.toml"

Parameters = Annotated[dict[str, Positive], Meta(min_length=1)]
Model = Literal["LMDirichlet", "BM25", "Lucene's classic", "DPH", "DLH", "PL2"]
"""The names in ``touche.lab.identification.differentiable_models.MODELS``."""


class ExpectedFormula(Expected, kw_only=True, frozen=True):
    """A formula that an official run's and the rerun's scores follow; the value is the share of such scores.

    Attributes:
        run: a run in runs/, or a ``*.tsv`` file with topic, document and score on each line.
        model, analysis, fields, combination: the formula, as in ``touche.lab.identification.hypotheses``.
        parameters: parameters that must be inferred from both runs' scores.
        official_parameters, rerun_parameters: parameters of only one run, because they depend on the
            collection.
        official_mean_lengths, rerun_mean_lengths: known mean field lengths in one run's collection; then
            BM25's k1 and b are parameters.
        median: the largest median error that passes.
        pinned, tolerance: the share of reproduced scores, and the largest difference.
    """

    TABLE: ClassVar[str] = "formula"

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

    def checked(self) -> Self:
        has_two_fields = len(self.fields) == 2
        if has_two_fields != bool(self.combination):
            problem = "fields and combination do not fit"
            raise ValueError(f"{problem}; write one field, or two and their combination")
        return self

    @property
    def value_name_and_evaluator(self) -> tuple[str, str]:
        return "official scores", self.model


class _File(Strict, frozen=True):
    """A formulas.toml."""

    formula: Annotated[tuple[ExpectedFormula, ...], Meta(min_length=1)]


def read_formulas(baseline: str) -> list[ExpectedFormula]:
    """Returns the entries in a baseline's formulas.toml; none if there is no such file.

    Raises:
        InputError: if the file is broken, or an entry is incomplete or contains unknown names.
    """
    path = baseline_folder(baseline) / FORMULAS_FILE
    if not path.exists():
        return []
    return checked_entries(path, baseline, {ExpectedFormula.TABLE: read_record(path, _File).formula})


def check_formulas(baselines: Sequence[str], log: Callable[[str], None]) -> Regression:
    """Checks all formulas of some baselines. Each baseline runs in this process.

    Args:
        baselines: names or paths; if empty, all that ship.
        log: called with each run's name.

    Raises:
        ToucheError: if there is no such baseline, or none of these has a formula.
    """
    formulas = list[ExpectedFormula]()
    outcomes = list[Outcome]()
    for name in baselines or shipped_baselines():
        baseline_folder(name)  # raises an error for an unknown name
        try:
            formulas += read_formulas(name)
        except ToucheError as error:
            outcomes.append(failed(Expected(baseline=name), error))
    if not formulas and not outcomes:
        raise ToucheError(f"these baselines have no {FORMULAS_FILE}; choose others")
    outcomes += watched(_checked(formulas, log), "checking", "formulas", len(formulas))
    return Regression(Outcome, tuple(outcomes))


def _checked(formulas: Sequence[ExpectedFormula], log: Callable[[str], None]) -> Iterator[Outcome]:
    """Yields each formula's outcome. An error is an outcome too."""
    for entry in formulas:
        missing = [*_missing_data(entry)]
        if missing:
            yield Outcome(entry, MISSING, remark=", ".join(missing))
            continue
        log(f"{entry.command} on {entry.dataset}")
        try:
            options: dict[str, Any] = entry.options  # of the method, so mypy doesn't know their types
            share, remark = formula_fit(entry, run(entry.baseline, entry.dataset, **options))
            yield outcome_of(entry, share, remark=remark)
        except Exception as error:
            yield failed(entry, error)


def _missing_data(entry: ExpectedFormula) -> Iterator[str]:
    """Yields the dataset and the official run of an entry if they are missing, each with how to get it."""
    if not has_dataset(entry.dataset):
        yield f"{entry.dataset} ({remedy_for([entry.dataset])})"
    if find("runs", entry.run) is None:
        path = f"runs/{entry.run}"
        if any(source.path == path for source in public_run_sources([entry.dataset])):
            task, _ = tasks.dataset(entry.dataset)
            yield f"{path} (get it with: touche data fetch {task.id} --runs, or {ELSEWHERE})"
        else:
            yield f"{path} ({remedy(path)})"


def formula_fit(entry: ExpectedFormula, rerun: Run) -> tuple[float, str]:
    """Fits an entry's formula to the scores of its official run and of a rerun.

    The remark gives the number of official scores and of free parameters, the median error, Kendall's tau
    between both orders (mean over topics), and the share of the rerun's scores that the formula reproduces.

    Part of the dataset's documents is enough. Only the official run's topics count.

    Returns:
        The share of official scores that the formula reproduces within 1e-5, and the remark.

    Raises:
        ToucheError: if the rerun doesn't follow the formula, a parameter of either run differs, or the median
            error is too large.
    """
    hypothesis = Hypothesis(
        model=entry.model,
        analysis=NAMED[entry.analysis],
        fields=entry.fields,
        combination=entry.combination,
    )
    official = read_scores(locate("runs", entry.run))
    topics = {line.topic for line in official}
    lines = [line for line in rerun if line.topic in topics]
    source = open_dataset(entry.dataset)
    ids = {line.document for line in chain(official, lines)}
    documents = [document for document in source.documents if document.id in ids]  # read once for both runs
    official_sample = sample_of(
        official, source.topics, documents, entry.dataset, entry.official_mean_lengths
    )
    rerun_sample = sample_of(lines, source.topics, documents, entry.dataset, entry.rerun_mean_lengths)
    official_fit, rerun_fit = fits_of(hypothesis, [official_sample, rerun_sample])
    rerun_share = rerun_fit.share()
    if rerun_share < _LEAST_RERUN_SHARE:
        problem = f"{hypothesis} reproduces only {rerun_share:.1%} of the rerun's own scores"
        raise ToucheError(f"{problem}; correct the baseline, or its entry in {FORMULAS_FILE}")
    _check_parameters(rerun_fit, entry.parameters | entry.rerun_parameters, "the rerun")
    _check_parameters(official_fit, entry.parameters | entry.official_parameters, "the official run")
    share = official_fit.share()
    if official_fit.median > entry.median:
        problem = f"the median error is {official_fit.median:.2g}, above {entry.median:g}"
        raise ToucheError(f"{problem} ({share:.1%} of the scores are reproduced)")
    tau = _tau(official_sample, official_fit.problem.predicted(official_fit.numbers))
    fitted = f"{len(official_fit.errors)} scores with {official_fit.free_parameters} free parameters"
    errors = f"median error {official_fit.median:.2g}, tau {tau:.3f}"
    return share, f"{fitted}, {errors}; {rerun_share:.1%} of the rerun's own scores"


def _tau(sample: Sample, predicted: Array) -> float:
    """Returns Kendall's tau between a sample's scores and a formula's, averaged over topics.

    Topics with one score or only equal scores are left out, because tau is undefined.
    """
    from scipy.stats import kendalltau  # here, because it takes 620 ms

    topics = np.array(sample.topics)  # one per score
    rows_of_topics = [np.flatnonzero(topics == topic) for topic in dict.fromkeys(sample.topics)]
    taus = [
        kendalltau(sample.scores[rows], predicted[rows]).statistic for rows in rows_of_topics if len(rows) > 1
    ]
    return float(np.nanmean(taus))


def _check_parameters(fit: Fit, known: Mapping[str, float], whose: str) -> None:
    """Checks fitted parameters against their known values.

    Raises:
        ToucheError: if one differs, or the formula doesn't have it.
    """
    fitted = {number.name: number.value for number in shared_numbers(fit)}
    for name, value in known.items():
        if name not in fitted:
            raise ToucheError(f"{fit.hypothesis} has no parameter {name!r}; {choice(name, fitted)}")
        if abs(fitted[name] - value) > _MAX_RELATIVE_ERROR * value:
            problem = f"in the scores of {whose}, {name} is {fitted[name]:.6g} instead of {value:g}"
            raise ToucheError(f"{problem}; correct the baseline, or its entry in {FORMULAS_FILE}")
