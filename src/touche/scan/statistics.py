"""What formulas need of a whole collection, added up from its parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from touche.scan.kernel import Counts

Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Term:
    """What a formula needs of a term in a field.

    Attributes:
        df: the number of documents with the term.
        ttf: its frequency in all documents.
        documents: the number of documents with at least one token (N of the formulas).
        tokens: the number of tokens in all documents.
        weight: how often the title has it, times the weight of the field; a float32 in value.
    """

    df: int
    ttf: int
    documents: int
    tokens: int
    weight: float = 1.0

    @property
    def probability(self) -> float:
        """The share of the term in all tokens, each plus 1, as Lucene has it: P(t) of DirichletLM."""
        return (self.ttf + 1) / (self.tokens + 1)

    @property
    def mean_length(self) -> float:
        """The mean length of a document in tokens (avgdl of the formulas)."""
        return self.tokens / self.documents


@dataclass(frozen=True)
class Statistics:
    """A field of some documents in numbers; the sum of two is that of all their documents.

    Attributes:
        documents: how many have at least one token.
        tokens: how many there are.
        df: for each term the number of documents with it.
        ttf: for each term how often it occurs.
    """

    documents: int
    tokens: int
    df: Integers
    ttf: Integers

    @classmethod
    def of(cls, counts: Counts) -> "Statistics":
        """Those of some documents.

        Args:
            counts: what was counted in them.
        """
        before = np.concatenate([[0], np.cumsum(counts.tf, dtype=np.int64)])
        tokens = int(counts.lengths.sum(dtype=np.int64))
        return cls(
            int(np.count_nonzero(counts.lengths)),
            tokens,
            np.diff(counts.begins),
            np.diff(before[counts.begins]),
        )

    def __add__(self, other: "Statistics") -> "Statistics":
        """Those of the documents of both."""
        documents, tokens = self.documents + other.documents, self.tokens + other.tokens
        return Statistics(documents, tokens, self.df + other.df, self.ttf + other.ttf)

    def term(self, place: int, weight: float = 1.0) -> Term:
        """Those of one term.

        Args:
            place: its place among the terms of the collection's vocabulary.
            weight: what a formula is to see as its weight.
        """
        return Term(int(self.df[place]), int(self.ttf[place]), self.documents, self.tokens, weight)


def added_up(some: Sequence[Statistics], others: Sequence[Statistics]) -> list[Statistics]:
    """Those of the documents of both, of each field."""
    return [one + other for one, other in zip(some, others, strict=True)]
