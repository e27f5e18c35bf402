"""Statistics of a collection in a file, so that a part of the collection is ranked like the whole."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from touche.errors import InputError
from touche.io.opening import open_binary
from touche.io.writing import make_folder, write_whole

_MAX_BYTES = 1 << 26  # a longer file is cut off, and so refused; fifty topics need about 20,000 bytes

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]

_File = TypeVar("_File", bound=msgspec.Struct)


@dataclass(frozen=True)
class FieldStatistics:
    """Statistics of a field.

    Attributes:
        analysis: the name of the analysis that made terms from its texts.
        documents: the number of documents with a token in this field.
        tokens: the number of tokens.
        terms: for each term of the topics, its document frequency and its frequency in the collection.
    """

    analysis: str
    documents: Count
    tokens: Count
    terms: Mapping[str, tuple[Count, Count]]

    def __post_init__(self) -> None:
        """Raises ValueError if the numbers contradict each other."""
        _check(self)


@dataclass(frozen=True)
class KnownStatistics:
    """What is known of a field of the whole collection: counts, or numbers fitted from scores.

    Attributes:
        analysis: the name of the analysis that made terms from its texts.
        tokens: the number of tokens.
        terms: for each term, its document frequency and its frequency in the collection; None if unknown.
        documents: the number of documents with a token in this field; None if unknown.
        estimated: whether the numbers of the terms are estimates, which larger counts do not contradict.
    """

    analysis: str
    tokens: Count
    terms: Mapping[str, tuple[Count | None, Count | None]]
    documents: Count | None = None
    estimated: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError if the numbers contradict each other."""
        _check(self)


def _check(field: FieldStatistics | KnownStatistics) -> None:
    """Raises ValueError if numbers contradict each other.

    An unknown df becomes its smallest possible value, and another unknown number its largest possible value,
    so that unknown numbers contradict nothing.
    """
    documents = field.tokens if field.documents is None else field.documents
    for known_df, known_ttf in field.terms.values():
        most_ttf = 0 if known_df == 0 else field.tokens  # a term in no document has no occurrence
        ttf = most_ttf if known_ttf is None else known_ttf
        df = min(ttf, 1) if known_df is None else known_df
        # A document with a term has it at least once, and a term that occurs is in some document.
        if df > min(ttf, documents) or ttf > field.tokens or (df == 0 and ttf > 0):
            raise ValueError("the counts of a term contradict each other, or those of the collection")
    if documents > field.tokens:
        raise ValueError("fewer tokens than documents")


def write_statistics(path: Path, fields: Mapping[str, FieldStatistics], parts: int = 1) -> None:
    """Writes the statistics of the fields as JSON.

    Args:
        path: the file.
        fields: the statistics of each field by its name.
        parts: the number of files whose statistics were added up.

    Raises:
        InputError: if the file cannot be written.
    """
    make_folder(path.parent)
    write_whole(path, f"{msgspec.json.encode(_Statistics(parts, dict(fields))).decode()}\n")


def read_statistics(path: Path) -> dict[str, FieldStatistics]:
    """Reads the statistics of each field by its name.

    Raises:
        InputError: if the file cannot be read, or has other content.
    """
    return _read(path, _Statistics).fields


def read_known(path: Path) -> dict[str, KnownStatistics | None]:
    """Reads the known statistics of each field by its name; None for a field without known statistics.

    Raises:
        InputError: if the file cannot be read, or has other content.
    """
    return _read(path, _Known).fields


def count_parts(path: Path) -> int:
    """Returns how many parts of a collection were added up in a file.

    Raises:
        InputError: as in ``read_statistics``.
    """
    return _read(path, _Statistics).parts


class _Statistics(msgspec.Struct):
    parts: Count
    fields: dict[str, FieldStatistics]


class _Known(msgspec.Struct):
    fields: dict[str, KnownStatistics | None]


def _read(path: Path, kind: type[_File]) -> _File:
    """Returns the content of a file of statistics as a record of this class."""
    with open_binary(path) as file:
        raw = file.read(_MAX_BYTES)
    try:
        return msgspec.json.decode(raw, type=kind)
    except (ValueError, RecursionError) as error:  # not such a file, not UTF-8, or nested too deeply
        remedy = "pass a file that --keep-statistics has written"
        raise InputError(path, "the file has no statistics of a collection", remedy) from error


def add_statistics(parts: Iterable[tuple[Path, Mapping[str, FieldStatistics]]]) -> dict[str, FieldStatistics]:
    """Adds up the statistics of parts that share no document.

    Args:
        parts: the file of each part, and its statistics by field; at least one part.

    Raises:
        InputError: if fields, analyses or terms of a part differ; the message names its file.
    """
    (_, first), *others = parts
    total = dict(first)
    for path, fields in others:
        if _analyses_and_terms(fields) != _analyses_and_terms(first):
            remedy = "join files of one baseline with the same options and topics"
            raise InputError(path, "its fields, analyses or terms differ from the first file's", remedy)
        for name, other in fields.items():
            field = total[name]  # the sums of earlier parts
            terms = {
                term: (df + other.terms[term][0], ttf + other.terms[term][1])
                for term, (df, ttf) in field.terms.items()
            }
            total[name] = FieldStatistics(
                analysis=field.analysis,
                documents=field.documents + other.documents,
                tokens=field.tokens + other.tokens,
                terms=terms,
            )
    return total


def _analyses_and_terms(fields: Mapping[str, FieldStatistics]) -> dict[str, tuple[str, Set[str]]]:
    """Returns the analysis and terms of each field, which have to be the same in files that are added up."""
    return {name: (field.analysis, field.terms.keys()) for name, field in fields.items()}
