"""Counts how long documents are, and how often they contain the terms of the topics."""

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
    """Returns a document's whole text. This is the field that is ranked by default."""
    return document.text


ONE_FIELD: Fields = {"text": whole_text}
"""The whole text of a document as its only field."""


@dataclass(frozen=True)
class Vocabulary:
    """The terms to count.

    Attributes:
        analysis: the name of the analysis that turns texts into terms.
        indexes: each term's index. Indexes are counted from 0, in the dictionary's order.
    """

    analysis: str
    indexes: Mapping[str, int]

    @classmethod
    def from_terms(cls, terms: Iterable[str], analysis: str) -> "Vocabulary":
        """Creates a vocabulary. Repeated terms are stored once.

        Args:
            terms: the terms.
            analysis: the name of the analysis that turns texts into terms.
        """
        return cls(analysis, {term: index for index, term in enumerate(dict.fromkeys(terms))})

    def counter(self, *, with_positions: bool = False) -> Counter:
        """Returns a counter for these terms.

        Args:
            with_positions: whether the counter also stores the terms' positions.
        """
        analysis = analysis_named(self.analysis)
        beginnings = {*map(analysis.beginning, self.indexes), *analysis.dropped}
        # A NUL at the end of a beginning means that the whole word must be equal. Here, the NUL is dropped,
        # so that longer words pass the test below, too. That's harmless: they are only analyzed in vain.
        prefixes = tuple(beginning.rstrip("\0") for beginning in beginnings)
        removed_code = IGNORED if analysis.closes_gaps else DROPPED

        def meaning(raw: bytes) -> int:
            """Returns the index of the term that a word becomes. If it isn't in the vocabulary, returns how
            the kernel counts the word: COUNTED, DROPPED or IGNORED.
            """
            word = raw.decode("utf-8", "replace")
            # A shortcut for most words that don't become a term, because this test is faster than stemming.
            if word.isascii() and not word.lower().startswith(prefixes):
                return COUNTED
            term = analysis.term(word)
            if term == "":  # the analysis removed the word, e.g. because it's a stop word
                return removed_code
            return self.indexes.get(term, COUNTED)

        return Counter(len(self.indexes), prefix_table(beginnings), meaning, with_positions=with_positions)


@dataclass(frozen=True)
class Part:
    """What is needed to rank some of the collection's documents.

    Attributes:
        documents: how many documents there are.
        statistics: each field's statistics over all documents.
        ids: the ids of the documents that contain at least one of the terms. Other documents aren't stored.
        fields: for each field, the counts in the documents in ``ids``.
        candidates: the ids of those candidates for re-ranking that are among these documents, even if they
            contain none of the terms.
    """

    documents: int
    statistics: Sequence[Statistics]
    ids: Sequence[str]
    fields: Sequence[Counts]
    candidates: frozenset[str] = frozenset()


class Counting:
    """Counts terms in documents. Use the same object for many documents, because it remembers which term each
    word becomes.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        fields: Fields,
        candidates: frozenset[str] = frozenset(),
        *,
        with_positions: bool = False,
    ) -> None:
        """Creates an object that counts terms in fields, and finds out which candidates exist.

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
        """Counts the terms in these documents, and returns what is needed to rank them."""
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
        """Returns each field's counts. All documents are included, even if they contain none of the terms.

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
    """Joins parts into one. There must be at least one part."""
    counts_by_field = zip(*(part.fields for part in parts), strict=True)
    return Part(
        documents=sum(part.documents for part in parts),
        statistics=reduce(sum_by_field, (part.statistics for part in parts)),
        ids=[id for part in parts for id in part.ids],
        fields=[joined_counts(counts_of_parts) for counts_of_parts in counts_by_field],
        candidates=frozenset[str]().union(*(part.candidates for part in parts)),
    )


def summary(fields: Fields, parts: Sequence[Part]) -> str:
    """Returns a description of all parts of a collection in words, for ``--verbose``."""
    numbers = [counted(sum(part.documents for part in parts), "document")]
    for index, name in enumerate(fields):
        numbers.append(f"{sum(part.statistics[index].tokens for part in parts)} terms in {name}")
    return ", ".join(numbers)


def joined_counts(parts: Sequence[Counts]) -> Counts:
    """Joins the counts of several parts. There must be at least one.

    Args:
        parts: each part's counts, in document order.
    """
    # The texts are numbered through all parts, so a part's first index is the number of texts in earlier
    # parts.
    first_texts = np.cumsum([0, *(len(part.lengths) for part in parts[:-1])], dtype=np.int32)
    texts = np.concatenate([part.texts + first for part, first in zip(parts, first_texts, strict=True)])
    tf = np.concatenate([part.tf for part in parts])
    terms = np.concatenate([part.terms for part in parts])
    # Sorted by term; stable, so that each term's postings stay in the order of texts.
    order = np.argsort(terms, kind="stable")
    positions = None
    # Positions are stored either in all parts or in none.
    positions_of_parts = [part.positions for part in parts if part.positions is not None]
    if positions_of_parts:
        terms_of_positions = np.repeat(terms, tf)  # a posting has tf positions
        position_order = np.argsort(terms_of_positions, kind="stable")
        positions = np.concatenate(positions_of_parts)[position_order]
    # A term's offset is the number of postings of the terms before it. So the offsets in the joined counts
    # are the sums of the parts' offsets.
    return Counts(
        lengths=np.concatenate([part.lengths for part in parts]),
        offsets=np.sum([part.offsets for part in parts], axis=0),
        texts=texts[order],
        tf=tf[order],
        positions=positions,
    )
