"""Checks the rows that a pull request adds to the log of reruns.

The rows can come from anybody, so no command or file that a row names is run or opened. Instead, each row
must belong to an entry in a shipped expected.toml, and baseline, options and dataset of a rerun are taken
from this entry. The only exception is the run: it's downloaded from the address in the row.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from hashlib import md5
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import ClassVar

from touche.baselines.expected import Expected, ExpectedTopics, read_expected
from touche.baselines.extras import extra_in_dockerfile
from touche.data.fetching import fetch_content
from touche.data.places import find, shipped_baselines
from touche.errors import InputError, ToucheError, choice
from touche.evaluation.same_system import note_on_means
from touche.io.grouping import group_by
from touche.io.identifiers import quoted
from touche.io.origin import clone, earlier_commit_time
from touche.regression.comparing import compare, outcome_of, scores_of
from touche.regression.log import (
    LOG_FILE,
    LoggedScore,
    expected_means,
    is_public_address,
    logged_scores,
    read_log,
)
from touche.regression.outcomes import CHANGED, FAILED, MISSING, PASSED, UNCHECKED, Outcome
from touche.regression.running import rerun
from touche.runners.container_runs import RUNNERS
from touche.runners.limits import HERE, Limits
from touche.runners.programs import Log
from touche.tasks import dataset, datasets
from touche.trec.framed import Columns, Table
from touche.trec.runs import RUN_FILE, read_run

_MOST_BYTES = 20_000_000  # the largest run that is downloaded; official runs have 5 MB
_MOST_SECONDS = 60
# How far a logged difference may be from ``got - expected``: all three were rounded separately.
_ROUNDING = 0.000011
_RERUN = "the rerun here"
_FETCHED = "the run at its address"


@dataclass(frozen=True)
class CheckedRow:
    """A row that was added to the log, with the result of checking it. The columns of tables are those of the
    row, followed by the other attributes.

    Attributes:
        row: the row.
        problem: why the row is rejected, and what to do; empty if it's accepted.
        measured: how the row's score was confirmed: ``the rerun here``, ``the run at its address``, or both;
            empty if nothing could be measured, because data are missing.
    """

    COLUMNS: ClassVar[Columns] = {
        **{name: attrgetter(f"row.{name}") for name in LoggedScore.__annotations__},
        "problem": attrgetter("problem"),
        "measured": attrgetter("measured"),
    }

    row: LoggedScore
    problem: str
    measured: tuple[str, ...] = ()


def check_added_rows(path: str | PathLike[str], say: Log) -> Table[CheckedRow]:
    """Checks the rows that a changed copy of this clone's log adds to it.

    Each row is checked in itself: its form, commit, date and numbers must fit each other and the entry in
    expected.toml. Then the baseline is rerun, on the row's dataset if it's on this machine, and on the topics
    whose values are published. If the row contains the address of a run, the run is downloaded and evaluated.

    Args:
        path: the changed copy of baselines/reproductions.csv.
        say: a function that is called with each rerun's name, and with what it logs.

    Returns:
        The added rows. The notes say what could not be measured, and whether reruns are the same system.

    Raises:
        ToucheError: if the copy is damaged or a symbolic link, an earlier row was changed or removed, or no
            row was added.
    """
    root = clone()
    if root is None:
        raise ToucheError("new rows can only be checked in a clone; install touche-baselines from one")
    log = Path(path)
    if log.is_symlink():  # if the pull request were merged, the link would replace the log
        raise InputError(log, "it is a symbolic link", "propose the log itself")
    rows = added_rows(read_log(root / "baselines" / LOG_FILE), read_log(log))
    if not rows:
        raise InputError(log, "it adds no rows to the log", "append some with touche regress --record")
    checked = list[CheckedRow]()
    notes = list[str]()
    runs = group_by(rows, attrgetter("baseline", "dataset", "run", "md5"))
    for rows_of_run in runs.values():
        problems = {row: _problem(row, root) for row in rows_of_run}
        outcomes: dict[str, list[Outcome]] = {}
        usable = [row for row, problem in problems.items() if not problem]
        if usable:
            entries = _entries(usable[0])
            outcomes[_RERUN] = list(rerun(entries, RUNNERS[HERE], Limits(), say))
            try:
                outcomes[_FETCHED] = _evaluated_run(usable[0], entries) if usable[0].run else []
            except ToucheError as error:
                problems = {row: problem or str(error) for row, problem in problems.items()}
        checked += [
            CheckedRow(row, problem) if problem else _measured_again(row, outcomes)
            for row, problem in problems.items()
        ]
        notes += _notes(outcomes)
    return Table(CheckedRow, tuple(checked), notes=tuple(dict.fromkeys(notes)))


def added_rows(earlier: Sequence[LoggedScore], rows: Sequence[LoggedScore]) -> list[LoggedScore]:
    """Returns the rows that were added to a log, wherever they were inserted.

    Raises:
        ToucheError: if an earlier row is missing.
    """
    missing = [*(Counter(earlier) - Counter(rows))]
    if missing:
        row = f"{missing[0].baseline} on {missing[0].dataset}, {missing[0].dimension}"
        raise ToucheError(f"the earlier row of {row} was changed or removed; restore it, and only add rows")
    return [*(Counter(rows) - Counter(earlier))]


def _problem(row: LoggedScore, root: Path) -> str:
    """Returns why a row can't be right, and what to do. Returns an empty string if nothing is wrong with it.

    Args:
        row: the row.
        root: the clone.
    """
    problem = _problem_of_origin(row, root)
    if problem:
        return problem
    name, _, _ = row.baseline.partition(" ")
    if name not in shipped_baselines():
        return f"there is no baseline {quoted(name)}; {choice(name, shipped_baselines())}"
    if row.dataset not in datasets():
        return f"there is no dataset {quoted(row.dataset)}; {choice(row.dataset, datasets())}"
    entries = [entry for entry in _entries(row) if _has_row(entry, row)]
    if not entries:
        value = quoted(f"{row.kind}, {row.dimension}, {row.evaluator}")
        problem = f"expected.toml has no value {value} of {quoted(row.baseline)} on {row.dataset}"
        return f"{problem}; write what touche regress logged"
    return _problem_of_numbers(row, entries[0])


def _problem_of_origin(row: LoggedScore, root: Path) -> str:
    """Returns the first problem with what a row says about its origin: its texts, commit, date and address.
    Empty if there is none.
    """
    texts = [text for text in asdict(row).values() if isinstance(text, str)]
    if not row.by.strip() or not all(map(str.isprintable, texts)):
        return "by is blank, or a text contains control characters; correct it"
    if not row.commit:
        return "the commit is missing; rerun in a clone without changed files"
    time = earlier_commit_time(root, row.commit)
    if not time:
        return f"commit {row.commit} is not in this repository's main branch; rerun one that is"
    if row.run and not (is_public_address(row.run) and row.md5):
        return f"run {quoted(row.run)} is not an address with https:// and an md5; add what is missing"
    first = datetime.fromtimestamp(time, UTC).date()
    with suppress(ValueError):  # raised for a day that doesn't exist, such as 2026-02-30
        if first <= date.fromisoformat(row.date) <= datetime.now(UTC).date():
            return ""
    return f"date {row.date} is not between the commit's, {first}, and today; correct it"


def _problem_of_numbers(row: LoggedScore, entry: Expected) -> str:
    """Returns the first contradiction between a row's numbers, its verdict and its entry; empty if there is
    none.
    """
    expected = expected_means(entry)[row.dimension]
    if row.expected != expected:
        return f"the expected value is {expected}, not {row.expected}; rerun the main branch"
    difference = row.got - row.expected
    if abs(difference - row.difference) > _ROUNDING:
        return f"the difference is {difference:+.5f}, not {row.difference:+.5f}; correct it"
    verdicts = [outcome_of(entry, row.got).verdict]
    values = entry.topic_values.get(row.dimension, {})
    if values:
        reproduced = row.reproduced or 0
        if row.topics != len(values) or reproduced > len(values):
            return f"{row.reproduced} of {row.topics} topics cannot be: {len(values)} have values; correct it"
        # The verdict is about all dimensions, but the row is about one. If all its values are reproduced, the
        # verdict can be "changed" nevertheless.
        verdicts = [CHANGED, PASSED] if reproduced == len(values) else [CHANGED]
    if row.verdict not in verdicts:
        return f"the verdict is {' or '.join(verdicts)}, not {quoted(row.verdict)}; correct it"
    return ""


def _entries(row: LoggedScore) -> list[Expected]:
    """Returns the entries to rerun for a row: those for its baseline, options and dataset, and those with
    published values of topics of the same task.

    Args:
        row: a row with a shipped baseline and a known dataset.
    """
    name, _, _ = row.baseline.partition(" ")
    task, _ = dataset(row.dataset)
    entries = list[Expected]()
    for entry in read_expected(name):
        its_task, _ = dataset(entry.dataset)
        is_of_topics = isinstance(entry, ExpectedTopics) and its_task.id == task.id and its_task.only_topics
        if entry.command == row.baseline and (entry.dataset == row.dataset or is_of_topics):
            entries.append(entry)
    return [entry for entry in entries if expected_means(entry)]


def _has_row(entry: Expected, row: LoggedScore) -> bool:
    """Returns whether a rerun of this entry would log a row like this one."""
    _, evaluator = entry.value_name_and_evaluator
    is_of_topics = isinstance(entry, ExpectedTopics)
    same_kind = (entry.dataset, entry.kind, evaluator) == (row.dataset, row.kind, row.evaluator)
    return same_kind and is_of_topics == (row.topics is not None) and row.dimension in expected_means(entry)


def _evaluated_run(row: LoggedScore, entries: Sequence[Expected]) -> list[Outcome]:
    """Downloads the run from a row's address, and compares it with the entries for the row's dataset.

    Raises:
        ToucheError: if the run can't be downloaded, is broken, or doesn't have the md5 in the row.
    """
    content = fetch_content(row.run, _MOST_BYTES, _MOST_SECONDS)
    digest = md5(content).hexdigest()
    if digest != row.md5:
        raise ToucheError(f"the md5 of {quoted(row.run)} is {digest}, not {row.md5}; correct one of them")
    run = read_run(Path(RUN_FILE), content)
    scores = scores_of(run, row.dataset)
    outcomes = list[Outcome]()
    for entry in entries:
        if entry.dataset == row.dataset:
            has_qrels = all(find("qrels", file) for file in entry.judgments)
            outcomes.append(compare(entry, run, scores) if has_qrels else Outcome(entry, MISSING))
    return outcomes


def _measured_again(row: LoggedScore, outcomes: Mapping[str, Sequence[Outcome]]) -> CheckedRow:
    """Compares the score in a row with the score of the rerun on this machine and of the run at the row's
    address.
    """
    measured = list[str]()
    digest = ""  # the rerun's md5; outcomes for the run at the row's address have none
    for name, outcomes_there in outcomes.items():
        for outcome in outcomes_there:
            if outcome.verdict in UNCHECKED or not _has_row(outcome.expected, row):
                continue
            if outcome.verdict == FAILED:
                return CheckedRow(row, f"{name} failed: {outcome.remark}")
            [again] = [other for other in logged_scores(outcome, row.by) if other.dimension == row.dimension]
            for column in ("got", "judged", "reproduced", "verdict"):
                value, value_again = getattr(row, column), getattr(again, column)
                if value != value_again:
                    problem = f"{column} is {value_again} in {name}, not {value}"
                    return CheckedRow(row, f"{problem}; report what touche regress logged")
            measured.append(name)
            digest = again.md5 or digest
    # Compare md5 after the scores, because a difference between scores says more.
    if row.md5 and digest and row.md5 != digest and _has_one_md5(row):
        problem = f"md5 is {digest} in {_RERUN}, not {row.md5}"
        return CheckedRow(row, f"{problem}; report what touche regress logged")
    return CheckedRow(row, "", tuple(measured))


def _has_one_md5(row: LoggedScore) -> bool:
    """Returns whether a row's baseline writes exactly the same run on every machine.

    Results of different processors can differ in the last digits. Most baselines compute in float64 and round
    scores to float32, so these digits aren't visible. Neural networks compute in float32, so their runs can
    differ.
    """
    name, _, _ = row.baseline.partition(" ")
    return extra_in_dockerfile(name) != "models"


def _notes(outcomes: Mapping[str, Sequence[Outcome]]) -> Iterator[str]:
    """Yields sentences that say what couldn't be measured, and what the reruns' values of topics and their
    means show.
    """
    for name, outcomes_there in outcomes.items():
        for outcome in outcomes_there:
            if outcome.verdict in (*UNCHECKED, FAILED) or outcome.same_system:
                remark = outcome.same_system or f"not compared ({outcome.verdict})"
                yield f"{outcome.expected.command} on {outcome.expected.dataset}, {name}: {remark}"
            if outcome.reaches_mean:
                yield note_on_means()
