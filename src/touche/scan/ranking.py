"""From counts to the documents with the highest scores."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from touche.formats.documents import AnyDocument
from touche.formats.topics import Topic
from touche.scan.counting import ONE_FIELD, Fields, Part, Vocabulary, count
from touche.scan.kernel import POSTING, Array, Counts
from touche.scan.lengths import one_byte
from touche.scan.models import Formula, Weighted
from touche.scan.statistics import Statistics, added
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
        documents: the collection; read once, and never held in memory as a whole.
        model: what a term adds to the scores of the documents that have it; of a term that the title has
            twice, twice that.
        analysis: the name of an analysis: ``standard``, ``english`` or ``plural``.
        fields: the fields by name, each a function of the document; by default one, ``text``.
        boosts: weights of the fields; the score of a document is the weighted sum over its fields.
        best_field: the score is that of the best field instead, as of Elasticsearch's multi_match.
        depth: how many documents at the most for each topic.
        kept_of_lengths: what the model sees of lengths; by default Lucene's one byte.

    Yields:
        Each topic with its (document id, score) pairs, best first, ties by document id descending; scores
        are float32 in value, as those of Lucene are.
    """
    vocabulary = Vocabulary.of([topic.title for topic in topics], analysis_named(analysis))
    parts = list(count(documents, vocabulary, fields))
    statistics = [
        added((part.fields[n] for part in parts), len(vocabulary.places)) for n in range(len(fields))
    ]
    weights = [(boosts or {}).get(name, 1.0) for name in fields]
    scoring = Scoring.of(parts, statistics, model, kept_of_lengths)
    parts.clear()  # which are as large again
    for topic in topics:
        terms = Counter(vocabulary.places[term] for term in vocabulary.analysis.terms(topic.title))
        yield topic, scoring.best(terms, weights, best_field, topic.candidates, depth)


@dataclass(frozen=True)
class Scoring:
    """A collection that is to be scored.

    Attributes:
        ids: of the documents.
        fields: what was counted in each field; postings by term.
        statistics: of each field.
        model: what a term adds.
        lengths: of the documents in each field, as the model sees them.
    """

    ids: Sequence[str]
    fields: Sequence[Counts]
    statistics: Sequence[Statistics]
    model: Formula
    lengths: Sequence[Array]
    _added: dict[tuple[int, int, float], Array] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        parts: Sequence[Part],
        statistics: Sequence[Statistics],
        model: Formula,
        kept_of_lengths: Callable[[Array], Array],
    ) -> "Scoring":
        """A collection from its parts."""
        ids = [id for part in parts for id in part.ids]
        fields = [_joined([part.fields[n] for part in parts]) for n in range(len(statistics))]
        lengths = [kept_of_lengths(counts.lengths.astype(np.float64)) for counts in fields]
        return cls(ids, fields, statistics, model, lengths)

    def best(
        self,
        terms: Mapping[int, float],
        boosts: Sequence[float],
        best_field: bool,
        among: Iterable[str] | None,
        depth: int,
    ) -> Hits:
        """The documents with the highest scores for some terms, each with how often it is asked for."""
        found = np.zeros(len(self.ids), dtype=bool)
        scores: list[Array] = []
        for number, boost in enumerate(boosts):
            if best_field or not scores:
                scores.append(np.zeros(len(self.ids)))
            for term, times in terms.items():
                documents = self._postings(number, term)["text"]
                found[documents] = True
                scores[-1][documents] += self._contribution(number, term, float(np.float32(boost * times)))
        # Lucene adds what terms contribute, each a float32, as double, and gives out the sum as float32.
        values = np.max(scores, axis=0, initial=-np.inf).astype(np.float32)
        if among is not None:
            found &= self._of_these(among)
        return self._highest(values, np.flatnonzero(found), depth)

    def _highest(self, values: Array, documents: Array, depth: int) -> Hits:
        if depth < len(documents):
            least = np.partition(values[documents], -depth)[-depth] if depth else np.inf
            documents = documents[values[documents] >= least]
        pairs = [(float(values[each]), self.ids[each]) for each in documents.tolist()]
        return [(id, score) for score, id in sorted(pairs, reverse=True)[:depth]]

    def _contribution(self, number: int, term: int, weight: float) -> Array:
        key = (number, term, weight)
        if key not in self._added:
            postings = self._postings(number, term)
            lengths = self.lengths[number][postings["text"]]
            if len(postings):
                of_term = self.statistics[number].term(term, weight)
                found = self.model(postings["tf"].astype(np.float64), lengths, of_term)
                found = found if isinstance(self.model, Weighted) else weight * found
            else:
                found = lengths  # there are none
            self._added[key] = found.astype(np.float32)
        return self._added[key]

    def _postings(self, number: int, term: int) -> Array:
        begin, end = self._bounds[number][term : term + 2]
        return self.fields[number].postings[begin:end]

    @cached_property
    def _bounds(self) -> list[Array]:
        """For each field where the postings of each term begin, and where the last end."""
        return [np.concatenate([[0], np.cumsum(each.df)]) for each in self.statistics]

    def _of_these(self, ids: Iterable[str]) -> Array:
        found = np.zeros(len(self.ids), dtype=bool)
        found[[place for id in ids for place in self._places.get(id, ())]] = True
        return found

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, id in enumerate(self.ids):
            places.setdefault(id, []).append(place)
        return places


def _joined(parts: Sequence[Counts]) -> Counts:
    """The counts of all documents of a field, with the postings by term, then by document."""
    if not parts:
        return Counts(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=POSTING))
    postings = np.concatenate([part.postings for part in parts])
    begins = np.cumsum([0, *(len(part.lengths) for part in parts[:-1])])
    postings["text"] += np.repeat(begins, [len(part.postings) for part in parts]).astype(np.int32)
    order = np.argsort(_small(postings["term"]), kind="stable")
    return Counts(np.concatenate([part.lengths for part in parts]), postings[order])


def _small(terms: Array) -> Array:
    # Numbers of 16 bits are sorted several times as fast.
    return terms.astype(np.uint16) if terms.max(initial=0) < 1 << 16 else terms
