"""Statistics to rank with: the whole collection's if they are known, otherwise the documents' own."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from touche.documents.statistics_files import StatisticsFiles
from touche.errors import InputError
from touche.scan.counting import Vocabulary
from touche.scan.statistics import UNKNOWN, Integers, Statistics
from touche.scan.written_statistics import FieldStatistics, KnownStatistics, read_known, write_statistics

_REMEDY = (
    "use statistics for the same baseline, options and topics, or a folder of your own without statistics"
)
# Known numbers can be fitted to float32 scores. Smaller ones can be off by 1, others by a relative
# error.
_WITHIN_ONE_BELOW = 100_000
_RELATIVE_ERROR = 1e-4
_SHOWN_DIFFERENCES = 5  # in a warning

_log = logging.getLogger(__name__)


def known_or_counted(
    files: StatisticsFiles | None, fields: Mapping[str, Vocabulary], counted: Sequence[Statistics]
) -> Sequence[Statistics]:
    """Returns the statistics to rank with: the whole collection's if a file has them, otherwise ``counted``.

    A field that is null in the file uses the documents' statistics. If the documents are the whole
    collection, they are ranked with their own statistics. We then compare these with the file and log how
    many numbers are equal, or warn which ones differ.

    Args:
        files: the statistics files, or None; ``Documents.statistics``.
        fields: the topics' terms per field.
        counted: each field's statistics, counted in the documents to rank.

    Raises:
        InputError: if a file can't be read or written, or its fields, analyses, terms or documents don't fit.
    """
    if not files:
        return counted
    counted_by_field = dict(zip(fields, counted, strict=True))
    files.report()
    if files.output:
        write_statistics(
            files.output, {name: _file_entry(counted_by_field[name], fields[name]) for name in fields}
        )
    if not files.known:
        return counted
    known = read_known(files.known)
    if files.is_whole:
        _log_differences(files.known.name, known, fields, counted_by_field)
        return counted
    statistics: list[Statistics] = []
    for name, vocabulary in fields.items():
        counted_field = counted_by_field[name]
        # None means null in the file. A field that isn't in the file is an error.
        if name in known and known[name] is None:
            statistics.append(counted_field)
        else:
            statistics.append(
                _whole_statistics(files.known, name, known.get(name), vocabulary, counted_field)
            )
    return statistics


def _whole_statistics(
    path: Path, name: str, known: KnownStatistics | None, vocabulary: Vocabulary, counted: Statistics
) -> Statistics:
    """Returns a field's known statistics for the whole collection.

    Args:
        path: the statistics file, for messages.
        name: the field's name.
        known: the field's known statistics; None if it isn't in the file.
        vocabulary: the topics' terms.
        counted: the statistics counted in the documents to rank.

    Raises:
        InputError: if the documents can't be a part of the collection.
    """
    if known is None or known.analysis != vocabulary.analysis:
        problem = f"no statistics of the field {name!r} with the analysis {vocabulary.analysis!r}"
        raise InputError(path, problem, _REMEDY)
    missing = vocabulary.indexes.keys() - known.terms.keys()
    if missing:
        raise InputError(path, f"no statistics of the term {min(missing)!r} in the field {name!r}", _REMEDY)
    frequencies = [known.terms[term] for term in vocabulary.indexes]
    df = _integers(term_df for term_df, _ in frequencies)
    ttf = _integers(term_ttf for _, term_ttf in frequencies)
    documents = UNKNOWN if known.documents is None else known.documents
    exceeded_terms: list[str] = []  # more frequent here than in the whole collection
    if not known.estimated:  # an estimate can be too small
        exceeds_df = (df != UNKNOWN) & (counted.df > df)
        exceeds_ttf = (ttf != UNKNOWN) & (counted.ttf > ttf)
        is_exceeded = exceeds_df | exceeds_ttf
        exceeded_terms = [term for term, index in vocabulary.indexes.items() if is_exceeded[index]]
    exceeds_documents = documents != UNKNOWN and counted.documents > documents
    if exceeded_terms or exceeds_documents or counted.tokens > known.tokens:
        more = f"of the term {exceeded_terms[0]!r}" if exceeded_terms else "documents or tokens"
        problem = f"statistics of another collection: these documents have more {more} in the field {name!r}"
        raise InputError(path, problem, "use the statistics of the collection that contains these documents")
    return Statistics(documents=documents, tokens=known.tokens, df=df, ttf=ttf)


def _integers(numbers: Iterable[int | None]) -> Integers:
    """Returns numbers as an array, with ``UNKNOWN`` for None."""
    return np.array([UNKNOWN if number is None else number for number in numbers], dtype=np.int64)


def _log_differences(
    source: str,
    known: Mapping[str, KnownStatistics | None],
    fields: Mapping[str, Vocabulary],
    counted: Mapping[str, Statistics],
) -> None:
    """Compares known numbers with those counted in the whole collection, and logs the result.

    Args:
        source: the statistics file's name.
        known: the known statistics per field.
        fields: the topics' terms per field.
        counted: the counted statistics per field.
    """
    compared = 0
    differences: list[str] = []
    for name, vocabulary in fields.items():
        field = known.get(name)
        if field is None or field.estimated or field.analysis != vocabulary.analysis:
            continue  # the numbers needn't be equal
        counted_field = counted[name]
        # What each number is about, the known number and the counted one.
        numbers = [
            ("documents", field.documents, counted_field.documents),
            ("tokens", field.tokens, counted_field.tokens),
        ]
        for term in vocabulary.indexes.keys() & field.terms.keys():
            df, ttf = field.terms[term]
            index = vocabulary.indexes[term]
            numbers += [(term, df, int(counted_field.df[index])), (term, ttf, int(counted_field.ttf[index]))]
        for subject, known_number, counted_number in numbers:
            if known_number is not None:
                compared += 1
                tolerance = 1 if known_number < _WITHIN_ONE_BELOW else _RELATIVE_ERROR * known_number
                if abs(known_number - counted_number) > tolerance:
                    differences.append(f"{subject}: {counted_number:,} instead of {known_number:,}")
    if differences:
        listed = ", ".join(sorted(differences)[:_SHOWN_DIFFERENCES])
        problem = f"{len(differences)} of {compared} numbers in {source} are not those of this collection"
        _log.warning("%s (%s); check that corpus, fields and analysis are the official ones", problem, listed)
    elif compared:
        _log.info("all %d numbers in %s are those of this collection, within 1 or 0.01%%", compared, source)


def _file_entry(statistics: Statistics, vocabulary: Vocabulary) -> FieldStatistics:
    """Returns a field's statistics as the file stores them."""
    numbers = zip(statistics.df.tolist(), statistics.ttf.tolist(), strict=True)
    return FieldStatistics(
        analysis=vocabulary.analysis,
        documents=statistics.documents,
        tokens=statistics.tokens,
        terms=dict(zip(vocabulary.indexes, numbers, strict=True)),
    )
