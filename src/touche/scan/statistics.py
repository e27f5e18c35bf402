"""Statistics of a whole collection, which are the sums of its parts' statistics."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from touche.scan.kernel import Counts

UNKNOWN = -1  # stands for a number that isn't known
Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Term:
    """A term's statistics in a field. Unknown numbers are NaN.

    Attributes:
        df: the number of documents that contain the term.
        ttf: how often the term occurs in all documents together.
        documents: how many documents have at least one token (N in formulas).
        tokens: the number of tokens in all documents together.
        weight: the term's frequency in the title times the field's weight, as float32.
    """

    df: float
    ttf: float
    documents: float
    tokens: int
    weight: float = 1.0

    @property
    def probability(self) -> float:
        """The term's share of all tokens, with 1 added to both numbers like in Lucene: DirichletLM's P(t)."""
        return (self.ttf + 1) / (self.tokens + 1)

    @property
    def mean_length(self) -> float:
        """The mean document length in tokens (avgdl in formulas)."""
        return self.tokens / self.documents


@dataclass(frozen=True)
class Statistics:
    """A field's statistics. You can add the statistics of two groups of documents.

    Attributes:
        documents: how many documents have at least one token.
        tokens: the number of tokens.
        df: how many documents contain each term.
        ttf: each term's frequency in all documents.
    """

    documents: int
    tokens: int
    df: Integers
    ttf: Integers

    @classmethod
    def from_counts(cls, counts: Counts) -> "Statistics":
        """Returns some documents' statistics.

        Args:
            counts: their counts.
        """
        # At each posting's index, the sum of tf over all postings before it. The last element is the sum over
        # all postings.
        tf_before = np.concatenate([[0], np.cumsum(counts.tf, dtype=np.int64)])
        return cls(
            documents=int(np.count_nonzero(counts.lengths)),
            tokens=int(counts.lengths.sum(dtype=np.int64)),
            df=np.diff(counts.offsets),
            ttf=np.diff(tf_before[counts.offsets]),
        )

    def __add__(self, other: "Statistics") -> "Statistics":
        """Adds up the statistics of two groups of documents."""
        return Statistics(
            documents=self.documents + other.documents,
            tokens=self.tokens + other.tokens,
            df=self.df + other.df,
            ttf=self.ttf + other.ttf,
        )

    def lengthened(self, length_offset: int) -> "Statistics":
        """Returns the statistics as if each document that isn't empty had some more tokens, of other terms.

        Args:
            length_offset: how many tokens are added to each length.
        """
        # If the number of documents is unknown, 0 will do: the mean length is NaN in any case.
        documents = max(self.documents, 0)
        return replace(self, tokens=self.tokens + length_offset * documents)

    def term(self, index: int, weight: float = 1.0) -> Term:
        """Returns a term's statistics.

        Args:
            index: its index in the vocabulary.
            weight: its weight, as in ``Term``.
        """
        return Term(
            df=_nan_if_unknown(int(self.df[index])),
            ttf=_nan_if_unknown(int(self.ttf[index])),
            documents=_nan_if_unknown(self.documents),
            tokens=self.tokens,  # unlike other numbers, this one is always known
            weight=weight,
        )


def _nan_if_unknown(number: int) -> float:
    return nan if number == UNKNOWN else number


def sum_by_field(
    statistics: Sequence[Statistics], other_statistics: Sequence[Statistics]
) -> list[Statistics]:
    """Adds up the statistics of two groups of documents, field by field."""
    return [field + other for field, other in zip(statistics, other_statistics, strict=True)]
