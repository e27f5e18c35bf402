"""TREC run files, with lines ``topic stance document rank score tag``."""

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice, repeat
from math import inf, isfinite
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from touche.errors import InputError, ToucheError, counted
from touche.io.identifiers import LONGEST_WORD, NO_ID, is_word, quoted
from touche.io.opening import CARRIAGE_RETURN, OF_TABLES, bytes_of_lines, decoded
from touche.trec.columns import Columns, Run, split_lines
from touche.trec.columns import RunLine as RunLine

_REMEDY = "write: topic Q0 document rank score tag"
# Numbers in C's notation. The quantifiers are possessive, because backtracking would be slow if a column
# consists of very many digits.
_DECIMAL = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_CHARACTERS_OF_DECIMALS = b"0123456789+-.eE"
# The longest rank that is accepted; trec_eval ignores ranks, so any limit is fine that fits into 64 bits.
MOST_DIGITS = 18
_RANK = re.compile(f"[0-9]{{1,{MOST_DIGITS}}}")
# The smallest number that becomes infinite when it's rounded to float32.
_BEYOND_FLOAT32 = 2.0**128 - 2.0**103
_ZERO = np.float32(0)  # adding it to scores turns -0 into 0
# How many lines are parsed together; larger blocks take longer, because they don't fit into the processor's
# cache.
BLOCK = 2_000
_LARGEST_BLOCK = 1 << 20  # bytes; the cells of a larger block would need too much memory
# The limit per run; real runs have at most 50,000 lines (1,000 for each of 50 topics).
MOST_BROKEN_LINES = 100_000
IS_HEADER = "line 1 is a header"
_QUOTES = ('"', "'")
_HEADER_WORDS = re.compile(
    r"q?_?id|(?:q|query|topic|doc|document|corpus)[-_]?(?:id|no|number)?|q0|iter\w*|rank|score|tag|run\w*|label"
    r"|relevan\w*|grade",
    re.IGNORECASE,
)
RUN_FILE = "run.txt"  # the run's name in a baseline's output folder
# ir_metadata can write a run's metadata as comments at the beginning of the run. These lines mark where the
# comments start and end.
_METADATA_START = re.compile(rb"(?:\xef\xbb\xbf)?#\s*ir_metadata\.start\s*")
_METADATA_END = re.compile(rb"#\s*ir_metadata\.end\s*")
_MOST_METADATA_LINES = 2_000
_FIRST_LINES = 100
MAX_DEPTH = 1000  # the largest number of documents per topic that the rules allow, in every year


class LineError(InputError):
    """A broken line in a run.

    Attributes:
        kind: the name of the column that is broken, or another word for the problem, such as ``columns`` if
            the line has the wrong number of columns.
    """

    def __init__(self, kind: str, path: Path, problem: str, remedy: str, line: int | None) -> None:
        super().__init__(path, problem, remedy, line)
        self.kind = kind


def read_run(path: Path, content: bytes | None = None) -> Run:
    """Reads a run. Columns are separated by any whitespace, tags may contain blanks, ranks may start at 0 or
    1.

    Args:
        path: the file, or a name for the content.
        content: the bytes, if they aren't in a file.

    Raises:
        InputError: if the file is unreadable or empty, a column is missing, or a topic repeats a document. If
            each stance has its own ranking, a document may be in the rankings of both stances.
    """
    columns = Columns()
    try:
        _read(path, content, columns)
    except InputError:
        # If a line above the broken one repeats a document, report that first.
        check_unique(columns.run(path).rankings)
        raise
    return checked(columns.run(path))


def read_with_errors(path: Path, content: bytes | None = None) -> tuple[Run, list[LineError]]:
    """Reads a run that may be empty, or contain documents twice; arguments as in ``read_run``.

    Returns:
        The lines that can be read, and an error for each line that can't. A byte order mark is an error, too.

    Raises:
        InputError: if the file is unreadable or has too many broken lines.
    """
    columns = Columns()
    errors = list[LineError]()
    _read(path, content, columns, errors)
    return columns.run(path), errors


def _read(path: Path, content: bytes | None, columns: Columns, errors: list[LineError] | None = None) -> None:
    """Reads a run's lines and adds them to ``columns``. If no list ``errors`` is passed, the first broken
    line raises an error (the lines above it have been added then), and blank lines are skipped. Otherwise,
    errors are added to the list.
    """
    lines, _ = lines_after_metadata(path, content)
    first_line = 1
    while block := list(islice(lines, BLOCK)):
        if first_line == 1 and block[0].startswith(BOM_UTF8) and errors is not None:
            problem = "the file begins with a byte order mark"
            remedy = "save the file without it; trec_eval treats it as part of the topic"
            errors.append(LineError("byte-order-mark", path, problem=problem, remedy=remedy, line=1))
        if not _add_at_once(block, first_line, columns):
            parsed_lines = list[tuple[int, RunLine]]()
            try:
                parsed_lines.extend(_parse_one_by_one(block, path, first_line, errors))
            # Even after an error, add the lines above the broken one, which ``extend`` has already stored.
            finally:
                columns.add_lines(parsed_lines)
        first_line += len(block)


def lines_after_metadata(path: Path, content: bytes | None = None) -> tuple[Iterator[bytes], bool]:
    """Returns a run's lines, and whether it begins with metadata in comments. Lines with metadata are
    returned as empty lines, so that line numbers stay right. Arguments as in ``read_run``; errors as in
    ``bytes_of_lines``.
    """
    lines = bytes_of_lines(path, OF_TABLES, content)
    comments = list[bytes]()
    for line in islice(lines, _MOST_METADATA_LINES):
        comments.append(line)
        is_first = len(comments) == 1
        if not (_METADATA_START.fullmatch(line) if is_first else line.startswith(b"#")):
            break
        if _METADATA_END.fullmatch(line):
            mark = BOM_UTF8 if comments[0].startswith(BOM_UTF8) else b""
            return chain([mark], repeat(b"", len(comments) - 1), lines), True
    return chain(comments, lines), False


def _add_at_once(lines: Sequence[bytes], first_line: int, columns: Columns) -> bool:
    """Parses several lines at once, which is much faster than parsing them one by one. If all are fine, adds
    them and returns True. Otherwise adds none and returns False, and the caller parses them with
    ``parse_line``. Some lines that ``parse_line`` accepts are rejected here, e.g. if a tag contains blanks.
    """
    cells = split_lines(lines, 6) if sum(map(len, lines)) <= _LARGEST_BLOCK else None
    if cells is None:
        return False
    topics, stances, documents, ranks, scores, tags = cells
    if not b"".join(ranks).isdigit() or max(map(len, ranks)) > MOST_DIGITS:
        return False
    if b"".join(scores).translate(None, delete=_CHARACTERS_OF_DECIMALS):
        return False
    try:
        # Join all cells to decode them at once, because that's faster.
        words = b"\n".join([*topics, *documents, *stances, *tags]).decode().split("\n")
        values = np.array([float(score) for score in scores], np.float64)
    except ValueError:  # a cell isn't UTF-8, or isn't a number
        return False
    size = len(lines)
    ids = words[: 2 * size]
    # ``isprintable`` is False for private use characters, which ``parse_line`` accepts, so the lines are
    # parsed one by one then.
    characters = "".join(ids)
    if max(map(len, ids)) > LONGEST_WORD or not characters.isprintable():
        return False
    # Some columns may be in quotes, which ``parse_line`` reports as an error.
    if any(quote in characters for quote in _QUOTES):
        return False
    with np.errstate(over="ignore"):  # no warning if a score is too large and becomes infinite
        is_finite = bool(np.isfinite(values.astype(np.float32)).all())
    if is_finite:
        columns.add(
            topics=ids[:size],
            documents=ids[size:],
            stances=words[2 * size : 3 * size],
            ranks=[int(rank) for rank in ranks],
            scores=values,
            tags=words[3 * size :],
            line_numbers=np.arange(first_line, first_line + size),
        )
    return is_finite


def _parse_one_by_one(
    block: Sequence[bytes], path: Path, first_line: int, errors: list[LineError] | None
) -> Iterator[tuple[int, RunLine]]:
    """Yields each line and its number. ``errors`` is as in ``_read``."""
    for number, text in enumerate(decoded(block, path, first_line), first_line):
        # The text can only be empty if the file consists of a byte order mark, which decoding drops: all
        # other lines contain at least a line end.
        if not text or (errors is None and not text.strip()):
            continue
        try:
            yield number, parse_line(text, path, number)
        except LineError as error:
            if errors is None:
                raise
            add_error(errors, error, path)


def add_error(errors: list[LineError], error: LineError, path: Path) -> None:
    """Adds an error to the list. Raises an InputError if there are so many errors that the file can't be a
    run.
    """
    errors.append(error)
    if len(errors) > MOST_BROKEN_LINES:
        problem = f"more than {MOST_BROKEN_LINES} broken lines"
        raise InputError(path, problem, "check that this is a run", line=error.line)


def other_format(text: str, line: int) -> tuple[str, str] | None:
    """Returns a problem and a remedy if a broken line looks like a line in another file format; otherwise
    None.

    Args:
        text: the line.
        line: its number.
    """
    if "\r" in text.strip():
        return CARRIAGE_RETURN
    if text.lstrip().startswith(("{", "[")):
        return "this is JSON", "read it with pandas.read_json, and pass the frame to touche in Python"
    columns = text.split()
    if "," in text and len(columns) == 1:
        return "commas between the columns", "write blanks or tabs, and no header"
    if any(map(is_in_quotes, columns)):
        return "columns in quotes", "write them without, in pandas with to_csv(..., quoting=csv.QUOTE_NONE)"
    if line == 1 and len(columns) > 2 and all(map(_HEADER_WORDS.fullmatch, columns)):
        return IS_HEADER, "delete it"
    return None


def is_in_quotes(column: str) -> bool:
    return len(column) > 1 and column.startswith(_QUOTES) and column[0] == column[-1]


def split_columns(text: str, at_most: int = -1) -> list[str]:
    """Splits a line at ASCII whitespace, at most ``at_most`` times. -1 means as often as possible."""
    # If the number of splits is limited, ``split`` keeps whitespace after the last column, so remove it with
    # ``strip``.
    if text.isprintable():  # fast, and right: blanks are the only printable whitespace, so there is no other
        return text.strip().split(maxsplit=at_most)
    # Split bytes, not the string, because only ASCII whitespace separates columns. "surrogatepass", because
    # the string may contain lone surrogates.
    columns = text.encode("utf-8", "surrogatepass").strip().split(maxsplit=at_most)
    return [column.decode("utf-8", "surrogatepass") for column in columns]


def decimal(text: str) -> float | None:
    """Returns a column's finite number, or None."""
    if not _DECIMAL.fullmatch(text):
        return None
    number = float(text)
    return number if isfinite(number) else None


def checked(run: Run, remedy: str = "check what wrote it") -> Run:
    """Checks that a run has lines, that its scores are finite, and that no ranking contains a document twice.
    Returns the run.

    Args:
        run: the run.
        remedy: what to do if it has no lines.

    Raises:
        InputError: if a check fails. The message names the line, or the empty file.
    """
    check_unique(run.rankings)
    if not run:
        raise InputError(run.path, "the run is empty", remedy)
    is_finite = np.abs(run.scores) < _BEYOND_FLOAT32  # also False for NaN
    if not is_finite.all():
        wrong_line = np.argmin(is_finite)  # the index of the first line whose score isn't finite
        problem = f"the score {run.scores[wrong_line]} is not finite as float32"
        raise InputError(run.path, problem, "correct it", line=int(run.line_numbers[wrong_line]))
    return run


def check_unique(run: Run) -> None:
    """Raises an InputError if a topic contains a document twice. The error names the line."""
    ids_by_topic = (run.documents[lines].tolist() for lines in run.by_topic.values())
    if all(len(set(ids)) == len(ids) for ids in ids_by_topic):
        return
    # There is a repeated document. Search again, slower, for its line.
    seen = set()
    for number, topic, document in zip(run.line_numbers.tolist(), run.topics, run.documents, strict=True):
        if (topic, document) in seen:
            problem = f"document {document!r} occurs a second time for topic {topic}"
            raise InputError(run.path, problem, "remove one of the two", line=number)
        seen.add((topic, document))


def ranking(hits: Iterable[tuple[str, float]], depth: int = MAX_DEPTH) -> list[tuple[str, np.float32]]:
    """Sorts scored documents so that the order by rank is also trec_eval's order by score.

    Scores are rounded to float32, as in trec_eval. Ties are ordered by descending document id, also where the
    list is cut at ``depth``.

    Raises:
        ToucheError: if a score isn't finite or a document occurs twice.
    """
    score_by_document: dict[str, np.float32] = {}
    for document, score in hits:
        if document in score_by_document:
            raise ToucheError(
                f"document {quoted(document)} is ranked twice for one topic; rank each document only once"
            )
        if not is_score(score):
            problem = f"document {quoted(document)} has the score {quoted(score)}"
            raise ToucheError(f"{problem}; scores must be numbers that are finite as float32")
        score_by_document[document] = as_float32(score)
    # By descending score, then by descending document id, as in Run.by_score.
    ordered = sorted(score_by_document.items(), key=lambda hit: (hit[1], hit[0]), reverse=True)
    return ordered[:depth]


def with_unmatched(
    hits: Sequence[tuple[str, float]], others: Iterable[str], depth: int
) -> list[tuple[str, float]]:
    """Appends candidates that don't match the query, because re-ranking must not lose any.

    They all get the same score: 0 if all hits score above 0, or else the next float32 below the lowest score.

    Args:
        hits: matching documents with their scores, best first.
        others: the other candidates' ids.
        depth: the maximum number of documents.

    Returns:
        At most ``depth`` documents with their scores, best first.

    Examples:
        >>> import touche
        >>> touche.with_unmatched([("d1", 2.5)], ["d2", "d3"], depth=10)
        [('d1', 2.5), ('d3', 0.0), ('d2', 0.0)]
    """
    # If there are no hits, the default 1 makes all candidates get 0 below.
    lowest = np.float32(min((score for _, score in hits), default=1.0))
    score = 0.0 if lowest > 0 else float(np.nextafter(lowest, np.float32(-inf)))
    unmatched = [(id, score) for id in sorted(others, reverse=True)]
    return [*hits, *unmatched][:depth]


def digits(scores: NDArray[np.float32]) -> list[str]:
    """Returns scores as text, with the smallest number of digits from which the same float32 can be read."""
    texts: list[str] = scores.astype(str).tolist()
    return texts


def as_number(value: Any) -> Any:
    """Converts a Decimal, or an array without dimensions, to a Python number. Other values are returned
    unchanged.
    """
    if getattr(value, "ndim", None) == 0:
        return value.item()
    if isinstance(value, Decimal) and not value.is_snan():
        number = float(value)
        return int(number) if number.is_integer() else number
    return value


def is_score(value: Any) -> bool:
    """Returns whether a value is a number that's finite as float32."""
    # The usual case, checked fast; 3e38 is a bit less than the largest float32.
    if isinstance(value, float | np.float32) and -3e38 < value < 3e38:
        return True
    value = as_number(value)
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(as_float32(value))


def as_float32(score: float | Real) -> np.float32:
    """Returns a score as trec_eval reads it; infinite if it's too large for float32."""
    try:
        value = float(score)
    # An integer that is too large for a float; the sign doesn't matter, because callers reject infinite
    # scores.
    except OverflowError:
        return np.float32(inf)
    # Checked here, because numpy would print a warning, and switching it off with errstate is slow.
    if abs(value) >= _BEYOND_FLOAT32:
        return np.float32(inf if value > 0 else -inf)
    return np.float32(value) + _ZERO  # adding 0 turns -0 into 0, so that it isn't printed as -0.0


def parse_line(text: str, path: Path, number: int) -> RunLine:
    """Parses a run's line. The tag may contain blanks.

    Raises:
        LineError: if a column is missing, the topic or document isn't an id, the rank isn't a whole number
            with up to 18 digits, or the score isn't finite as float32.
    """
    columns = split_columns(text, 5)
    is_broken = len(columns) < 6 or "\r" in columns[5] or any(map(is_in_quotes, columns[:5]))
    if is_broken or (number == 1 and not _RANK.fullmatch(columns[3])):
        reason = other_format(text, number)
        if reason is not None:
            raise LineError("columns", path, *reason, line=number)
    if len(columns) < 6:
        problem = f"{counted(len(columns), 'column')} instead of 6"
        raise LineError("columns", path, problem=problem, remedy=_REMEDY, line=number)
    topic, stance, document, rank, score, tag = columns
    for noun, id in (("topic", topic), ("document", document)):
        if not is_word(id):
            problem = f"{noun} {quoted(id)} is not an id"
            raise LineError("id", path, problem=problem, remedy=NO_ID, line=number)
    if not _RANK.fullmatch(rank):
        is_negative = rank[0] == "-" and rank[1:].isdigit()
        problem = f"rank {quoted(rank)} is {'below 0' if is_negative else 'not a whole number'}"
        raise LineError("rank", path, problem=problem, remedy=_REMEDY, line=number)
    value = decimal(score)
    if value is None or not is_score(value):
        problem = f"score {quoted(score)} is not a finite number"
        remedy = "write decimal numbers that are finite as float32"
        raise LineError("score", path, problem=problem, remedy=remedy, line=number)
    return RunLine(topic=topic, stance=stance, document=document, rank=int(rank), score=value, tag=tag)


def why_no_run(path: Path) -> str:
    """Returns what is wrong with a file's first line if the file isn't a run at all. Returns an empty string
    if it's a run, possibly with broken lines: one of the first lines, or at least its score, then looks as in
    a run. Also returns an empty string for empty and for missing files, because there are other errors about
    these.
    """
    reason = ""
    try:
        lines = enumerate(decoded(lines_after_metadata(path)[0], path), 1)
        for number, text in islice(((number, text) for number, text in lines if text.strip()), _FIRST_LINES):
            try:
                parse_line(text, path, number)
            except LineError as error:
                if error.kind != "score":
                    reason = reason or f"line {number}: {error.problem}"
                    continue
            return ""
    except InputError as error:  # the file can't be read, or isn't text
        exists = os.path.exists(path)  # noqa: PTH110 (Path.exists raises for overlong names)
        return (reason or error.problem) if exists else ""
    return reason
