"""Runs as pandas DataFrames, with the columns of PyTerrier: qid, docno, rank from 0, score."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touche.errors import ToucheError, installing
from touche.formats.runs import RunLine, in_order_of_score, read_lines_of_run

if TYPE_CHECKING:
    from pandas import DataFrame

_COLUMNS = ["qid", "docno", "rank", "score"]
_OF_IR_MEASURES = {"query_id": "qid", "doc_id": "docno"}


def pandas() -> Any:
    """The package pandas.

    Raises:
        ToucheError: if it is not installed.
    """
    try:
        import pandas as found  # here, for only frames need it
    except ImportError as error:
        raise ToucheError(f"pandas is not installed; get it with: {installing('analysis')}") from error
    return found


def frame_of(run: Sequence[RunLine], tag: str) -> "DataFrame":
    """A run whose ranks begin with 1 as a frame, with its tag in ``attrs``."""
    rows = [(line.topic, line.document, line.rank - 1, line.score) for line in run]
    frame = pandas().DataFrame(rows, columns=_COLUMNS)
    frame.attrs["tag"] = tag
    return frame


def lines_of(frame: "DataFrame", tag: str) -> list[RunLine]:
    """A frame as a run; without ranks, documents stand in the order of their scores.

    Args:
        frame: its columns can also be named as ir_measures has them, query_id and doc_id.
        tag: what the run is called.

    Raises:
        ToucheError: if a column is missing, the frame is empty, an id is no word, a rank no whole number, a
            score no finite one, or a document occurs twice in a topic.
    """
    given = frame.rename(columns=_OF_IR_MEASURES)
    if missing := {*_COLUMNS} - {"rank"} - {*given.columns}:
        raise ToucheError(f"{tag} has no column {min(missing)!r}; a run has {', '.join(_COLUMNS)}")
    ranked = "rank" in given.columns
    rows = zip(*(given[name] if name in given else [0] * len(given) for name in _COLUMNS), strict=True)
    texts = (f"{topic} Q0 {document} {rank} {score} {tag}" for topic, document, rank, score in rows)
    lines = read_lines_of_run(enumerate(texts, 1), Path(tag))
    ordered = lines if ranked else in_order_of_score(lines)
    return [line if ranked else replace(line, rank=place) for place, line in enumerate(ordered)]
