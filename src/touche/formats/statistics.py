"""Statistics of a collection in a file, so that a part of it can be ranked by the numbers of the whole."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec

from touche.errors import InputError
from touche.io.opening import open_binary
from touche.io.writing import make_folder, write_whole

_LARGEST = 1 << 26  # bytes; those of fifty topics have some 20,000

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]


@dataclass(frozen=True)
class FieldStatistics:
    """A field in numbers.

    Attributes:
        analysis: the name of the analysis by which its texts became terms.
        documents: how many have at least one token in it.
        tokens: how many tokens there are.
        terms: for each term of the topics in how many documents it is, and how often in all of them.
    """

    analysis: str
    documents: Count
    tokens: Count
    terms: Mapping[str, tuple[Count, Count]]

    def __post_init__(self) -> None:
        """Raises ValueError if the numbers cannot be those of any documents."""
        for df, ttf in self.terms.values():
            if not (df <= min(ttf, self.documents) and ttf <= self.tokens and (df or not ttf)):
                raise ValueError("a term in more documents than there are, or in none but often")
        if self.documents > self.tokens:
            raise ValueError("fewer tokens than documents")


@dataclass(frozen=True)
class StatisticsFiles:
    """Files with the statistics of a collection.

    Attributes:
        known: the file with those of the whole collection that the documents are a part of, or None.
        kept: the file that they are written to once they are counted, or None.
        report: called by an engine that ranks by them, or writes them.
    """

    known: Path | None = None
    kept: Path | None = None
    report: Callable[[], object] = field(default=bool, compare=False)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.known or self.kept)


def write_statistics(path: Path, fields: Mapping[str, FieldStatistics], parts: int = 1) -> None:
    """Writes the statistics of the fields, by name, as JSON.

    Args:
        path: the file.
        fields: of the collection.
        parts: how many such files were added up.

    Raises:
        InputError: if the file cannot be written.
    """
    make_folder(path.parent)
    write_whole(path, f"{msgspec.json.encode(_Statistics(parts, dict(fields))).decode()}\n")


def read_statistics(path: Path) -> dict[str, FieldStatistics]:
    """Reads the statistics of the fields, by name.

    Raises:
        InputError: if the file cannot be read, or holds anything else.
    """
    return _read(path).fields


def parts_of(path: Path) -> int:
    """How many parts of a collection a file of statistics was added up from.

    Raises:
        InputError: as ``read_statistics`` does.
    """
    return _read(path).parts


class _Statistics(msgspec.Struct):
    parts: Count
    fields: dict[str, FieldStatistics]


def _read(path: Path) -> _Statistics:
    with open_binary(path) as file:
        raw = file.read(_LARGEST)
    try:
        return msgspec.json.decode(raw, type=_Statistics)
    except (ValueError, RecursionError) as error:  # of msgspec, and bytes that are not UTF-8
        remedy = "give a file that --keep-statistics has written"
        raise InputError(path, "these are no statistics of a collection", remedy) from error


def joined(parts: Iterable[tuple[Path, Mapping[str, FieldStatistics]]]) -> dict[str, FieldStatistics]:
    """The sum of the statistics of parts that have no document in common.

    Args:
        parts: the fields of each by name, with the file that they are from; at least one.

    Raises:
        InputError: naming a file with other fields, analyses or terms than the first.
    """
    (_, first), *others = parts
    total = dict(first)
    for path, fields in others:
        for name in total.keys() | fields.keys():
            one, other = total.get(name), fields.get(name)
            if not (
                one and other and (one.analysis, one.terms.keys()) == (other.analysis, other.terms.keys())
            ):
                remedy = "join those of one baseline, with the same options and topics"
                raise InputError(path, "statistics of other fields, analyses or terms", remedy)
            terms = {
                term: (df + other.terms[term][0], ttf + other.terms[term][1])
                for term, (df, ttf) in one.terms.items()
            }
            total[name] = FieldStatistics(
                one.analysis, one.documents + other.documents, one.tokens + other.tokens, terms
            )
    return total
