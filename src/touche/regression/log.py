"""The log of reruns: a CSV file with a row per measured score."""

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

from msgspec import Meta, convert

from touche.baselines.expected import Expected, ExpectedScore
from touche.errors import InputError, ToucheError
from touche.io.identifiers import is_word, quoted
from touche.io.opening import decoded_lines
from touche.io.origin import PROJECT
from touche.io.toml import Share, Text
from touche.io.writing import write_whole
from touche.regression.outcomes import Outcome
from touche.tasks import STANCE

LOG_FILE = "reproductions.csv"  # the log's name, in the folder that contains all baselines

_DIGITS = 5  # decimals of logged numbers
_Count = Annotated[int, Meta(ge=0)]
_DAY = r"^\d{4}-\d{2}-\d{2}$"
_COMMIT = "^([0-9a-f]{40})?$"
_MD5 = "^([0-9a-f]{32})?$"
_FORMS = {  # describes, for error messages, the texts that each pattern matches
    _DAY: "a day such as 2026-11-25",
    _COMMIT: "40 hexadecimal digits",
    _MD5: "32 hexadecimal digits",
}
_Day = Annotated[str, Meta(pattern=_DAY)]
_Difference = Annotated[float, Meta(ge=-1, le=1)]
_Commit = Annotated[str, Meta(pattern=_COMMIT)]
_Md5 = Annotated[str, Meta(pattern=_MD5)]


@dataclass(frozen=True, kw_only=True)
class LoggedScore:
    """A rerun's score, as a row in the log.

    Attributes:
        baseline: the baseline's name, with the options that it was run with.
        dataset: the dataset's id.
        dimension: the judged dimension. If the measure isn't the task's, the measure follows.
        evaluator: the evaluator.
        kind: the expected value's kind: ``published``, ``reported`` or ``pinned``.
        expected, got, difference: the expected value, the rerun's value, and the difference ``got`` minus
            ``expected``. If values of topics were compared, these are means over these topics.
        verdict: as in ``touche.regression.outcomes.Outcome``.
        judged: the rerun's Judged@k; None for stances and topic values.
        topics: how many published values of topics were compared; None if one mean was compared.
        reproduced: how many of them the rerun reproduces.
        image: the digest of the container image's content; empty if the baseline didn't run in a container.
        version: touche's version.
        date: the day of the rerun in UTC, such as ``2026-11-25``.
        by: who reran the baseline; empty if unknown.
        commit: the commit of the repository that contains the baseline; empty if unknown, or if files had
            been changed after this commit.
        run: the address from which the run file can be downloaded; empty if it isn't public.
        md5: the run file's checksum; empty in old rows, because it wasn't logged at first.
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
    commit: _Commit = ""
    run: str = ""
    md5: _Md5 = ""


_COLUMNS = [column.name for column in fields(LoggedScore)]


def expected_means(entry: Expected) -> dict[str, float]:
    """Returns the expected mean in each row that is logged when an entry is rerun, by the row's dimension.
    Empty for entries about official runs, figures and rankings, because only scores of reruns are logged.
    """
    if isinstance(entry, ExpectedScore) and entry.needs_rerun:
        dimension_and_measure, _ = entry.value_name_and_evaluator
        return {dimension_and_measure: round(float(entry.value), _DIGITS)}
    return {
        dimension: round(mean(published.values()), _DIGITS)
        for dimension, published in entry.topic_values.items()
    }


def logged_scores(outcome: Outcome, by: str) -> list[LoggedScore]:
    """Returns a row for each score in an outcome. If values of topics were compared, there is a row per
    dimension, with means over the topics.

    Args:
        outcome: an outcome. The result is empty if it's about an official run, a figure or a ranking.
        by: who reran the baseline.
    """
    entry = outcome.expected
    if isinstance(entry, ExpectedScore) and entry.needs_rerun and outcome.got is not None:
        dimension_and_measure, _ = entry.value_name_and_evaluator
        return [_logged(outcome, by, dimension_and_measure, entry.value, outcome.got)]
    rows = list[LoggedScore]()
    all_published = entry.topic_values if outcome.topics else {}
    for dimension, measured in outcome.topics.items():
        published = all_published[dimension]
        got = mean(measured.get(topic, 0.0) for topic in published)  # a topic without results counts as 0
        # Can be compared with ==, because both values are rounded.
        reproduced = sum(measured.get(topic) == value for topic, value in published.items())
        row = _logged(outcome, by, dimension, mean(published.values()), got)
        rows.append(replace(row, topics=len(published), reproduced=reproduced))
    return rows


def _logged(outcome: Outcome, by: str, dimension: str, expected: Any, got: Any) -> LoggedScore:
    """Returns a row of the log.

    Args:
        outcome: the outcome that the row is about, for a score or for values of topics.
        by: who reran the baseline.
        dimension: the row's dimension, followed by the measure if it isn't the task's.
        expected, got: the expected value and the rerun's value.
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
        difference=round(got - expected, _DIGITS) + 0.0,  # adding 0 turns -0.0 into 0.0
        verdict=outcome.verdict,
        judged=None if judged is None else round(judged, _DIGITS),
        image=outcome.usage.image if outcome.usage else "",
        version=version(PROJECT),
        date=datetime.now(UTC).date().isoformat(),
        by=by,
        md5=outcome.md5,
    )


def is_public_address(url: str) -> bool:
    """Returns whether a text has the form of an address from which a run can be downloaded."""
    return url.startswith("https://") and is_word(url)


def check_log(log: Path | None, by: str, run_url: str) -> None:
    """Checks, before anything is rerun, that the log can be read, and that the name and the address for its
    new rows are valid.
    """
    if run_url and not log:
        raise ToucheError(f"run_url = {quoted(run_url)} has no effect without record; omit it")
    if run_url and not is_public_address(run_url):
        raise ToucheError(f"run_url = {quoted(run_url)} is not an address with https://; correct it")
    if by and not log:
        raise ToucheError(f"by = {quoted(by)} has no effect without record; pass a log of reruns, or omit by")
    if log and not by:
        raise ToucheError("record needs by; pass the name of who reruns the baselines as by")
    if by and not (by.strip() and by.isprintable()):
        raise ToucheError(f"by = {quoted(by)} is not a line of text; correct it")
    if log:
        read_log(log)


def read_log(path: Path) -> list[LoggedScore]:
    """Returns the rows of a log, in order. If the file doesn't exist, returns an empty list.

    Raises:
        InputError: if it can't be read, or a row is damaged.
    """
    text = "".join(decoded_lines(path)) if path.exists() else ""
    rows = csv.DictReader(StringIO(text, newline=""), strict=True)
    scores = []
    try:
        if rows.fieldnames not in (None, _COLUMNS):  # ``fieldnames`` is None if the file is empty
            raise ValueError(f"the columns are not {', '.join(_COLUMNS)}")
        for row in rows:
            # If a row is too long, DictReader stores the additional fields with the key None. If it's too
            # short, the missing fields have the value None.
            if None in row or None in row.values():
                raise ValueError(f"not {len(_COLUMNS)} fields")
            # Leave out empty fields, so that they get their defaults.
            present = {name: value for name, value in row.items() if value}
            # Not strict, because all values in a CSV file are strings.
            scores.append(convert(present, LoggedScore, strict=False))
    except (csv.Error, ValueError) as error:
        problem = str(error).replace(" - at `$.", " in `")  # msgspec writes the name of the field as `$.NAME`
        for pattern, form in _FORMS.items():
            problem = problem.replace(f"Expected `str` matching regex {pattern!r}", f"Expected {form}")
        remedy = "write what touche regress logged, or restore this line from an earlier log"
        raise InputError(path, problem, remedy, line=rows.reader.line_num) from error
    return scores


def append_to_log(path: Path, scores: Sequence[LoggedScore]) -> None:
    """Appends rows to a log. After an error, none of them has been appended. Rows can get lost if two
    processes append at the same time. If there are no rows, the log isn't created.

    Raises:
        InputError: if the log can't be read or written.
    """
    if not scores:
        return
    text = "".join(decoded_lines(path)) if path.exists() else ""
    new_rows = StringIO()
    writer = csv.DictWriter(new_rows, _COLUMNS, lineterminator="\n")
    if not text:
        writer.writeheader()
    writer.writerows(map(asdict, scores))
    # True if someone edited the file and removed its last line break.
    lacks_line_break = text and not text.endswith("\n")
    separator = "\n" if lacks_line_break else ""
    write_whole(path, f"{text}{separator}{new_rows.getvalue()}")
