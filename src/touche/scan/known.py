"""Statistics to rank with: the whole collection's if they are known, otherwise the documents' own."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from touche.documents.statistics_files import StatisticsFiles
from touche.errors import InputError
from touche.scan.counting import Vocabulary
from touche.scan.statistics import UNKNOWN, Statistics
from touche.scan.written_statistics import KnownStatistics, read_known, write_statistics

_REMEDY = (
    "use statistics for the same baseline, options and topics, or --statistics none for the documents' own"
)
# Known numbers can be fitted to float32 scores. Smaller ones can be off by 1, others by a relative
# error.
_WITHIN_ONE_BELOW = 100_000
_RELATIVE_ERROR = 1e-4
_SHOWN_DIFFERENCES = 5  # in a warning

_log = logging.getLogger(__name__)


def known_or_counted(
    files: StatisticsFiles | None,
    fields: Mapping[str, Vocabulary],
    counted: Sequence[Statistics],
    unweighted: Collection[str] = (),
) -> Sequence[Statistics]:
    """Returns the statistics to rank with: the whole collection's if a file has them, otherwise ``counted``.

    A field that is null in the file uses the documents' statistics. If the documents are the whole
    collection, they are ranked with their own statistics. We then compare these with the file and log how
    many numbers are equal, or warn which ones differ.

    Args:
        files: the statistics files, or None; ``Documents.statistics``.
        fields: the topics' terms per field.
        counted: each field's statistics, counted in the documents to rank.
        unweighted: terms with weight 0 in all queries. Where a number isn't in the file, ``counted`` is used
            instead.

    Raises:
        InputError: if a file can't be read or written, or its fields, analyses, terms or documents don't fit.
    """
    if not files:
        return counted
    files.report()
    by_field = dict(zip(fields, counted, strict=True))
    if files.output:
        written = {name: _known(by_field[name], vocabulary) for name, vocabulary in fields.items()}
        write_statistics(files.output, written)
    if not files.known:
        return counted
    known = read_known(files.known)
    if files.is_whole:
        _log_differences(files.known.name, known, fields, by_field)
        return counted
    return [
        _whole_statistics(files.known, known, name, vocabulary, by_field[name], unweighted)
        for name, vocabulary in fields.items()
    ]


def _whole_statistics(
    path: Path,
    fields: Mapping[str, KnownStatistics | None],
    name: str,
    vocabulary: Vocabulary,
    counted: Statistics,
    unweighted: Collection[str],
) -> Statistics:
    """Returns a field's known statistics for the whole collection, or ``counted`` if it is null in the file.

    Args:
        path: the statistics file, for messages.
        fields: the known statistics per field.
        name: the field's name.
        vocabulary: the topics' terms.
        counted: the statistics counted in the documents to rank.
        unweighted: terms without weight, such as stop words; they may be missing in the file.

    Raises:
        InputError: if the documents can't be a part of the collection.
    """
    known = fields.get(name)
    if known is None and name in fields:
        return counted
    if known is None or known.analysis != vocabulary.analysis:
        problem = f"no statistics of the field {name!r} with the analysis {vocabulary.analysis!r}"
        raise InputError(path, problem, _REMEDY)
    missing = vocabulary.indexes.keys() - known.terms.keys()
    missing_weighted = missing.difference(unweighted)
    if missing_weighted:
        problem = f"no statistics of the term {min(missing_weighted)!r} in the field {name!r}"
        raise InputError(path, problem, _REMEDY)
    whole = _statistics(known, vocabulary)
    if missing:
        # They add 0 to scores, so any numbers will do that formulas accept.
        is_missing = [term in missing for term in vocabulary.indexes]
        df = np.where(is_missing, counted.df, whole.df)
        whole = replace(whole, df=df, ttf=np.where(is_missing, counted.ttf, whole.ttf))
    exceeded_terms: list[str] = []  # more frequent here than in the whole collection
    if not known.estimated:  # an estimate can be too small
        is_exceeded = _exceeds(counted.df, whole.df) | _exceeds(counted.ttf, whole.ttf)
        exceeded_terms = list(compress(vocabulary.indexes, is_exceeded))
    if exceeded_terms or _exceeds(counted.documents, whole.documents) or counted.tokens > whole.tokens:
        more = f"of the term {exceeded_terms[0]!r}" if exceeded_terms else "documents or tokens"
        problem = f"statistics of another collection: these documents have more {more} in the field {name!r}"
        raise InputError(path, problem, "use the statistics of the collection that contains these documents")
    return whole


def _exceeds(counted: Any, known: Any) -> Any:
    """Returns whether a number, or each number of an array, is larger than one that is known."""
    return (counted > known) & (known != UNKNOWN)


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
        subjects = ["documents", "tokens", *vocabulary.indexes, *vocabulary.indexes]
        known_numbers = _numbers(_statistics(field, vocabulary))
        for subject, known_number, number in zip(
            subjects, known_numbers, _numbers(counted[name]), strict=True
        ):
            if known_number != UNKNOWN:
                compared += 1
                tolerance = 1 if known_number < _WITHIN_ONE_BELOW else _RELATIVE_ERROR * known_number
                if abs(known_number - number) > tolerance:
                    differences.append(f"{subject}: {number:,} instead of {known_number:,}")
    if differences:
        listed = ", ".join(sorted(differences)[:_SHOWN_DIFFERENCES])
        problem = f"{len(differences)} of {compared} numbers in {source} are not those of this collection"
        _log.warning("%s (%s); check that corpus, fields and analysis are the official ones", problem, listed)
    elif compared:
        _log.info("all %d numbers in %s are those of this collection, within 1 or 0.01%%", compared, source)


def _numbers(statistics: Statistics) -> list[int]:
    """Returns documents, tokens, each term's df, and each term's ttf."""
    return [statistics.documents, statistics.tokens, *statistics.df.tolist(), *statistics.ttf.tolist()]


def _statistics(known: KnownStatistics, vocabulary: Vocabulary) -> Statistics:
    """Returns known statistics for a vocabulary, with ``UNKNOWN`` for unknown numbers."""
    frequencies = [known.terms.get(term, (None, None)) for term in vocabulary.indexes]
    numbers = [[UNKNOWN if number is None else number for number in pair] for pair in frequencies]
    df, ttf = np.array(numbers, dtype=np.int64).reshape(-1, 2).T
    documents = UNKNOWN if known.documents is None else known.documents
    return Statistics(documents=documents, tokens=known.tokens, df=df, ttf=ttf)


def _known(statistics: Statistics, vocabulary: Vocabulary) -> KnownStatistics:
    """Returns a field's statistics as the file stores them."""
    numbers = zip(statistics.df.tolist(), statistics.ttf.tolist(), strict=True)
    return KnownStatistics(
        analysis=vocabulary.analysis,
        documents=statistics.documents,
        tokens=statistics.tokens,
        terms=dict(zip(vocabulary.indexes, numbers, strict=True)),
    )
