"""Hypotheses about a run's settings: model, analysis, fields and how they combine, lengths, weight."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from touche.lab.identification.counts import ANALYSES, CandidateAnalysis
from touche.lab.identification.differentiable_models import BM25, MODELS
from touche.lab.identification.samples import ONE_FIELD

SUM, MAXIMUM = "sum", "maximum"
WEIGHTS = (0.5, 0.25)  # besides 1 and a free weight
OFFSETS = (-1, 1, 2, 3, 4, 5)  # how many more tokens an engine may count than we do
BM25_OR_TFIDF = f"{BM25} or Terrier's TF_IDF"


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis about a run's settings.

    Attributes:
        model: a name in ``MODELS``.
        analysis: how texts are analysed.
        fields: one or two field names.
        combination: ``SUM`` or ``MAXIMUM`` for two fields, empty for one.
        lengths: a name in ``LENGTHS``.
        offset: the engine's lengths minus ours, in tokens.
        weight: the second field's weight, or None if it's free. It's 1 for a single field, and in linear
            models with free parameters, where it can't be inferred.
        formula: the name of its closed form, which uses known statistics; empty if each term gets a free
            number.
    """

    model: str
    analysis: CandidateAnalysis
    fields: tuple[str, ...]
    combination: str = ""
    lengths: str = "one byte"
    offset: int = 0
    weight: float | None = 1.0
    formula: str = ""

    def __str__(self) -> str:
        axes = self.axes
        return f"{axes['model']} of {axes['fields']}, {self.analysis}, {axes['lengths']}"

    @property
    def axes(self) -> dict[str, str]:
        """Its values on the search's axes, in words."""
        offset = f" {signed_tokens(self.offset)}" if self.offset else ""
        # With free parameters, BM25 and TF_IDF are the same.
        model = BM25_OR_TFIDF if self.model == BM25 else self.model
        return {
            "model": self.formula or model,
            "stop words": self.analysis.stopping,
            "stems": self.analysis.stemming,
            "fields": self._fields,
            "lengths": f"lengths {_LENGTHS[self.lengths]}{offset}",
        }

    @property
    def shape(self) -> tuple[str, tuple[str, ...], str]:
        """Its formula and fields, regardless of analysis, lengths and weight."""
        return self.formula, self.fields, self.combination

    @property
    def _fields(self) -> str:
        """The fields in words, with their combination and the second one's weight."""
        if not self.combination:
            return self.fields[0]
        first, second = self.fields
        if self.weight == 1:
            return f"{self.combination} of {first} and {second}"
        weight = "a free weight" if self.weight is None else f"{self.weight:g}"
        return f"{self.combination} of {first} and {weight} times {second}"

    def relatives(self, others: Iterable["Hypothesis"]) -> Iterator["Hypothesis"]:
        """Yields the hypothesis' variants, and the searched hypotheses that differ from it in a single part,
        such as the stemmer.

        The latter take over its offset, and its weight if they have the same fields.

        Args:
            others: the searched hypotheses, whose weights are 1 or free and whose offsets are 0.
        """
        yield from self.variants()
        # The searched counterpart has no offset, and its weight is 1 or free.
        searched = replace(self, offset=0, weight=None if self.weight is None else 1.0)
        for other in others:
            if len(searched.axes.items() - other.axes.items()) != 1:
                continue
            has_same_fields = (other.fields, other.weight) == (searched.fields, searched.weight)
            # In a linear model, the weight can't be inferred and stays as searched.
            keeps_weight = has_same_fields and not MODELS[other.model].linear
            yield replace(other, offset=self.offset, weight=self.weight if keeps_weight else other.weight)

    def variants(self) -> Iterator["Hypothesis"]:
        """Yields the hypothesis with each weight that can be inferred, and with each offset except 0."""
        if self.combination and not MODELS[self.model].linear:
            yield from (replace(self, weight=weight) for weight in (1.0, *WEIGHTS, None))
        yield from (replace(self, offset=offset) for offset in OFFSETS)


def signed_tokens(number: int) -> str:
    """Describes a difference in length, such as ``+1 token``."""
    return f"{number:+d} token{'s' if abs(number) > 1 else ''}"


# How engines store lengths, in words.
_LENGTHS = {"one byte": "in one byte", "before Lucene 7": "as before Lucene 7", "exact": "exact"}


def hypotheses_on(
    fields: Sequence[str],
    model: str,
    analysis: CandidateAnalysis,
    stored_lengths: Sequence[str],
    formula: str = "",
) -> Iterator[Hypothesis]:
    """Yields the searched hypotheses for a model and an analysis: single fields, then pairs of fields."""
    pairs = [(fields[0], other) for other in fields[1:] if other != ONE_FIELD]
    for lengths in stored_lengths:
        without_fields = Hypothesis(model, analysis, fields=(), lengths=lengths, formula=formula)
        yield from (replace(without_fields, fields=(field,)) for field in fields)
        for pair, combination, weight in product(pairs, (SUM, MAXIMUM), (1.0, None)):
            yield replace(without_fields, fields=pair, combination=combination, weight=weight)


def space(fields: Sequence[str]) -> Iterator[Hypothesis]:
    """Yields all hypotheses on documents with these fields.

    Weights are 1 or free; ``variants`` yields others.
    """
    for analysis, (name, model) in product(ANALYSES, MODELS.items()):
        for hypothesis in hypotheses_on(fields, name, analysis, model.lengths):
            # In a linear model, a free weight cannot be inferred.
            if hypothesis.weight is not None or not model.linear:
                yield hypothesis
