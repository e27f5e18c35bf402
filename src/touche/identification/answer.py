"""The inferred settings of a run, as records and in sentences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from touche.documents.document_records import AnyDocument
from touche.identification.counts import CandidateAnalysis
from touche.identification.differentiable_models import BM25
from touche.identification.fitting import TOLERANCE, Fit
from touche.identification.hypotheses import BM25_OR_TFIDF
from touche.identification.misses import Miss, misses
from touche.identification.parameters import DocumentFrequencies, Number, document_frequencies, shared_numbers
from touche.identification.samples import Sample
from touche.identification.search import search
from touche.trec.framed import Shown, Table

if TYPE_CHECKING:
    from pandas import DataFrame

NOTHING = "No hypothesis stands out."
WITHIN = (1e-5, 1e-4, 1e-3)  # errors up to which the shares of reproduced scores are listed
_NEXT = 5  # hypotheses that are listed after the winner
_FEWEST = 20  # scores beyond the free numbers; fewer are not enough evidence
_MAJORITY = 0.75  # of the scores beyond the free numbers
_STANDARD_ERRORS = 2.0  # of a significant difference


@dataclass(frozen=True)
class Candidate:
    """A hypothesis and its fit to the scores.

    Attributes:
        hypothesis: in words.
        axes: its values on the axes of the search.
        documents: n, the number of documents with fitted scores.
        free_numbers: p, without numbers that are not independent.
        floor: p / n, the share of scores that free numbers could reproduce for a wrong hypothesis.
        shares: the shares of scores reproduced within 1e-5, 1e-4 and 1e-3.
        median: the median error.
        differs: whether it differs significantly from the first candidate.
    """

    hypothesis: str
    axes: Mapping[str, str]
    documents: int
    free_numbers: int
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
    """The number of a term in a field; the model decides on its meaning, such as a weight or ln(mu P)."""

    field: str
    term: str
    value: float


@dataclass(frozen=True)
class Answer(Shown):
    """The inferred settings of a run.

    Attributes:
        in_run: the number of the run's documents for topics of the task.
        decimals: the decimals of the scores in the file; 7 if they are not rounded.
        tried: the number of hypotheses.
        stands_out: whether the first candidate is the answer.
        reason: why it is the answer, or not.
        candidates: the best candidate and the next five.
        nearest: the candidate with the smallest median error.
        undecided: values that the scores do not distinguish, by axis; those of the best candidate first.
        numbers: the first candidate's numbers that all terms share.
        terms: the first candidate's numbers of terms.
        collections: N and df by field, where they are whole numbers.
        topics: the shares by topic.
        worst: the documents with the largest errors.
    """

    in_run: int
    decimals: int
    tried: int
    stands_out: bool
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
        """Returns the best hypotheses as a pandas DataFrame, the first one being the answer if it stands out.

        Raises:
            ToucheError: if pandas is not installed.
        """
        return Table(Candidate, self.candidates).frame()

    def _repr_html_(self) -> str | None:
        table = super()._repr_html_()
        if table is None:  # without pandas
            return None
        return f"<p>{escape(self.first_line)}</p>{table}"

    @property
    def first_line(self) -> str:
        """The first candidate with its parameters, or that no hypothesis stands out."""
        if not self.stands_out:
            return NOTHING
        name = self.candidates[0].hypothesis
        # The formula of the weights distinguishes BM25 from TF_IDF. If it is unknown, or differs between
        # fields, the name keeps both.
        models = {
            "Terrier's TF_IDF" if "Terrier" in frequencies.weight else BM25
            for frequencies in self.collections.values()
        }
        if len(models) == 1:
            name = name.replace(BM25_OR_TFIDF, models.pop())
        # Some numbers have no text, such as b, which is in the text of k1.
        parameters = [str(number) for number in self.numbers if str(number)]
        return "; ".join([name, *parameters])

    def sentences(self) -> Iterator[str]:
        """Yields the sentences next to the tables."""
        yield self.reason[0].upper() + self.reason[1:] + "."
        if self.stands_out:
            for axis, values in self.undecided.items():
                yield f"The scores do not decide on {axis}: {'; or '.join(values)}."
        else:
            yield f"{self.nearest.hypothesis} has the smallest median error, {self.nearest.median:.2g}."
            yield "A model, tokenizer, field or re-ranking outside of the search has made these scores."
        for field, frequencies in self.collections.items():
            within = f" (within {frequencies.within})" if frequencies.within else ""
            yield (
                f"In {field} the weights are {frequencies.weight}: "
                f"df are whole numbers for N = {frequencies.documents:,}{within}."
            )


def answer(sample: Sample, documents: Iterable[AnyDocument] | None = None) -> Answer:
    """Infers the settings of the run in a sample.

    Args:
        sample: the sample.
        documents: all documents of the dataset, or None. If they are the whole collection, a formula with
            their statistics may reproduce all scores.

    Raises:
        ToucheError: if Lucene is not installed, or fitting processes die.
    """
    result = search(sample, documents)
    fits = result.fits
    winner = fits[0]
    equal = _equal_fits(fits)
    stands_out, reason = verdict(winner, equal)
    # Only the fitted numbers of BM25 and TF_IDF are weights, from which document frequencies follow.
    has_frequencies = stands_out and winner.hypothesis.axes["model"] == BM25_OR_TFIDF
    return Answer(
        in_run=sample.in_run,
        decimals=sample.decimals,
        tried=result.tried,
        stands_out=stands_out,
        reason=reason,
        candidates=tuple(candidate(fit, equal) for fit in fits[: 1 + _NEXT]),
        nearest=candidate(min(fits, key=lambda fit: fit.median), equal),
        undecided=undecided(equal, result.equal_analyses),
        numbers=tuple(shared_numbers(winner)),
        terms=tuple(_terms(winner)),
        collections=document_frequencies(winner) if has_frequencies else {},
        topics=tuple(_topics(sample, winner)),
        worst=tuple(misses(winner, sample)),
    )


def _equal_fits(fits: Sequence[Fit]) -> list[Fit]:
    """Returns the winner, which is the first fit, and the fits that are as good.

    A formula in closed form has hardly any free number, so one reproduced score more makes a fit better. With
    free numbers a difference has to be significant.
    """
    winner, *others = fits
    if winner.hypothesis.formula:  # then all fits are in closed form
        return [fit for fit in fits if fit.share() == winner.share()]
    return [winner, *(fit for fit in others if not differs(winner, fit))]


def candidate(fit: Fit, equal: Sequence[Fit]) -> Candidate:
    """Describes a fit; ``equal`` has the winner and fits that do not differ significantly from it."""
    return Candidate(
        hypothesis=str(fit.hypothesis),
        axes=fit.hypothesis.axes,
        documents=len(fit.errors),
        free_numbers=fit.free_numbers,
        floor=fit.floor,
        shares=tuple(map(fit.share, WITHIN)),
        median=fit.median,
        differs=not any(fit is other for other in equal),  # == would compare arrays
    )


def differs(a: Fit, b: Fit) -> bool:
    """Returns whether one fit reproduces significantly more scores than the other.

    As in McNemar's test, it counts the documents that only one fit reproduces. The counts have to differ by
    more than two standard errors, plus the difference in free numbers, because each free number can reproduce
    one score of a wrong hypothesis. Mean errors are not compared, because a few documents with different
    texts would dominate them.
    """
    only_a = np.count_nonzero((a.errors <= TOLERANCE) & (b.errors > TOLERANCE))
    only_b = np.count_nonzero((b.errors <= TOLERANCE) & (a.errors > TOLERANCE))
    chance = _STANDARD_ERRORS * np.sqrt(only_a + only_b) + abs(a.free_numbers - b.free_numbers)
    return bool(abs(only_a - only_b) > chance)


def verdict(winner: Fit, equal: Sequence[Fit]) -> tuple[bool, str]:
    """Returns whether the best fit is the answer, and the reason as a clause.

    Args:
        winner: the best fit.
        equal: the fits that do not differ significantly from it.
    """
    reproduced = f"the best hypothesis reproduces {winner.share():.1%} of the scores"
    # A formula has no free number for each term, so the right one reproduces every score.
    if winner.hypothesis.formula and winner.share() < 1:
        return False, f"{reproduced} with the statistics of the documents; a similar model made the others"
    scores_beyond = len(winner.errors) - winner.free_numbers  # any hypothesis could reproduce the others
    if scores_beyond < _FEWEST:
        reproducible = f"all scores except {scores_beyond}, too few to decide"
        return False, f"its {winner.free_numbers} free numbers could reproduce {reproducible}"
    share_beyond = winner.gain / (1 - winner.floor)  # of the scores beyond the free numbers
    if share_beyond <= _MAJORITY:
        return False, f"{reproduced}, but its free numbers alone could reproduce {winner.floor:.1%}"
    other_models = {fit.hypothesis.axes["model"] for fit in equal} - {winner.hypothesis.axes["model"]}
    if other_models:
        listed = " and ".join(sorted(other_models))
        return False, f"the best hypothesis does not differ significantly from {listed}"
    if winner.hypothesis.formula:
        return True, "all scores are reproduced with the statistics of the documents, by no other model"
    evidence = f"{share_beyond:.1%} of the scores beyond the free numbers are reproduced"
    return True, f"{evidence}, significantly more than by any other model"


def undecided(
    fits: Sequence[Fit], equal_analyses: Mapping[CandidateAnalysis, Sequence[CandidateAnalysis]]
) -> dict[str, tuple[str, ...]]:
    """Returns the values that do not differ significantly from the winner's, by axis; the winner's first.

    Args:
        fits: the winner, then the fits that do not differ significantly from it.
        equal_analyses: analyses with equal results on the sample, by the analysis that represents them.
    """
    hypotheses = [fit.hypothesis for fit in fits]
    with_equal_analyses = [
        replace(hypothesis, analysis=analysis)
        for hypothesis in hypotheses
        for analysis in equal_analyses.get(hypothesis.analysis, ())
    ]
    all_axes = [hypothesis.axes for hypothesis in [*hypotheses, *with_equal_analyses]]
    # A dict keeps the order, so that the winner's value is the first one.
    values = {axis: tuple(dict.fromkeys(axes[axis] for axes in all_axes)) for axis in all_axes[0]}
    return {axis: different for axis, different in values.items() if len(different) > 1}


def _terms(fit: Fit) -> Iterator[TermNumber]:
    """Yields the fitted number of each term in each field."""
    problem = fit.problem
    for field, counts, columns in zip(
        fit.hypothesis.fields, problem.counts, problem.own_columns, strict=True
    ):
        for term, value in zip(counts.vocabulary, fit.numbers[columns], strict=True):
            yield TermNumber(field, term, float(value))


def _topics(sample: Sample, fit: Fit) -> Iterator[TopicShare]:
    """Yields the share of reproduced scores of each topic."""
    for topic in dict.fromkeys(sample.topics):
        errors = fit.errors[np.array(sample.topics) == topic]
        yield TopicShare(
            topic=topic,
            title=sample.titles[topic],
            documents=len(errors),
            share=float(np.mean(errors <= TOLERANCE)),
        )
