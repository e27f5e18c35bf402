"""Ranks documents by their counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np

from touche.documents.collection import Documents
from touche.documents.parts import Parts
from touche.documents.records import AnyDocument
from touche.errors import ParameterError, ToucheError
from touche.io.identifiers import quoted
from touche.scan.counting import ONE_FIELD, Fields, Part, Vocabulary
from touche.scan.kernel import Array
from touche.scan.known import known_or_counted
from touche.scan.lengths import one_byte
from touche.scan.models import Formula, Weighted
from touche.scan.reading import read
from touche.scan.statistics import Statistics, Term, added_up
from touche.scan.tokens import analysis_named
from touche.trec.runs import with_unmatched
from touche.trec.topics import Topic

Hits = list[tuple[str, float]]
Queries = Mapping[str, Mapping[str, float]]
"""For each topic's number the terms to search for, from ``terms``, with their weights."""

_Scores = list[tuple[float, str]]  # scores and ids of documents


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
    """Ranks documents for all topics in one reading of the collection.

    Args:
        topics: the topics; if a topic has candidates, only these are ranked, with the collection's
            statistics. Candidates without a term of the query are last.
        documents: the collection; it is read once, by all processors if its files are large, and never
            completely in memory.
        model: the contribution of a term to the scores; a term that occurs twice in the title counts twice.
        analysis: the name of an analysis, see ``touche.scan.terms``.
        queries: queries that replace titles, such as expanded queries; a topic without a query has its title.
        fields: the fields by name, each a function of the document; by default only ``text``. Functions of a
            module use all processors, lambdas only one.
        boosts: weights of the fields; the score of a document is the weighted sum over its fields.
        best_field: use the score of the best field instead, as in Elasticsearch's multi_match.
        depth: the largest number of documents for each topic.
        kept_of_lengths: maps lengths to those that the model sees; by default Lucene's one byte.

    Yields:
        Each topic with its (document id, score) pairs, best first, ties by document id descending; scores are
        float32 values, as in Lucene.

    Raises:
        ToucheError: if the model does not return a finite number for each document, a field is not a string,
            or a boost has no field.
    """
    boosts = boosts or {}
    unknown = boosts.keys() - fields.keys()
    if unknown:
        problem = f"boosts has {min(unknown)!r}, which is not a field"
        raise ParameterError(f"{problem}; the fields are {', '.join(fields)}")
    collection = Collection.of(topics, documents, analysis, fields, queries)
    scoring = Scoring(
        model=model,
        boosts=[boosts.get(name, 1.0) for name in fields],
        best_field=best_field,
        kept_of_lengths=kept_of_lengths,
    )
    yield from collection.with_all_candidates(collection.rank(topics, scoring, depth), depth)


@dataclass(frozen=True)
class Scoring:
    """The formula of a score.

    Attributes:
        model: the contribution of a term.
        boosts: the weight of each field.
        best_field: whether the best field counts, instead of the sum of all fields.
        kept_of_lengths: maps lengths to those that the model sees.
        required: whether a field, by its index, has to contain ``any`` or ``all`` terms of a topic.
    """

    model: Formula
    boosts: Sequence[float] = (1.0,)
    best_field: bool = False
    kept_of_lengths: Callable[[Array], Array] = one_byte
    required: Mapping[int, Literal["any", "all"]] = field(default_factory=dict)


@dataclass(frozen=True)
class Collection:
    """The counts of a collection that formulas need for some topics.

    Attributes:
        vocabulary: the terms of all queries.
        parts: the counts of the documents.
        statistics: the statistics of each field.
        queries: the query of each topic.
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
        """Reads documents once for some topics.

        Args:
            topics: the topics, whose titles are the queries.
            documents: the collection.
            analysis: the name of an analysis, as in ``rank``.
            fields: the fields by name, each a function of the document; by default only ``text``.
            queries: queries that replace titles.
        """
        split = analysis_named(analysis).terms
        topics = tuple(topics)
        titles = {topic.number: Counter(split(topic.title)) for topic in topics}
        all_queries = {number: (queries or {}).get(number, title) for number, title in titles.items()}
        vocabulary = Vocabulary.of_terms(chain.from_iterable(all_queries.values()), analysis)
        collection = Documents.of(documents)
        candidates = frozenset[str]().union(*(topic.candidates or () for topic in topics))
        parts = read(collection, vocabulary, fields, candidates)
        zeros = np.zeros(len(vocabulary.places), dtype=np.int64)
        nothing = [Statistics(documents=0, tokens=0, df=zeros, ttf=zeros) for _ in fields]
        counted = parts.folded(nothing, lambda sums, part: added_up(sums, part.statistics), added_up)
        by_field = dict.fromkeys(fields, vocabulary)
        statistics = known_or_counted(collection.statistics, by_field, counted)
        return cls(vocabulary=vocabulary, parts=parts, statistics=statistics, queries=all_queries)

    def rank(self, topics: Sequence[Topic], scoring: Scoring, depth: int) -> Iterator[tuple[Topic, Hits]]:
        """Yields each topic with its best documents, best first; can be called again with other formulas.

        Args:
            topics: some of the topics for which the collection was read.
            scoring: the formula of a score.
            depth: the largest number of documents for each topic.
        """
        indexes = self.vocabulary.places
        queries = [self.queries[topic.number] for topic in topics]
        terms = [{indexes[term]: weight for term, weight in query.items()} for query in queries]
        wanted = [(query, topic.candidates) for query, topic in zip(terms, topics, strict=True)]
        best = _Best(wanted=wanted, statistics=self.statistics, scoring=scoring, depth=depth)
        nothing: Sequence[_Scores] = [[] for _ in topics]
        scores_of_topics = self.parts.folded(nothing, best.with_part, best.added)
        for topic, scores in zip(topics, scores_of_topics, strict=True):
            yield topic, [(id, score) for score, id in scores]

    def with_all_candidates(
        self, rankings: Iterable[tuple[Topic, Hits]], depth: int
    ) -> Iterator[tuple[Topic, Hits]]:
        """Adds the candidates for re-ranking that have no term of their topic, so that none is lost.

        A candidate that the collection lacks is not added.

        Args:
            rankings: each topic with its documents, best first.
            depth: the largest number of documents for each topic.
        """
        present = self.parts.folded(frozenset[str](), _with_candidates, frozenset.union)
        for topic, hits in rankings:
            others = present.intersection(topic.candidates or ()).difference(id for id, _ in hits)
            yield topic, with_unmatched(hits, others, depth)

    def terms(self, text: str) -> list[str]:
        """Returns the terms of a text in order, by the collection's analysis.

        Args:
            text: the text.
        """
        return analysis_named(self.vocabulary.analysis).terms(text)


def _with_candidates(before: frozenset[str], part: Part) -> frozenset[str]:
    return before | part.candidates


@dataclass(frozen=True)
class _Best:
    """Finds the best documents of parts; it is sent to the workers that have the parts.

    Attributes:
        wanted: for each topic its terms with their weights, and the only documents to rank, or None.
        statistics: the statistics of each field.
        scoring: the formula of a score.
        depth: the largest number of documents for each topic.
    """

    wanted: Sequence[tuple[Mapping[int, float], frozenset[str] | None]]
    statistics: Sequence[Statistics]
    scoring: Scoring
    depth: int

    def with_part(self, before: Sequence[_Scores], part: Part) -> Sequence[_Scores]:
        """Returns the best documents of each topic, from those before and one more part."""
        scored = _Scored(part, self.statistics, self.scoring)
        more: list[_Scores] = []
        for scores, (terms, among) in zip(before, self.wanted, strict=True):
            least = scores[-1][0] if len(scores) == self.depth > 0 else -np.inf
            more.append(scored.best(terms, among, self.depth, least) if terms else [])
        return self.added(before, more)

    def added(self, some: Sequence[_Scores], others: Sequence[_Scores]) -> Sequence[_Scores]:
        """Returns the best documents of each topic, from both."""
        both = zip(some, others, strict=True)
        return [sorted(one + other, reverse=True)[: self.depth] for one, other in both]


@dataclass(frozen=True)
class _Scored:
    """A part of a collection, scored for one topic after the other."""

    part: Part
    statistics: Sequence[Statistics]
    scoring: Scoring
    _added: dict[tuple[int, int, float], Array] = field(default_factory=dict)  # topics share terms

    def best(
        self, terms: Mapping[int, float], among: frozenset[str] | None, depth: int, least: float
    ) -> _Scores:
        """Returns the documents with the highest scores in any order, with all ties of the last one.

        Args:
            terms: the terms of the topic with their weights.
            among: ids of the only documents to rank, or None.
            depth: the largest number of documents without ties.
            least: the lowest score that can be among the best, from earlier parts.
        """
        matches = np.zeros(len(self.part.ids), dtype=bool)
        scores: list[Array] = []
        fields = [self._added_by(number, terms, boost) for number, boost in enumerate(self.scoring.boosts)]
        for summed in [[one] for one in fields] if self.scoring.best_field else [fields]:
            texts, values = (np.concatenate(arrays) for arrays in zip(*chain(*summed), strict=True))
            has_any = np.zeros_like(matches)
            has_any[texts] = True
            matches |= has_any
            # In Lucene's way, one after the other: each contribution is a float32, and their sum a double.
            sums = np.bincount(texts, values, len(matches))
            scores.append(np.where(has_any, sums, -np.inf))  # 0 would be better than negative scores
        for number, needed in self.scoring.required.items():
            matches &= self._terms_in(number, terms) >= (len(terms) if needed == "all" else 1)
        if among is not None:
            matches &= np.fromiter((id in among for id in self.part.ids), bool, len(matches))
        highest = np.max(scores, axis=0).astype(np.float32)  # as in Lucene's results
        return self._highest(highest, np.flatnonzero(matches & (highest >= least)), depth)

    def _terms_in(self, number: int, terms: Mapping[int, float]) -> Array:
        """Returns how many of the terms each document has in a field."""
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
        """Yields for each term the documents with it in a field, and its contributions to their scores."""
        for term, times in terms.items():
            texts, tf = self.part.fields[number].of(term)
            weight = float(np.float32(boost * times))
            key = (number, term, weight)
            if key not in self._added:
                statistics = self.statistics[number].term(term, weight)
                self._added[key] = self._computed(number, texts, tf, statistics)
            yield texts, self._added[key]

    def _computed(self, number: int, texts: Array, tf: Array, term: Term) -> Array:
        lengths = self._lengths[number][texts]
        if not len(texts):
            return lengths  # an empty array
        model = self.scoring.model
        added = _numbers(model(tf.astype(np.float64), lengths, term), texts)
        return (added if isinstance(model, Weighted) else term.weight * added).astype(np.float32)

    @cached_property
    def _lengths(self) -> list[Array]:
        """For each field the lengths that the model sees."""
        stored = self.scoring.kept_of_lengths
        return [stored(counts.lengths.astype(np.float64)) for counts in self.part.fields]


def _numbers(added: Any, texts: Array) -> Array:
    """Returns the result of a model, which may be the baseline's own.

    Raises:
        ToucheError: if it is not a finite number for each document.
    """
    numbers = np.asarray(added)
    if numbers.shape != texts.shape or numbers.dtype.kind not in "fiu":
        problem = f"the formula returned {quoted(added)} for {len(texts)} documents"
        raise ToucheError(f"{problem}; return an array with a number for each, in the shape of tf and length")
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)][0]
        raise ToucheError(
            f"the formula returned {wrong} for a document; return finite numbers, by statistics without gaps"
        )
    return numbers
