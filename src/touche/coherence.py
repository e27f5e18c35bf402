"""How well two sentences read on from one another."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt
from pathlib import Path

import numpy as np

from touche.bert import Bert
from touche.embedding import embed
from touche.errors import InputError, ToucheError
from touche.lucene.analysis import analyzer_named, terms
from touche.pairs import Pair

REPETITION = 0.9  # cosine
_LENGTH = 256  # tokens of both sentences together
_DIGITS = 4  # of a coherence; beyond these it depends on the processor's floating point
_NSP = (
    "cls.seq_relationship.weight",
    "cls.seq_relationship.bias",
    "pooler.dense.weight",
    "pooler.dense.bias",
)


def lexical(pairs: Sequence[Pair], model: str = "") -> list[float]:
    """The cosine of the two sentences' stems, weighed by tf idf among all sentences here; 0 to 0.9."""
    analyzer = analyzer_named("english")
    bags = {text: terms(analyzer, text) for text in _texts(pairs)}
    frequencies = Counter(term for bag in bags.values() for term in bag)
    weights = {
        text: {term: count * log(1 + len(bags) / frequencies[term]) for term, count in bag.items()}
        for text, bag in bags.items()
    }
    return [_read_on(_cosine(weights[each.first.text], weights[each.second.text])) for each in pairs]


def embedding(pairs: Sequence[Pair], model: str = "") -> list[float]:
    """The cosine of the two sentences' embeddings, -1 to 0.9; each sentence is embedded once."""
    texts = _texts(pairs)
    vectors = dict(zip(texts, embed(texts), strict=True))
    return [_read_on(float(vectors[each.first.text] @ vectors[each.second.text])) for each in pairs]


def nsp(pairs: Sequence[Pair], model: str = "") -> list[float]:
    """BERT's probability that the second sentence is the one after the first (Devlin et al. 2019).

    Raises:
        ToucheError: if no folder of a model is named.
        InputError: if the model there cannot tell next sentences.
    """
    if not model:
        raise ToucheError("--coherence nsp needs a model; name the folder of a BERT model with --model")
    bert = Bert(Path(model), _LENGTH)
    if missing := [name for name in _NSP if name not in bert.weights]:
        problem = f"the model has no {missing[0]}, so that it cannot tell next sentences"
        raise InputError(Path(model), problem, "name one that was trained for it, such as bert-base-uncased")
    head, shift, pooler, pooler_shift = (bert.weights[name] for name in _NSP)
    found = [0.0] * len(pairs)
    texts = [(each.first.text, each.second.text) for each in pairs]
    for place, states in bert.states(texts, "next sentences"):
        pooled = np.tanh(pooler @ states[0] + pooler_shift)
        is_next, is_not = (float(each) for each in head @ pooled + shift)
        found[place] = round(1 / (1 + np.exp(is_not - is_next)), _DIGITS)
    return found


MEASURES: Mapping[str, Callable[[Sequence[Pair], str], list[float]]] = {
    "lexical": lexical,
    "embedding": embedding,
    "nsp": nsp,
}


def _read_on(cosine: float) -> float:
    """Sentences that are nearly the same do not read on: one only repeats the other."""
    return 0.0 if cosine >= REPETITION else round(cosine, _DIGITS)


def _texts(pairs: Sequence[Pair]) -> list[str]:
    return list(dict.fromkeys(each.text for pair in pairs for each in (pair.first, pair.second)))


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    product = sum(weight * other.get(term, 0.0) for term, weight in one.items())
    norm = sqrt(sum(weight**2 for weight in one.values()) * sum(weight**2 for weight in other.values()))
    return product / norm if norm else 0.0
