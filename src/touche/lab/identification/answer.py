"""A run's inferred settings, as records and in sentences."""

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
WITHIN = (1e-5, 1e-4, 1e-3)  # we list the shares of scores reproduced within these errors
_NEXT = 5  # hypotheses listed after the winner
_FEWEST = 20  # scores beyond the free parameters; fewer aren't enough evidence
_MAJORITY = 0.75  # of the scores beyond the free parameters
_STANDARD_ERRORS = 2.0  # for a significant difference


@dataclass(frozen=True)
class Candidate:
    """A hypothesis and how well it fits the scores.

    Attributes:
        hypothesis: in words.
        axes: its values on the search's axes.
        documents: n, the number of documents with fitted scores.
        free_parameters: p, without dependent numbers.
        floor: p / n, the share of scores that free parameters could reproduce for a wrong hypothesis.
        shares: the shares of scores reproduced within 1e-5, 1e-4 and 1e-3.
        median: the median error.
        differs: whether it differs significantly from the first candidate.
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
    """A term's number in a field. What it means depends on the model, e.g. a weight or ln(mu P)."""

    field: str
    term: str
    value: float


@dataclass(frozen=True)
class Answer(Shown):
    """A run's inferred settings.

    Attributes:
        in_run: how many of the run's documents are for the task's topics.
        decimals: the scores' decimals in the file; 7 if they aren't rounded.
        tried: the number of hypotheses.
        stands_out: whether the first candidate is the answer.
        is_outside: whether the search found no hypothesis that reproduces most of the scores beyond its free
            parameters, though there are enough. If there are too few, or several models reproduce them,
            nothing is known about the scores' origin.
        reason: why the first candidate is or isn't the answer.
        candidates: the best candidate and the next five.
        nearest: the candidate with the smallest median error.
        undecided: values that the scores don't distinguish, by axis, the best candidate's first.
        numbers: the first candidate's numbers shared by all terms.
        terms: the first candidate's numbers for each term.
        collections: N and df by field, where they are whole numbers.
        topics: the shares by topic.
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
        # The weights' formula tells BM25 from TF_IDF. If it's unknown or differs between fields, the
        # name keeps both.
        models = {
            "Terrier's TF_IDF" if "Terrier" in frequencies.weight else BM25
            for frequencies in self.collections.values()
        }
        if len(models) == 1:
            name = name.replace(BM25_OR_TFIDF, models.pop())
        # Some numbers have no text, such as b, which is in k1's.
        parameters = [str(number) for number in self.numbers if str(number)]
        return "; ".join([name, *parameters])

    def sentences(self) -> Iterator[str]:
        """Yields the sentences around the tables."""
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
        documents: all the dataset's documents, or None. If they are the whole collection, a formula with
            their statistics can reproduce all scores.

    Raises:
        ToucheError: if Lucene isn't installed, or fitting processes die.
    """
    fits, equal_analyses, tried = search(sample, documents)
    winner = fits[0]
    equal = _equal_fits(fits)
    stands_out, is_outside, reason = verdict(winner, equal)
    # Only BM25's and TF_IDF's fitted numbers are weights that document frequencies follow from.
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
    """Returns the winner, which is the first fit, and the fits that are as good.

    A closed form leaves hardly any free parameters, so one more reproduced score makes a fit better. With
    free parameters, the difference must be significant.
    """
    winner, *others = fits
    if winner.hypothesis.formula:  # then all fits are closed forms
        return [fit for fit in fits if fit.share() == winner.share()]
    return [winner, *(fit for fit in others if not differs(winner, fit))]


def candidate(fit: Fit, equal: Sequence[Fit]) -> Candidate:
    """Describes a fit. ``equal`` contains the winner and fits that don't differ significantly from it."""
    return Candidate(
        hypothesis=str(fit.hypothesis),
        axes=fit.hypothesis.axes,
        documents=len(fit.errors),
        free_parameters=fit.free_parameters,
        floor=fit.floor,
        shares=tuple(map(fit.share, WITHIN)),
        median=fit.median,
        differs=not any(fit is other for other in equal),  # == would compare arrays
    )


def differs(a: Fit, b: Fit) -> bool:
    """Returns whether one fit reproduces significantly more scores than the other.

    Like McNemar's test, we count the documents that only one fit reproduces. The counts must differ by more
    than two standard errors plus the difference in free parameters, because each free parameter can reproduce
    one score for a wrong hypothesis. We don't compare mean errors: a few documents with other texts would
    dominate them.
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
    # A formula needs no free parameter per term, so the right one reproduces every score. But its fit can
    # miss the right parameters, so the right one may be among those that don't.
    if winner.hypothesis.formula and winner.share() < 1:
        statistics = f"{reproduced} with the documents' statistics"
        return False, False, f"{statistics}; no hypothesis reproduces all scores"
    scores_beyond = len(winner.errors) - winner.free_parameters  # any hypothesis could reproduce the others
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
    # A dict keeps the order, so the winner's value comes first.
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
