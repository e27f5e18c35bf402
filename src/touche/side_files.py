"""Scores of pages from elsewhere, such as the Waterloo spam ranks: a number and an id on each line."""

from collections.abc import Container
from math import isfinite
from pathlib import Path

from touche.errors import InputError
from touche.files import read_lines


def read_scores(path: Path, wanted: Container[str]) -> dict[str, float]:
    """Reads the scores of some pages from a side file, in any order, without holding those of others.

    Args:
        path: lines such as ``73 clueweb12-0000tw-00-00000``, as the Waterloo spam ranks have them, or the
            other way round; plain or gzipped.
        wanted: the ids of the pages.

    Raises:
        InputError: naming the line that is no number and id, or repeats an id that is wanted.
    """
    scores: dict[str, float] = {}
    for line, text in read_lines(path):
        words = text.split()
        numbers = [number for word in words if (number := _number(word)) is not None]
        if len(words) != 2 or not numbers:
            problem, remedy = f"{text.strip()[:60]!r} is no number and id", "write lines such as: 73 PAGE"
            raise InputError(path, problem, remedy, line)
        id = words[1] if _number(words[0]) is not None else words[0]
        if id in wanted and id in scores:
            raise InputError(path, f"page {id!r} occurs a second time", "remove one of the two", line)
        if id in wanted:
            scores[id] = numbers[0]
    return scores


def _number(word: str) -> float | None:
    """The number that a word is, if it is a finite one as people write it."""
    try:
        number = float(word)
    except ValueError:
        return None
    return number if isfinite(number) and "_" not in word else None
