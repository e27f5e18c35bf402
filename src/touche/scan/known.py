"""Statistics for ranking: those of the whole collection if they are known, else those of the documents."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from touche.errors import InputError
from touche.formats.statistics import (
    FieldStatistics,
    KnownStatistics,
    StatisticsFiles,
    read_known,
    write_statistics,
)
from touche.scan.counting import Vocabulary
from touche.scan.statistics import Integers, Statistics

_REMEDY = "use statistics of a run with the same baseline, options and topics"
_EXACT = 100_000  # from here on, a frequency that was fitted from float32 scores is uncertain
_SHOWN = 5  # differences in a warning

_log = logging.getLogger(__name__)


def known_or_counted(
    files: StatisticsFiles | None, fields: Mapping[str, Vocabulary], counted: Sequence[Statistics]
) -> Sequence[Statistics]:
    """Returns the statistics for ranking: those of the whole collection if a file has them, else its own.

    If the documents are the whole collection, they are ranked by their own statistics, which are compared
    with the file: a log line says how many numbers are equal, or warns which ones differ.

    Args:
        files: the files of statistics, or None; ``Documents.statistics``.
        fields: the terms of the topics for each field.
        counted: the collection's own statistics of each field.

    Raises:
        InputError: if a file cannot be read or written, or its fields, analyses, terms or documents do not
            fit.
    """
    own = dict(zip(fields, counted, strict=True))
    if files:
        files.report()
    if files and files.known:
        known = read_known(files.known)
        if files.is_whole:
            _compare(files.known, known, fields, own)
        else:
            own = {
                name: _known(files.known, name, known.get(name), fields[name], own[name]) for name in fields
            }
    if files and files.output:
        by_term = {name: _by_term(statistics, fields[name]) for name, statistics in own.items()}
        write_statistics(files.output, by_term)
    return list(own.values())


def _known(
    path: Path, name: str, known: KnownStatistics | None, vocabulary: Vocabulary, part: Statistics
) -> Statistics:
    """Returns the whole collection's statistics of a field, if the counted ones can be a part of them.

    A number that is not known stays that of the part; the file is for a formula that does not need it.
    """
    if known is None or known.analysis != vocabulary.analysis:
        problem = f"no statistics of the field {name!r} with the analysis {vocabulary.analysis!r}"
        raise InputError(path, problem, _REMEDY)
    if missing := vocabulary.places.keys() - known.terms.keys():
        raise InputError(path, f"no statistics of the term {min(missing)!r} in the field {name!r}", _REMEDY)
    documents = part.documents if known.documents is None else known.documents
    df, ttf = (_numbers(known, vocabulary, index, own) for index, own in enumerate((part.df, part.ttf)))
    whole = Statistics(documents, known.tokens, df, ttf)
    larger = (whole.df < part.df) | (whole.ttf < part.ttf)
    terms = [f"of the term {term!r} " for term, place in vocabulary.places.items() if larger[place]]
    if terms or whole.documents < part.documents or whole.tokens < part.tokens:
        of = f"{terms[0] if terms else ''}in the field {name!r}"
        problem = f"statistics of another collection: these documents have more {of}"
        raise InputError(path, problem, "use the statistics of the collection that contains these documents")
    return whole


def _numbers(known: KnownStatistics, vocabulary: Vocabulary, index: int, own: Integers) -> Integers:
    """Returns the known df (index 0) or ttf (1) of each term, and the documents' own if it is not known."""
    numbers = own.copy()
    for term, place in vocabulary.places.items():
        number = known.terms.get(term, (None, None))[index]
        if number is not None:
            numbers[place] = number
    return numbers


def _compare(
    path: Path,
    known: Mapping[str, KnownStatistics],
    fields: Mapping[str, Vocabulary],
    counted: Mapping[str, Statistics],
) -> None:
    """Compares the known frequencies of the topics' terms with those counted in the whole collection."""
    compared, differences = 0, list[str]()
    for name in [name for name in fields if name in known and not known[name].estimated]:
        for term, place in fields[name].places.items():
            numbers = known[name].terms.get(term, (None, None))
            own = int(counted[name].df[place]), int(counted[name].ttf[place])
            for number, count in zip(numbers, own, strict=True):
                if number is None:
                    continue
                compared += 1
                if abs(number - count) > max(1, number // _EXACT * 10):
                    differences.append(f"{term} {count:,} instead of {number:,}")
    if differences:
        listed = ", ".join(differences[:_SHOWN])
        problem = f"{len(differences)} of {compared} frequencies differ from those in {path.name} ({listed})"
        _log.warning("%s; check that corpus, fields and analysis are the official ones", problem)
    else:
        _log.info("all %d frequencies in %s are those of this collection", compared, path.name)


def _by_term(statistics: Statistics, vocabulary: Vocabulary) -> FieldStatistics:
    numbers = zip(statistics.df.tolist(), statistics.ttf.tolist(), strict=True)
    terms = dict(zip(vocabulary.places, numbers, strict=True))
    return FieldStatistics(vocabulary.analysis, statistics.documents, statistics.tokens, terms)
