"""Baselines rerun, and held against what each one's expected.toml asks of it."""

from touche.regression.expected import (
    EXPECTED_FILE,
    PINNED,
    PUBLISHED,
    Expected,
    ExpectedFigure,
    ExpectedRun,
    ExpectedScore,
    digest_of,
    read_expected,
)
from touche.regression.running import (
    CHANGED,
    FAILED,
    NOT_AT_HAND,
    NOT_THE_SAME,
    PASSED,
    TOO_HIGH,
    TOO_LOW,
    Outcome,
    regress,
    unreadable,
    update,
)

__all__ = [
    "CHANGED",
    "EXPECTED_FILE",
    "FAILED",
    "NOT_AT_HAND",
    "NOT_THE_SAME",
    "PASSED",
    "PINNED",
    "PUBLISHED",
    "TOO_HIGH",
    "TOO_LOW",
    "Expected",
    "ExpectedFigure",
    "ExpectedRun",
    "ExpectedScore",
    "Outcome",
    "digest_of",
    "read_expected",
    "regress",
    "unreadable",
    "update",
]
