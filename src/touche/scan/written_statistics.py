"""Writes and reads files with a collection's statistics. With such a file, a part of the collection can be
ranked as if the rest were there.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from touche.errors import InputError
from touche.io.opening import open_binary
from touche.io.writing import make_folder, write_whole

# Only this much of a file is read, so that longer files are broken and rejected; fifty topics need about
# 20,000 bytes.
_MAX_BYTES = 1 << 26

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]


class KnownStatistics(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known about a field in the whole collection. The numbers were counted, or inferred from scores.

    Attributes:
        analysis: the name of the analysis that turned its texts into terms.
        documents: how many documents have a token in this field; None if unknown.
        tokens: the number of tokens.
        terms: each term's document frequency and collection frequency; each of them is None if it's unknown.
        estimated: whether the numbers in ``terms`` are estimates. If so, it's no error if larger numbers are
            counted in a part of the collection.
    """

    analysis: str
    documents: Count | None = None
    tokens: Count
    terms: dict[str, tuple[Count | None, Count | None]]
    estimated: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError if numbers contradict each other.

        For unknown numbers, values are assumed that can't cause a contradiction: for df the smallest possible
        value, for all others the largest.
        """
        documents = self.tokens if self.documents is None else self.documents
        for known_df, known_ttf in self.terms.values():
            # If no document contains the term, it occurs 0 times.
            most_ttf = 0 if known_df == 0 else self.tokens
            ttf = most_ttf if known_ttf is None else known_ttf
            df = min(ttf, 1) if known_df is None else known_df
            # Each document with the term contains it at least once, so df can't exceed ttf. If the term
            # occurs at all, it's in at least one document, so df can't be 0.
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
    """Reads the known statistics of each field, by the field's name. The value is None for fields of which
    nothing is known.

    Raises:
        InputError: if the file can't be read, or contains something else.
    """
    with open_binary(path) as file:
        raw = file.read(_MAX_BYTES)
    try:
        return msgspec.json.decode(raw, type=_Known).fields
    except (ValueError, RecursionError) as error:  # broken JSON, not UTF-8, or nested too deeply
        remedy = "pass a file that --keep-statistics has written"
        raise InputError(path, "the file has no statistics of a collection", remedy) from error
