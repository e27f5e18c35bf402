"""Reads a run's scores: from a run, or from a table with three columns."""

from pathlib import Path

from touche.errors import InputError, counted
from touche.io.opening import OF_TABLES, read_lines
from touche.trec.columns import Columns, Run
from touche.trec.run_forms import run_of
from touche.trec.runs import RunLine, checked, parse_line, split_columns

_REMEDY = "write: topic document score"


def read_scores(path: Path) -> Run:
    """Reads a run, or a ``*.tsv`` file with topic, document and score per line.

    Raises:
        InputError: if the file is empty, or a line is broken or repeats a document of its topic.
    """
    if path.suffix != ".tsv":
        return run_of(path)
    columns = Columns()
    columns.add_lines([(number, _line(path, number, text)) for number, text in read_lines(path, OF_TABLES)])
    return checked(columns.run(path), _REMEDY)


def _line(path: Path, number: int, text: str) -> RunLine:
    """Parses topic, document and score into a run's line, with rank 0 and tag tsv."""
    columns = split_columns(text)
    if len(columns) != 3:
        raise InputError(path, f"{counted(len(columns), 'column')} instead of 3", _REMEDY, line=number)
    topic, document, score = columns
    return parse_line(f"{topic} Q0 {document} 0 {score} tsv", path, number)
