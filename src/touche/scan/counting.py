"""Reads documents, and counts their lengths and how often they contain the topics' terms."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from touche.documents.document_records import AnyDocument
from touche.errors import ToucheError, counted
from touche.io.identifiers import quoted
from touche.scan.kernel import COUNTED, DROPPED, IGNORED, Counter, Counts, prefix_table
from touche.scan.statistics import Statistics, sum_by_field
from touche.scan.tokens import analysis_named, encoded

Fields = Mapping[str, Callable[[Any], str]]
"""The fields of a document by name; each is a function that returns a text of the document."""


def whole_text(document: AnyDocument) -> str:
    """Returns a document's whole text, the default field."""
    return document.text


ONE_FIELD: Fields = {"text": whole_text}
"""The whole text of a document as its only field."""


@dataclass(frozen=True)
class Vocabulary:
    """The terms to count.

    Attributes:
        analysis: the name of the analysis that turns texts into terms.
        indexes: each term's index, from 0 in this order.
    """

    analysis: str
    indexes: Mapping[str, int]

    @classmethod
    def from_terms(cls, terms: Iterable[str], analysis: str) -> "Vocabulary":
        """Returns a vocabulary without repeated terms.

        Args:
            terms: the terms.
            analysis: the name of the analysis that turns texts into them.
        """
        return cls(analysis, {term: index for index, term in enumerate(dict.fromkeys(terms))})

    def counter(self, *, with_positions: bool = False) -> Counter:
        """Returns a counter for these terms.

        Args:
            with_positions: whether it stores positions.
        """
        analysis = analysis_named(self.analysis)
        beginnings = {*map(analysis.beginning, self.indexes), *analysis.dropped}
        # A final NUL marks a whole word. When we drop it, longer words pass the test below too, which
        # does no harm.
        prefixes = tuple(beginning.rstrip("\0") for beginning in beginnings)
        removed_code = IGNORED if analysis.closes_gaps else DROPPED

        def meaning(raw: bytes) -> int:
            """Returns the index of a word's term, or how the kernel counts other words."""
            word = raw.decode("utf-8", "replace")
            # Most words that aren't terms fail this test, which is faster than stemming.
            if word.isascii() and not word.lower().startswith(prefixes):
                return COUNTED
            term = analysis.term(word)
            if term == "":  # the analysis removes the word
                return removed_code
            return self.indexes.get(term, COUNTED)

        return Counter(len(self.indexes), prefix_table(beginnings), meaning, with_positions=with_positions)


@dataclass(frozen=True)
class Part:
    """What a ranking needs to know about some documents.

    Attributes:
        documents: how many documents there are.
        statistics: each field's statistics over all documents.
        ids: the ids of documents with a term; the others are dropped.
        fields: each field's counts for documents with a term.
        candidates: the ids of candidates for re-ranking, including those without a term.
    """

    documents: int
    statistics: Sequence[Statistics]
    ids: Sequence[str]
    fields: Sequence[Counts]
    candidates: frozenset[str] = frozenset()


class Counting:
    """Counts documents. Create one for many documents, because it caches what words mean."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        fields: Fields,
        candidates: frozenset[str] = frozenset(),
        *,
        with_positions: bool = False,
    ) -> None:
        """Counts terms in fields, and notes which candidates exist.

        Args:
            vocabulary: the terms.
            fields: the fields by name.
            candidates: the ids of documents to re-rank.
            with_positions: whether to store positions.
        """
        self._fields = fields
        self._counter = vocabulary.counter(with_positions=with_positions)
        self._candidates = candidates

    def __call__(self, documents: Sequence[AnyDocument]) -> Part:
        """Returns what a ranking needs to know about the documents."""
        fields = self.counts(documents)
        has_term = np.zeros(len(documents), dtype=bool)
        for counts in fields:
            has_term[counts.texts] = True
        return Part(
            documents=len(documents),
            statistics=[Statistics.from_counts(counts) for counts in fields],
            ids=[documents[index].id for index in np.flatnonzero(has_term).tolist()],
            fields=[counts.only(has_term) for counts in fields],
            candidates=self._candidates.intersection(document.id for document in documents),
        )

    def counts(self, documents: Sequence[AnyDocument]) -> list[Counts]:
        """Returns each field's counts for all these documents.

        Args:
            documents: the documents to count.

        Raises:
            ToucheError: if a baseline's function doesn't return a string.
        """
        counts: list[Counts] = []
        for name, field in self._fields.items():
            texts = [field(document) for document in documents]
            for document, text in zip(documents, texts, strict=True):
                if not isinstance(text, str):
                    problem = f"the field {name!r} of document {document.id} is {quoted(text)}"
                    raise ToucheError(f"{problem}; return a string for each field")
            counts.append(self._counter.read([encoded(text) for text in texts]))
        return counts


def join_parts(parts: Sequence[Part]) -> Part:
    """Joins at least one part."""
    counts_by_field = zip(*(part.fields for part in parts), strict=True)
    return Part(
        documents=sum(part.documents for part in parts),
        statistics=reduce(sum_by_field, (part.statistics for part in parts)),
        ids=[id for part in parts for id in part.ids],
        fields=[joined_counts(counts_of_parts) for counts_of_parts in counts_by_field],
        candidates=frozenset[str]().union(*(part.candidates for part in parts)),
    )


def summary(fields: Fields, parts: Sequence[Part]) -> str:
    """Describes all parts of a collection."""
    numbers = [counted(sum(part.documents for part in parts), "document")]
    for index, name in enumerate(fields):
        numbers.append(f"{sum(part.statistics[index].tokens for part in parts)} terms in {name}")
    return ", ".join(numbers)


def joined_counts(parts: Sequence[Counts]) -> Counts:
    """Joins at least one part's counts.

    Args:
        parts: each part's counts, in document order.
    """
    # A part's first text gets the number of texts in earlier parts as its index.
    first_texts = np.cumsum([0, *(len(part.lengths) for part in parts[:-1])], dtype=np.int32)
    texts = np.concatenate([part.texts + first for part, first in zip(parts, first_texts, strict=True)])
    tf = np.concatenate([part.tf for part in parts])
    terms = np.concatenate([part.terms for part in parts])
    order = np.argsort(terms, kind="stable")  # by term; a term's postings keep the order of texts
    positions = None
    # Either all parts have positions or none.
    positions_of_parts = [part.positions for part in parts if part.positions is not None]
    if positions_of_parts:
        terms_of_positions = np.repeat(terms, tf)  # a posting has tf positions
        position_order = np.argsort(terms_of_positions, kind="stable")
        positions = np.concatenate(positions_of_parts)[position_order]
    # An offset counts the postings of earlier terms, so we can add up the parts' offsets.
    return Counts(
        lengths=np.concatenate([part.lengths for part in parts]),
        offsets=np.sum([part.offsets for part in parts], axis=0),
        texts=texts[order],
        tf=tf[order],
        positions=positions,
    )
