"""How coherent two sentences are."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import log, sqrt
from pathlib import Path

import numpy as np

from touche.errors import InputError, ParameterError
from touche.io.progress import watched
from touche.pairs.bert import Array, Bert
from touche.pairs.embeddings import embed
from touche.pairs.pair_ranking import Pair
from touche.scan.tokens import analysis_named

PairsOfTopics = Sequence[Sequence[Pair]]  # each topic's pairs
Measure = Callable[[PairsOfTopics], list[list[float]]]
"""Returns the coherence of each pair of each topic."""

REPETITION = 0.9  # from this cosine on, one sentence only repeats the other
_MAX_PAIR_TOKENS = 256  # for both sentences together
_COHERENCE_DECIMALS = 4  # further digits depend on the processor's floating point


def measure_named(name: str, model: str) -> Measure:
    """Returns a measure of coherence.

    Args:
        name: ``lexical``, ``embedding`` or ``nsp``.
        model: the model's folder, for nsp only.

    Returns:
        A function from each topic's pairs to their coherences.

    Raises:
        ParameterError: if a model is missing, or passed but not needed.
    """
    if name == "nsp" and not model:
        raise ParameterError("--coherence nsp needs a model; pass the folder of a BERT model with --model")
    if name != "nsp" and model:
        raise ParameterError(f"--coherence {name} takes no model; omit --model")
    if name == "lexical":
        return stem_cosines
    if name == "embedding":
        return embedding_cosines
    return partial(next_sentence_probabilities, folder=Path(model))


def stem_cosines(topics: PairsOfTopics) -> list[list[float]]:
    """Returns each pair's cosine between its sentences' stems, weighted by tf-idf: at least 0, below 0.9.

    A cosine of 0.9 or more becomes 0, because one sentence only repeats the other. A stem's df is the number
    of the topic's distinct sentences that contain it.
    """
    analysis = analysis_named("english")
    coherences = []
    for pairs in topics:
        tf_by_text = {text: Counter(analysis.terms(text)) for text in _distinct_texts(pairs)}
        df_by_stem = Counter(stem for tf in tf_by_text.values() for stem in tf)
        idf = {stem: log(1 + len(tf_by_text) / df) for stem, df in df_by_stem.items()}
        weights = {
            text: {stem: count * idf[stem] for stem, count in tf.items()} for text, tf in tf_by_text.items()
        }
        cosines = [_cosine(weights[pair.first.text], weights[pair.second.text]) for pair in pairs]
        coherences.append([_coherence(cosine) for cosine in cosines])
    return coherences


def embedding_cosines(topics: PairsOfTopics) -> list[list[float]]:
    """Returns each pair's cosine between its sentences' embeddings: at least -1, below 0.9.

    A cosine of 0.9 or more becomes 0, because one sentence only repeats the other.
    """
    texts = _distinct_texts(pair for pairs in topics for pair in pairs)  # embed each once
    vectors = dict(zip(texts, embed(texts), strict=True))
    coherences = []
    for pairs in topics:
        cosines = [float(vectors[pair.first.text] @ vectors[pair.second.text]) for pair in pairs]
        coherences.append([_coherence(cosine) for cosine in cosines])
    return coherences


def next_sentence_probabilities(topics: PairsOfTopics, folder: Path) -> list[list[float]]:
    """Returns BERT's probability that the second sentence follows the first (Devlin et al. 2019).

    Raises:
        InputError: if the model in the folder cannot predict next sentences.
    """
    bert = Bert(folder, _MAX_PAIR_TOKENS)
    head, head_bias, pooler, pooler_bias = _next_sentence_weights(bert, folder)
    # Each pair of texts once, because the network is slow and topics can share pairs.
    text_pairs = list(dict.fromkeys(_texts_of_pair(pair) for pairs in topics for pair in pairs))
    probabilities = {}
    for index, states in watched(bert.states(text_pairs), "next sentences", "texts", len(text_pairs)):
        pooled = np.tanh(pooler @ states[0] + pooler_bias)  # the first token, [CLS]
        logit_next, logit_other = (head @ pooled + head_bias).tolist()
        probability = 1 / (1 + np.exp(logit_other - logit_next))  # two logits' softmax
        probabilities[text_pairs[index]] = round(probability, _COHERENCE_DECIMALS)
    return [[probabilities[_texts_of_pair(pair)] for pair in pairs] for pairs in topics]


def _next_sentence_weights(bert: Bert, folder: Path) -> list[Array]:
    """Returns weight and bias of the head, which predicts next sentences, and of the pooler before it."""
    shapes = {
        "cls.seq_relationship.weight": (2, bert.width),
        "cls.seq_relationship.bias": (2,),
        "pooler.dense.weight": (bert.width, bert.width),
        "pooler.dense.bias": (bert.width,),
    }
    for name, shape in shapes.items():
        if name not in bert.weights or bert.weights[name].shape != shape:
            problem = f"the model has no {name} of {' x '.join(map(str, shape))}"
            remedy = "choose a model trained to predict next sentences, such as bert-base-uncased"
            raise InputError(folder, problem, remedy)
    return [bert.weights[name] for name in shapes]


def _coherence(cosine: float) -> float:
    """Returns a cosine's coherence: 0 for nearly equal sentences, because one only repeats the other."""
    return 0.0 if cosine >= REPETITION else round(cosine, _COHERENCE_DECIMALS)


def _distinct_texts(pairs: Iterable[Pair]) -> list[str]:
    """Returns all sentences' texts, each once, in pair order."""
    return list(dict.fromkeys(text for pair in pairs for text in _texts_of_pair(pair)))


def _texts_of_pair(pair: Pair) -> tuple[str, str]:
    return pair.first.text, pair.second.text


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Returns the cosine of two texts, each given as its stems' weights; 0 if a text has no stem."""
    product = sum(weight * other.get(stem, 0.0) for stem, weight in one.items())
    norms = sqrt(sum(weight**2 for weight in one.values()) * sum(weight**2 for weight in other.values()))
    return product / norms if norms else 0.0
