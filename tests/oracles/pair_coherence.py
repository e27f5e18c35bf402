"""The coherence of a run of pairs, to see that a method's pairs haven't changed."""

from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import mean

from touche.documents.document_records import AnyDocument
from touche.pairs.coherence import embedding_cosines
from touche.pairs.pair_ranking import Pair, unscored_sentences
from touche.pairs.sentences import arguments_in_sentences
from touche.regression.figures import argument_id, sentence_ids
from touche.trec.columns import Run, RunLine

FIRST_PAIRS = 5  # of each topic


def coherence(run: Sequence[RunLine], documents: Iterable[AnyDocument]) -> float:
    """The mean coherence, by embeddings, of each topic's first five pairs."""
    columns = Run.of(run)
    first_lines = [columns.take(lines[:FIRST_PAIRS]) for lines in columns.by_score.values()]
    ids_of_pairs = [*map(sentence_ids, chain.from_iterable(first_lines))]
    argument_ids = {argument_id(id) for id in chain.from_iterable(ids_of_pairs)}
    arguments = arguments_in_sentences(document for document in documents if document.id in argument_ids)
    sentences = {sentence.id: sentence for argument in arguments for sentence in unscored_sentences(argument)}
    # A pair's score doesn't affect its coherence.
    pairs = [Pair(sentences[first], sentences[second], score=0.0) for first, second in ids_of_pairs]
    (coherences,) = embedding_cosines([pairs])  # takes several lists of pairs; here, one list contains all
    return mean(coherences)
