"""Reads statistics of a whole collection before a part is ranked, and writes those of a collection."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from touche.errors import InputError
from touche.formats.statistics import FieldStatistics, StatisticsFiles, read_statistics, write_statistics
from touche.scan.counting import Vocabulary
from touche.scan.statistics import Statistics

_REMEDY = "use statistics of a run with the same baseline, options and topics"


def known_or_counted(
    files: StatisticsFiles | None, fields: Mapping[str, Vocabulary], counted: Sequence[Statistics]
) -> Sequence[Statistics]:
    """Returns the statistics for ranking: those of the whole collection if a file has them, else its own.

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
        known = read_statistics(files.known)
        own = {name: _known(files.known, name, known.get(name), fields[name], own[name]) for name in fields}
    if files and files.output:
        by_term = {name: _by_term(statistics, fields[name]) for name, statistics in own.items()}
        write_statistics(files.output, by_term)
    return list(own.values())


def _known(
    path: Path, name: str, known: FieldStatistics | None, vocabulary: Vocabulary, part: Statistics
) -> Statistics:
    """Returns the whole collection's statistics of a field, if the counted ones can be a part of them."""
    if known is None or known.analysis != vocabulary.analysis:
        problem = f"no statistics of the field {name!r} with the analysis {vocabulary.analysis!r}"
        raise InputError(path, problem, _REMEDY)
    if missing := vocabulary.places.keys() - known.terms.keys():
        raise InputError(path, f"no statistics of the term {min(missing)!r} in the field {name!r}", _REMEDY)
    numbers = np.array([known.terms[term] for term in vocabulary.places], dtype=np.int64).reshape(-1, 2)
    whole = Statistics(known.documents, known.tokens, numbers[:, 0], numbers[:, 1])
    larger = (whole.df < part.df) | (whole.ttf < part.ttf)
    terms = [f"of the term {term!r} " for term, place in vocabulary.places.items() if larger[place]]
    if terms or whole.documents < part.documents or whole.tokens < part.tokens:
        of = f"{terms[0] if terms else ''}in the field {name!r}"
        problem = f"statistics of another collection: these documents have more {of}"
        raise InputError(path, problem, "use the statistics of the collection that contains these documents")
    return whole


def _by_term(statistics: Statistics, vocabulary: Vocabulary) -> FieldStatistics:
    numbers = zip(statistics.df.tolist(), statistics.ttf.tolist(), strict=True)
    terms = dict(zip(vocabulary.places, numbers, strict=True))
    return FieldStatistics(vocabulary.analysis, statistics.documents, statistics.tokens, terms)
