"""Runs as pandas DataFrames, with the columns of PyTerrier: qid, docno, rank from 0, score."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touche.errors import InputError, ToucheError, imported
from touche.formats.runs import RunLine, as_float32, checked, in_order_of_score
from touche.io.identifiers import is_word, quoted

if TYPE_CHECKING:
    from pandas import DataFrame

_COLUMNS = ["qid", "docno", "rank", "score"]
_OF_IR_MEASURES = {"query_id": "qid", "doc_id": "docno"}


def pandas() -> Any:
    """Returns the package pandas.

    Raises:
        ToucheError: if it is not installed.
    """
    return imported("pandas", "analysis")  # here, because only frames need it


def frame_of(run: Sequence[RunLine], tag: str) -> "DataFrame":
    """Returns a run as a frame whose ranks start at 0, with the tag in ``attrs``."""
    rows = [(line.topic, line.document, line.rank - 1, line.score) for line in run]
    frame = pandas().DataFrame(rows, columns=_COLUMNS)
    frame.attrs["tag"] = tag
    return frame


def lines_of(frame: "DataFrame", tag: str) -> list[RunLine]:
    """Returns a frame as a run; without ranks, documents are ordered by score.

    Args:
        frame: the run; its columns may also have the names of ir_measures, query_id and doc_id.
        tag: the name of the run.

    Raises:
        ToucheError: if a column is missing or repeated, a value does not fit its column, or the frame is
            empty or repeats a document.
    """
    renamed = frame.rename(columns=_OF_IR_MEASURES)
    names = ["qid", "docno", "score", *(["rank"] if "rank" in renamed else [])]
    for name in names:
        if (count := list(renamed.columns).count(name)) != 1:
            problem = f"{tag} has {'no column' if not count else f'{count} columns'} {name!r}"
            raise ToucheError(f"{problem}; a run has the columns {', '.join(_COLUMNS)}")
    rows = zip(*(renamed[name] for name in names), strict=True)
    lines = checked(((number, _line(tag, number, *row)) for number, row in enumerate(rows, 1)), Path(tag))
    if "rank" in names:
        return lines
    return [replace(line, rank=rank) for rank, line in enumerate(in_order_of_score(lines))]


def _line(tag: str, number: int, qid: Any, docno: Any, score: Any, rank: Any = 0) -> RunLine:
    is_score = isinstance(score, Real) and not isinstance(score, bool) and isfinite(as_float32(score))
    for name, value, is_good, wanted in (
        ("rank", rank, _is_whole(rank) and rank >= 0, "a whole number from 0"),
        ("score", score, is_score, "a finite number as float32"),
        ("qid", qid, _is_whole(qid) or is_word(qid), "an id: a word without white space, or a whole number"),
        ("docno", docno, _is_whole(docno) or is_word(docno), "an id: a word without white space"),
    ):
        if not is_good:
            raise InputError(tag, f"{name} {quoted(value)} is not {wanted}", "correct the frame", number)
    return RunLine(str(qid), "Q0", str(docno), int(rank), float(score), tag)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
