"""Statistics of a collection in a file, so that a part of the collection is ranked like the whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from touche.errors import InputError
from touche.io.opening import open_binary
from touche.io.writing import make_folder, write_whole

_MAX_BYTES = 1 << 26  # a longer file is cut off, and so refused; fifty topics need about 20,000 bytes

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]


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
    documents: int
    tokens: int
    terms: Mapping[str, tuple[int, int]]


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
        """Raises ValueError if numbers contradict each other.

        An unknown df becomes its smallest possible value, and another unknown number its largest possible
        value, so that unknown numbers contradict nothing.
        """
        documents = self.tokens if self.documents is None else self.documents
        for known_df, known_ttf in self.terms.values():
            most_ttf = 0 if known_df == 0 else self.tokens  # a term in no document has no occurrence
            ttf = most_ttf if known_ttf is None else known_ttf
            df = min(ttf, 1) if known_df is None else known_df
            # A document with a term has it at least once, and a term that occurs is in some document.
            if df > min(ttf, documents) or ttf > self.tokens or (df == 0 and ttf > 0):
                raise ValueError("the counts of a term contradict each other, or those of the collection")
        if documents > self.tokens:
            raise ValueError("fewer tokens than documents")


def write_statistics(path: Path, fields: Mapping[str, FieldStatistics]) -> None:
    """Writes the statistics of the fields as JSON.

    Args:
        path: the file.
        fields: the statistics of each field by its name.

    Raises:
        InputError: if the file cannot be written.
    """
    make_folder(path.parent)
    write_whole(path, f"{msgspec.json.encode({'fields': dict(fields)}).decode()}\n")


class _Known(msgspec.Struct):
    fields: dict[str, KnownStatistics | None]


def read_known(path: Path) -> dict[str, KnownStatistics | None]:
    """Reads the known statistics of each field by its name; None for a field without known statistics.

    Raises:
        InputError: if the file cannot be read, or has other content.
    """
    with open_binary(path) as file:
        raw = file.read(_MAX_BYTES)
    try:
        return msgspec.json.decode(raw, type=_Known).fields
    except (ValueError, RecursionError) as error:  # not such a file, not UTF-8, or nested too deeply
        remedy = "pass a file that --keep-statistics has written"
        raise InputError(path, "the file has no statistics of a collection", remedy) from error
