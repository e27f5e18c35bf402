"""Relevance judgments (qrels): ``topic 0 document grade`` on each line (TREC), or three columns (BEIR)."""

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from touche.errors import InputError
from touche.formats.runs import split_columns
from touche.io.identifiers import quoted
from touche.io.opening import read_lines

_GRADE = re.compile(r"([+-]?[0-9]{1,18})(?:\.0{0,9})?")
_LARGEST = 1_000_000  # trec_eval's memory and time grow with the grade, and it scores 0 beyond its integers

_TREC = ["topic", "0", "document", "grade"]
_BEIR = ["query-id", "corpus-id", "score"]
_OTHER_FILE = "check that this is the right file"

Qrels = dict[str, dict[str, int]]  # topic -> document -> grade


def read_qrels(
    path: Path, excluded_topics: Collection[str] = (), labels: Collection[int] | None = None
) -> Qrels:
    """Reads qrels; grades are whole numbers, also written as ``4.0``.

    Args:
        path: the file.
        excluded_topics: topics to leave out, from the task's card.
        labels: the grades that may occur, or None for any.

    Raises:
        InputError: if the file is unreadable or empty, a line is broken or has an unknown grade, or two lines
            contradict each other.
    """

    def grade(text: str, line: int) -> int:
        whole = _GRADE.fullmatch(text)
        if whole is None or abs(number := int(whole[1])) > _LARGEST:
            problem = f"grade {quoted(text)} is not a whole number up to {_LARGEST:,}"
            stances = "; to score stances, use --measure 'macro F1'" if text.isalpha() else ""
            remedy = f"write grades such as -2, 0 or 2{stances}"
            raise InputError(path, problem, remedy, line)
        if labels is not None and number not in labels:
            raise _unknown(path, f"grade {text}", sorted(labels), line)
        return number

    return _read(path, excluded_topics, grade)


def read_stances(path: Path, stances: Sequence[str], excluded_topics: Collection[str] = ()) -> Qrels:
    """Reads the documents' stances in upper or lower case; each becomes its index in ``stances``.

    Raises:
        InputError: as in ``read_qrels``.
    """

    def place(text: str, line: int) -> int:
        if text.upper() not in stances:
            raise _unknown(path, f"stance {quoted(text)}", stances, line)
        return stances.index(text.upper())

    return _read(path, excluded_topics, place)


def _read(path: Path, excluded_topics: Collection[str], label_of: Callable[[str, int], int]) -> Qrels:
    qrels: Qrels = {}
    names = _TREC
    for line, text in read_lines(path):
        columns = split_columns(text)
        if line == 1 and columns == _BEIR:
            names = _BEIR
            continue
        if len(columns) != len(names):
            problem = f"{len(columns)} columns instead of {len(names)}"
            raise InputError(path, problem, f"write: {' '.join(names)}", line)
        topic, document, column = columns[0], columns[-2], columns[-1]
        if topic in excluded_topics:
            continue
        label = label_of(column, line)
        if qrels.setdefault(topic, {}).setdefault(document, label) != label:
            problem = f"document {document!r} of topic {topic} has two grades"
            raise InputError(path, problem, "remove one of the two", line)
    if not qrels:
        raise InputError(path, "no judgments in this file", _OTHER_FILE)
    return qrels


def _unknown(path: Path, value: str, known: Collection[object], line: int) -> InputError:
    problem = f"{value} is unknown; this task has {', '.join(map(str, known))}"
    return InputError(path, problem, _OTHER_FILE, line)
