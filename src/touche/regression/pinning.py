"""Updates pinned values in expected.toml: replaces them with the values that were measured."""

import json
import re
import tomllib
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace

from msgspec import structs

from touche.baselines.expected import EXPECTED_FILE, PINNED, Expected, read_expected
from touche.baselines.loader import baseline_folder, is_shipped
from touche.data.places import remedy_for
from touche.errors import InputError
from touche.io.origin import clone
from touche.io.toml import read_toml
from touche.io.writing import write_whole
from touche.regression.outcomes import NOT_RENEWED, NOT_THE_SAME, PASSED, Outcome, failed
from touche.runners.programs import Log

_DIGITS = 5  # decimals of pinned numbers


def update(outcomes: Iterable[Outcome], log: Log) -> list[Outcome]:
    """Writes measured values over pinned ones in expected.toml. Published values aren't changed.

    Args:
        outcomes: the outcomes of a regression.
        log: a function that is called with a line of text for each value that changed or that couldn't be
            measured.

    Returns:
        All outcomes. Those whose value was replaced have the verdict ``passed`` now, or ``failed`` if the
        file can't be written. A score isn't written if none of the run's results is judged; its remark says
        so. If one of a baseline's values changed, but others couldn't be measured, the verdict of the others
        is ``not renewed``: they belong to the baseline's earlier method.
    """
    before = list(outcomes)
    after = [_updated(outcome, log) for outcome in before]
    moved = {  # baselines with a value that changed; new entries, whose value is empty, don't count
        new.expected.baseline
        for old, new in zip(before, after, strict=True)
        if old.expected != new.expected and old.expected.value != ""
    }
    return [_with_warning(outcome, moved, log) for outcome in after]


def _with_warning(outcome: Outcome, moved: Collection[str], log: Log) -> Outcome:
    """Logs a warning if a pinned value wasn't renewed. Returns the outcome; its verdict is ``not renewed`` if
    another of the baseline's values has changed.

    Args:
        outcome: an outcome after the update.
        moved: the names of baselines with a value that has changed.
        log: a function that is called with the warning.
    """
    expected = outcome.expected
    # If ``TABLE`` is empty, the outcome is about the whole file, e.g. because it can't be read.
    if expected.kind != PINNED or not expected.TABLE or outcome.verdict == PASSED:
        return outcome
    log(f"not renewed: {_subject(expected)}: {expected.value or '–'} ({outcome.verdict})")
    if expected.baseline not in moved or outcome.is_broken:
        return outcome
    remedy = outcome.remark or remedy_for([expected.dataset])
    remark = (
        f"another pinned value of this baseline moved; {remedy}; then repeat the command, or remove the entry"
    )
    return replace(outcome, verdict=NOT_RENEWED, remark=remark)


def _updated(outcome: Outcome, log: Log) -> Outcome:
    """Replaces an outcome's pinned value in the file if it differs from the measured one. Returns the outcome
    with the new value.
    """
    expected = outcome.expected
    got = outcome.got
    # Change nothing if nothing was measured, or if the baseline was run twice with different results.
    if expected.kind != PINNED or got is None or outcome.verdict == NOT_THE_SAME:
        return outcome
    pinned = structs.replace(expected, pinned=got if isinstance(got, str) else round(got, _DIGITS))
    if pinned == expected:
        return outcome
    if outcome.judged == 0:  # none of the results is judged, so the score says nothing about the baseline
        remark = "none of the results is judged, so the score is not pinned; check the ids of its documents"
        return replace(outcome, remark=remark)
    try:
        _rewrite(expected, pinned)
    except Exception as error:
        unwritten = failed(expected, error)
        return replace(outcome, verdict=unwritten.verdict, remark=unwritten.remark)
    difference = "" if outcome.difference is None else f" ({outcome.difference:+.5f})"
    old_text = "–" if expected.value == "" else expected.value  # the digest in a new entry is empty
    log(f"moved: {_subject(expected)}: {old_text} -> {pinned.value}{difference}")
    return replace(outcome, expected=pinned, verdict=PASSED)


def _subject(expected: Expected) -> str:
    """Returns an entry's command, dataset and value name in words."""
    parts = (f"{expected.command} on {expected.dataset}", *expected.value_name_and_evaluator)
    return ", ".join(part for part in parts if part)  # leaves out the evaluator of rankings, which is empty


def _rewrite(expected: Expected, pinned: Expected) -> None:
    """Writes the new value of a pinned entry to expected.toml. The rest of the file isn't changed.

    Args:
        expected: the entry as it was read from the file. The file may have been changed since then.
        pinned: the entry with its new value.

    Raises:
        InputError: if the file belongs to the installed package, no longer contains the entry, or is broken.
    """
    path = baseline_folder(pinned.baseline) / EXPECTED_FILE
    if is_shipped(path.parent) and clone() is None:
        raise InputError(
            path, "it belongs to the installed package", "change it in a clone of touche-baselines"
        )
    tables = read_toml(path)
    entries = read_expected(pinned.baseline, [pinned.dataset])
    same = [entry for entry in entries if structs.replace(entry, entry=expected.entry) == expected]
    if not same:
        problem = f"the entry for {expected.dataset} has changed since it was read"
        raise InputError(path, problem, "repeat the command")
    tables[pinned.TABLE][same[0].entry][pinned.PINNED_KEY] = pinned.value
    text = path.read_bytes().decode()
    # JSON is fine, because numbers and strings of hexadecimal digits look the same in TOML.
    value = json.dumps(pinned.value)
    for old in re.finditer(rf"(?<={pinned.PINNED_KEY})[\"']?\s*=\s*([^\s,#}}]+)", text):
        changed = text[: old.start(1)] + value + text[old.end(1) :]
        # The old value can occur several times, e.g. in comments or other entries. Try to replace each
        # occurrence, until reading the changed text gives the wanted entry. A wrong replacement can break the
        # TOML.
        with suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed.removeprefix("\ufeff")) == tables:
                write_whole(path, changed)
                return
    raise InputError(path, f"the value of {pinned.PINNED_KEY} is not found", f"change it to {value}")
