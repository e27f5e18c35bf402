"""Reruns baselines on every available dataset, and checks all expectations."""

import json
import logging
import re
import tomllib
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import ValidationError, convert, structs

from touche import baselines, tasks
from touche.baselines.loader import baseline_folder, is_shipped
from touche.containers.limits import Limits
from touche.containers.programs import Log
from touche.containers.runs import Job, Runner, Usage
from touche.data.places import locate
from touche.errors import InputError, NotInstalledError, ToucheError
from touche.evaluation.agreement import Overlap
from touche.evaluation.scores import Evaluated
from touche.io.grouping import group_by
from touche.io.origin import clone
from touche.io.progress import bar
from touche.io.temporary import temporary_folder
from touche.io.toml import read_toml
from touche.io.writing import make_folder, whole, write_whole
from touche.regression.expected import (
    EXPECTED_FILE,
    PINNED,
    REPORTED,
    Expected,
    MeasuredRun,
    read_expected,
)
from touche.regression.outcomes import (
    CHANGED,
    FAILED,
    MISSING,
    NOT_AS_REPORTED,
    NOT_INSTALLED,
    NOT_THE_SAME,
    NOTHING_EXPECTED,
    PASSED,
    TOO_HIGH,
    TOO_LOW,
    Outcome,
)
from touche.trec.runs import RUN_FILE

_log = logging.getLogger(__name__)


def read_expectations(names: Sequence[str], datasets: Sequence[str]) -> tuple[list[Expected], list[Outcome]]:
    """Reads the expectations for baselines on datasets.

    Args:
        names: names or paths of baselines; if empty, all shipped ones.
        datasets: ids of datasets; if empty, all.

    Returns:
        The expectations, and an outcome for each baseline without any: its file is unreadable, or has no
        entry for the datasets.

    Raises:
        ToucheError: if a baseline or dataset is unknown, or there is no expectation.
    """
    for dataset_id in datasets:
        tasks.dataset(dataset_id)  # raises an error for an unknown id
    expected = list[Expected]()
    outcomes = list[Outcome]()
    for name in names or baselines.names():
        baseline_folder(name)  # raises an error for an unknown name
        without_entry = Expected(baseline=name)
        try:
            entries = [entry for entry in read_expected(name) if not datasets or entry.dataset in datasets]
        except Exception as error:
            outcomes.append(_failed(without_entry, error))
            continue
        expected += entries
        if names and not entries:  # of all baselines, most have no entry for a dataset
            remark = f"no entry in {EXPECTED_FILE} for {', '.join(datasets)}"
            outcomes.append(Outcome(without_entry, NOTHING_EXPECTED, remark=remark))
    some_unreadable = any(outcome.verdict != NOTHING_EXPECTED for outcome in outcomes)
    if not expected and not some_unreadable:  # an unreadable file is an outcome to report
        raise ToucheError("expected.toml has no entry for these baselines and datasets; choose others")
    return expected, outcomes


def regress(
    expected: Sequence[Expected],
    runner: Runner,
    limits: Limits,
    say: Log,
    *,
    twice: bool = False,
    keep: Path | None = None,
) -> Iterator[Outcome]:
    """Runs each baseline on each available dataset, and checks its values in both directions.

    A score that is higher than expected also fails, because the baseline has changed. Values that are
    reported for another implementation are compared, but cannot fail. An error of one baseline on one dataset
    is an outcome, and the regression continues.

    Args:
        expected: the expectations.
        runner: runs a baseline.
        limits: the limits of a run.
        say: receives the name and the log of each run.
        twice: run each baseline twice, and compare the bytes of run.txt.
        keep: a folder for the runs, or None.
    """

    def run(job: Job) -> Usage:
        return runner(job, limits, lambda line: say(f"  {line}"))

    # The entries of a group share one run.
    groups = group_by(expected, lambda entry: (entry.command, entry.dataset))
    for group in bar("running", "runs", len(groups), over=groups.values()):
        outcomes = list[Outcome]()
        to_rerun = list[Expected]()
        for entry in group:
            try:
                if not entry.available:
                    outcomes.append(Outcome(entry, MISSING))
                elif entry.needs_rerun:
                    to_rerun.append(entry)
                else:
                    official_run = MeasuredRun.read(locate("runs", entry.run), entry.dataset)
                    outcomes.append(_outcome(entry, official_run))
            except Exception as error:
                outcomes.append(_failed(entry, error))
        if to_rerun:
            # The rerun is compared with the official runs that were measured above.
            official_names = [outcome.expected.run for outcome in outcomes if outcome.got is not None]
            try:
                say(f"{to_rerun[0].command} on {to_rerun[0].dataset}")
                outcomes += _rerun_outcomes(to_rerun, official_names, run, twice, keep)
            except Exception as error:
                outcomes += [_failed(entry, error) for entry in to_rerun]
        yield from outcomes


def update(outcomes: Iterable[Outcome], log: Log) -> list[Outcome]:
    """Writes measured values to expected.toml in place of pinned ones; published values stay unchanged.

    Args:
        outcomes: the outcomes.
        log: receives a line for each value that moved.

    Returns:
        All outcomes; replaced ones have passed, or failed if the file cannot be written. A score of a run
        without judged results is not written, and its remark says so.
    """
    updated = []
    for before in outcomes:
        after = _updated(before)
        entry = after.expected
        old_value = before.expected.value
        if old_value != entry.value:
            parts = (f"{entry.command} on {entry.dataset}", *entry.value_name_and_evaluator)
            subject = ", ".join(part for part in parts if part)  # a ranking has no evaluator
            difference = "" if before.difference is None else f" ({before.difference:+.5f})"
            old_text = "–" if old_value == "" else old_value  # the digest of a new entry is empty
            log(f"moved: {subject}: {old_text} -> {entry.value}{difference}")
        updated.append(after)
    return updated


def _updated(outcome: Outcome) -> Outcome:
    """Rewrites the pinned value of an outcome if it differs; returns the outcome with the new value."""
    expected = outcome.expected
    # Nothing is rewritten if nothing was measured, or two runs of the baseline differ.
    if expected.kind != PINNED or outcome.got is None or outcome.verdict == NOT_THE_SAME:
        return outcome
    pinned = expected.pinned_to(outcome.got)
    if pinned == expected:
        return outcome
    if outcome.judged == 0:  # a score of documents that nobody judged says nothing of the baseline
        remark = "none of the results is judged, so the score is not pinned; check the ids of its documents"
        return replace(outcome, remark=remark)
    try:
        _rewrite(expected, pinned)
    except Exception as error:
        return replace(outcome, verdict=FAILED, remark=_failed(expected, error).remark)
    return replace(outcome, expected=pinned, verdict=PASSED)


def _rewrite(expected: Expected, pinned: Expected) -> None:
    """Writes the value of a pinned entry to expected.toml; every other byte of the file stays the same.

    Args:
        expected: the entry as it was read. The file may have other entries by now.
        pinned: the entry with its new value.

    Raises:
        InputError: if the file belongs to the installed package, no longer has the entry, or is broken.
    """
    path = baseline_folder(pinned.baseline) / EXPECTED_FILE
    if is_shipped(path.parent) and clone() is None:
        raise InputError(
            path, "it belongs to the installed package", "change it in a clone of touche-baselines"
        )
    tables = read_toml(path)
    same = [entry for entry in tables.get(pinned.TABLE, ()) if _is_entry(entry, expected)]
    if not same:
        problem = f"the entry for {expected.dataset} has changed since it was read"
        raise InputError(path, problem, "repeat the command")
    same[0][pinned.PINNED_KEY] = pinned.value
    text = path.read_bytes().decode()
    value = json.dumps(pinned.value)  # also TOML: a number, or hexadecimal digits in quotes
    for old in re.finditer(rf"(?<={pinned.PINNED_KEY})[\"']?\s*=\s*([^\s,#}}]+)", text):
        changed = text[: old.start(1)] + value + text[old.end(1) :]
        # Comments and other entries have such a value, too. Only one change has the right effect.
        with suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed.removeprefix("\ufeff")) == tables:
                write_whole(path, changed)
                return
    raise InputError(path, f"the value of {pinned.PINNED_KEY} is not found", f"change it to {value}")


def _is_entry(table: Any, expected: Expected) -> bool:
    """Returns whether a table of expected.toml is an entry; other tables may be broken by now."""
    try:
        entry = convert(table, type(expected))
    except ValidationError:
        return False
    return structs.replace(entry, baseline=expected.baseline, entry=expected.entry) == expected


def _rerun_outcomes(
    group: Sequence[Expected],
    official_names: Sequence[str],
    run: Callable[[Job], Usage],
    twice: bool,
    keep: Path | None,
) -> list[Outcome]:
    """Reruns a baseline with its options on a dataset, and returns the outcomes of a group of entries.

    The first outcome has the agreement with official runs.

    Args:
        group: at least one entry of this baseline, its options and the dataset.
        official_names: names of official runs in runs/. The rerun is compared with these, and with those in
            the group's entries.
        run: runs a job.
        twice, keep: as for ``regress``.
    """
    shared = group[0]  # for the baseline, its options and the dataset
    with temporary_folder("touche-regress-") as folder:
        jobs = [
            Job(
                baseline=shared.baseline,
                arguments=shared.arguments,
                input=shared.dataset,
                output=folder / name,
            )
            for name in (["first", "second"] if twice else ["first"])
        ]
        usages = [run(job) for job in jobs]
        contents = {(job.output / RUN_FILE).read_bytes() for job in jobs}  # one if both runs are the same
        path = _copy_run(jobs[0], keep) if keep else jobs[0].output / RUN_FILE
        rerun = MeasuredRun.read(path, shared.dataset)
    # Only a report shows evaluated runs, and a report needs ``keep``.
    evaluated = [scored for scored in rerun.scored.values() if isinstance(scored, Evaluated)] if keep else []
    outcomes = [replace(_outcome(entry, rerun), usage=usages[0], evaluated=evaluated) for entry in group]
    # The official run of a failed entry may be unreadable.
    names_in_entries = [outcome.expected.run for outcome in outcomes if outcome.verdict != FAILED]
    if len(contents) > 1:
        outcomes = [replace(outcome, verdict=NOT_THE_SAME) for outcome in outcomes]
    # Each once; an entry without an official run has an empty name.
    names = dict.fromkeys(filter(None, [*official_names, *names_in_entries]))
    first, *others = outcomes
    return [replace(first, agreements=_agreements(names, shared.command, rerun)), *others]


def _agreements(official_names: Iterable[str], command: str, rerun: MeasuredRun) -> list[Overlap]:
    """Returns the agreement of a rerun with official runs; warns if one cannot be compared.

    Args:
        official_names: the names of the official runs, in runs/.
        command: the baseline with its options.
        rerun: its run.
    """
    agreements = list[Overlap]()
    for name in official_names:
        # This import is in the loop, because it takes 63 ms, and most baselines have no official run.
        from touche.regression import official_runs

        names = (f"runs/{name}", f"{command} on {rerun.dataset}")
        try:
            agreements += official_runs.agreements(locate("runs", name), rerun.lines, rerun.dataset, names)
        except ToucheError as error:
            _log.warning("%s", error)
    return agreements


def _copy_run(job: Job, folder: Path) -> Path:
    """Copies the run of a job; the new name consists of dataset, baseline and options."""
    options = [word.lstrip("-").replace("/", "-") for word in job.arguments]
    copy = folder / job.input.replace("/", "-") / f"{'-'.join([job.name, *options])}.txt"
    make_folder(copy.parent)
    with whole(copy) as file:
        file.write((job.output / RUN_FILE).read_bytes())
    return copy


def _outcome(expected: Expected, run: MeasuredRun) -> Outcome:
    """Measures what an entry expects, and gives a verdict; after an error, the verdict is that it failed."""
    try:
        measured = expected.measured(run)
    except Exception as error:
        return _failed(expected, error)
    difference = expected.difference(measured.got)
    if expected.accepts(measured.got):
        verdict = PASSED
    elif expected.kind == REPORTED:
        verdict = NOT_AS_REPORTED
    elif difference is None:
        verdict = CHANGED
    else:
        verdict = TOO_HIGH if difference > 0 else TOO_LOW
    return Outcome(
        expected,
        verdict,
        got=measured.got,
        judged=measured.judged,
        remark=measured.remark,
        topics=measured.topics,
    )


def _failed(entry: Expected, error: Exception) -> Outcome:
    """Returns the outcome after an error, with its message; for a bug, --verbose shows the traceback."""
    remark = str(error)
    if not isinstance(error, ToucheError):
        _log.debug("%s", "".join(traceback.format_exception(error)))
        remark = f"{type(error).__name__}: {' '.join(remark.split())}"
    verdict = NOT_INSTALLED if isinstance(error, NotInstalledError) else FAILED
    return Outcome(entry, verdict, remark=remark)
