"""The answer to what made a run, as plain records and in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from touche.formats.framed import Table
from touche.identify.counts import Analysis
from touche.identify.fitting import MET, Fit
from touche.identify.hypotheses import BM25_OR_TFIDF
from touche.identify.misses import Miss, misses
from touche.identify.models import BM25
from touche.identify.parameters import DocumentFrequencies, Number, document_frequencies, shared_numbers
from touche.identify.samples import Sample
from touche.identify.search import search

if TYPE_CHECKING:
    from pandas import DataFrame

NOTHING = "No hypothesis stands out."
WITHIN = (1e-5, 1e-4, 1e-3)
_NEXT = 5  # hypotheses after the winner
_FEWEST = 20  # scores that free numbers cannot account for; fewer do not decide
_MAJORITY = 0.5  # of the scores that free numbers cannot account for
_ERRORS = 2.0  # standard errors


@dataclass(frozen=True)
class Candidate:
    """A hypothesis, and how well it meets the scores.

    Attributes:
        hypothesis: in words.
        axes: the same, by the axes of the search.
        documents: n, whose scores it was fitted to.
        free_numbers: p; of those that only go together, one.
        floor: p / n, the share that free numbers could meet if the hypothesis were wrong.
        shares: of the scores that are met within 1e-5, 1e-4 and 1e-3.
        median: the median error.
        told_apart: whether it can be told from the first one.
    """

    hypothesis: str
    axes: Mapping[str, str]
    documents: int
    free_numbers: int
    floor: float
    shares: tuple[float, ...]
    median: float
    told_apart: bool

    @classmethod
    def of(cls, fit: Fit, equal: Sequence[Fit]) -> "Candidate":
        """Describes a fit, next to the winner and those that cannot be told from it."""
        hypothesis, shares = fit.hypothesis, tuple(map(fit.share, WITHIN))
        n, p, is_other = len(fit.errors), fit.rank, all(fit is not each for each in equal)
        return cls(str(hypothesis), hypothesis.axes, n, p, fit.floor, shares, fit.median, is_other)


@dataclass(frozen=True)
class TopicShare:
    """The share of a topic's scores that the first hypothesis meets within 1e-5."""

    topic: str
    title: str
    documents: int
    share: float


@dataclass(frozen=True)
class TermNumber:
    """The number of a term in a field: ln(mu P), the weight, or log2(avgdl N / ttf)."""

    field: str
    term: str
    value: float


@dataclass(frozen=True)
class Answer:
    """What made a run.

    Attributes:
        in_run: documents of the run for topics of the task.
        decimals: those that the scores in the file were rounded to; 7 where they were not.
        tried: how many hypotheses.
        stands_out: whether the first candidate is the answer.
        reason: why it is, or is not.
        candidates: the best one, and the next five.
        nearest: the one with the smallest median error.
        undecided: by axis, values that cannot be told apart, the best one's first.
        numbers: of the first candidate, those that all terms share.
        terms: of the first candidate, those of terms.
        collections: by field, N and df where they come out as whole numbers.
        topics: the shares per topic.
        worst: the documents whose scores are missed most.
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

    @property
    def first_line(self) -> str:
        """The first candidate with its parameters; that nothing stands out, where nothing does."""
        if not self.stands_out:
            return NOTHING
        name, weights = self.candidates[0].hypothesis, [each.weight for each in self.collections.values()]
        models = {"Terrier's TF_IDF" if "Terrier" in weight else BM25 for weight in weights}
        if len(models) == 1:
            name = name.replace(BM25_OR_TFIDF, models.pop())
        return "; ".join(filter(None, [name, *map(str, self.numbers)]))

    def sentences(self) -> Iterator[str]:
        """Yields what is said next to the tables."""
        yield self.reason[0].upper() + self.reason[1:] + "."
        if self.stands_out:
            for axis, values in self.undecided.items():
                yield f"The scores do not decide on {axis}: {'; or '.join(values)}."
        else:
            yield f"Nearest by its median error, {self.nearest.median:.2g}, is {self.nearest.hypothesis}."
            yield "A model, tokenizer or field outside of the search made such scores, or re-ranking did."
        for field, known in self.collections.items():
            most = f"N = {known.documents:,}" + (f" (within {known.within})" if known.within else "")
            yield f"In {field} the weights are {known.weight}: df are whole numbers for {most}."


def answer(sample: Sample) -> Answer:
    """Searches for what made the scores of a sample.

    Raises:
        ToucheError: if Lucene is not installed, or the processes that fit die.
    """
    fits, twins, tried = search(sample)
    winner, *others = fits
    equal = [winner, *(fit for fit in others if not told_apart(winner, fit))]
    stands_out, reason = verdict(winner, equal)
    return Answer(
        sample.in_run,
        sample.decimals,
        tried,
        stands_out,
        reason,
        tuple(Candidate.of(fit, equal) for fit in fits[: 1 + _NEXT]),
        Candidate.of(min(fits, key=lambda fit: fit.median), equal),
        undecided(equal, twins),
        tuple(shared_numbers(winner)),
        tuple(_terms(winner)),
        document_frequencies(winner) if stands_out and winner.hypothesis.model == BM25 else {},
        tuple(_topics(sample, winner)),
        tuple(misses(winner, sample)),
    )


def told_apart(a: Fit, b: Fit) -> bool:
    """Whether one meets clearly more scores than the other.

    Counted are the documents that only one of them meets, as in McNemar's test: the two counts have to differ
    by more than two standard errors, and by more than the one has free numbers beyond the other. Mean errors
    are not compared, because a few documents whose text differs between two copies of a corpus rule those.
    """
    met_a, met_b = a.errors <= MET, b.errors <= MET
    only_a, only_b = int(np.sum(met_a & ~met_b)), int(np.sum(met_b & ~met_a))
    freedom = abs(a.rank - b.rank)
    return bool(abs(only_a - only_b) > _ERRORS * np.sqrt(only_a + only_b) + freedom)


def verdict(winner: Fit, equal: Sequence[Fit]) -> tuple[bool, str]:
    """Judges whether the best fit is the answer, and explains why.

    Args:
        winner: the best fit.
        equal: those that cannot be told from it.
    """
    beyond = winner.gain / max(1 - winner.floor, 1e-9)  # of what free numbers cannot account for
    models = {fit.hypothesis.axes["model"] for fit in equal} - {winner.hypothesis.axes["model"]}
    if (left := len(winner.errors) - winner.rank) < _FEWEST:
        return (
            False,
            f"its {winner.rank} free numbers could meet all scores except {left}, which do not decide",
        )
    if beyond <= _MAJORITY:
        share = f"the best one meets {winner.share():.1%} of the scores"
        return False, f"{share}, where its free numbers alone could meet {winner.floor:.1%}"
    if models:
        return False, f"the best one cannot be told from {' and '.join(sorted(models))}"
    met = f"{beyond:.1%} of the scores that free numbers cannot account for are met"
    return True, f"{met}, and every other model can be told from it"


def undecided(
    fits: Sequence[Fit], twins: Mapping[Analysis, Sequence[Analysis]]
) -> dict[str, tuple[str, ...]]:
    """Lists, by axis, the values that cannot be told from the winner's, which comes first.

    Args:
        fits: the winner, then those that cannot be told from it.
        twins: analyses that are the same on the sample, by the one that stands for them.
    """
    equal = [fit.hypothesis for fit in fits]
    equal += [replace(each, analysis=twin) for each in equal for twin in twins.get(each.analysis, ())]
    values = {axis: tuple(dict.fromkeys(each.axes[axis] for each in equal)) for axis in equal[0].axes}
    return {axis: of_axis for axis, of_axis in values.items() if len(of_axis) > 1}


def _terms(fit: Fit) -> Iterator[TermNumber]:
    problem = fit.problem
    for field, counts, own in zip(fit.hypothesis.fields, problem.counts, problem.own_columns, strict=True):
        for term, value in zip(counts.vocabulary, fit.numbers[own], strict=True):
            yield TermNumber(field, term, float(value))


def _topics(sample: Sample, fit: Fit) -> Iterator[TopicShare]:
    for topic in dict.fromkeys(sample.topics):
        met = fit.errors[np.array(sample.topics) == topic] <= MET
        yield TopicShare(topic, sample.titles[topic], len(met), float(met.mean()))
