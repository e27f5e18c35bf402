"""Checks of the values in an expected.toml: what is wrong, in words, or nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touche.errors import ToucheError
from touche.evaluation.ndcg import evaluators_of
from touche.tasks import measure_of


def wrong_text(entry: Mapping[str, Any], *names: str) -> str:
    """Says which of these values is no text, if one is not."""
    wrong = [name for name in names if not isinstance(entry.get(name), str)]
    return f"needs a text as its {wrong[0]}" if wrong else ""


def wrong_run(entry: Mapping[str, Any]) -> str:
    """Says that an entry names no official run, or one outside of runs/."""
    path = entry.get("run")
    inside = isinstance(path, str) and path and not Path(path).is_absolute() and ".." not in Path(path).parts
    return "" if inside else "needs a path below runs/ as its run"


def wrong_number(entry: Mapping[str, Any], name: str, most: float) -> str:
    """Says that a value is no number from 0 to the largest."""
    fine = is_number(entry.get(name), 0, most)
    return "" if fine else f"needs a number from 0 to {most} as its {name} value"


def wrong_measure(measure: str, evaluator: str) -> str:
    """Says that a measure is none, or one that the evaluator does not have."""
    try:
        fine = evaluator in evaluators_of(measure_of(measure))
    except ToucheError as error:
        return f"cannot be scored: {error}"
    return "" if fine else f"asks {evaluator} for {measure}, which it does not have"


def is_number(value: Any, least: float, most: float) -> bool:
    """Whether a value is a number in a range; nan is in none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
