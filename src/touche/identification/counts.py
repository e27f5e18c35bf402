"""Counts of the topics' terms, and lengths, for every analysis."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from touche.documents.records import AnyDocument
from touche.identification.samples import ONE_FIELD, PARTS, Array, Integers, Sample, searched_fields
from touche.io.progress import watched
from touche.scan.kernel import split
from touche.scan.statistics import Statistics
from touche.scan.tokens import encoded

NO_STOP_WORDS = "none"
LUCENE_STOP_WORDS = "Lucene's 33 English"
STOP_LISTS: Mapping[str, str] = {  # their names in touche.lucene
    NO_STOP_WORDS: "none",
    LUCENE_STOP_WORDS: "lucene",
    "Snowball's 174 English": "snowball",
}
STEMMERS: Mapping[str, tuple[str, ...]] = {  # the names of Lucene's token filters
    "no stemming": (),
    "plurals to singulars": ("englishMinimalStem",),
    "KStem": ("kStem",),
    "Porter's stemmer": ("porterStem",),
}


_TOKENIZER = "StandardTokenizer"  # Lucene's
_WORDS = r"\w+"  # a regular expression for words, in place of a tokenizer
_CHUNK = 20_000  # documents that are counted at a time


@dataclass(frozen=True)
class CandidateAnalysis:
    """An analysis: a tokenizer, lower case, and these filters.

    Attributes:
        possessives: whether ``'s`` is removed first.
        stop: the name of a list of stop words.
        stemmer: the name of one of ``STEMMERS``.
        tokenizer: Lucene's StandardTokenizer, or a regular expression of words.
    """

    possessives: bool
    stop: str
    stemmer: str
    tokenizer: str = _TOKENIZER

    def __str__(self) -> str:
        filters = f"{self.stopping}, {self.stemming}"
        return f"{_NAMES[self]} analysis ({filters})" if self in _NAMES else filters

    @property
    def stopping(self) -> str:
        """A phrase that names the removed stop words."""
        return "no stop words" if self.stop == NO_STOP_WORDS else f"{self.stop} stop words"

    @property
    def stemming(self) -> str:
        """A phrase that names the stemming, and the tokenizer if it is not Lucene's."""
        if self.tokenizer != _TOKENIZER:
            return f"{self.stemmer}, words by {self.tokenizer}"
        return f"{self.stemmer}, possessives cut off" if self.possessives else self.stemmer


NAMED: Mapping[str, CandidateAnalysis] = {
    "standard": CandidateAnalysis(False, NO_STOP_WORDS, "no stemming"),
    "english": CandidateAnalysis(True, LUCENE_STOP_WORDS, "Porter's stemmer"),
}
_NAMES = {analysis: name for name, analysis in NAMED.items()}
_ALL = [CandidateAnalysis(*choice) for choice in product((False, True), STOP_LISTS, STEMMERS)]
# Analyses with a name come first, because they represent others with equal results. All have them once more.
ANALYSES = [*dict.fromkeys([*_NAMES, CandidateAnalysis(False, NO_STOP_WORDS, "no stemming", _WORDS), *_ALL])]


@dataclass(frozen=True)
class FieldCounts:
    """The counts of a field of the sample for one analysis.

    The first four arrays have an element for each pair of a document and a term that is in its field and in
    the title of its topic. ``lengths`` has an element for each document.

    Attributes:
        rows: the index of the document in the sample.
        terms: the index of the term in ``vocabulary``.
        tf: the frequency of the term in the field.
        qtf: the frequency of the term in the title.
        lengths: the length of the field in tokens.
        vocabulary: the terms of all titles.
        statistics: the statistics of these terms in all documents of the dataset.
    """

    rows: Integers
    terms: Integers
    tf: Array
    qtf: Array
    lengths: Array
    vocabulary: tuple[str, ...]
    statistics: Statistics

    def __add__(self, other: "FieldCounts") -> "FieldCounts":
        """Adds the counts of other documents; each of the two has the length 0 for documents of the other."""
        return FieldCounts(
            rows=np.concatenate([self.rows, other.rows]),
            terms=np.concatenate([self.terms, other.terms]),
            tf=np.concatenate([self.tf, other.tf]),
            qtf=np.concatenate([self.qtf, other.qtf]),
            lengths=self.lengths + other.lengths,
            vocabulary=self.vocabulary,
            statistics=self.statistics + other.statistics,
        )

    def select(self, chosen: Integers) -> "FieldCounts":
        """Returns the counts of some of the documents, by their indexes in ascending order."""
        is_chosen = np.isin(self.rows, chosen)
        # Only the terms of these documents remain in the vocabulary, so terms get new indexes as well.
        remaining, terms = np.unique(self.terms[is_chosen], return_inverse=True)
        statistics = self.statistics
        return FieldCounts(
            rows=np.searchsorted(chosen, self.rows[is_chosen]),
            terms=terms,
            tf=self.tf[is_chosen],
            qtf=self.qtf[is_chosen],
            lengths=self.lengths[chosen],
            vocabulary=tuple(self.vocabulary[term] for term in remaining),
            statistics=replace(statistics, df=statistics.df[remaining], ttf=statistics.ttf[remaining]),
        )

    def same_as(self, other: "FieldCounts") -> bool:
        """Returns whether other counts have equal numbers, so that fits are equal; words may differ."""
        names = ("rows", "terms", "tf", "qtf", "lengths")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)


Fields = Mapping[str, FieldCounts]
_Matrix: TypeAlias = Any  # a sparse matrix of scipy


def count_terms(
    sample: Sample,
    analyses: Sequence[CandidateAnalysis] = ANALYSES,
    documents: Iterable[AnyDocument] | None = None,
) -> list[tuple[CandidateAnalysis, Fields]]:
    """Returns the fields of a sample by every analysis, with the statistics of all documents.

    Args:
        sample: the sample.
        analyses: the analyses.
        documents: all documents of the dataset; without them, the statistics are those of the sample.
    """
    # A line is a document of the sample for one topic, so that a document may have several lines.
    topics, topic_of_line = np.unique(sample.topics, return_inverse=True)
    queries: dict[CandidateAnalysis, _Queries] = {}
    # _analysed takes texts by field; titles have one, without a name.
    for analysis, terms, fields in _analysed({"": [sample.titles[topic] for topic in topics]}, analyses):
        vocabulary = tuple(term for term in dict.fromkeys(terms) if term)  # stop words have empty terms
        qtf = fields[""] @ _words_by_term(terms, vocabulary)
        queries[analysis] = _Queries(vocabulary, qtf.toarray()[topic_of_line])
    lines_of_id = defaultdict[str, list[int]](list)
    for line, id in enumerate(sample.documents):
        lines_of_id[id].append(line)
    counts: dict[CandidateAnalysis, dict[str, FieldCounts]] = defaultdict(dict)
    for ids, texts in _chunks(sample, documents):
        pairs = [(line, index) for index, id in enumerate(ids) for line in lines_of_id.get(id, ())]
        # In the order of the sample; two columns even if this chunk has none of its documents.
        lines_and_texts = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        for analysis, terms, fields in _analysed(texts, analyses):
            sums = counts[analysis]  # of all chunks, by field
            for name, field in queries[analysis].count(terms, fields, lines_and_texts).items():
                sums[name] = (sums[name] + field) if name in sums else field
    all_lines = np.arange(len(sample.documents))  # to select them drops terms that the sample lacks
    return [
        (analysis, {name: counts[analysis][name].select(all_lines) for name in sample.texts})
        for analysis in analyses
    ]


def _chunks(
    sample: Sample, documents: Iterable[AnyDocument] | None
) -> Iterator[tuple[Sequence[str], Mapping[str, Sequence[str]]]]:
    """Yields ids of documents and their texts by field: of all documents, or of the sample if None.

    A chunk has up to ``_CHUNK`` documents, or the whole sample. ``ONE_FIELD`` is left out, because its counts
    are the sums of those of its parts.
    """
    names = [name for name in sample.texts if name != ONE_FIELD]
    if documents is None:
        line_of_id = {id: line for line, id in enumerate(sample.documents)}
        yield (
            [*line_of_id],
            {name: [sample.texts[name][line] for line in line_of_id.values()] for name in names},
        )
        return
    remaining = watched(documents, "counting", "documents", None)
    while chunk := list(islice(remaining, _CHUNK)):
        records = [searched_fields(document) for document in chunk]
        texts = {name: [fields[name] for fields in records] for name in names}
        yield [document.id for document in chunk], texts


@dataclass(frozen=True)
class _Queries:
    """The terms of titles by an analysis.

    Attributes:
        vocabulary: the terms.
        qtf: for each document of the sample (row) the frequency of each term (column) in its title.
    """

    vocabulary: tuple[str, ...]
    qtf: Array

    def count(self, terms: Sequence[str], fields: Mapping[str, _Matrix], lines_and_texts: Integers) -> Fields:
        """Counts the fields of a chunk of texts.

        Args:
            terms: the term of each distinct word; empty for a stop word.
            fields: for each field, how often each text (row) has each distinct word (column).
            lines_and_texts: a row for each document of the sample in the chunk: its index in the sample, and
                the index of its text in the chunk.
        """
        lines, texts = lines_and_texts.T
        words_by_term = _words_by_term(terms, self.vocabulary)
        tf = {name: (field @ words_by_term).toarray() for name, field in fields.items()}
        is_token = np.array([term != "" for term in terms], dtype=float)
        lengths = {name: field @ is_token for name, field in fields.items()}
        if {*PARTS} <= fields.keys():
            tf[ONE_FIELD] = np.sum([tf[name] for name in PARTS], axis=0)
            lengths[ONE_FIELD] = np.sum([lengths[name] for name in PARTS], axis=0)
        return {name: self._counts(tf[name], lengths[name], lines, texts) for name in tf}

    def _counts(self, tf: Array, lengths: Array, lines: Integers, texts: Integers) -> FieldCounts:
        """Returns the counts of a field; line ``lines[i]`` of the sample has text ``texts[i]``.

        The statistics are those of all texts of the chunk.
        """
        # For each term that is in a text and in the title: the index of the line and text, and of the term.
        pairs, terms = np.nonzero((tf[texts] > 0) & (self.qtf[lines] > 0))
        lengths_in_sample = np.zeros(len(self.qtf))
        lengths_in_sample[lines] = lengths[texts]
        return FieldCounts(
            rows=lines[pairs],
            terms=terms,
            tf=tf[texts[pairs], terms],
            qtf=self.qtf[lines[pairs], terms],
            lengths=lengths_in_sample,
            vocabulary=self.vocabulary,
            statistics=Statistics(
                documents=int(np.count_nonzero(lengths)),
                tokens=int(lengths.sum()),
                df=(tf > 0).sum(axis=0),
                ttf=tf.sum(axis=0).astype(np.int64),
            ),
        )


def _words_by_term(terms: Sequence[str], vocabulary: Sequence[str]) -> _Matrix:
    """Returns a matrix with 1 where a distinct word (row) has a term of a vocabulary (column)."""
    from scipy.sparse import csc_array  # here, because it takes 127 ms

    columns = {term: column for column, term in enumerate(vocabulary)}
    cells = [(word, columns[term]) for word, term in enumerate(terms) if term in columns]
    rows_and_columns = tuple(np.array(cells, dtype=np.int64).reshape(-1, 2).T)  # both, even without cells
    return csc_array((np.ones(len(cells)), rows_and_columns), shape=(len(terms), len(vocabulary)))


def _analysed(
    texts: Mapping[str, Sequence[str]], analyses: Sequence[CandidateAnalysis]
) -> Iterator[tuple[CandidateAnalysis, list[str], Mapping[str, _Matrix]]]:
    """Yields for each analysis the term of each distinct word, and by field how often texts have the words.

    Lucene's filters change single tokens, so it is enough that each analysis maps each distinct word once.
    """
    for tokenizer in dict.fromkeys(analysis.tokenizer for analysis in analyses):
        numbers = defaultdict[bytes, int]()
        numbers.default_factory = numbers.__len__  # a new word gets the next number
        numbered = {
            name: [_numbered(text, tokenizer, numbers) for text in field] for name, field in texts.items()
        }
        fields = {name: _matrix(field, len(numbers)) for name, field in numbered.items()}
        distinct = [word.decode() for word in numbers]
        same_tokenizer = [analysis for analysis in analyses if analysis.tokenizer == tokenizer]
        for analysis, terms in _terms(distinct, same_tokenizer):
            yield analysis, terms, fields


def _numbered(text: str, tokenizer: str, numbers: Mapping[bytes, int]) -> npt.NDArray[np.int32]:
    """Returns the number of each word of a text; ``numbers`` gives a new word the next number."""
    if tokenizer == _TOKENIZER:
        words = split(encoded(text))
    else:
        words = [word.encode() for word in re.findall(tokenizer, text.lower())]
    return np.fromiter(map(numbers.__getitem__, words), np.int32, len(words))


def _matrix(texts: Sequence[npt.NDArray[np.int32]], word_count: int) -> _Matrix:
    """Counts each of the distinct words (columns) in each text (row), which has the numbers of its words."""
    from scipy.sparse import csc_array  # here, because it takes 127 ms

    rows = np.repeat(np.arange(len(texts)), [len(words) for words in texts])
    # The matrix adds up the ones in the same row and column.
    return csc_array((np.ones(len(rows)), (rows, np.concatenate(texts))), shape=(len(texts), word_count))


def _terms(
    distinct: Sequence[str], analyses: Sequence[CandidateAnalysis]
) -> Iterator[tuple[CandidateAnalysis, list[str]]]:
    """Yields the term of each word by each analysis, or an empty string for a stop word.

    All analyses have the same tokenizer.
    """
    from touche.lucene.analysis import stop_words  # optional: Lucene

    @cache  # because several analyses have the same filters
    def mapped(filters: tuple[str, ...]) -> list[str]:
        return _mapped(distinct, filters)

    for analysis in analyses:
        if analysis.tokenizer != _TOKENIZER:
            yield analysis, list(distinct)  # words of the regular expression stay as they are
            continue
        filters = ("englishPossessive", "lowercase") if analysis.possessives else ("lowercase",)
        removed = stop_words(STOP_LISTS[analysis.stop])
        words_and_stems = zip(mapped(filters), mapped(filters + STEMMERS[analysis.stemmer]), strict=True)
        yield analysis, ["" if word in removed else stem for word, stem in words_and_stems]


def _mapped(distinct: Sequence[str], filters: Sequence[str]) -> list[str]:
    """Maps each word by Lucene's token filters; removed words become empty, and parts are joined."""
    [terms] = _tokens([" ".join(distinct)], filters)  # one call of Java for all words
    # Equal numbers mean one term for each word. Lucene splits words of more than 255 characters, but none of
    # these filters removes words at the same time.
    if len(terms) == len(distinct):
        return terms
    return ["".join(tokens) for tokens in _tokens(distinct, filters)]


def _tokens(texts: Sequence[str], filters: Sequence[str]) -> list[list[str]]:
    """Returns the tokens of each text, which Lucene splits at white space and filters."""
    from touche.lucene.analysis import Chain, tokens  # optional: Lucene

    analyzer = Chain(tuple(filters), tokenizer="whitespace").build()
    return [tokens(analyzer, text) for text in texts]
