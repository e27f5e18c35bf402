"""The most central sentences of an argument, by the random walk of Alshomary et al. 2020.

Their extractive snippets ("Extractive Snippet Generation for Arguments", SIGIR 2020) rank the sentences of an
argument by the stationary distribution of a walk that follows similarity, and now and then jumps to sentences
that look argumentative.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from touche.formats.documents import Argument
from touche.pairs.embeddings import embed
from touche.pairs.sentences import distinct_sentences

Vector = npt.NDArray[np.float64]
_DIGITS = 6  # of a centrality; beyond these it depends on the processor's floating point


def most_central(arguments: Iterable[Argument], damping: float) -> dict[str, tuple[int, int]]:
    """The places of the two most central sentences of each argument, in the order of the text.

    Of sentences with the same text only the first counts; of equally central ones the first is taken.

    Args:
        arguments: with at least two different sentences each; every text is embedded once.
        damping: d, the share of jumps.

    Returns:
        Two places by the id of the argument.
    """
    said = {one.id: _said(one) for one in arguments}
    texts = list(dict.fromkeys(text for sentences in said.values() for text in sentences.values()))
    vectors = dict(zip(texts, embed(texts), strict=True))
    found = {}
    for id, sentences in said.items():
        of_argument = np.stack([vectors[text] for text in sentences.values()])
        central = centrality(list(sentences.values()), of_argument, damping)
        first, second = sorted(np.argsort(-central, kind="stable")[:2])
        found[id] = list(sentences)[first], list(sentences)[second]
    return found


def centrality(texts: Sequence[str], vectors: npt.NDArray[np.float32], damping: float) -> Vector:
    """How central each sentence of an argument is.

    Args:
        texts: the sentences.
        vectors: their embeddings, sentences x dimensions, of length 1.
        damping: d, the share of jumps.

    Returns:
        A probability for each sentence, rounded to six digits.
    """
    moves = (1 - damping) * similarity(vectors) + damping * teleport(texts)
    return np.round(stationary(moves), _DIGITS)


def similarity(vectors: npt.NDArray[np.float32]) -> Vector:
    """Inner products, none below 0, so that each row is a distribution."""
    products = np.maximum(vectors.astype(np.float64) @ vectors.T.astype(np.float64), 0)
    return np.asarray(products / products.sum(axis=1, keepdims=True))


def teleport(texts: Sequence[str]) -> Vector:
    """Jumps from any sentence to each: 1 + its discourse markers + 1 if it has a claim word, normalised."""
    weights = np.array([1 + discourse_markers(text) + has_claim_word(text) for text in texts], np.float64)
    return np.tile(weights / weights.sum(), (len(texts), 1))


def stationary(moves: Vector) -> Vector:
    """The distribution p with p = p M of a stochastic matrix M, by power iteration."""
    p = np.full(len(moves), 1 / len(moves))
    for _ in range(10_000):
        before, p = p, p @ moves
        if np.abs(p - before).sum() < 1e-12:
            break
    return p


def discourse_markers(text: str) -> int:
    """How many discourse markers a sentence has, each as often as it occurs."""
    return len(_pattern("discourse-markers").findall(text))


def has_claim_word(text: str) -> bool:
    """Whether a sentence has a claim word."""
    return _pattern("claim-words").search(text) is not None


def _said(argument: Argument) -> dict[int, str]:
    """The different sentences of an argument by their places."""
    sentences = argument.sentences or ()
    return {place: sentences[place].text for place in distinct_sentences(argument).values()}


@cache
def _pattern(lexicon: str) -> re.Pattern[str]:
    lines = (Path(__file__).parent / "lexicons" / f"{lexicon}.txt").read_text(encoding="utf-8").splitlines()
    phrases = [line.replace(" ", r"\s+") for line in lines if not line.startswith("#")]
    # Longer ones first, so that "even though" is one marker and not two.
    return re.compile(rf"\b(?:{'|'.join(sorted(phrases, key=len, reverse=True))})\b", re.IGNORECASE)
