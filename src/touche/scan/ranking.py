"""From counts to the documents with the highest scores."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np

from touche.collection.documents import Documents
from touche.collection.parts import Parts
from touche.errors import ParameterError, ToucheError
from touche.formats.documents import AnyDocument
from touche.formats.topics import Topic
from touche.io.identifiers import quoted
from touche.scan.counting import ONE_FIELD, Fields, Part, Vocabulary
from touche.scan.kernel import Array
from touche.scan.known import known_or_counted
from touche.scan.lengths import one_byte
from touche.scan.models import Formula, Weighted
from touche.scan.reading import read
from touche.scan.statistics import Statistics, Term, added_up
from touche.scan.tokens import analysis_named

Hits = list[tuple[str, float]]
Queries = Mapping[str, Mapping[str, float]]
"""What is searched for, by the numbers of topics: terms as ``terms`` gives them, each with its weight."""

_Scores = list[tuple[float, str]]  # of documents


def rank(
    topics: Sequence[Topic],
    documents: Iterable[AnyDocument],
    model: Formula,
    *,
    analysis: str,
    queries: Queries | None = None,
    fields: Fields = ONE_FIELD,
    boosts: Mapping[str, float] | None = None,
    best_field: bool = False,
    depth: int = 1000,
    kept_of_lengths: Callable[[Array], Array] = one_byte,
) -> Iterator[tuple[Topic, Hits]]:
    """Ranks documents for topics, all of which are scored in one reading.

    Args:
        topics: the topics; of one with candidates only these are ranked, by the statistics of all documents.
        documents: the collection; read once, by all processors if it lies in large files, and never held in
            memory as a whole.
        model: what a term adds to the scores of the documents that have it; of a term that the title has
            twice, twice that.
        analysis: the name of an analysis: ``standard``, ``stopped``, ``english``, ``plural`` or
            ``unstemmed``.
        queries: what is searched for in place of titles, such as expanded queries; of a topic that has none,
            its title.
        fields: the fields by name, each a function of the document; by default one, ``text``. Only functions
            of a module can be computed by all processors, lambdas are by one.
        boosts: weights of the fields; the score of a document is the weighted sum over its fields.
        best_field: the score is that of the best field instead, as of Elasticsearch's multi_match.
        depth: how many documents at the most for each topic.
        kept_of_lengths: what the model sees of lengths; by default Lucene's one byte.

    Yields:
        Each topic with its (document id, score) pairs, best first, ties by document id descending; scores
        are float32 in value, as those of Lucene are.

    Raises:
        ToucheError: if the model gives anything but a finite number for each document, a field is no text, or
            a boost is of no field.
    """
    if unknown := (boosts or {}).keys() - fields.keys():
        problem = f"boosts has {min(unknown)!r}, which is no field"
        raise ParameterError(f"{problem}; the fields are {', '.join(fields)}")
    collection = Collection.of(topics, documents, analysis, fields, queries)
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
        required: how many of a topic's terms fields have to have, ``any`` or ``all``, by the fields' places.
    """

    model: Formula
    boosts: Sequence[float] = (1.0,)
    best_field: bool = False
    kept_of_lengths: Callable[[Array], Array] = one_byte
    required: Mapping[int, Literal["any", "all"]] = field(default_factory=dict)


@dataclass(frozen=True)
class Collection:
    """A collection in numbers: all that any formula needs of it for some topics.

    Attributes:
        vocabulary: the terms that are searched for.
        parts: what was counted, where it is kept.
        statistics: of each field.
        queries: what is searched for, of each topic.
    """

    vocabulary: Vocabulary
    parts: Parts[Part]
    statistics: Sequence[Statistics]
    queries: Queries

    @classmethod
    def of(
        cls,
        topics: Iterable[Topic],
        documents: Iterable[AnyDocument],
        analysis: str,
        fields: Fields = ONE_FIELD,
        queries: Queries | None = None,
    ) -> "Collection":
        """Reads documents, once, for these topics.

        Args:
            topics: the topics, the terms of whose titles are counted.
            documents: the collection.
            analysis: the name of an analysis, as of ``rank``.
            fields: the fields by name, each a function of the document; by default one, ``text``.
            queries: what is searched for in place of titles.
        """
        terms_of = analysis_named(analysis).terms
        titles = {topic.number: Counter(terms_of(topic.title)) for topic in topics}
        asked = {number: (queries or {}).get(number, title) for number, title in titles.items()}
        vocabulary = Vocabulary.of_terms(chain.from_iterable(asked.values()), analysis)
        collection = Documents.of(documents)
        parts = read(collection, vocabulary, fields)
        by_field = dict.fromkeys(fields, vocabulary)
        nothing = [Statistics(0, 0, *np.zeros((2, len(vocabulary.places)), dtype=np.int64)) for _ in fields]
        counted = parts.folded(nothing, lambda sums, part: added_up(sums, part.statistics), added_up)
        return cls(vocabulary, parts, known_or_counted(collection.statistics, by_field, counted), asked)

    def rank(self, topics: Sequence[Topic], scoring: Scoring, depth: int) -> Iterator[tuple[Topic, Hits]]:
        """Each topic with its best documents, best first; may be called again, with another formula.

        Args:
            topics: some of those that the collection was read for.
            scoring: how a score is made.
            depth: how many documents at the most for each topic.
        """
        places = self.vocabulary.places
        queries = [self.queries[topic.number] for topic in topics]
        terms = [{places[term]: weight for term, weight in query.items()} for query in queries]
        asked = [(each, topic.candidates) for each, topic in zip(terms, topics, strict=True)]
        best = _Best(asked, self.statistics, scoring, depth)
        nothing: Sequence[_Scores] = [[] for _ in topics]
        found = self.parts.folded(nothing, best.with_part, best.added)
        for topic, scores in zip(topics, found, strict=True):
            yield topic, [(id, score) for score, id in scores]

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in their order, by the collection's analysis.

        Args:
            text: any.
        """
        return analysis_named(self.vocabulary.analysis).terms(text)


@dataclass(frozen=True)
class _Best:
    """What the best documents of parts are found by; it travels to where the parts are.

    Attributes:
        asked: of each topic its terms, each with how often, and the only documents to rank.
        statistics: of each field.
        scoring: how a score is made.
        depth: how many documents at the most for each topic.
    """

    asked: Sequence[tuple[Mapping[int, float], frozenset[str] | None]]
    statistics: Sequence[Statistics]
    scoring: Scoring
    depth: int

    def with_part(self, before: Sequence[_Scores], part: Part) -> Sequence[_Scores]:
        """The best for each topic of those before and of one more part."""
        scored, more = _Scored(part, self.statistics, self.scoring), list[_Scores]()
        for scores, (terms, among) in zip(before, self.asked, strict=True):
            least = scores[-1][0] if len(scores) == self.depth > 0 else -np.inf
            more.append(scored.best(terms, among, self.depth, least) if terms else [])
        return self.added(before, more)

    def added(self, some: Sequence[_Scores], others: Sequence[_Scores]) -> Sequence[_Scores]:
        """The best for each topic of both."""
        both = zip(some, others, strict=True)
        return [sorted(one + other, reverse=True)[: self.depth] for one, other in both]


@dataclass(frozen=True)
class _Scored:
    """A part of a collection that is scored for one topic after the other."""

    part: Part
    statistics: Sequence[Statistics]
    scoring: Scoring
    _added: dict[tuple[int, int, float], Array] = field(default_factory=dict)  # for topics share terms

    def best(
        self, terms: Mapping[int, float], among: frozenset[str] | None, depth: int, least: float
    ) -> _Scores:
        """The documents with the highest scores, in no order, and all that score as the last of them.

        Args:
            terms: what is asked for, each with how often.
            among: the only documents to rank.
            depth: how many are enough.
            least: what a document has to score to be among the best, as earlier parts have it.
        """
        found, scores = np.zeros(len(self.part.ids), dtype=bool), list[Array]()
        added = [self._added_by(number, terms, boost) for number, boost in enumerate(self.scoring.boosts)]
        for fields in ([each] for each in added) if self.scoring.best_field else (added,):
            texts, values = (np.concatenate(each) for each in zip(*chain(*fields), strict=True))
            has_any = np.zeros_like(found)
            has_any[texts] = True
            found |= has_any
            # One after the other, as Lucene adds what terms contribute: each a float32, their sum as double.
            sums = np.bincount(texts, values, len(found))
            scores.append(np.where(has_any, sums, -np.inf))  # 0 would be better than what is below 0
        for number, needed in self.scoring.required.items():
            found &= self._terms_in(number, terms) >= (len(terms) if needed == "all" else 1)
        if among is not None:
            found &= [id in among for id in self.part.ids]
        highest = np.max(scores, axis=0).astype(np.float32)  # as Lucene gives it out
        return self._highest(highest, np.flatnonzero(found & (highest >= least)), depth)

    def _terms_in(self, number: int, terms: Mapping[int, float]) -> Array:
        """How many of the terms each document has in a field."""
        texts = np.concatenate([self.part.fields[number].of(term)[0] for term in terms])
        return np.bincount(texts, minlength=len(self.part.ids))

    def _highest(self, scores: Array, documents: Array, depth: int) -> _Scores:
        if depth < len(documents):
            least = np.partition(scores[documents], -depth)[-depth] if depth else np.inf
            documents = documents[scores[documents] >= least]
        ids = map(self.part.ids.__getitem__, documents.tolist())
        return list(zip(scores[documents].tolist(), ids, strict=True))

    def _added_by(
        self, number: int, terms: Mapping[int, float], boost: float
    ) -> Iterator[tuple[Array, Array]]:
        """For each term the documents that have it in a field, and what it adds to their scores."""
        for term, times in terms.items():
            (texts, tf), weight = self.part.fields[number].of(term), float(np.float32(boost * times))
            if (key := (number, term, weight)) not in self._added:
                statistics = self.statistics[number].term(term, weight)
                self._added[key] = self._computed(number, texts, tf, statistics)
            yield texts, self._added[key]

    def _computed(self, number: int, texts: Array, tf: Array, term: Term) -> Array:
        lengths = self._lengths[number][texts]
        if not len(texts):
            return lengths  # there are none
        model = self.scoring.model
        added = _numbers(model(tf.astype(np.float64), lengths, term), texts)
        return (added if isinstance(model, Weighted) else term.weight * added).astype(np.float32)

    @cached_property
    def _lengths(self) -> list[Array]:
        """Of the documents in each field, as the model sees them."""
        kept = self.scoring.kept_of_lengths
        return [kept(counts.lengths.astype(np.float64)) for counts in self.part.fields]


def _numbers(added: Any, texts: Array) -> Array:
    """What a model gave, which may be an author's own.

    Raises:
        ToucheError: if that is not a finite number for each document.
    """
    found = np.asarray(added)
    if found.shape != texts.shape or found.dtype.kind not in "fiu":
        problem = f"the formula gave {quoted(added)} for {len(texts)} documents"
        raise ToucheError(f"{problem}; it must give an array with a number for each, as tf and length have")
    if not np.isfinite(found).all():
        wrong = found[~np.isfinite(found)][0]
        raise ToucheError(f"the formula gave {wrong} for a document; it must give finite numbers")
    return found
