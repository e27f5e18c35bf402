"""Ranks documents by their counts."""

from __future__ import annotations  # help(touche.scan.rank) shows the names of types

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from itertools import chain
from operator import or_
from typing import Any, Literal

import numpy as np

from touche.documents.collection import Documents
from touche.documents.document_records import AnyDocument
from touche.errors import ParameterError, ToucheError, counted
from touche.io.identifiers import quoted
from touche.scan.counting import ONE_FIELD, Counting, Fields, Part, Vocabulary, join_parts, summary
from touche.scan.kernel import Array
from touche.scan.known import known_or_counted
from touche.scan.lengths import one_byte
from touche.scan.models import Formula, Weighted
from touche.scan.parts import Parts
from touche.scan.reading import Reading, read_parts
from touche.scan.statistics import Statistics, Term, sum_by_field
from touche.scan.tokens import analysis_named
from touche.trec.runs import with_unmatched
from touche.trec.topics import Topic

Hits = list[tuple[str, float]]
Queries = Mapping[str, Mapping[str, float]]
"""For each topic's number the terms to search for, from ``terms``, with their weights."""

_ScoredIds = list[tuple[float, str]]  # the score comes first, so that sorting compares scores before ids


def rank(
    topics: Sequence[Topic],
    documents: Iterable[AnyDocument],
    model: Formula,
    *,
    analysis: str,
    queries: Queries | None = None,
    fields: Fields | None = None,
    boosts: Mapping[str, float] | None = None,
    best_field: bool = False,
    depth: int = 1000,
    length_rounding: Callable[[Array], Array] | None = None,
) -> Iterator[tuple[Topic, Hits]]:
    """Ranks documents for all topics in one reading of the collection.

    Args:
        topics: the topics; if a topic has candidates, only these are ranked, with the collection's
            statistics. Candidates without a term of the query are last.
        documents: the collection; it is read once, by all processors if its files are large, and never
            completely in memory.
        model: the formula for what a term contributes to a document's score. A term that occurs twice in the
            title counts twice.
        analysis: the name of an analysis, see ``touche.scan.terms``.
        queries: queries to use instead of titles, such as expanded queries, by topic number. If a topic isn't
            in it, its title is used.
        fields: the fields by name, each a function of the document; by default only ``text``. Functions of a
            module use all processors, lambdas only one.
        boosts: weights of the fields; the score of a document is the weighted sum over its fields.
        best_field: use the score of the best field instead of the sum over fields, as in Elasticsearch's
            multi_match.
        depth: the largest number of documents for each topic.
        length_rounding: a function that rounds an array of lengths, in tokens, before the model uses them; by
            default, they are rounded as in Lucene, which stores a length in one byte.

    Yields:
        Each topic with its (document id, score) pairs, best first, ties by document id descending; scores are
        float32 values, as in Lucene.

    Raises:
        ToucheError: if the model does not return a finite number for each document, a field is not a string,
            or a boost has no field.
    """
    fields = ONE_FIELD if fields is None else fields
    boosts = boosts or {}
    unknown = boosts.keys() - fields.keys()
    if unknown:
        raise ParameterError(
            f"boosts has {min(unknown)!r}, which is not a field; the fields are {', '.join(fields)}"
        )
    collection = Collection.of(topics, documents, analysis, fields, queries)
    scoring = Scoring(
        model=model,
        boosts=[boosts.get(name, 1.0) for name in fields],
        best_field=best_field,
        length_rounding=length_rounding or one_byte,
    )
    rankings = collection.rank(topics, scoring, depth)
    has_candidates = any(topic.candidates is not None for topic in topics)
    yield from collection.with_all_candidates(rankings, depth) if has_candidates else rankings


@dataclass(frozen=True)
class Scoring:
    """How to compute the score of a document.

    Attributes:
        model: the formula for what a term contributes to the score.
        boosts: the weight of each field.
        best_field: whether the score is the best field's score; otherwise it's the weighted sum over all
            fields.
        length_rounding: a function that rounds an array of lengths, in tokens, before the model uses them.
        length_offset: by the field's index, how many tokens to add to the length of each document. They are
            added before lengths are rounded, and are included in the mean length.
        required: by the field's index, whether a document is only ranked if this field contains ``any`` or
            ``all`` of the topic's terms.
    """

    model: Formula
    boosts: Sequence[float] = (1.0,)
    best_field: bool = False
    length_rounding: Callable[[Array], Array] = one_byte
    length_offset: Mapping[int, int] = field(default_factory=dict)
    required: Mapping[int, Literal["any", "all"]] = field(default_factory=dict)


@dataclass(frozen=True)
class Collection:
    """A collection, counted for some topics, so that it can be ranked with several formulas.

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
    ) -> Collection:
        """Reads documents once, and counts the terms of some topics in them.

        Args:
            topics: the topics, whose titles are the queries.
            documents: the collection.
            analysis: the name of an analysis, as in ``rank``.
            fields: the fields by name, each a function of the document; by default only ``text``.
            queries: queries that replace titles.
        """
        terms_of = analysis_named(analysis).terms
        topics = tuple(topics)
        titles = {topic.number: Counter(terms_of(topic.title)) for topic in topics}
        replacements = queries or {}
        all_queries = {number: replacements.get(number, title) for number, title in titles.items()}
        vocabulary = Vocabulary.from_terms(chain.from_iterable(all_queries.values()), analysis)
        weighted = {term for query in all_queries.values() for term, weight in query.items() if weight}
        collection = Documents.of(documents)
        candidates = frozenset(id for topic in topics for id in topic.candidates or ())
        reading = Reading(
            begin=partial(Counting, vocabulary, fields, candidates),
            merge=join_parts,
            summary=partial(summary, fields),
        )
        parts = read_parts(collection, reading)
        counted = parts.combined(lambda part: part.statistics, sum_by_field)
        return cls(
            vocabulary=vocabulary,
            parts=parts,
            statistics=known_or_counted(
                collection.statistics,
                dict.fromkeys(fields, vocabulary),
                counted,
                unweighted=vocabulary.indexes.keys() - weighted,
            ),
            queries=all_queries,
        )

    def rank(self, topics: Sequence[Topic], scoring: Scoring, depth: int) -> Iterator[tuple[Topic, Hits]]:
        """Yields each topic with its best documents, best first. Can be called several times, with different
        formulas.

        Args:
            topics: some of the topics for which the collection was read.
            scoring: the formula of a score.
            depth: the largest number of documents for each topic.
        """
        indexes = self.vocabulary.indexes
        queries = (self.queries[topic.number].items() for topic in topics)
        best = _BestOfParts(
            terms=[{indexes[term]: weight for term, weight in query} for query in queries],
            candidates=[topic.candidates for topic in topics],
            statistics=[
                statistics.lengthened(scoring.length_offset.get(field_index, 0))
                for field_index, statistics in enumerate(self.statistics)
            ],
            scoring=scoring,
            depth=depth,
        )
        best_of_topics = self.parts.combined(best.of_part, best.merge)
        for topic, scored_ids in zip(topics, best_of_topics, strict=True):
            yield topic, [(id, score) for score, id in scored_ids]

    def with_all_candidates(
        self, rankings: Iterable[tuple[Topic, Hits]], depth: int
    ) -> Iterator[tuple[Topic, Hits]]:
        """Appends the candidates for re-ranking that are not ranked, so that none is lost up to the depth.

        Such candidates contain no term of their topic, or not the required term. Candidates that aren't in
        the collection are not appended.

        Args:
            rankings: each topic with its documents, best first.
            depth: the largest number of documents for each topic.
        """
        in_collection = self.parts.combined(lambda part: part.candidates, or_)
        for topic, hits in rankings:
            candidates = in_collection.intersection(topic.candidates or ())
            # Can include documents that were ranked but cut off at the depth. But then ``with_unmatched``
            # appends nothing, because the ranking has reached the depth.
            unranked = candidates.difference(id for id, _ in hits)
            yield topic, with_unmatched(hits, unranked, depth)

    def terms(self, text: str) -> list[str]:
        """Returns the terms of a text in order, using the collection's analysis.

        Args:
            text: the text.
        """
        return analysis_named(self.vocabulary.analysis).terms(text)


@dataclass(frozen=True)
class _BestOfParts:
    """Finds the best documents of each part. This object is sent to the processes that have the parts in
    memory.

    Attributes:
        terms: for each topic the weight of each term, by its index.
        candidates: for each topic the ids of the only documents to rank, or None.
        statistics: the statistics of each field.
        scoring: the formula of a score.
        depth: the largest number of documents for each topic.
    """

    terms: Sequence[Mapping[int, float]]
    candidates: Sequence[frozenset[str] | None]
    statistics: Sequence[Statistics]
    scoring: Scoring
    depth: int

    def of_part(self, part: Part) -> Sequence[_ScoredIds]:
        """Returns the best documents of each topic in a part."""
        scored = _ScoredPart(part, self.statistics, self.scoring)
        return [
            # There are no terms if all words in the title are stop words.
            self._cut(scored.best(terms, candidates, self.depth) if terms else [])
            for terms, candidates in zip(self.terms, self.candidates, strict=True)
        ]

    def merge(self, best: Sequence[_ScoredIds], others: Sequence[_ScoredIds]) -> Sequence[_ScoredIds]:
        """Merges the best documents of two groups of parts, topic by topic."""
        return [self._cut(hits + other_hits) for hits, other_hits in zip(best, others, strict=True)]

    def _cut(self, hits: _ScoredIds) -> _ScoredIds:
        """Sorts documents by score and id, and cuts them at the depth."""
        return sorted(hits, reverse=True)[: self.depth]


@dataclass(frozen=True)
class _ScoredPart:
    """A part of a collection, scored for one topic after the other.

    Attributes:
        part: the counts of the documents.
        statistics: the statistics of each field in the whole collection.
        scoring: the formula of a score.
    """

    part: Part
    statistics: Sequence[Statistics]
    scoring: Scoring
    # Cached by field, term and weight, because several topics can contain the same term.
    _cached_contributions: dict[tuple[int, int, float], Array] = field(default_factory=dict)

    def best(self, terms: Mapping[int, float], candidates: frozenset[str] | None, depth: int) -> _ScoredIds:
        """Returns the documents with the highest scores, in no particular order. All documents with the same
        score as the last one are included.

        None of these ties is cut off here, because ``merge`` orders ties by id and then cuts.

        Args:
            terms: the weight of each term of the topic, at least one, by its index.
            candidates: the ids of the only documents to rank, or None.
            depth: the number of documents to return. There can be more, but only because of ties.
        """
        scores = self._scores(terms)
        matches = ~np.isnan(scores)  # a document's score is NaN if it contains none of the terms
        for field_index, any_or_all in self.scoring.required.items():
            minimum = len(terms) if any_or_all == "all" else 1
            postings = map(self.part.fields[field_index].postings, terms)
            # Contains a document once for each of its terms.
            with_terms = np.concatenate([indexes for indexes, _ in postings])
            matches &= np.bincount(with_terms, minlength=len(self.part.ids)) >= minimum
        if candidates is not None:
            matches &= np.array([id in candidates for id in self.part.ids], dtype=bool)
        matching = np.flatnonzero(matches)
        if depth < len(matching):
            # If the depth is 0, an infinite threshold removes all documents.
            last_score = np.partition(scores[matching], -depth)[-depth] if depth else np.inf
            matching = matching[scores[matching] >= last_score]
        ids = [self.part.ids[index] for index in matching.tolist()]
        return list(zip(scores[matching].tolist(), ids, strict=True))

    def _scores(self, terms: Mapping[int, float]) -> Array:
        """Returns the score of each document of the part as a float32 value; NaN if it has none of the terms.

        Args:
            terms: the weight of each term, by its index.
        """
        contributions_by_field = [
            self._contributions(index, terms, boost) for index, boost in enumerate(self.scoring.boosts)
        ]
        if self.scoring.best_field:
            # Use ``np.fmax``, because ``np.maximum`` would return NaN if one of the fields contains no term.
            scores = reduce(np.fmax, map(self._sums, contributions_by_field))
        else:
            scores = self._sums(list(chain.from_iterable(contributions_by_field)))
        return scores.astype(np.float32)  # Lucene's scores are float32

    def _sums(self, contributions_by_term: Sequence[tuple[Array, Array]]) -> Array:
        """Returns, for each document of the part, the sum of its terms' contributions; NaN if there are none.

        Args:
            contributions_by_term: as ``_contributions`` returns them.
        """
        # The index of a document occurs once for each of its contributions.
        indexes = np.concatenate([indexes for indexes, _ in contributions_by_term])
        contributions = np.concatenate([contributions for _, contributions in contributions_by_term])
        # As in Lucene, float32 contributions are added one after the other to a sum in double precision.
        sums = np.bincount(indexes, weights=contributions, minlength=len(self.part.ids))
        has_term = np.zeros(len(sums), dtype=bool)
        has_term[indexes] = True
        return np.where(has_term, sums, np.nan)

    def _contributions(
        self, field_index: int, terms: Mapping[int, float], boost: float
    ) -> list[tuple[Array, Array]]:
        """Returns, for each term, the indexes of the documents whose field contains it, and the term's
        contribution to each of them.

        Args:
            field_index: the index of the field.
            terms: the weight of each term, by its index.
            boost: the weight of the field.
        """
        contributions: list[tuple[Array, Array]] = []
        for term_index, term_weight in terms.items():
            indexes, tf = self.part.fields[field_index].postings(term_index)
            weight = float(np.float32(boost * term_weight))  # Lucene multiplies in float32, too
            key = (field_index, term_index, weight)
            if key not in self._cached_contributions:
                term = self.statistics[field_index].term(term_index, weight)
                self._cached_contributions[key] = self._apply_model(field_index, indexes, tf, term)
            contributions.append((indexes, self._cached_contributions[key]))
        return contributions

    def _apply_model(self, field_index: int, indexes: Array, tf: Array, term: Term) -> Array:
        """Returns the weighted contributions of a term in a field, as float32 values.

        Args:
            field_index: the index of the field.
            indexes: the indexes of the documents with the term.
            tf: the frequency of the term in each of them.
            term: the statistics of the term, with its weight.
        """
        lengths = self._lengths[field_index][indexes]
        if len(indexes) == 0:  # don't apply the formula, because df can be 0 and formulas divide by it
            return lengths  # an empty array, like the contributions
        model = self.scoring.model
        contributions = _checked_numbers(model(tf.astype(np.float64), lengths, term), len(indexes))
        if isinstance(model, Weighted):  # the formula has already multiplied by the weight
            return contributions.astype(np.float32)
        return np.asarray(term.weight * contributions, np.float32)

    @cached_property
    def _lengths(self) -> list[Array]:
        """Each field's lengths as the model uses them: with the offset, and rounded."""
        offsets = self.scoring.length_offset
        return [
            self.scoring.length_rounding(counts.lengths.astype(np.float64) + offsets.get(field_index, 0))
            for field_index, counts in enumerate(self.part.fields)
        ]


def _checked_numbers(result: Any, document_count: int) -> Array:
    """Checks a formula's result and returns it. The check is needed because baselines can have their own
    formulas, with mistakes in them.

    NaN often means that one of the collection's numbers is unknown, because formulas get NaN in its place.

    Raises:
        ToucheError: if the result isn't an array with a finite number for each document.
    """
    contributions = np.asarray(result)
    is_numeric = contributions.dtype.kind in "fiu"  # floats, signed or unsigned integers
    if contributions.shape != (document_count,) or not is_numeric:
        problem = f"the formula returned {quoted(result)} for {counted(document_count, 'document')}"
        raise ToucheError(f"{problem}; return an array with a number for each, in the shape of tf and length")
    if not np.isfinite(contributions).all():
        wrong_number = contributions[~np.isfinite(contributions)][0]
        problem = f"the formula returned {wrong_number} for a document"
        raise ToucheError(f"{problem}; return finite numbers, and use statistics without gaps")
    return contributions
