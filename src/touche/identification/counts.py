"""Counts of the topics' terms, and lengths, for every analysis."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from touche.documents.document_records import AnyDocument
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
_TITLE = "title"  # a name for titles, which are counted like a field


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
# Analyses with a name come first, because they represent others with equal results. _ALL has them again.
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
) -> dict[CandidateAnalysis, Fields]:
    """Returns the fields of a sample by every analysis, with the statistics of all documents.

    The vocabulary of an analysis is the terms of the titles. Documents are counted in chunks, whose counts
    are added up.

    Args:
        sample: the sample.
        analyses: the analyses.
        documents: all documents of the dataset; without them, the statistics are those of the sample.
    """
    # A line of the sample is a document for one topic, so that titles and documents may have several lines.
    topics, title_of_line = np.unique(sample.topics, return_inverse=True)
    titles = {_TITLE: [sample.titles[topic] for topic in topics]}
    vocabularies = {
        analysis: tuple(term for term in dict.fromkeys(terms) if term)  # stop words have empty terms
        for analysis, terms, _ in _analysed(titles, analyses)
    }
    qtf = {analysis: fields[_TITLE].tf[title_of_line] for analysis, fields in _counted(titles, vocabularies)}
    sums: dict[CandidateAnalysis, dict[str, FieldCounts]] = defaultdict(dict)
    for ids, texts in _chunks(sample, documents):
        index_by_id = {id: index for index, id in enumerate(ids)}
        lines = np.flatnonzero([id in index_by_id for id in sample.documents])  # those in this chunk
        text_indexes = [index_by_id[sample.documents[line]] for line in lines]
        for analysis, fields in _counted(texts, vocabularies):
            total = sums[analysis]
            for name, field in fields.items():
                counts = field.in_lines(lines, text_indexes, qtf[analysis], vocabularies[analysis])
                total[name] = total[name] + counts if name in total else counts
    all_lines = np.arange(len(sample.documents))  # selecting all drops terms that the sample lacks
    return {
        analysis: {name: field.select(all_lines) for name, field in sums[analysis].items()}
        for analysis in analyses
    }


def _chunks(
    sample: Sample, documents: Iterable[AnyDocument] | None
) -> Iterator[tuple[Sequence[str], Mapping[str, Sequence[str]]]]:
    """Yields ids of documents and their texts by field: of all documents, or, without any, of the sample.

    A chunk has up to ``_CHUNK`` documents, or the whole sample.
    """
    if documents is None:
        ids, lines = np.unique(sample.documents, return_index=True)
        yield ids.tolist(), {name: [field[line] for line in lines] for name, field in sample.texts.items()}
        return
    remaining = watched(documents, "counting", "documents", None)
    while chunk := list(islice(remaining, _CHUNK)):
        records = [searched_fields(document) for document in chunk]
        texts = {name: [fields[name] for fields in records] for name in sample.texts}
        yield [document.id for document in chunk], texts


class _TextCounts(NamedTuple):
    """The counts of a field in some texts.

    Attributes:
        tf: the frequency of each term of a vocabulary (column) in each text (row).
        lengths: the length of each text in tokens.
    """

    tf: Array
    lengths: Array

    def in_lines(
        self, lines: Integers, text_indexes: Sequence[int], qtf: Array, vocabulary: tuple[str, ...]
    ) -> FieldCounts:
        """Returns the counts in some lines of a sample, with the statistics of all texts.

        Args:
            lines: the indexes of these lines, ascending.
            text_indexes: for each of these lines the index of its text.
            qtf: the frequency of each term (column) in the title of each line of the sample (row).
            vocabulary: the terms.
        """
        tf = self.tf[text_indexes]
        # The terms that are in a text and in the title; the row is an index in ``lines``.
        rows, terms = np.nonzero((tf > 0) & (qtf[lines] > 0))
        lengths = np.zeros(len(qtf))
        lengths[lines] = self.lengths[text_indexes]
        return FieldCounts(
            rows=lines[rows],
            terms=terms,
            tf=tf[rows, terms],
            qtf=qtf[lines[rows], terms],
            lengths=lengths,
            vocabulary=vocabulary,
            statistics=Statistics(
                documents=int(np.count_nonzero(self.lengths)),
                tokens=int(self.lengths.sum()),
                df=(self.tf > 0).sum(axis=0),
                ttf=self.tf.sum(axis=0).astype(np.int64),
            ),
        )


def _counted(
    texts: Mapping[str, Sequence[str]], vocabularies: Mapping[CandidateAnalysis, Sequence[str]]
) -> Iterator[tuple[CandidateAnalysis, dict[str, _TextCounts]]]:
    """Yields for each analysis the counts of texts by field."""
    for analysis, terms, fields in _analysed(texts, [*vocabularies]):
        words_by_term = _words_by_term(terms, vocabularies[analysis])
        is_token = np.array([term != "" for term in terms], dtype=float)  # stop words have empty terms
        counts = {
            name: _TextCounts(tf=(field @ words_by_term).toarray(), lengths=field @ is_token)
            for name, field in fields.items()
        }
        yield analysis, counts


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
    The term of a stop word is empty.
    """
    for tokenizer in dict.fromkeys(analysis.tokenizer for analysis in analyses):
        numbers = defaultdict[bytes, int]()
        numbers.default_factory = numbers.__len__  # a new word gets the next number
        numbered = {
            name: [_numbered(text, tokenizer, numbers) for text in field]
            for name, field in texts.items()
            if name != ONE_FIELD
        }
        fields = {name: _matrix(field, len(numbers)) for name, field in numbered.items()}
        if ONE_FIELD in texts:  # its words are those of its parts, which are not counted again
            fields[ONE_FIELD] = sum(fields[name] for name in PARTS)
        distinct = [word.decode() for word in numbers]
        mapped = cache(partial(_mapped, distinct))  # several analyses have the same filters
        for analysis in analyses:
            if analysis.tokenizer == tokenizer:
                yield analysis, _terms(distinct, analysis, mapped), fields


def _numbered(text: str, tokenizer: str, numbers: Mapping[bytes, int]) -> npt.NDArray[np.int32]:
    """Returns the number of each word of a text; ``numbers`` gives a new word the next number."""
    if tokenizer == _TOKENIZER:
        words = split(encoded(text))
    else:
        words = [word.encode() for word in re.findall(tokenizer, text.lower())]
    return np.fromiter(map(numbers.__getitem__, words), np.int32, len(words))


def _matrix(texts: Sequence[npt.NDArray[np.int32]], word_count: int) -> _Matrix:
    """Counts each distinct word (column) in each text (row); a text consists of the numbers of its words."""
    from scipy.sparse import csc_array  # here, because it takes 127 ms

    rows = np.repeat(np.arange(len(texts)), [len(words) for words in texts])
    # The matrix adds up the ones in the same row and column.
    return csc_array((np.ones(len(rows)), (rows, np.concatenate(texts))), shape=(len(texts), word_count))


def _terms(
    distinct: list[str], analysis: CandidateAnalysis, mapped: Callable[[tuple[str, ...]], list[str]]
) -> list[str]:
    """Returns the term of each word, or an empty string for a stop word.

    Args:
        distinct: the words.
        analysis: the analysis.
        mapped: maps the words by Lucene's token filters, see ``_mapped``.
    """
    from touche.lucene.analysis import stop_words  # optional: Lucene

    if analysis.tokenizer != _TOKENIZER:
        return distinct  # words of the regular expression stay as they are
    filters = ("englishPossessive", "lowercase") if analysis.possessives else ("lowercase",)
    removed = stop_words(STOP_LISTS[analysis.stop])
    words_and_stems = zip(mapped(filters), mapped(filters + STEMMERS[analysis.stemmer]), strict=True)
    return ["" if word in removed else stem for word, stem in words_and_stems]


def _mapped(distinct: Sequence[str], filters: Sequence[str]) -> list[str]:
    """Maps each word by Lucene's token filters; removed words become empty, and parts are joined."""
    [terms] = _tokens([" ".join(distinct)], filters)  # one call of Java for all words
    # As many terms as words mean one term for each word. Lucene splits words of more than 255 characters,
    # but none of these filters removes words at the same time.
    if len(terms) == len(distinct):
        return terms
    return ["".join(tokens) for tokens in _tokens(distinct, filters)]


def _tokens(texts: Sequence[str], filters: Sequence[str]) -> list[list[str]]:
    """Returns the tokens of each text, which Lucene splits at white space and filters."""
    from touche.lucene.analysis import Chain, tokens  # optional: Lucene

    analyzer = Chain(tuple(filters), tokenizer="whitespace").build()
    return [tokens(analyzer, text) for text in texts]
