"""Counts the terms of topics in documents, and the documents' lengths, for every analysis that is tried."""

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
from touche.io.progress import watched
from touche.lab.identification.samples import ONE_FIELD, PARTS, Array, Integers, Sample, searched_fields
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
STEMMERS: Mapping[str, tuple[str, ...]] = {  # names of Lucene's token filters
    "no stemming": (),
    "plurals to singulars": ("englishMinimalStem",),
    "KStem": ("kStem",),
    "Porter's stemmer": ("porterStem",),
}


_TOKENIZER = "StandardTokenizer"  # Lucene's
_WORDS = r"\w+"  # a regular expression for words, in place of a tokenizer
_CHUNK = 20_000  # how many documents are counted at a time
_TITLE = "title"  # titles are counted like a field


@dataclass(frozen=True)
class CandidateAnalysis:
    """An analysis: a tokenizer, lower case, and these filters.

    Attributes:
        possessives: whether ``'s`` is removed from words before anything else.
        stop: the name of a stop word list.
        stemmer: a name in ``STEMMERS``.
        tokenizer: Lucene's StandardTokenizer, or a regular expression for words.
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
        """A phrase that says which stop words are removed."""
        return "no stop words" if self.stop == NO_STOP_WORDS else f"{self.stop} stop words"

    @property
    def stemming(self) -> str:
        """A phrase that says how words are stemmed. If the tokenizer isn't Lucene's, it is mentioned, too."""
        if self.tokenizer != _TOKENIZER:
            return f"{self.stemmer}, words by {self.tokenizer}"
        return f"{self.stemmer}, possessives cut off" if self.possessives else self.stemmer


NAMED: Mapping[str, CandidateAnalysis] = {
    "standard": CandidateAnalysis(False, NO_STOP_WORDS, "no stemming"),
    "english": CandidateAnalysis(True, LUCENE_STOP_WORDS, "Porter's stemmer"),
}
_NAMES = {analysis: name for name, analysis in NAMED.items()}
_ALL = [CandidateAnalysis(*choice) for choice in product((False, True), STOP_LISTS, STEMMERS)]
# Analyses with a name come first: if several analyses give equal results, the first one stands for all of
# them. _ALL contains the named ones again, so duplicates are removed.
ANALYSES = [*dict.fromkeys([*_NAMES, CandidateAnalysis(False, NO_STOP_WORDS, "no stemming", _WORDS), *_ALL])]


@dataclass(frozen=True)
class FieldCounts:
    """The counts in one field of the sample's documents, for one analysis.

    The first four arrays contain an element per pair of a document and a term that occurs both in its field
    and in its topic's title. ``lengths`` contains an element per document.

    Attributes:
        rows: the document's index in the sample.
        terms: the term's index in ``vocabulary``.
        tf: the term's frequency in the field.
        qtf: the term's frequency in the title.
        lengths: the field's length in tokens.
        vocabulary: the terms in all titles.
        statistics: these terms' statistics over all documents in the dataset.
    """

    rows: Integers
    terms: Integers
    tf: Array
    qtf: Array
    lengths: Array
    vocabulary: tuple[str, ...]
    statistics: Statistics

    def __add__(self, other: "FieldCounts") -> "FieldCounts":
        """Adds the counts in other documents. Both arrays of lengths cover all documents; a length is 0 for
        documents that this side hasn't counted, so the arrays can be added.
        """
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
        """Returns the counts for some of the documents, given by their indexes in ascending order."""
        is_chosen = np.isin(self.rows, chosen)
        # Only these documents' terms stay in the vocabulary, so terms get new indexes too.
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
        """Returns whether all counts are equal, even if the terms have different names. If so, both analyses
        lead to the same fits, and only one needs to be tried.
        """
        names = ("rows", "terms", "tf", "qtf", "lengths")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)


Fields = Mapping[str, FieldCounts]
_Matrix: TypeAlias = Any  # a scipy sparse matrix


def count_terms(
    sample: Sample,
    analyses: Sequence[CandidateAnalysis] = ANALYSES,
    documents: Iterable[AnyDocument] | None = None,
) -> dict[CandidateAnalysis, Fields]:
    """Returns a sample's fields for every analysis, with the statistics over all documents.

    An analysis' vocabulary consists of the titles' terms. Documents are counted in chunks, which are added
    up.

    Args:
        sample: the sample.
        analyses: the analyses.
        documents: all documents in the dataset; without them, the statistics are the sample's.
    """
    # A line of the sample is a document for one topic. So the same title, and the same document, can be in
    # several lines.
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
    all_lines = np.arange(
        len(sample.documents)
    )  # ``select`` is called with all lines, because it drops terms that don't occur in the sample
    return {
        analysis: {name: field.select(all_lines) for name, field in sums[analysis].items()}
        for analysis in analyses
    }


def _chunks(
    sample: Sample, documents: Iterable[AnyDocument] | None
) -> Iterator[tuple[Sequence[str], Mapping[str, Sequence[str]]]]:
    """Yields chunks of documents: their ids, and their texts by field. If ``documents`` is None, these are
    the documents in the sample.

    A chunk contains up to ``_CHUNK`` documents, or the whole sample.
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
    """A field's counts in some texts.

    Attributes:
        tf: each vocabulary term's frequency (column) in each text (row).
        lengths: each text's length in tokens.
    """

    tf: Array
    lengths: Array

    def in_lines(
        self, lines: Integers, text_indexes: Sequence[int], qtf: Array, vocabulary: tuple[str, ...]
    ) -> FieldCounts:
        """Returns the counts for some lines in a sample, with the statistics over all texts.

        Args:
            lines: these lines' indexes, ascending.
            text_indexes: each line's text index.
            qtf: each term's frequency (column) in the title of each line in the sample (row).
            vocabulary: the terms.
        """
        tf = self.tf[text_indexes]
        # Terms that are in both text and title; the row is an index in ``lines``.
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
    """Yields the texts' counts by field for each analysis."""
    for analysis, terms, fields in _analysed(texts, [*vocabularies]):
        words_by_term = _words_by_term(terms, vocabularies[analysis])
        is_token = np.array([term != "" for term in terms], dtype=float)  # stop words have empty terms
        counts = {
            name: _TextCounts(tf=(field @ words_by_term).toarray(), lengths=field @ is_token)
            for name, field in fields.items()
        }
        yield analysis, counts


def _words_by_term(terms: Sequence[str], vocabulary: Sequence[str]) -> _Matrix:
    """Returns a matrix with 1 where a distinct word (row) becomes a vocabulary term (column)."""
    from scipy.sparse import csc_array  # takes 127 ms

    columns = {term: column for column, term in enumerate(vocabulary)}
    cells = [(word, columns[term]) for word, term in enumerate(terms) if term in columns]
    rows_and_columns = tuple(
        np.array(cells, dtype=np.int64).reshape(-1, 2).T
    )  # both, even when there are no cells
    return csc_array((np.ones(len(cells)), rows_and_columns), shape=(len(terms), len(vocabulary)))


def _analysed(
    texts: Mapping[str, Sequence[str]], analyses: Sequence[CandidateAnalysis]
) -> Iterator[tuple[CandidateAnalysis, list[str], Mapping[str, _Matrix]]]:
    """Yields each distinct word's term per analysis, and how often texts contain the words by field.

    Lucene's filters change single tokens, so each analysis only has to map each distinct word once. A stop
    word's term is empty.
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
        # This field consists of the other fields, whose words have been counted already.
        if ONE_FIELD in texts:
            fields[ONE_FIELD] = sum(fields[name] for name in PARTS)
        distinct = [word.decode() for word in numbers]
        mapped = cache(partial(_mapped, distinct))  # cached, because several analyses have the same filters
        for analysis in analyses:
            if analysis.tokenizer == tokenizer:
                yield analysis, _terms(distinct, analysis, mapped), fields


def _numbered(text: str, tokenizer: str, numbers: Mapping[bytes, int]) -> npt.NDArray[np.int32]:
    """Returns each word's number in a text; new words get the next one in ``numbers``."""
    if tokenizer == _TOKENIZER:
        words = split(encoded(text))
    else:
        words = [word.encode() for word in re.findall(tokenizer, text.lower())]
    return np.fromiter(map(numbers.__getitem__, words), np.int32, len(words))


def _matrix(texts: Sequence[npt.NDArray[np.int32]], word_count: int) -> _Matrix:
    """Counts each distinct word (column) in each text (row). A text consists of its words' numbers."""
    from scipy.sparse import csc_array  # takes 127 ms

    rows = np.repeat(np.arange(len(texts)), [len(words) for words in texts])
    # The matrix adds up ones in the same row and column.
    return csc_array((np.ones(len(rows)), (rows, np.concatenate(texts))), shape=(len(texts), word_count))


def _terms(
    distinct: list[str], analysis: CandidateAnalysis, mapped: Callable[[tuple[str, ...]], list[str]]
) -> list[str]:
    """Returns each word's term, or an empty string for stop words.

    Args:
        distinct: the words.
        analysis: the analysis.
        mapped: maps words using Lucene's token filters, see ``_mapped``.
    """
    from touche.lucene.analysis import stop_words  # optional: Lucene

    if analysis.tokenizer != _TOKENIZER:
        return distinct  # words that a regular expression has found aren't changed
    filters = ("englishPossessive", "lowercase") if analysis.possessives else ("lowercase",)
    removed = stop_words(STOP_LISTS[analysis.stop])
    words_and_stems = zip(mapped(filters), mapped(filters + STEMMERS[analysis.stemmer]), strict=True)
    return ["" if word in removed else stem for word, stem in words_and_stems]


def _mapped(distinct: Sequence[str], filters: Sequence[str]) -> list[str]:
    """Maps each word using Lucene's token filters. Removed words become empty, and parts are joined."""
    from touche.lucene.analysis import Chain, tokens  # optional: Lucene

    analyzer = Chain(tuple(filters), tokenizer="whitespace").build()
    terms = tokens(analyzer, " ".join(distinct))  # one call to Java for all words
    # If there are as many terms as words, each word has become one term. (Lucene splits words with more than
    # 255 characters, so there can be more terms. There can't be fewer at the same time, because none of these
    # filters removes words.)
    if len(terms) == len(distinct):
        return terms
    return ["".join(tokens(analyzer, word)) for word in distinct]
