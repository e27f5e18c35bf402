"""TREC run files: ``topic stance document rank score tag`` on each line."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from numbers import Real
from pathlib import Path

import numpy as np

from touche.errors import InputError, ToucheError
from touche.io.identifiers import quoted
from touche.io.opening import read_lines

_COLUMNS = "write: topic Q0 document rank score tag"
# Numbers in C's notation. The quantifiers do not backtrack, because sequences of digits may be long.
_DECIMAL = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_RANK = re.compile("[0-9]{1,18}")  # official runs start at 0 or 1; trec_eval ignores ranks
_BEYOND_FLOAT32 = 2.0**128 - 2.0**103  # the smallest number that rounds to infinity
_ZERO = np.float32(0)
MAX_DEPTH = 1000  # documents per topic, by every year's rules


@dataclass(frozen=True, slots=True)
class RunLine:
    """One line of a run.

    Attributes:
        topic: the id of the topic.
        stance: the second column: ``Q0``, or the predicted stance (2022 task 2).
        document: the id of the document, or of a pair of sentences.
        rank: as in the file, which may start at 0 or 1.
        score: as in the file.
        tag: the rest of the line, with its blanks.
    """

    topic: str
    stance: str
    document: str
    rank: int
    score: float
    tag: str


class LineError(InputError):
    """A broken line of a run; ``column`` is ``rank``, ``score``, or ``columns`` for a missing column."""

    def __init__(self, column: str, path: Path, problem: str, remedy: str, line: int) -> None:
        super().__init__(path, problem, remedy, line)
        self.column = column


def read_run(path: Path) -> list[RunLine]:
    """Reads a run; accepts any white space between columns, tags with blanks, and ranks from 0 or 1.

    Raises:
        InputError: if the file is unreadable or empty, or a line lacks a column or repeats a document of its
            topic.
    """
    return checked(((number, parse_line(text, path, number)) for number, text in read_lines(path)), path)


def split_columns(text: str, at_most: int = -1) -> list[str]:
    """Splits a line at ASCII white space, at most ``at_most`` times; -1 means everywhere."""
    columns = text.encode("utf-8", "surrogatepass").strip().split(maxsplit=at_most)
    return [column.decode("utf-8", "surrogatepass") for column in columns]


def decimal(text: str) -> float | None:
    """Returns the finite number in a column, or None."""
    number = float(text) if _DECIMAL.fullmatch(text) else inf
    return number if isfinite(number) else None


def checked(
    numbered: Iterable[tuple[int, RunLine]], path: Path, remedy: str = "check what wrote it"
) -> list[RunLine]:
    """Checks that a run has lines, and that no topic has a document twice.

    Args:
        numbered: the lines with their numbers.
        path: the file, for error messages.
        remedy: the remedy for a run without lines.

    Raises:
        InputError: if a check fails; the message names the line, or the empty file.
    """
    lines: dict[tuple[str, str], RunLine] = {}
    for number, line in numbered:
        if (line.topic, line.document) in lines:
            problem = f"document {line.document!r} occurs a second time for topic {line.topic}"
            raise InputError(path, problem, "remove one of the two", number)
        lines[line.topic, line.document] = line
    if not lines:
        raise InputError(path, "the run is empty", remedy)
    return list(lines.values())


def in_order_of_score(lines: Iterable[RunLine]) -> list[RunLine]:
    """Returns the order of trec_eval: score as float32 descending, ties by document id descending."""
    return sorted(lines, key=lambda line: (np.float32(line.score), line.document), reverse=True)


def in_order_of_rank(lines: Iterable[RunLine]) -> list[RunLine]:
    """Returns the order of the rank column; equal ranks stay in the order of the file."""
    return sorted(lines, key=lambda line: line.rank)


def by_topic(lines: Iterable[RunLine]) -> dict[str, list[RunLine]]:
    """Returns the lines of each topic, in their order."""
    topics: dict[str, list[RunLine]] = {}
    for line in lines:
        topics.setdefault(line.topic, []).append(line)
    return topics


def ranking(hits: Iterable[tuple[str, float]], depth: int = MAX_DEPTH) -> list[tuple[str, np.float32]]:
    """Sorts scored documents into the one order in which rank and score cannot disagree.

    Scores are rounded to float32, as in trec_eval. Ties are ordered by document id descending, also at the
    cut at ``depth``.

    Raises:
        ToucheError: if a score is not finite or a document occurs twice.
    """
    ranked: dict[str, np.float32] = {}
    for document, score in hits:
        if document in ranked:
            raise ToucheError(
                f"document {quoted(document)} is ranked twice for one topic; rank each document only once"
            )
        ranked[document] = _float32(document, score)
    ordered = sorted(ranked.items(), key=lambda hit: (hit[1], hit[0]), reverse=True)
    return ordered[:depth]


def format_run(
    topic: str, ranked: Sequence[tuple[str, np.float32]], tag: str, stances: Mapping[str, str] | None = None
) -> str:
    """Formats the lines of one topic; scores have the fewest digits that restore the same float32."""
    known = stances or {}
    return "".join(
        f"{topic} {known.get(document, 'Q0')} {document} {rank} {score!s} {tag}\n"
        for rank, (document, score) in enumerate(ranked, 1)
    )


def _float32(document: str, score: float) -> np.float32:
    if not isinstance(score, Real) or isinstance(score, bool) or not isfinite(rounded := as_float32(score)):
        problem = f"document {quoted(document)} has the score {quoted(score)}"
        raise ToucheError(f"{problem}; scores must be numbers that are finite as float32")
    return rounded


def as_float32(score: float | Real) -> np.float32:
    """Returns a score as trec_eval reads it; infinite if no float32 is as large."""
    try:
        value = float(score)
    except OverflowError:  # an integer larger than all floats
        return np.float32(inf)
    if abs(value) >= _BEYOND_FLOAT32:  # numpy would warn, and its errstate is slow
        return np.float32(inf if value > 0 else -inf)
    return np.float32(value) + _ZERO  # turns -0 into 0


def parse_line(text: str, path: Path, number: int) -> RunLine:
    """Parses one line of a run; the tag may contain blanks.

    Raises:
        LineError: if a column is missing, the rank is not a whole number with up to 18 digits, or the score
            is not finite as float32.
    """
    columns = split_columns(text, 5)
    if len(columns) < 6:
        raise LineError("columns", path, f"{len(columns)} columns instead of 6", _COLUMNS, number)
    topic, stance, document, rank, score, tag = columns
    if not _RANK.fullmatch(rank):
        raise LineError("rank", path, f"rank {quoted(rank)} is not a whole number", _COLUMNS, number)
    value = decimal(score)
    if value is None or not isfinite(as_float32(value)):
        remedy = "write decimal numbers that are finite as float32"
        raise LineError("score", path, f"score {quoted(score)} is not a finite number", remedy, number)
    return RunLine(topic, stance, document, int(rank), value, tag)
