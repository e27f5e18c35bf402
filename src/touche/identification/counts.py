"""Counts of the topics' terms, and lengths, for every analysis."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from touche.identification.samples import Array, Integers, Sample

STOP_LISTS: Mapping[str, str] = {  # the names in touche.lucene
    "none": "none",
    "Lucene's 33 English": "lucene",
    "Snowball's 174 English": "snowball",
}
NO_STOP_WORDS, LUCENE_STOP_WORDS, _ = STOP_LISTS
STOPPED = -2  # the index of a stop word
STEMMERS: Mapping[str, tuple[str, ...]] = {
    "no stemming": (),
    "plurals to singulars": ("englishMinimalStem",),
    "KStem": ("kStem",),
    "Porter's stemmer": ("porterStem",),
}


@dataclass(frozen=True)
class Analysis:
    """An analysis: StandardTokenizer, lower case, and these filters.

    Attributes:
        possessives: whether ``'s`` is removed first.
        stop: the name of a list of stop words.
        stemmer: the name of one of ``STEMMERS``.
    """

    possessives: bool
    stop: str
    stemmer: str

    def __str__(self) -> str:
        words = f"{self.stopping}, {self.stemming}"
        return f"{_NAMES[self]} analysis ({words})" if self in _NAMES else words

    @property
    def stopping(self) -> str:
        """The removed stop words, in words."""
        return "no stop words" if self.stop == NO_STOP_WORDS else f"{self.stop} stop words"

    @property
    def stemming(self) -> str:
        """The stemming, in words."""
        return f"{self.stemmer}, possessives cut off" if self.possessives else self.stemmer


NAMED: Mapping[str, Analysis] = {
    "standard": Analysis(False, NO_STOP_WORDS, "no stemming"),
    "english": Analysis(True, LUCENE_STOP_WORDS, "Porter's stemmer"),
}
_NAMES = {analysis: name for name, analysis in NAMED.items()}
_ALL = [Analysis(*choice) for choice in product((False, True), STOP_LISTS, STEMMERS)]
# Analyses with a name come first, because they represent others with equal results.
ANALYSES = [*dict.fromkeys([*_NAMES, *_ALL])]


@dataclass(frozen=True)
class Counts:
    """The counts of a field of the sample for one analysis.

    The first four arrays have an element for each document and each term of its title in the field;
    ``lengths`` has one for each document.

    Attributes:
        rows: the index of the document in the sample.
        terms: the index of the term in ``vocabulary``.
        tf: the frequency of the term in the field.
        qtf: the frequency of the term in the title.
        lengths: the length of the field in tokens.
        vocabulary: the terms.
    """

    rows: Integers
    terms: Integers
    tf: Array
    qtf: Array
    lengths: Array
    vocabulary: tuple[str, ...]

    def of(self, chosen: Integers) -> "Counts":
        """Returns the counts of some of the documents, by their indexes in ascending order."""
        place = np.full(len(self.lengths), -1)
        place[chosen] = np.arange(len(chosen))
        cells = place[self.rows] >= 0
        used, terms = np.unique(self.terms[cells], return_inverse=True)
        vocabulary = tuple(self.vocabulary[term] for term in used)
        rows = place[self.rows[cells]]
        return Counts(rows, terms, self.tf[cells], self.qtf[cells], self.lengths[chosen], vocabulary)

    def same_as(self, other: "Counts") -> bool:
        """Returns whether both have the same numbers, even if the terms differ."""
        names = ("rows", "terms", "tf", "qtf", "lengths")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)


Fields = Mapping[str, Counts]
Words = tuple[Integers, Integers]
"""Texts in words: for each word the index of its text, and its index among all distinct words."""


def counts_of(sample: Sample, analyses: Iterable[Analysis] = ANALYSES) -> Iterator[tuple[Analysis, Fields]]:
    """Yields the fields of a sample by every analysis; their texts are split into words once.

    Lucene's filters change single tokens, so that each analysis maps each distinct word once.
    """
    topics, topic_of = np.unique(sample.topics, return_inverse=True)
    known: dict[str, int] = {}
    titles = _words([sample.titles[topic] for topic in topics], known)
    fields = {name: _words(texts, known) for name, texts in sample.texts.items()}
    for analysis in analyses:
        terms = _terms(list(known), analysis)
        vocabulary = tuple(dict.fromkeys(terms[word] for word in titles[1] if terms[word]))
        places = {term: place for place, term in enumerate(vocabulary)}
        place = np.array([places.get(term, -1) if term else STOPPED for term in terms], dtype=np.int64)
        qtf = _frequencies(titles, place, (len(topics), len(places)))[topic_of]
        yield analysis, {name: _counts(field, place, qtf, vocabulary) for name, field in fields.items()}


def _words(texts: Sequence[str], known: dict[str, int]) -> Words:
    """Splits texts as Lucene's StandardTokenizer, and numbers the words; their case stays."""
    split = _tokens(texts, (), "standard")
    rows = np.repeat(np.arange(len(texts)), [len(words) for words in split])
    numbers = [known.setdefault(word, len(known)) for words in split for word in words]
    return rows, np.array(numbers, dtype=np.int64)


def _terms(words: Sequence[str], analysis: Analysis) -> list[str]:
    """Maps each word to its term, or to an empty string for a stop word."""
    from touche.lucene.analysis import stop_words  # optional: Lucene

    plain = _mapped(words, ("englishPossessive", "lowercase") if analysis.possessives else ("lowercase",))
    stop = stop_words(STOP_LISTS[analysis.stop])
    stems = _mapped(plain, STEMMERS[analysis.stemmer])
    return ["" if word in stop else stem for word, stem in zip(plain, stems, strict=True)]


def _mapped(words: Sequence[str], filters: Sequence[str]) -> list[str]:
    """Maps each word by Lucene's token filters, or to an empty string if they remove it."""
    (terms,) = _tokens([" ".join(words)], filters, "whitespace")  # one call of Java for all words
    separate = _tokens(words, filters, "whitespace") if len(terms) != len(words) else []
    return ["".join(tokens) for tokens in separate] or terms


def _tokens(texts: Sequence[str], filters: Sequence[str], tokenizer: str) -> list[list[str]]:
    from touche.lucene.analysis import Chain, tokens  # optional: Lucene

    analyzer = Chain(tuple(filters), tokenizer=tokenizer).built()
    return [tokens(analyzer, text) for text in texts]


def _counts(field: Words, place: Integers, qtf: Array, vocabulary: tuple[str, ...]) -> Counts:
    """Counts a field; ``qtf`` has a row for each document, and a column for each term of the titles."""
    tf, lengths = _frequencies(field, place, qtf.shape), field[0][place[field[1]] != STOPPED]
    cells = rows, terms = np.nonzero((tf > 0) & (qtf > 0))
    lengths = np.bincount(lengths, minlength=len(qtf)).astype(float)
    return Counts(rows, terms, tf[cells], qtf[cells], lengths, vocabulary).of(np.arange(len(qtf)))


def _frequencies(texts: Words, place: Integers, shape: tuple[int, ...]) -> Array:
    """Counts how often each text (row) has each term (column)."""
    frequencies, rows, terms = np.zeros(shape), texts[0], place[texts[1]]
    np.add.at(frequencies, (rows[terms >= 0], terms[terms >= 0]), 1)
    return frequencies
