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
# Numbers as C reads them. No quantifier gives back what it took, because stretches of digits may be long.
_DECIMAL = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_RANK = re.compile("[0-9]{1,18}")  # from 0 or 1, as in all official runs; trec_eval passes over it
_BEYOND_FLOAT32 = 2.0**128 - 2.0**103  # the least number that rounds to infinity
_ZERO = np.float32(0)
MAX_DEPTH = 1000  # documents per topic, in every year's rules


@dataclass(frozen=True, slots=True)
class RunLine:
    """One line of a run.

    Attributes:
        topic: the number of the topic.
        stance: the second column: ``Q0``, or the stance that a team predicted (2022).
        document: the id of the document, or of a pair of sentences.
        rank: as written in the file, whatever it starts from.
        score: as written in the file.
        tag: the rest of the line, blanks included.
    """

    topic: str
    stance: str
    document: str
    rank: int
    score: float
    tag: str


class LineError(InputError):
    """A line that is no line of a run; ``column`` is ``rank``, ``score``, or ``columns`` for their number."""

    def __init__(self, column: str, path: Path, problem: str, remedy: str, line: int) -> None:
        super().__init__(path, problem, remedy, line)
        self.column = column


def read_run(path: Path) -> list[RunLine]:
    """Reads a run as teams send them: any white space between columns, tags with blanks, ranks from 0 or 1.

    Raises:
        InputError: if the file is unreadable, has no line, or a line does not have the six columns or repeats
            a document of its topic.
    """
    return checked(((number, parse_line(text, path, number)) for number, text in read_lines(path)), path)


def split_columns(text: str, at_most: int = -1) -> list[str]:
    """The columns of a line, split at ASCII white space only; ``at_most`` so many times, -1 for always."""
    columns = text.encode("utf-8", "surrogatepass").strip().split(maxsplit=at_most)
    return [column.decode("utf-8", "surrogatepass") for column in columns]


def decimal(text: str) -> float | None:
    """The finite number that a column is, or None."""
    number = float(text) if _DECIMAL.fullmatch(text) else inf
    return number if isfinite(number) else None


def checked(
    numbered: Iterable[tuple[int, RunLine]], path: Path, remedy: str = "check what wrote it"
) -> list[RunLine]:
    """Checks that a run has lines, and no document twice for a topic.

    Args:
        numbered: the lines with their numbers.
        path: the file, for errors.
        remedy: what to do about a file without lines.

    Raises:
        InputError: naming the line, or the file that has none.
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
    """The order that trec_eval derives: score as float32 descending, ties by document id descending."""
    return sorted(lines, key=lambda line: (np.float32(line.score), line.document), reverse=True)


def in_order_of_rank(lines: Iterable[RunLine]) -> list[RunLine]:
    """The order of the rank column; equal ranks stay in the order of the file."""
    return sorted(lines, key=lambda line: line.rank)


def by_topic(lines: Iterable[RunLine]) -> dict[str, list[RunLine]]:
    """Returns the lines of each topic, in their order."""
    topics: dict[str, list[RunLine]] = {}
    for line in lines:
        topics.setdefault(line.topic, []).append(line)
    return topics


def ranking(hits: Iterable[tuple[str, float]], depth: int = MAX_DEPTH) -> list[tuple[str, np.float32]]:
    """Brings scored documents into the one order in which rank and score cannot disagree.

    Scores are rounded to float32, as trec_eval reads them; ties are ordered by document id descending, and
    that is also where the cut at ``depth`` falls.

    Raises:
        ToucheError: if a score is not finite or a document occurs twice.
    """
    ranked: dict[str, np.float32] = {}
    for document, score in hits:
        if document in ranked:
            raise ToucheError(
                f"document {quoted(document)} is ranked twice for one topic; rank each document once"
            )
        ranked[document] = _float32(document, score)
    ordered = sorted(ranked.items(), key=lambda hit: (hit[1], hit[0]), reverse=True)
    return ordered[:depth]


def format_run(
    topic: str, ranked: Sequence[tuple[str, np.float32]], tag: str, stances: Mapping[str, str] | None = None
) -> str:
    """The lines of one topic; scores have the fewest digits that read back as the same float32."""
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
    """A score as trec_eval reads it; infinite where it is beyond all float32."""
    try:
        value = float(score)
    except OverflowError:  # a whole number beyond all floats
        return np.float32(inf)
    if abs(value) >= _BEYOND_FLOAT32:  # or numpy would warn; its errstate takes longer than all the rest
        return np.float32(inf if value > 0 else -inf)
    return np.float32(value) + _ZERO  # makes -0 a 0


def parse_line(text: str, path: Path, number: int) -> RunLine:
    """One line of a run; blanks in the tag are let pass.

    Raises:
        LineError: if it does not have six columns, the rank is no whole number of at most 18 digits, or the
            score no decimal number that is finite as float32.
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
        raise LineError("score", path, f"score {quoted(score)} is no finite number", remedy, number)
    return RunLine(topic, stance, document, int(rank), value, tag)
