"""Checks that a formula explains the scores of an official run and of a rerun.

If only part of the corpus is available, we fit the numbers that depend on the whole corpus: a collection
probability or weight per term and field, the same for all topics. Everything else follows from the formula.
"""

from collections.abc import Mapping
from itertools import chain

import numpy as np

from touche.baselines.expected import ExpectedFormula
from touche.data.datasets import open_dataset
from touche.data.places import locate
from touche.errors import ToucheError, choice
from touche.lab.identification.counts import NAMED
from touche.lab.identification.fitting import Fit
from touche.lab.identification.hypotheses import Hypothesis
from touche.lab.identification.parameters import shared_numbers
from touche.lab.identification.samples import Array, Sample, sample_of
from touche.lab.identification.search import fits_of
from touche.trec.columns import Run
from touche.trec.scores_files import read_scores

_LEAST_RERUN_SHARE = 0.999  # share of a rerun's scores that the formula must reproduce; the rest is rounding
_MAX_RELATIVE_ERROR = 1e-4  # for a parameter


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
        raise ToucheError(f"{problem}; correct the baseline, or its entry in expected.toml")
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
            raise ToucheError(f"{problem}; correct the baseline, or its entry in expected.toml")
