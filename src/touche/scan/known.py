"""Statistics that are known of a collection before it is read, and kept once it was."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from touche.errors import InputError
from touche.formats.statistics import FieldStatistics, StatisticsFiles, read_statistics, write_statistics
from touche.scan.counting import Vocabulary
from touche.scan.statistics import Statistics


def known_or_counted(
    files: StatisticsFiles | None, fields: Mapping[str, Vocabulary], counted: Sequence[Statistics]
) -> Sequence[Statistics]:
    """Returns the statistics by which a collection is ranked: its own, or those of the whole it is a part of.

    Args:
        files: the files of the collection's statistics, if any; ``Documents.statistics``.
        fields: the fields by name, each with the terms of the topics.
        counted: the collection's own statistics of each field.

    Raises:
        InputError: if what is known is of other fields, analyses, terms or documents, or cannot be read, or
            what was counted cannot be written.
    """
    if files and files.known:
        counted = _checked(files.known, fields, _known(files.known, fields), counted)
    if files and files.kept:
        write_statistics(files.kept, _by_term(counted, fields))
    return counted


def _known(path: Path, fields: Mapping[str, Vocabulary]) -> list[Statistics]:
    found = read_statistics(path)
    return [_of_field(path, name, found.get(name), vocabulary) for name, vocabulary in fields.items()]


def _checked(
    path: Path, fields: Mapping[str, Vocabulary], known: Sequence[Statistics], counted: Sequence[Statistics]
) -> Sequence[Statistics]:
    """What is known, if what was counted can be a part of it.

    Raises:
        InputError: naming the field, and the term if it is one, of which more was counted.
    """
    for (name, vocabulary), whole, part in zip(fields.items(), known, counted, strict=True):
        larger = (whole.df < part.df) | (whole.ttf < part.ttf)
        terms = [term for term, place in vocabulary.places.items() if larger[place]]
        if terms or whole.documents < part.documents or whole.tokens < part.tokens:
            of = f"of the term {terms[0]!r} in the field {name!r}" if terms else f"in the field {name!r}"
            problem = f"statistics of another collection: the documents at hand have more {of}"
            raise InputError(path, problem, "give those of the collection that these are a part of")
    return known


def _of_field(path: Path, name: str, found: FieldStatistics | None, vocabulary: Vocabulary) -> Statistics:
    remedy = "keep those of a run with the same baseline, options and topics"
    if found is None or found.analysis != vocabulary.analysis:
        problem = f"no statistics of the field {name!r} with the analysis {vocabulary.analysis!r}"
        raise InputError(path, problem, remedy)
    if missing := vocabulary.places.keys() - found.terms.keys():
        raise InputError(path, f"no statistics of the term {min(missing)!r} in the field {name!r}", remedy)
    numbers = np.array([found.terms[term] for term in vocabulary.places], dtype=np.int64).reshape(-1, 2)
    return Statistics(found.documents, found.tokens, numbers[:, 0], numbers[:, 1])


def _by_term(
    statistics: Sequence[Statistics], fields: Mapping[str, Vocabulary]
) -> dict[str, FieldStatistics]:
    found = {}
    for each, (name, vocabulary) in zip(statistics, fields.items(), strict=True):
        numbers = zip(each.df.tolist(), each.ttf.tolist(), strict=True)
        terms = dict(zip(vocabulary.places, numbers, strict=True))
        found[name] = FieldStatistics(vocabulary.analysis, each.documents, each.tokens, terms)
    return found
