"""Pairs of sentences: arguments in sentences, their pairs, and how well these read on."""

from touche.pairs.ranking import (
    Pair,
    Ranked,
    ScoredSentence,
    argument_index,
    best_arguments,
    best_pairs,
    by_dirichletlm,
    hits,
    of_argument,
    pair_of,
    scored_sentences,
)

__all__ = [
    "Pair",
    "Ranked",
    "ScoredSentence",
    "argument_index",
    "best_arguments",
    "best_pairs",
    "by_dirichletlm",
    "hits",
    "of_argument",
    "pair_of",
    "scored_sentences",
]
