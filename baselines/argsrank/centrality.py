"""An argument's most central sentences, by the random walk in Alshomary et al. 2020.

Their paper ("Extractive Snippet Generation for Arguments", SIGIR 2020) ranks an argument's sentences by the
stationary distribution of a random walk. The walk follows similarity, and sometimes jumps to sentences that
look argumentative.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from touche import Argument, pairs

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]  # sentences x sentences
_DECIMALS = 6  # a centrality's; further digits depend on the processor


def most_central(arguments: Iterable[Argument], damping: float) -> dict[str, tuple[int, int]]:
    """Returns the indexes of each argument's two most central sentences, in text order.

    When sentences have the same text, only the first is ranked. When they are equally central, earlier ones
    are chosen first.

    Args:
        arguments: arguments with at least two different sentences; each text is embedded once.
        damping: d, the probability of a jump.

    Returns:
        Two indexes per argument id.
    """
    by_argument = {argument.id: _distinct_texts(argument) for argument in arguments}
    all_texts = [text for text_by_index in by_argument.values() for text in text_by_index.values()]
    texts = list(dict.fromkeys(all_texts))  # each once
    vectors = dict(zip(texts, pairs.embed(texts), strict=True))
    best = {}
    for id, text_by_index in by_argument.items():
        indexes = list(text_by_index)
        sentence_vectors = np.stack([vectors[text] for text in text_by_index.values()])
        centralities = centrality(list(text_by_index.values()), sentence_vectors, damping)
        two_best = np.argsort(-centralities, kind="stable")[:2]
        first, second = sorted(two_best)  # in text order
        best[id] = (indexes[first], indexes[second])
    return best


def centrality(texts: Sequence[str], vectors: npt.NDArray[np.float32], damping: float) -> Vector:
    """Returns each sentence's centrality.

    Args:
        texts: an argument's sentences.
        vectors: their embeddings with norm 1, one per row.
        damping: d, the probability of a jump.

    Returns:
        A probability per sentence, rounded to six digits.
    """
    moves = (1 - damping) * similarity(vectors) + damping * teleport(texts)
    return np.round(stationary(moves), _DECIMALS)


def similarity(vectors: npt.NDArray[np.float32]) -> Matrix:
    """Returns inner products, with 0 for negative ones, normalized so that each row is a distribution.

    Args:
        vectors: one per row, with norm 1. Each one's product with itself is 1, so no sum is 0.
    """
    products = np.maximum(vectors.astype(np.float64) @ vectors.T.astype(np.float64), 0)
    return np.asarray(products / products.sum(axis=1, keepdims=True))


def teleport(texts: Sequence[str]) -> Matrix:
    """Returns jump probabilities: 1 + number of discourse markers + 1 if there is a claim word, normalized.

    All rows are equal, because a jump doesn't depend on where it starts.
    """
    weights = np.array([1 + discourse_markers(text) + has_claim_word(text) for text in texts], np.float64)
    return np.tile(weights / weights.sum(), (len(texts), 1))


def stationary(moves: Matrix) -> Vector:
    """Returns the distribution p with p = p M, using power iteration; M is ``moves``.

    Args:
        moves: the probabilities of moving from each sentence (row) to each sentence (column).
    """
    p = np.full(len(moves), 1 / len(moves))
    for _ in range(10_000):  # the limit; p nearly always converges much earlier
        before = p
        p = p @ moves
        if np.abs(p - before).sum() < 1e-12:  # only rounding still changes p
            break
    return p


def discourse_markers(text: str) -> int:
    """Returns how many discourse markers a sentence contains, with repetitions."""
    return len(_pattern("discourse-markers").findall(text))


def has_claim_word(text: str) -> bool:
    """Returns whether a sentence contains a claim word."""
    return _pattern("claim-words").search(text) is not None


def _distinct_texts(argument: Argument) -> dict[int, str]:
    """Returns an argument's distinct sentences by index, without empty ones."""
    sentences = argument.sentences or ()
    first_indexes = pairs.distinct_sentences(argument).values()
    return {index: sentences[index].text for index in first_indexes}


@cache
def _pattern(lexicon: str) -> re.Pattern[str]:
    """Returns a pattern that matches the phrases in a lexicon, which is a file in ``lexicons/``."""
    lines = (Path(__file__).parent / "lexicons" / f"{lexicon}.txt").read_text(encoding="utf-8").splitlines()
    phrases = [line.replace(" ", r"\s+") for line in lines if not line.startswith("#")]
    # Longer phrases come first, so that "even though" is one marker instead of two.
    return re.compile(rf"\b(?:{'|'.join(sorted(phrases, key=len, reverse=True))})\b", re.IGNORECASE)
