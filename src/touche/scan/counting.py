"""Reading and counting: of each document its lengths, and how often it has the topics' terms."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from touche.formats.documents import AnyDocument
from touche.scan.kernel import COUNTED, DROPPED, Counter, Counts, beginning_with
from touche.scan.tokens import analysis_named, encoded

Fields = Mapping[str, Callable[[Any], str]]  # of a document


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
        terms = dict.fromkeys(term for text in texts for term in terms_of(text))
        return cls(analysis, {term: place for place, term in enumerate(terms)})

    def counter(self) -> Counter:
        """A counter of these terms, to be closed by a ``with`` block."""
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

        return Counter(len(self.places), beginning_with(wanted), meaning)


@dataclass(frozen=True)
class Part:
    """What a ranking needs of some documents.

    Attributes:
        ids: of the documents.
        fields: what was counted in each field, in the order of the documents.
    """

    ids: Sequence[str]
    fields: Sequence[Counts]


class Counting:
    """Counts documents; it remembers what words mean, so that one is made for many documents."""

    def __init__(self, vocabulary: Vocabulary, fields: Fields) -> None:
        """For these terms in these fields."""
        self._fields, self._counter = fields, vocabulary.counter()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *error: Any) -> None:
        """Gives its memory back."""
        self._counter.__exit__(*error)

    def part(self, documents: Sequence[AnyDocument]) -> Part:
        """What a ranking needs of these documents."""
        texts = ([encoded(text_of(each)) for each in documents] for text_of in self._fields.values())
        return Part([each.id for each in documents], [self._counter.read(each) for each in texts])


def joined(parts: Sequence[Part]) -> Part:
    """What a ranking needs of the documents of several parts, of which there is one at the least."""
    ids = [id for part in parts for id in part.ids]
    return Part(ids, [_joined(of_field) for of_field in zip(*(part.fields for part in parts), strict=True)])


def _joined(parts: Sequence[Counts]) -> Counts:
    before = np.cumsum([0, *(len(part.lengths) for part in parts[:-1])], dtype=np.int32)
    texts = [part.texts + begin for part, begin in zip(parts, before, strict=True)]
    bounds = [part.begins.tolist() for part in parts]
    places = [
        (number, slice(begins[term], begins[term + 1]))
        for term in range(len(bounds[0]) - 1)
        for number, begins in enumerate(bounds)
    ]
    return Counts(
        np.concatenate([part.lengths for part in parts]),
        np.sum([part.begins for part in parts], axis=0),
        np.concatenate([texts[number][place] for number, place in places] or [np.zeros(0, np.int32)]),
        np.concatenate([parts[number].tf[place] for number, place in places] or [np.zeros(0, np.int32)]),
    )
