"""What the models see of a text: the frequencies of the topic's terms, and the length, for every analysis."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from touche.identify import chains
from touche.identify.samples import Array, Integers, Sample

NO_STOP_WORDS, LUCENE_STOP_WORDS = list(chains.STOP_LISTS)[:2]
STEMMERS: Mapping[str, tuple[str, ...]] = {
    "no stemming": (),
    "plurals to singulars": ("englishMinimalStem",),
    "KStem": ("kStem",),
    "Porter's stemmer": ("porterStem",),
}


@dataclass(frozen=True)
class Analysis:
    """From text to terms: StandardTokenizer, lower case, and these.

    Attributes:
        possessives: whether ``'s`` is cut off, before all else.
        stop: the name of a list of stop words.
        stemmer: the name of one of ``STEMMERS``.
    """

    possessives: bool
    stop: str
    stemmer: str

    def __str__(self) -> str:
        told = f"{self.stopping}, {self.stemming}"
        return f"{_NAMES[self]} analysis ({told})" if self in _NAMES else told

    @property
    def named(self) -> bool:
        """Whether it is that of an analyzer that engines have by default."""
        return self in _NAMES

    @property
    def stopping(self) -> str:
        """Which stop words are removed, in words."""
        return "no stop words" if self.stop == NO_STOP_WORDS else f"{self.stop} stop words"

    @property
    def stemming(self) -> str:
        """How terms are stemmed, in words."""
        return f"{self.stemmer}, possessives cut off" if self.possessives else self.stemmer


NAMED: Mapping[str, Analysis] = {
    "standard": Analysis(False, NO_STOP_WORDS, "no stemming"),
    "english": Analysis(True, LUCENE_STOP_WORDS, "Porter's stemmer"),
}
_NAMES = {analysis: name for name, analysis in NAMED.items()}
_ALL = [Analysis(*choice) for choice in product((False, True), chains.STOP_LISTS, STEMMERS)]
# Those that have a name stand for those that are the same on a sample.
ANALYSES = [*_NAMES, *(each for each in _ALL if each not in _NAMES)]


@dataclass(frozen=True)
class Counts:
    """A field of the sample by one analysis.

    The first four have an element for each document and term of its topic's title that its field has;
    ``lengths`` has one for each document.

    Attributes:
        rows: the place of the document in the sample.
        terms: the place of the term in ``vocabulary``.
        tf: how often the field has the term.
        qtf: how often the title has it.
        lengths: in tokens.
        vocabulary: the terms.
    """

    rows: Integers
    terms: Integers
    tf: Array
    qtf: Array
    lengths: Array
    vocabulary: tuple[str, ...]

    def of(self, chosen: Integers) -> "Counts":
        """The same of some of the documents, by their places in ascending order."""
        place = np.full(len(self.lengths), -1)
        place[chosen] = np.arange(len(chosen))
        kept = place[self.rows] >= 0
        used, terms = np.unique(self.terms[kept], return_inverse=True)
        vocabulary = tuple(self.vocabulary[each] for each in used)
        rows = place[self.rows[kept]]
        return Counts(rows, terms, self.tf[kept], self.qtf[kept], self.lengths[chosen], vocabulary)

    def same_as(self, other: "Counts") -> bool:
        """Whether no score can tell the two apart, whatever the terms are called."""
        names = ("rows", "terms", "tf", "qtf", "lengths")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)


Fields = Mapping[str, Counts]


@dataclass(frozen=True)
class _Split:
    """Texts in words: for each word the place of its text, and its own place among all distinct words."""

    rows: Integers
    words: Integers
    texts: int


def counts_of(sample: Sample, analyses: Iterable[Analysis] = ANALYSES) -> Iterator[tuple[Analysis, Fields]]:
    """The fields of a sample by every analysis; their texts are split into words once."""
    topics = list(dict.fromkeys(sample.topics))
    known: dict[str, int] = {}
    titles = _split([sample.titles[topic] for topic in topics], known)
    fields = {name: _split(texts, known) for name, texts in sample.texts.items()}
    topic_of = np.array([topics.index(topic) for topic in sample.topics])
    for analysis in analyses:
        terms = _terms(list(known), analysis)
        query = _Query.of(titles, terms)
        yield analysis, {name: query.counted(field, topic_of) for name, field in fields.items()}


def _split(texts: Sequence[str], known: dict[str, int]) -> _Split:
    found = chains.split(texts)
    rows = np.repeat(np.arange(len(texts)), [len(each) for each in found])
    places = [known.setdefault(word, len(known)) for each in found for word in each]
    return _Split(rows, np.array(places, dtype=np.int64), len(texts))


def _terms(vocabulary: Sequence[str], analysis: Analysis) -> list[str]:
    """The term of each word, empty where it is a stop word."""
    first = ("englishPossessive", "lowercase") if analysis.possessives else ("lowercase",)
    plain = chains.mapped(vocabulary, first)
    stop = chains.stop_words(analysis.stop)
    stems = chains.mapped(plain, STEMMERS[analysis.stemmer])
    return ["" if word in stop else stem for word, stem in zip(plain, stems, strict=True)]


@dataclass(frozen=True)
class _Query:
    """The titles by one analysis.

    Attributes:
        names: the terms, in the order of the titles.
        place: of each word the place of its term in ``names``; -1 for other terms, -2 for stop words.
        qtf: how often each title, a row, has each term, a column.
    """

    names: tuple[str, ...]
    place: Integers
    qtf: Array

    @classmethod
    def of(cls, titles: _Split, terms: Sequence[str]) -> "_Query":
        names: dict[str, int] = {}
        for word in titles.words:
            if term := terms[word]:
                names.setdefault(term, len(names))
        place = np.array([names.get(term, -1) if term else -2 for term in terms])
        qtf = np.zeros((titles.texts, len(names)))
        of_words = place[titles.words]
        np.add.at(qtf, (titles.rows[of_words >= 0], of_words[of_words >= 0]), 1)
        return cls(tuple(names), place, qtf)

    def counted(self, field: _Split, topic_of: Integers) -> Counts:
        place = self.place[field.words]
        lengths = np.bincount(field.rows[place > -2], minlength=field.texts).astype(float)
        rows, place = field.rows[place >= 0], place[place >= 0]
        asked = self.qtf[topic_of[rows], place] > 0
        keys, tf = np.unique(rows[asked] * len(self.names) + place[asked], return_counts=True)
        rows, terms = np.divmod(keys, max(1, len(self.names)))
        counts = Counts(rows, terms, tf.astype(float), self.qtf[topic_of[rows], terms], lengths, self.names)
        return counts.of(np.arange(field.texts))
