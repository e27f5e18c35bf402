"""A collection's statistics in a file, so that you can rank a part like the whole."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from touche.errors import InputError
from touche.io.opening import open_binary
from touche.io.writing import make_folder, write_whole

_MAX_BYTES = 1 << 26  # longer files are cut off, and so refused; fifty topics need about 20,000 bytes

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]


class KnownStatistics(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What we know about a field in the whole collection: counts, or numbers fitted to scores.

    Attributes:
        analysis: the name of the analysis that turned its texts into terms.
        documents: how many documents have a token in this field; None if unknown.
        tokens: the number of tokens.
        terms: each term's document frequency and collection frequency; None if unknown.
        estimated: whether the terms' numbers are estimates, which larger counts don't contradict.
    """

    analysis: str
    documents: Count | None = None
    tokens: Count
    terms: dict[str, tuple[Count | None, Count | None]]
    estimated: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError if numbers contradict each other.

        We assume the smallest possible df and the largest possible value for other unknown numbers, so that
        unknown numbers contradict nothing.
        """
        documents = self.tokens if self.documents is None else self.documents
        for known_df, known_ttf in self.terms.values():
            most_ttf = 0 if known_df == 0 else self.tokens  # a term in no document never occurs
            ttf = most_ttf if known_ttf is None else known_ttf
            df = min(ttf, 1) if known_df is None else known_df
            # A document with a term contains it at least once, and a term that occurs is in some
            # document.
            if df > min(ttf, documents) or ttf > self.tokens or (df == 0 and ttf > 0):
                raise ValueError("the counts of a term contradict each other, or those of the collection")
        if documents > self.tokens:
            raise ValueError("fewer tokens than documents")


def write_statistics(path: Path, fields: Mapping[str, KnownStatistics]) -> None:
    """Writes the fields' statistics as JSON.

    Args:
        path: the file.
        fields: each field's statistics by name.

    Raises:
        InputError: if the file can't be written.
    """
    make_folder(path.parent)
    write_whole(path, f"{msgspec.json.encode({'fields': dict(fields)}).decode()}\n")


class _Known(msgspec.Struct):
    fields: dict[str, KnownStatistics | None]


def read_known(path: Path) -> dict[str, KnownStatistics | None]:
    """Reads each field's known statistics by name; None for a field without any.

    Raises:
        InputError: if the file can't be read, or contains something else.
    """
    with open_binary(path) as file:
        raw = file.read(_MAX_BYTES)
    try:
        return msgspec.json.decode(raw, type=_Known).fields
    except (ValueError, RecursionError) as error:  # no such file, not UTF-8, or nested too deeply
        remedy = "pass a file that --keep-statistics has written"
        raise InputError(path, "the file has no statistics of a collection", remedy) from error
