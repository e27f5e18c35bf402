"""Reading and counting: of each document its lengths, and how often it has the topics' terms."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from touche.formats.documents import AnyDocument
from touche.scan.kernel import COUNTED, DROPPED, Counter, Counts, beginning_with
from touche.scan.tokens import Analysis, encoded

_BATCH = 1000  # documents that are read at a time

Fields = Mapping[str, Callable[[Any], str]]  # of a document
ONE_FIELD: Fields = {"text": lambda document: document.text}


@dataclass(frozen=True)
class Vocabulary:
    """The terms that are counted.

    Attributes:
        analysis: how texts become terms.
        places: the terms, each with its place among them.
    """

    analysis: Analysis
    places: Mapping[str, int]

    @classmethod
    def of(cls, texts: Iterable[str], analysis: Analysis) -> "Vocabulary":
        """The terms of these texts."""
        terms = dict.fromkeys(term for text in texts for term in analysis.terms(text))
        return cls(analysis, {term: place for place, term in enumerate(terms)})

    def counter(self) -> Counter:
        """A counter of these terms, to be closed by a ``with`` block."""
        beginnings = {each for term in self.places for each in self.analysis.beginnings(term)}
        wanted = (*beginnings, *self.analysis.dropped)
        prefixes = tuple(each.rstrip("\0") for each in wanted)

        def meaning(raw: bytes) -> int:
            word = raw.decode("utf-8", "replace")
            # Stemming takes longer than to see that a word begins like no term.
            if word.isascii() and not word.lower().startswith(prefixes):
                return COUNTED
            term = self.analysis.term(word)
            return self.places.get(term, COUNTED) if term else DROPPED

        return Counter(len(self.places), beginning_with(wanted), meaning)


@dataclass(frozen=True)
class Part:
    """What a ranking needs of some documents.

    Attributes:
        ids: of the documents.
        fields: for each field the lengths of the documents, and postings with their places in ``ids``.
    """

    ids: Sequence[str]
    fields: Sequence[Counts]


def count(
    documents: Iterable[AnyDocument], vocabulary: Vocabulary, fields: Fields = ONE_FIELD
) -> Iterator[Part]:
    """Reads documents, once, and yields what a ranking needs of them, some at a time.

    Args:
        documents: the collection; never held in memory as a whole.
        vocabulary: the terms to count.
        fields: the fields by name, each a function of the document; by default one, ``text``.
    """
    ahead = iter(documents)
    with vocabulary.counter() as counter:
        while batch := list(islice(ahead, _BATCH)):
            texts = ([encoded(text_of(each)) for each in batch] for text_of in fields.values())
            yield Part([each.id for each in batch], [counter.read(each) for each in texts])
