"""Figures for runs with pairs that need no qrels, to see that a method hasn't changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from statistics import mean

from touche.documents.document_records import AnyDocument
from touche.errors import ToucheError
from touche.pairs.coherence import embedding_cosines
from touche.pairs.pair_ranking import Pair, ScoredSentence, unscored_sentences
from touche.pairs.sentences import arguments_in_sentences
from touche.trec.columns import Run, RunLine

_FIRST_PAIRS = 5  # per topic, independent of a task's cutoff

# Takes a run and its dataset's documents; only some measures read the documents.
Measure = Callable[[Sequence[RunLine], Iterable[AnyDocument]], float]


def pairs_per_topic(run: Sequence[RunLine], documents: Iterable[AnyDocument]) -> float:
    """Returns the mean number of pairs per topic."""
    return len(run) / len({line.topic for line in run})


def within_one_argument(run: Sequence[RunLine], documents: Iterable[AnyDocument]) -> float:
    """Returns the share of pairs whose sentences come from one argument."""
    pairs = [_sentence_ids(line) for line in run]
    return mean(_argument_id(first) == _argument_id(second) for first, second in pairs)


def coherence(run: Sequence[RunLine], documents: Iterable[AnyDocument]) -> float:
    """Returns the mean coherence, using embeddings, of each topic's first five pairs.

    Raises:
        ToucheError: if a sentence isn't in the corpus.
    """
    columns = Run.of(run)
    first_lines = [columns.take(lines[:_FIRST_PAIRS]) for lines in columns.by_score.values()]
    ids_of_pairs = [*map(_sentence_ids, chain.from_iterable(first_lines))]
    sentences = _read_sentences({*chain.from_iterable(ids_of_pairs)}, documents)
    # A pair's score doesn't affect its coherence.
    pairs = [Pair(sentences[first], sentences[second], score=0.0) for first, second in ids_of_pairs]
    (coherences,) = embedding_cosines([pairs])  # takes several lists of pairs; here, one list contains all
    return mean(coherences)


MEASURES: Mapping[str, Measure] = {
    "pairs per topic": pairs_per_topic,
    "within one argument": within_one_argument,
    "coherence of the first five": coherence,
}


def _sentence_ids(line: RunLine) -> tuple[str, str]:
    """Returns the two sentence ids in a pair's id, such as ``a__PREMISE__1,a__CONC__1``."""
    first, _, second = line.document.partition(",")
    if "__" not in first or "__" not in second:
        raise ToucheError(f"{line.document} is not a pair of sentences")
    return first, second


def _argument_id(sentence_id: str) -> str:
    """Returns the id of a sentence's argument; sentence ids look like ``argument__PREMISE__1``."""
    return sentence_id.rpartition("__")[0].rpartition("__")[0]


def _read_sentences(ids: set[str], documents: Iterable[AnyDocument]) -> dict[str, ScoredSentence]:
    """Returns arguments' sentences by sentence id. A missing sentence is an error."""
    argument_ids = {_argument_id(id) for id in ids}
    arguments = arguments_in_sentences(document for document in documents if document.id in argument_ids)
    sentences = {sentence.id: sentence for argument in arguments for sentence in unscored_sentences(argument)}
    missing = ids - sentences.keys()
    if missing:
        raise ToucheError(f"sentence {min(missing)} is not in the corpus")
    return sentences
