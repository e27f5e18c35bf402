"""Figures of runs of pairs that need no qrels, to see that a method has not changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean

from touche.documents.records import AnyDocument
from touche.errors import ToucheError
from touche.pairs.coherence import embedding_cosines
from touche.pairs.ranking import Pair, ScoredSentence, unscored_sentences
from touche.pairs.sentences import arguments_in_sentences
from touche.trec.runs import RunLine, by_topic, in_order_of_score

_FIRST = 5  # pairs of each topic, independent of a task's cutoff

Measure = Callable[[Sequence[RunLine], Iterable[AnyDocument]], float]


def pairs_per_topic(run: Sequence[RunLine], documents: Iterable[AnyDocument]) -> float:
    """Returns the mean number of pairs per topic."""
    return len(run) / len({line.topic for line in run})


def within_one_argument(run: Sequence[RunLine], documents: Iterable[AnyDocument]) -> float:
    """Returns the share of pairs whose sentences are from one argument."""
    return mean(len({_argument(id) for id in _sentence_ids(line)}) == 1 for line in run)


def coherence(run: Sequence[RunLine], documents: Iterable[AnyDocument]) -> float:
    """Returns the mean coherence, by embeddings, of the first five pairs of each topic.

    Raises:
        ToucheError: if a sentence is not in the corpus.
    """
    topics = by_topic(in_order_of_score(run))
    first_five = [_sentence_ids(line) for lines in topics.values() for line in lines[:_FIRST]]
    sentences = _read({id for ids in first_five for id in ids}, documents)
    (coherences,) = embedding_cosines(
        [[Pair(sentences[one], sentences[other], 0.0) for one, other in first_five]]
    )
    return mean(coherences)


MEASURES: Mapping[str, Measure] = {
    "pairs per topic": pairs_per_topic,
    "within one argument": within_one_argument,
    "coherence of the first five": coherence,
}


def _sentence_ids(line: RunLine) -> tuple[str, str]:
    one, _, other = line.document.partition(",")
    if "__" not in one or "__" not in other:
        raise ToucheError(f"{line.document} is not a pair of sentences")
    return one, other


def _argument(sentence: str) -> str:
    return sentence.rpartition("__")[0].rpartition("__")[0]


def _read(ids: set[str], documents: Iterable[AnyDocument]) -> dict[str, ScoredSentence]:
    arguments = {_argument(id) for id in ids}
    split = arguments_in_sentences(document for document in documents if document.id in arguments)
    sentences = {sentence.id: sentence for argument in split for sentence in unscored_sentences(argument)}
    missing = ids - sentences.keys()
    if missing:
        raise ToucheError(f"sentence {min(missing)} is not in the corpus")
    return sentences
