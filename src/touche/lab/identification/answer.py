"""Decides which hypothesis about a run's settings is the answer, and describes it in records and
sentences.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from touche.documents.document_records import AnyDocument
from touche.lab.identification.counts import CandidateAnalysis
from touche.lab.identification.differentiable_models import BM25
from touche.lab.identification.fitting import TOLERANCE, Fit
from touche.lab.identification.hypotheses import BM25_OR_TFIDF
from touche.lab.identification.misses import Miss, misses
from touche.lab.identification.parameters import (
    DocumentFrequencies,
    Number,
    document_frequencies,
    shared_numbers,
)
from touche.lab.identification.samples import Sample
from touche.lab.identification.search import search
from touche.trec.framed import Shown, Table

if TYPE_CHECKING:
    from pandas import DataFrame

NOTHING = "No hypothesis stands out."
# A score counts as reproduced if its error is at most this; there is a share for each of the three limits.
WITHIN = (1e-5, 1e-4, 1e-3)
_NEXT = 5  # how many hypotheses are listed after the best one
# The number of scores minus the number of free parameters must be at least this, because fewer scores aren't
# enough evidence.
_FEWEST = 20
_MAJORITY = 0.75  # of the scores beyond the free parameters
_STANDARD_ERRORS = 2.0  # how large a difference must be to be significant


@dataclass(frozen=True)
class Candidate:
    """A hypothesis and how well it fits the scores.

    Attributes:
        hypothesis: the hypothesis in words.
        axes: the hypothesis' value on each axis of the search, such as model or analysis.
        documents: n, the number of documents with fitted scores.
        free_parameters: p, the number of free parameters. Numbers that follow from others aren't counted.
        floor: p / n, the share of scores that even a wrong hypothesis could reproduce, because each free
            parameter can be fitted to one score.
        shares: three numbers: the shares of scores that are reproduced with an error of at most 1e-5, 1e-4
            and 1e-3.
        median: the median error over all fitted scores, in the unit of the scores.
        differs: whether this candidate is significantly worse than the first one.
    """

    hypothesis: str
    axes: Mapping[str, str]
    documents: int
    free_parameters: int
    floor: float
    shares: tuple[float, ...]
    median: float
    differs: bool


@dataclass(frozen=True)
class TopicShare:
    """The share of a topic's scores that the first hypothesis reproduces within 1e-5."""

    topic: str
    title: str
    documents: int
    share: float


@dataclass(frozen=True)
class TermNumber:
    """The number that was fitted for a term in a field. Depending on the model, it's the term's weight, ln(mu
    P) or something else.
    """

    field: str
    term: str
    value: float


@dataclass(frozen=True)
class Answer(Shown):
    """A run's inferred settings.

    Attributes:
        in_run: how many of the run's documents are for the task's topics.
        decimals: how many decimals the scores in the file have; 7 if they aren't rounded.
        tried: how many hypotheses were tried.
        stands_out: whether the first candidate is the answer.
        is_outside: whether the run was probably made in a way that isn't among the hypotheses. This is the
            case if no hypothesis reproduces most of the scores, although there are enough of them. If there
            are too few scores, or if several models reproduce them, this is False, because then nothing is
            known about the scores' origin.
        reason: why the first candidate is or isn't the answer.
        candidates: the best candidate and the next five.
        nearest: the candidate with the smallest median error.
        undecided: for each axis, the values that fit the scores equally well; the best candidate's value
            comes first.
        numbers: the first candidate's parameters that are the same for all terms, such as mu.
        terms: the first candidate's fitted number for each term and field.
        collections: N and df by field, as far as whole numbers for them follow from the fitted numbers.
        topics: for each topic, the share of its scores that the first candidate reproduces.
        worst: the documents with the largest errors.
    """

    in_run: int
    decimals: int
    tried: int
    stands_out: bool
    is_outside: bool
    reason: str
    candidates: tuple[Candidate, ...]
    nearest: Candidate
    undecided: Mapping[str, tuple[str, ...]]
    numbers: tuple[Number, ...]
    terms: tuple[TermNumber, ...]
    collections: Mapping[str, DocumentFrequencies]
    topics: tuple[TopicShare, ...]
    worst: tuple[Miss, ...]

    def frame(self) -> "DataFrame":
        """Returns the best hypotheses as a pandas DataFrame. The first one is the answer if it stands out.

        Raises:
            ToucheError: if pandas isn't installed.
        """
        return Table(Candidate, self.candidates).frame()

    def _repr_html_(self) -> str | None:
        table = super()._repr_html_()
        if table is None:  # pandas isn't installed
            return None
        return f"<p>{escape(self.first_line)}</p>{table}"

    @property
    def first_line(self) -> str:
        """The first candidate with its parameters, or that no hypothesis stands out."""
        if not self.stands_out:
            return NOTHING
        name = self.candidates[0].hypothesis
        # BM25 and TF_IDF have different formulas for the weights of terms, so these tell which of the two it
        # is. If the formula is unknown, or not the same for all fields, both names are shown.
        models = {
            "Terrier's TF_IDF" if "Terrier" in frequencies.weight else BM25
            for frequencies in self.collections.values()
        }
        if len(models) == 1:
            name = name.replace(BM25_OR_TFIDF, models.pop())
        # Leave out numbers without a text: b, for example, is described together with k1.
        parameters = [str(number) for number in self.numbers if str(number)]
        return "; ".join([name, *parameters])

    def sentences(self) -> Iterator[str]:
        """Yields the sentences that are printed before and after the tables."""
        yield self.reason[0].upper() + self.reason[1:] + "."
        if self.stands_out:
            for axis, values in self.undecided.items():
                yield f"The scores do not decide on {axis}: {'; or '.join(values)}."
        else:
            yield f"{self.nearest.hypothesis} has the smallest median error, {self.nearest.median:.2g}."
        if self.is_outside:
            yield "The search found no model, tokenizer, field or re-ranking that makes these scores."
        for field, frequencies in self.collections.items():
            within = f" (within {frequencies.within})" if frequencies.within else ""
            yield (
                f"In {field} the weights are {frequencies.weight}: "
                f"df are whole numbers for N = {frequencies.documents:,}{within}."
            )


def answer(sample: Sample, documents: Iterable[AnyDocument] | None = None) -> Answer:
    """Infers the settings behind a sample's scores.

    Args:
        sample: the sample.
        documents: all documents in the dataset, or None. If they are the whole collection, their statistics
            are known, and the right formula reproduces all scores with them.

    Raises:
        ToucheError: if Lucene isn't installed, or fitting processes die.
    """
    fits, equal_analyses, tried = search(sample, documents)
    winner = fits[0]
    equal = _equal_fits(fits)
    stands_out, is_outside, reason = verdict(winner, equal)
    # Only for BM25 and TF_IDF are the fitted numbers weights from which document frequencies can be computed.
    has_frequencies = stands_out and winner.hypothesis.axes["model"] == BM25_OR_TFIDF
    return Answer(
        in_run=sample.in_run,
        decimals=sample.decimals,
        tried=tried,
        stands_out=stands_out,
        is_outside=is_outside,
        reason=reason,
        candidates=tuple(candidate(fit, equal) for fit in fits[: 1 + _NEXT]),
        nearest=candidate(min(fits, key=lambda fit: fit.median), equal),
        undecided=undecided(equal, equal_analyses),
        numbers=tuple(shared_numbers(winner)),
        terms=tuple(_terms(winner)),
        collections=document_frequencies(winner) if has_frequencies else {},
        topics=tuple(_topics(sample, winner)),
        worst=tuple(misses(winner, sample)),
    )


def _equal_fits(fits: Sequence[Fit]) -> list[Fit]:
    """Returns the first fit, which is the best one, and those that are as good.

    Closed forms have hardly any free parameters, so one of them is better even if it reproduces only one more
    score. Fits with free parameters are only better if the difference is significant.
    """
    winner, *others = fits
    if winner.hypothesis.formula:  # the best fit is a closed form, and so are all others then
        return [fit for fit in fits if fit.share() == winner.share()]
    return [winner, *(fit for fit in others if not differs(winner, fit))]


def candidate(fit: Fit, equal: Sequence[Fit]) -> Candidate:
    """Returns the record that describes a fit. ``equal`` contains the best fit and those that don't differ
    significantly from it.
    """
    return Candidate(
        hypothesis=str(fit.hypothesis),
        axes=fit.hypothesis.axes,
        documents=len(fit.errors),
        free_parameters=fit.free_parameters,
        floor=fit.floor,
        shares=tuple(map(fit.share, WITHIN)),
        median=fit.median,
        differs=not any(fit is other for other in equal),  # ``is`` and not ==, which would compare arrays
    )


def differs(a: Fit, b: Fit) -> bool:
    """Returns whether one fit reproduces significantly more scores than the other.

    Like McNemar's test, we count the documents that only one fit reproduces. The counts must differ by more
    than two standard errors plus the difference in free parameters, because each free parameter can reproduce
    one score for a wrong hypothesis. Mean errors aren't compared, because a few documents whose texts have
    changed would dominate them.
    """
    only_a = np.count_nonzero((a.errors <= TOLERANCE) & (b.errors > TOLERANCE))
    only_b = np.count_nonzero((b.errors <= TOLERANCE) & (a.errors > TOLERANCE))
    chance = _STANDARD_ERRORS * np.sqrt(only_a + only_b) + abs(a.free_parameters - b.free_parameters)
    return bool(abs(only_a - only_b) > chance)


def verdict(winner: Fit, equal: Sequence[Fit]) -> tuple[bool, bool, str]:
    """Decides whether the best fit is the answer.

    Args:
        winner: the best fit.
        equal: the fits that don't differ significantly from it.

    Returns:
        Whether the best fit is the answer, whether no hypothesis explains the scores (``is_outside``), and
        the reason as a clause.
    """
    reproduced = f"the best hypothesis reproduces {winner.share():.1%} of the scores"
    # A closed form has no free parameter for each term, so the right one must reproduce every score. If none
    # does, we can't tell: the right one may be among them, but with parameters that the fit didn't find.
    if winner.hypothesis.formula and winner.share() < 1:
        statistics = f"{reproduced} with the documents' statistics"
        return False, False, f"{statistics}; no hypothesis reproduces all scores"
    # Any hypothesis could reproduce as many scores as it has free parameters.
    scores_beyond = len(winner.errors) - winner.free_parameters
    if scores_beyond < _FEWEST:
        reproducible = f"all scores except {scores_beyond}, too few to decide"
        return False, False, f"its {winner.free_parameters} free parameters could reproduce {reproducible}"
    share_beyond = winner.gain / (1 - winner.floor)  # of the scores beyond the free parameters
    if share_beyond <= _MAJORITY:
        by_chance = f"its free parameters alone could reproduce {winner.floor:.1%}"
        return False, True, f"{reproduced}, but {by_chance}"
    other_models = {fit.hypothesis.axes["model"] for fit in equal} - {winner.hypothesis.axes["model"]}
    if other_models:
        listed = " and ".join(sorted(other_models))
        return False, False, f"the best hypothesis does not differ significantly from {listed}"
    if winner.hypothesis.formula:
        statistics = "the statistics of the documents"
        return True, False, f"all scores are reproduced with {statistics}, by no other model"
    evidence = f"{share_beyond:.1%} of the scores beyond the free parameters are reproduced"
    return True, False, f"{evidence}, significantly more than by any other model"


def undecided(
    fits: Sequence[Fit], equal_analyses: Mapping[CandidateAnalysis, Sequence[CandidateAnalysis]]
) -> dict[str, tuple[str, ...]]:
    """Returns the values that don't differ significantly from the winner's, by axis, the winner's first.

    Args:
        fits: the winner, then the fits that don't differ significantly from it.
        equal_analyses: analyses with equal results on the sample, by the one that represents them.
    """
    hypotheses = [fit.hypothesis for fit in fits]
    with_equal_analyses = [
        replace(hypothesis, analysis=analysis)
        for hypothesis in hypotheses
        for analysis in equal_analyses.get(hypothesis.analysis, ())
    ]
    all_axes = [hypothesis.axes for hypothesis in [*hypotheses, *with_equal_analyses]]
    # A dictionary removes duplicates and keeps the order, so the best fit's value comes first.
    values = {axis: tuple(dict.fromkeys(axes[axis] for axes in all_axes)) for axis in all_axes[0]}
    return {axis: different for axis, different in values.items() if len(different) > 1}


def _terms(fit: Fit) -> Iterator[TermNumber]:
    """Yields each term's fitted number in each field."""
    problem = fit.problem
    for field, counts, columns in zip(
        fit.hypothesis.fields, problem.counts, problem.own_columns, strict=True
    ):
        for term, value in zip(counts.vocabulary, fit.numbers[columns], strict=True):
            yield TermNumber(field, term, float(value))


def _topics(sample: Sample, fit: Fit) -> Iterator[TopicShare]:
    """Yields each topic's share of reproduced scores."""
    for topic in dict.fromkeys(sample.topics):
        errors = fit.errors[np.array(sample.topics) == topic]
        yield TopicShare(
            topic=topic,
            title=sample.titles[topic],
            documents=len(errors),
            share=float(np.mean(errors <= TOLERANCE)),
        )
