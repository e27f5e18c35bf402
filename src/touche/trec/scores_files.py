"""Reads a run's scores from a run file, or from a table with topic, document and score."""

from pathlib import Path

from touche.errors import InputError, counted
from touche.io.opening import OF_TABLES, read_lines
from touche.trec.columns import Columns, Run
from touche.trec.run_forms import run_of
from touche.trec.runs import RunLine, checked, parse_line, split_columns

_REMEDY = "write: topic document score"


def read_scores(path: Path) -> Run:
    """Reads a run file, or, if the name ends with ``.tsv``, a table with topic, document and score on each
    line.

    Raises:
        InputError: if the file is empty, a line is broken, or a topic contains a document twice.
    """
    if path.suffix != ".tsv":
        return run_of(path)
    columns = Columns()
    columns.add_lines([(number, _line(path, number, text)) for number, text in read_lines(path, OF_TABLES)])
    return checked(columns.run(path), _REMEDY)


def _line(path: Path, number: int, text: str) -> RunLine:
    """Parses a line with topic, document and score. The result is a run's line with rank 0 and the tag
    ``tsv``.
    """
    columns = split_columns(text)
    if len(columns) != 3:
        raise InputError(path, f"{counted(len(columns), 'column')} instead of 3", _REMEDY, line=number)
    topic, document, score = columns
    return parse_line(f"{topic} Q0 {document} 0 {score} tsv", path, number)
