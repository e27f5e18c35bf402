"""What runs of pairs are made of: figures that need no judgments, to see that a method is still the same."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean

from touche.coherence import embedding
from touche.documents import AnyDocument
from touche.evaluation import CUTOFF
from touche.pairs import Pair, ScoredSentence, sentences_of
from touche.runs import RunLine, in_order_of_score
from touche.sentences import arguments_in_sentences

Measure = Callable[[Sequence[RunLine], Iterable[AnyDocument]], float]


def pairs_per_topic(run: Sequence[RunLine], documents: Iterable[AnyDocument]) -> float:
    """How many pairs a topic has, on average."""
    return len(run) / len({line.topic for line in run})


def within_one_argument(run: Sequence[RunLine], documents: Iterable[AnyDocument]) -> float:
    """The share of pairs whose sentences come from one argument."""
    arguments = [{each.partition("__")[0] for each in line.document.split(",")} for line in run]
    return mean(len(each) == 1 for each in arguments)


def coherence(run: Sequence[RunLine], documents: Iterable[AnyDocument]) -> float:
    """The mean coherence, by embeddings, of the first five pairs of each topic."""
    topics: dict[str, list[RunLine]] = {}
    for line in in_order_of_score(run):
        topics.setdefault(line.topic, []).append(line)
    ids = [tuple(line.document.split(",")) for lines in topics.values() for line in lines[:CUTOFF]]
    sentences = _sentences({each for pair in ids for each in pair}, documents)
    return mean(embedding([Pair(sentences[one], sentences[other], 0.0) for one, other in ids]))


MEASURES: Mapping[str, Measure] = {
    "pairs per topic": pairs_per_topic,
    "within one argument": within_one_argument,
    "coherence of the first five": coherence,
}


def _sentences(ids: set[str], documents: Iterable[AnyDocument]) -> dict[str, ScoredSentence]:
    wanted = {each.partition("__")[0] for each in ids}
    arguments = arguments_in_sentences(each for each in documents if each.id in wanted)
    return {each.id: each for argument in arguments for each in sentences_of(argument)}
