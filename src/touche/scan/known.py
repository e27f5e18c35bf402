"""Chooses the statistics to rank with: those of the whole collection if they are known, otherwise those of
the documents to rank.
"""

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
# Known numbers can have been inferred from float32 scores, so they can be slightly wrong: numbers below this
# limit by 1, larger ones by a relative error.
_WITHIN_ONE_BELOW = 100_000
_RELATIVE_ERROR = 1e-4
_SHOWN_DIFFERENCES = 5  # how many differences a warning lists

_log = logging.getLogger(__name__)


def known_or_counted(
    files: StatisticsFiles | None,
    fields: Mapping[str, Vocabulary],
    counted: Sequence[Statistics],
    unweighted: Collection[str] = (),
) -> Sequence[Statistics]:
    """Returns the statistics to rank with: the whole collection's if there is a file with them, otherwise
    ``counted``.

    If a field is null in the file, the statistics of the documents to rank are used for this field. If the
    documents to rank are the whole collection, their own statistics are used for all fields. In that case
    they are compared with the file: the number of equal values is logged, or a warning says which values
    differ.

    Args:
        files: the files with statistics, from ``Documents.statistics``; None if there are none.
        fields: the topics' terms per field.
        counted: each field's statistics, counted in the documents to rank.
        unweighted: terms with weight 0 in all queries. Where a number isn't in the file, ``counted`` is used
            instead.

    Raises:
        InputError: if a file can't be read or written, or if the fields, analyses, terms or numbers of
            documents in it don't fit the documents to rank.
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
    """Returns a field's statistics for the whole collection, as the file states them. If the field is null in
    the file, returns ``counted``.

    Args:
        path: the path of the file with statistics, for error messages.
        fields: the known statistics per field.
        name: the field's name.
        vocabulary: the topics' terms.
        counted: the statistics counted in the documents to rank.
        unweighted: terms without weight, such as stop words; they may be missing in the file.

    Raises:
        InputError: if the documents can't be a part of this collection, because a number in ``counted`` is
            larger than the known number.
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
        # For terms that aren't in the file, use what was counted: they add 0 to scores, so any numbers are
        # right that formulas accept.
        is_missing = [term in missing for term in vocabulary.indexes]
        df = np.where(is_missing, counted.df, whole.df)
        whole = replace(whole, df=df, ttf=np.where(is_missing, counted.ttf, whole.ttf))
    # Terms that are more frequent in the documents to rank than in the whole collection.
    exceeded_terms: list[str] = []
    if not known.estimated:  # estimates aren't checked, because they can be too small
        is_exceeded = _exceeds(counted.df, whole.df) | _exceeds(counted.ttf, whole.ttf)
        exceeded_terms = list(compress(vocabulary.indexes, is_exceeded))
    if exceeded_terms or _exceeds(counted.documents, whole.documents) or counted.tokens > whole.tokens:
        more = f"of the term {exceeded_terms[0]!r}" if exceeded_terms else "documents or tokens"
        problem = f"statistics of another collection: these documents have more {more} in the field {name!r}"
        raise InputError(path, problem, "use the statistics of the collection that contains these documents")
    return whole


def _exceeds(counted: Any, known: Any) -> Any:
    """Returns whether a counted number is larger than the known one, or, for arrays, for which elements it
    is. False where the known number is unknown.
    """
    return (counted > known) & (known != UNKNOWN)


def _log_differences(
    source: str,
    known: Mapping[str, KnownStatistics | None],
    fields: Mapping[str, Vocabulary],
    counted: Mapping[str, Statistics],
) -> None:
    """Compares the numbers in the file with those counted in the whole collection. Logs how many are equal,
    or warns which ones differ.

    Args:
        source: the name of the file with statistics.
        known: the known statistics per field.
        fields: the topics' terms per field.
        counted: the counted statistics per field.
    """
    compared = 0
    differences: list[str] = []
    for name, vocabulary in fields.items():
        field = known.get(name)
        if field is None or field.estimated or field.analysis != vocabulary.analysis:
            continue  # skip this field, because its numbers needn't be equal
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
    """Returns all numbers of a field in one list: documents, tokens, the df of each term, the ttf of each
    term.
    """
    return [statistics.documents, statistics.tokens, *statistics.df.tolist(), *statistics.ttf.tolist()]


def _statistics(known: KnownStatistics, vocabulary: Vocabulary) -> Statistics:
    """Converts statistics from a file for the terms of a vocabulary. Unknown numbers become ``UNKNOWN``."""
    frequencies = [known.terms.get(term, (None, None)) for term in vocabulary.indexes]
    numbers = [[UNKNOWN if number is None else number for number in pair] for pair in frequencies]
    df, ttf = np.array(numbers, dtype=np.int64).reshape(-1, 2).T
    documents = UNKNOWN if known.documents is None else known.documents
    return Statistics(documents=documents, tokens=known.tokens, df=df, ttf=ttf)


def _known(statistics: Statistics, vocabulary: Vocabulary) -> KnownStatistics:
    """Converts a field's statistics to the form in which they are written to a file."""
    numbers = zip(statistics.df.tolist(), statistics.ttf.tolist(), strict=True)
    return KnownStatistics(
        analysis=vocabulary.analysis,
        documents=statistics.documents,
        tokens=statistics.tokens,
        terms=dict(zip(vocabulary.indexes, numbers, strict=True)),
    )
