"""The most central sentences of an argument, by the random walk of Alshomary et al. 2020.

Their paper ("Extractive Snippet Generation for Arguments", SIGIR 2020) ranks the sentences of an argument by
the stationary distribution of a random walk. The walk follows similarity, and sometimes jumps to sentences
that look argumentative.
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
_DECIMALS = 6  # of a centrality; further digits depend on the processor


def most_central(arguments: Iterable[Argument], damping: float) -> dict[str, tuple[int, int]]:
    """Returns the indexes of the two most central sentences of each argument, in the order of the text.

    If sentences have equal texts, only the first of them is ranked. Of equally central sentences, the earlier
    ones are chosen first.

    Args:
        arguments: arguments with at least two different sentences; each text is embedded once.
        damping: d, the probability of a jump.

    Returns:
        Two indexes by the id of the argument.
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
        first, second = sorted(two_best)  # in the order of the text
        best[id] = (indexes[first], indexes[second])
    return best


def centrality(texts: Sequence[str], vectors: npt.NDArray[np.float32], damping: float) -> Vector:
    """Returns the centrality of each sentence of an argument.

    Args:
        texts: the sentences.
        vectors: their embeddings with norm 1, a row for each sentence.
        damping: d, the probability of a jump.

    Returns:
        A probability for each sentence, rounded to six digits.
    """
    moves = (1 - damping) * similarity(vectors) + damping * teleport(texts)
    return np.round(stationary(moves), _DECIMALS)


def similarity(vectors: npt.NDArray[np.float32]) -> Matrix:
    """Returns inner products, with 0 for negative ones, normalised so that each row is a distribution.

    Args:
        vectors: a row for each sentence, with norm 1, so its product with itself is 1, and no sum is 0.
    """
    products = np.maximum(vectors.astype(np.float64) @ vectors.T.astype(np.float64), 0)
    return np.asarray(products / products.sum(axis=1, keepdims=True))


def teleport(texts: Sequence[str]) -> Matrix:
    """Returns jump probabilities: 1 + number of discourse markers + 1 if there is a claim word, normalised.

    All rows are equal, because a jump does not depend on the sentence that it leaves.
    """
    weights = np.array([1 + discourse_markers(text) + has_claim_word(text) for text in texts], np.float64)
    return np.tile(weights / weights.sum(), (len(texts), 1))


def stationary(moves: Matrix) -> Vector:
    """Returns the distribution p with p = p M, by power iteration; M is ``moves``.

    Args:
        moves: the probabilities of moves from each sentence, a row, to each sentence, a column.
    """
    p = np.full(len(moves), 1 / len(moves))
    for _ in range(10_000):  # the limit; nearly always, p converges much earlier
        before = p
        p = p @ moves
        if np.abs(p - before).sum() < 1e-12:  # only rounding still changes p
            break
    return p


def discourse_markers(text: str) -> int:
    """Returns the number of discourse markers in a sentence, with repetitions."""
    return len(_pattern("discourse-markers").findall(text))


def has_claim_word(text: str) -> bool:
    """Returns whether a sentence has a claim word."""
    return _pattern("claim-words").search(text) is not None


def _distinct_texts(argument: Argument) -> dict[int, str]:
    """Returns the texts of an argument's distinct sentences by index; empty sentences are omitted."""
    sentences = argument.sentences or ()
    first_indexes = pairs.distinct_sentences(argument).values()
    return {index: sentences[index].text for index in first_indexes}


@cache
def _pattern(lexicon: str) -> re.Pattern[str]:
    """Returns a pattern for the phrases of a lexicon, a file in ``lexicons/``."""
    lines = (Path(__file__).parent / "lexicons" / f"{lexicon}.txt").read_text(encoding="utf-8").splitlines()
    phrases = [line.replace(" ", r"\s+") for line in lines if not line.startswith("#")]
    # Longer phrases first, so that "even though" is one marker and not two.
    return re.compile(rf"\b(?:{'|'.join(sorted(phrases, key=len, reverse=True))})\b", re.IGNORECASE)
