"""The log of reruns: a CSV file with a row for each measured score."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

from msgspec import Meta, convert

from touche.baselines.expected import ExpectedScore
from touche.errors import InputError, ToucheError
from touche.io.grouping import group_by
from touche.io.identifiers import quoted
from touche.io.opening import decoded_lines
from touche.io.toml import Share, Text
from touche.io.writing import write_whole
from touche.regression.outcomes import Outcome
from touche.tasks import STANCE
from touche.tira.provenance import PROJECT

LOG_FILE = "reproductions.csv"  # in the folder of all baselines

_DIGITS = 5  # decimals
_Count = Annotated[int, Meta(ge=0)]
_Day = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
_Difference = Annotated[float, Meta(ge=-1, le=1)]


@dataclass(frozen=True, kw_only=True)
class LoggedScore:
    """A score of a rerun, as a row of the log.

    Attributes:
        baseline: the baseline with its options.
        dataset: the id of the dataset.
        dimension: the judged dimension, with the measure if it is not the task's.
        evaluator: the evaluator.
        kind: the kind of the expected value: ``published``, ``reported`` or ``pinned``.
        expected, got, difference: the expected value, that of the rerun, and ``got`` minus ``expected``. For
            published values of topics, they are means over these topics.
        verdict: as in ``touche.regression.outcomes.Outcome``.
        judged: Judged@k of the rerun; None for stances, and for values of topics.
        topics: the number of published topic values that were compared; None for one mean.
        reproduced: how many of these values the rerun has.
        image: the digest of the image's content; empty without an image.
        version: the version of touche.
        date: the day of the rerun in UTC, such as ``2026-11-25``.
        by: who reran the baseline; empty if unknown.
    """

    baseline: Text
    dataset: Text
    dimension: Text
    evaluator: Text
    kind: Text
    expected: Share
    got: Share
    difference: _Difference
    verdict: Text
    judged: Share | None = None
    topics: _Count | None = None
    reproduced: _Count | None = None
    image: str = ""
    version: Text
    date: _Day
    by: str = ""


_COLUMNS = [column.name for column in fields(LoggedScore)]


def logged_scores(outcomes: Iterable[Outcome], by: str) -> list[LoggedScore]:
    """Returns a row for each score of a rerun; values of topics have a row with means for each dimension.

    Args:
        outcomes: the outcomes of a regression; official runs, figures and rankings are no scores of reruns.
        by: who reran the baselines.
    """
    rows = list[LoggedScore]()
    for outcome in outcomes:
        entry = outcome.expected
        if isinstance(entry, ExpectedScore) and entry.needs_rerun and outcome.got is not None:
            dimension_and_measure, _ = entry.value_name_and_evaluator
            rows.append(_logged(outcome, by, dimension_and_measure, entry.value, outcome.got))
        for dimension, values in group_by(outcome.topics, lambda value: value.dimension).items():
            published = mean(value.published for value in values)
            measured = mean(value.rerun or 0.0 for value in values)  # a topic without results counts as 0
            reproduced = sum(value.rerun == value.published for value in values)  # both are rounded
            row = _logged(outcome, by, dimension, published, measured)
            rows.append(replace(row, topics=len(values), reproduced=reproduced))
    return rows


def _logged(outcome: Outcome, by: str, dimension: str, expected: Any, got: Any) -> LoggedScore:
    """Returns a row of an outcome.

    Args:
        outcome: the outcome of a score, or of values of topics.
        by: who reran the baseline.
        dimension: the dimension, perhaps with a measure.
        expected, got: the expected number, and that of the rerun.
    """
    entry = outcome.expected
    _, evaluator = entry.value_name_and_evaluator
    is_ranking = dimension.partition(", ")[0] != STANCE
    judged = outcome.judged if is_ranking else None
    return LoggedScore(
        baseline=entry.command,
        dataset=entry.dataset,
        dimension=dimension,
        evaluator=evaluator,
        kind=entry.kind,
        expected=round(expected, _DIGITS),
        got=round(got, _DIGITS),
        difference=round(got - expected, _DIGITS) + 0.0,  # not -0.0
        verdict=outcome.verdict,
        judged=None if judged is None else round(judged, _DIGITS),
        image=outcome.usage.image if outcome.usage else "",
        version=version(PROJECT),
        date=datetime.now(UTC).date().isoformat(),
        by=by,
    )


def check_log(log: Path | None, by: str) -> None:
    """Checks that a log of reruns can be read, and the name of who reran the baselines."""
    if by and not log:
        raise ToucheError(f"by = {quoted(by)} has no effect without record; pass a log of reruns, or omit by")
    if log and not by:
        raise ToucheError("record needs by; pass the name of who reruns the baselines as by")
    if by and not (by.strip() and by.isprintable()):
        raise ToucheError(f"by = {quoted(by)} is not a line of text; correct it")
    if log:
        read_log(log)


def read_log(path: Path) -> list[LoggedScore]:
    """Returns the rows of a log in their order; none if there is no such file.

    Raises:
        InputError: if it cannot be read, or a row is damaged.
    """
    return _parsed(_content(path), path)


def append_to_log(path: Path, scores: Sequence[LoggedScore]) -> None:
    """Appends all rows to a log, or none after an error. Rows of processes that append at once can be lost.

    Without rows, no log is created.

    Raises:
        InputError: if the log is damaged, or cannot be written.
    """
    if not scores:
        return
    text = _content(path)
    _parsed(text, path)  # raises an error for a damaged log
    new_rows = StringIO()
    writer = csv.DictWriter(new_rows, _COLUMNS, lineterminator="\n")
    if not text:
        writer.writeheader()
    writer.writerows(map(asdict, scores))
    lacks_line_break = text and not text.endswith("\n")  # at its end, after an edit by hand
    separator = "\n" if lacks_line_break else ""
    write_whole(path, f"{text}{separator}{new_rows.getvalue()}")


def _content(path: Path) -> str:
    """Returns the text of a log; empty if there is no such file."""
    return "".join(decoded_lines(path)) if path.exists() else ""


def _parsed(text: str, path: Path) -> list[LoggedScore]:
    """Returns the rows in the text of a log; errors name the path and the line."""
    rows = csv.DictReader(StringIO(text, newline=""), strict=True)
    scores = []
    try:
        if text and rows.fieldnames != _COLUMNS:
            raise ValueError(f"the columns are not {', '.join(_COLUMNS)}")
        for row in rows:
            # DictReader puts superfluous fields under the name None, and gives missing fields the value None.
            if None in row or None in row.values():
                raise ValueError(f"not {len(_COLUMNS)} fields")
            present = {name: value for name, value in row.items() if value}  # the others keep their defaults
            scores.append(convert(present, LoggedScore, strict=False))  # not strict: numbers are texts
    except (csv.Error, ValueError) as error:
        problem = str(error).replace(" - at `$.", " in `")  # how msgspec writes the name of a field
        remedy = "restore this line from an earlier log"
        raise InputError(path, problem, remedy, line=rows.reader.line_num) from error
    return scores
