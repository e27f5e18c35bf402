"""Reading and counting: of each document its lengths, and how often it has the topics' terms."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from touche.errors import ToucheError
from touche.formats.documents import AnyDocument
from touche.io.identifiers import quoted
from touche.scan.kernel import COUNTED, DROPPED, Counter, Counts, beginning_with
from touche.scan.statistics import Statistics, added_up
from touche.scan.tokens import analysis_named, encoded

Fields = Mapping[str, Callable[[Any], str]]
"""The fields of a document by name, each a function of the document that gives a text."""


def text_of(document: AnyDocument) -> str:
    """The whole text of a document, its one field where no others are named."""
    return document.text


ONE_FIELD: Fields = {"text": text_of}


@dataclass(frozen=True)
class Vocabulary:
    """The terms that are counted.

    Attributes:
        analysis: the name of the analysis by which texts become terms.
        places: the terms, each with its place among them.
    """

    analysis: str
    places: Mapping[str, int]

    @classmethod
    def of(cls, texts: Iterable[str], analysis: str) -> "Vocabulary":
        """The terms of these texts."""
        terms_of = analysis_named(analysis).terms
        return cls.of_terms((term for text in texts for term in terms_of(text)), analysis)

    @classmethod
    def of_terms(cls, terms: Iterable[str], analysis: str) -> "Vocabulary":
        """These terms, each once."""
        return cls(analysis, {term: place for place, term in enumerate(dict.fromkeys(terms))})

    def counter(self, *, placed: bool = False) -> Counter:
        """A counter of these terms; it notes where they stand if asked."""
        analysis = analysis_named(self.analysis)
        beginnings = {each for term in self.places for each in analysis.beginnings(term)}
        wanted = (*beginnings, *analysis.dropped)
        prefixes = tuple(each.rstrip("\0") for each in wanted)

        def meaning(raw: bytes) -> int:
            word = raw.decode("utf-8", "replace")
            # Stemming takes longer than to see that a word begins like no term.
            if word.isascii() and not word.lower().startswith(prefixes):
                return COUNTED
            term = analysis.term(word)
            return self.places.get(term, COUNTED) if term else DROPPED

        return Counter(len(self.places), beginning_with(wanted), meaning, placed=placed)


@dataclass(frozen=True)
class Part:
    """What a ranking needs of some documents.

    Attributes:
        documents: how many there were.
        statistics: of each field of all of them.
        ids: of those that have a term, which alone are kept.
        fields: what was counted in each field of these, in their order.
    """

    documents: int
    statistics: Sequence[Statistics]
    ids: Sequence[str]
    fields: Sequence[Counts]


class Counting:
    """Counts documents; it remembers what words mean, so that one is made for many documents."""

    def __init__(self, vocabulary: Vocabulary, fields: Fields, *, placed: bool = False) -> None:
        """For these terms in these fields; it notes where they stand if asked."""
        self._fields, self._counter = fields, vocabulary.counter(placed=placed)

    def __call__(self, documents: Sequence[AnyDocument]) -> Part:
        """What a ranking needs of these documents."""
        fields, has_any = self.counts(documents), np.zeros(len(documents), dtype=bool)
        for counts in fields:
            has_any[counts.texts] = True
        ids = [documents[n].id for n in np.flatnonzero(has_any).tolist()]
        statistics = [Statistics.of(counts) for counts in fields]
        return Part(len(documents), statistics, ids, [counts.only(has_any) for counts in fields])

    def counts(self, documents: Sequence[AnyDocument]) -> list[Counts]:
        """What is counted in each field of all these documents."""
        texts = (_texts(name, text_of, documents) for name, text_of in self._fields.items())
        return [self._counter.read(each) for each in texts]


def _texts(name: str, text_of: Callable[[Any], str], documents: Sequence[AnyDocument]) -> list[bytes]:
    """A field of the documents, as it is read; what makes it may be an author's own.

    Raises:
        ToucheError: if it is no text.
    """
    texts = [text_of(each) for each in documents]
    for document, text in zip(documents, texts, strict=True):
        if not isinstance(text, str):
            problem = f"the field {name!r} of document {document.id} is {quoted(text)}"
            raise ToucheError(f"{problem}; a field must be a text")
    return [encoded(each) for each in texts]


def joined(parts: Sequence[Part]) -> Part:
    """What a ranking needs of the documents of several parts, of which there is one at the least."""
    statistics = reduce(added_up, (part.statistics for part in parts))
    ids = [id for part in parts for id in part.ids]
    fields = [joined_counts(each) for each in zip(*(part.fields for part in parts), strict=True)]
    return Part(sum(part.documents for part in parts), statistics, ids, fields)


def joined_counts(parts: Sequence[Counts]) -> Counts:
    """What was read of the texts of several parts, of which there is one at the least."""
    before = np.cumsum([0, *(len(part.lengths) for part in parts[:-1])], dtype=np.int32)
    terms = np.concatenate([part.terms for part in parts])
    order = np.argsort(terms, kind="stable")
    tf = np.concatenate([part.tf for part in parts])
    places = [part.places for part in parts if part.places is not None]
    return Counts(
        np.concatenate([part.lengths for part in parts]),
        np.sum([part.begins for part in parts], axis=0),
        np.concatenate([part.texts + begin for part, begin in zip(parts, before, strict=True)])[order],
        tf[order],
        np.concatenate(places)[np.argsort(np.repeat(terms, tf), kind="stable")] if places else None,
    )
