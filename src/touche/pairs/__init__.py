"""Pairs of sentences: arguments in sentences, their pairs, and how well these read on."""

from touche.pairs.embeddings import embed
from touche.pairs.ranking import (
    Arguments,
    Pair,
    Ranked,
    ScoredSentence,
    best_pairs,
    by_dirichletlm,
    hits,
    of_argument,
    pair_of,
)

__all__ = [
    "Arguments",
    "Pair",
    "Ranked",
    "ScoredSentence",
    "best_pairs",
    "by_dirichletlm",
    "embed",
    "hits",
    "of_argument",
    "pair_of",
]
