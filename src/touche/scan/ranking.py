"""From counts to the documents with the highest scores."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from touche.formats.documents import AnyDocument
from touche.formats.topics import Topic
from touche.scan.counting import ONE_FIELD, Fields, Part, Vocabulary
from touche.scan.kernel import Array
from touche.scan.lengths import one_byte
from touche.scan.models import Formula, Weighted
from touche.scan.reading import read
from touche.scan.statistics import Statistics, Term, added
from touche.scan.tokens import analysis_named

Hits = list[tuple[str, float]]


def rank(
    topics: Sequence[Topic],
    documents: Iterable[AnyDocument],
    model: Formula,
    *,
    analysis: str,
    fields: Fields = ONE_FIELD,
    boosts: Mapping[str, float] | None = None,
    best_field: bool = False,
    depth: int = 1000,
    kept_of_lengths: Callable[[Array], Array] = one_byte,
) -> Iterator[tuple[Topic, Hits]]:
    """Ranks documents for the titles of topics, all of which are scored in one reading.

    Args:
        topics: the topics; of one with candidates only these are ranked, by the statistics of all documents.
        documents: the collection; read once, by all processors if it lies in large files, and never held in
            memory as a whole.
        model: what a term adds to the scores of the documents that have it; of a term that the title has
            twice, twice that.
        analysis: the name of an analysis: ``standard``, ``english`` or ``plural``.
        fields: the fields by name, each a function of the document; by default one, ``text``. Only functions
            of a module can be computed by all processors, lambdas are by one.
        boosts: weights of the fields; the score of a document is the weighted sum over its fields.
        best_field: the score is that of the best field instead, as of Elasticsearch's multi_match.
        depth: how many documents at the most for each topic.
        kept_of_lengths: what the model sees of lengths; by default Lucene's one byte.

    Yields:
        Each topic with its (document id, score) pairs, best first, ties by document id descending; scores
        are float32 in value, as those of Lucene are.
    """
    collection = Collection.of(topics, documents, analysis, fields)
    weights = [(boosts or {}).get(name, 1.0) for name in fields]
    yield from collection.rank(topics, Scoring(model, weights, best_field, kept_of_lengths), depth)


@dataclass(frozen=True)
class Scoring:
    """How a document's score is made of what its terms add.

    Attributes:
        model: what a term adds.
        boosts: the weight of each field.
        best_field: whether the best field counts; else their sum.
        kept_of_lengths: what the model sees of lengths.
    """

    model: Formula
    boosts: Sequence[float] = (1.0,)
    best_field: bool = False
    kept_of_lengths: Callable[[Array], Array] = one_byte


@dataclass(frozen=True)
class Collection:
    """A collection in numbers: all that any formula needs of it for some topics.

    Attributes:
        vocabulary: the terms of the topics.
        parts: what was counted.
        statistics: of each field.
    """

    vocabulary: Vocabulary
    parts: Sequence[Part]
    statistics: Sequence[Statistics]

    @classmethod
    def of(
        cls,
        topics: Iterable[Topic],
        documents: Iterable[AnyDocument],
        analysis: str,
        fields: Fields = ONE_FIELD,
    ) -> "Collection":
        """Reads documents, once, for the titles of these topics."""
        vocabulary = Vocabulary.of((topic.title for topic in topics), analysis)
        parts, terms = read(documents, vocabulary, fields), len(vocabulary.places)
        statistics = [added((part.fields[n] for part in parts), terms) for n in range(len(fields))]
        return cls(vocabulary, parts, statistics)

    def rank(self, topics: Sequence[Topic], scoring: Scoring, depth: int) -> Iterator[tuple[Topic, Hits]]:
        """Each topic with its best documents, part by part, as ``rank`` does."""
        found: list[Hits] = [[] for _ in topics]
        places = self.vocabulary.places
        terms = [Counter(places[term] for term in self.terms(topic.title)) for topic in topics]
        for part in self.parts:
            scored = _Scored(part, self.statistics, scoring)
            for hits, topic, of_topic in zip(found, topics, terms, strict=True):
                hits += scored.best(of_topic, topic.candidates, depth)
                hits[:] = _highest(hits, depth)
        yield from zip(topics, found, strict=True)

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in their order."""
        return analysis_named(self.vocabulary.analysis).terms(text)


@dataclass(frozen=True)
class _Scored:
    """A part of a collection that is scored for one topic after the other."""

    part: Part
    statistics: Sequence[Statistics]
    scoring: Scoring
    _added: dict[tuple[int, int, float], Array] = field(default_factory=dict)  # for topics share terms

    def best(self, terms: Mapping[int, float], among: frozenset[str] | None, depth: int) -> Hits:
        """The documents with the highest scores for some terms, each with how often it is asked for."""
        documents = len(self.part.ids)
        found, scores = np.zeros(documents, dtype=bool), list[Array]()
        for number, boost in enumerate(self.scoring.boosts):
            if self.scoring.best_field or not scores:
                scores.append(np.zeros(documents))
            for term, times in terms.items():
                texts, _ = self.part.fields[number].of(term)
                found[texts] = True
                scores[-1][texts] += self._contribution(number, term, float(np.float32(boost * times)))
        # Lucene adds what terms contribute, each a float32, as double, and gives out the sum as float32.
        values = np.max(scores, axis=0, initial=-np.inf).astype(np.float32)
        if among is not None:
            found &= [id in among for id in self.part.ids]
        return self._highest(values, np.flatnonzero(found), depth)

    def _highest(self, values: Array, documents: Array, depth: int) -> Hits:
        if depth < len(documents):
            least = np.partition(values[documents], -depth)[-depth] if depth else np.inf
            documents = documents[values[documents] >= least]
        ids = self.part.ids
        return _highest([(ids[each], float(values[each])) for each in documents.tolist()], depth)

    def _contribution(self, number: int, term: int, weight: float) -> Array:
        key = (number, term, weight)
        if key not in self._added:
            texts, tf = self.part.fields[number].of(term)
            self._added[key] = self._computed(number, texts, tf, self.statistics[number].term(term, weight))
        return self._added[key]

    def _computed(self, number: int, texts: Array, tf: Array, term: Term) -> Array:
        lengths = self._lengths[number][texts]
        if not len(texts):
            return lengths  # there are none
        model = self.scoring.model
        added = model(tf.astype(np.float64), lengths, term)
        return (added if isinstance(model, Weighted) else term.weight * added).astype(np.float32)

    @cached_property
    def _lengths(self) -> list[Array]:
        """Of the documents in each field, as the model sees them."""
        kept = self.scoring.kept_of_lengths
        return [kept(counts.lengths.astype(np.float64)) for counts in self.part.fields]


def _highest(hits: Hits, depth: int) -> Hits:
    return sorted(hits, key=lambda hit: (hit[1], hit[0]), reverse=True)[:depth]
