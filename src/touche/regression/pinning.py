"""Writes measured values over pinned ones in expected.toml."""

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
    """Writes measured values over pinned ones in expected.toml. Published values stay.

    Args:
        outcomes: the outcomes.
        log: called with a line for each value that moved, or that could not be renewed.

    Returns:
        All outcomes; replaced ones have passed, or failed if the file can't be written. A score without
        judged results isn't written, and its remark says so. If a baseline's value moved, its pinned values
        that couldn't be measured are ``not renewed``, because they belong to the earlier method.
    """
    before = list(outcomes)
    after = [_updated(outcome, log) for outcome in before]
    moved = {  # baselines; an empty value is a new entry's
        new.expected.baseline
        for old, new in zip(before, after, strict=True)
        if old.expected != new.expected and old.expected.value != ""
    }
    return [_with_warning(outcome, moved, log) for outcome in after]


def _with_warning(outcome: Outcome, moved: Collection[str], log: Log) -> Outcome:
    """Logs a pinned value that wasn't renewed. Returns the outcome, which fails if another value moved.

    Args:
        outcome: an outcome after the update.
        moved: the baselines whose values moved.
        log: called with the line.
    """
    expected = outcome.expected
    # An outcome without a table is about the whole file.
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
    """Rewrites an outcome's pinned value if it differs; returns the outcome with the new value."""
    expected = outcome.expected
    got = outcome.got
    # Rewrite nothing if nothing was measured, or the baseline's two runs differ.
    if expected.kind != PINNED or got is None or outcome.verdict == NOT_THE_SAME:
        return outcome
    pinned = structs.replace(expected, pinned=got if isinstance(got, str) else round(got, _DIGITS))
    if pinned == expected:
        return outcome
    if outcome.judged == 0:  # a score over documents that nobody judged says nothing about the baseline
        remark = "none of the results is judged, so the score is not pinned; check the ids of its documents"
        return replace(outcome, remark=remark)
    try:
        _rewrite(expected, pinned)
    except Exception as error:
        unwritten = failed(expected, error)
        return replace(outcome, verdict=unwritten.verdict, remark=unwritten.remark)
    difference = "" if outcome.difference is None else f" ({outcome.difference:+.5f})"
    old_text = "–" if expected.value == "" else expected.value  # a new entry's digest is empty
    log(f"moved: {_subject(expected)}: {old_text} -> {pinned.value}{difference}")
    return replace(outcome, expected=pinned, verdict=PASSED)


def _subject(expected: Expected) -> str:
    """Returns an entry's command, dataset and value name in words."""
    parts = (f"{expected.command} on {expected.dataset}", *expected.value_name_and_evaluator)
    return ", ".join(part for part in parts if part)  # a ranking has no evaluator


def _rewrite(expected: Expected, pinned: Expected) -> None:
    """Writes a pinned entry's value to expected.toml; every other byte stays the same.

    Args:
        expected: the entry as it was read. The file can contain other entries by now.
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
    value = json.dumps(pinned.value)  # valid TOML too: a number, or hexadecimal digits in quotes
    for old in re.finditer(rf"(?<={pinned.PINNED_KEY})[\"']?\s*=\s*([^\s,#}}]+)", text):
        changed = text[: old.start(1)] + value + text[old.end(1) :]
        # Comments and other entries can contain the same value. Only one change has the right effect.
        with suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed.removeprefix("\ufeff")) == tables:
                write_whole(path, changed)
                return
    raise InputError(path, f"the value of {pinned.PINNED_KEY} is not found", f"change it to {value}")
