"""Identifiers, and how errors quote values."""

from pathlib import Path

from touche.errors import InputError

_LONGEST_WORD = 1000  # characters; real ids have some thirty, those of sentence pairs sixty
_LONGEST_QUOTE = 60  # characters of what an error shows


def quoted(value: object) -> str:
    """A value as an error shows it: in quotes, and cut short."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        text = f"of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]} ..."


def is_word(value: object) -> bool:
    """Whether a value can be a column of a run file: a printable text without white space, not too long."""
    return (
        isinstance(value, str)
        and value.isprintable()
        and " " not in value
        and 0 < len(value) <= _LONGEST_WORD
    )


def new_id(value: str, what: str, seen: set[str], path: Path | str, line: int | None = None) -> str:
    """An id that can stand in a run file: printable, without white space, not among those seen.

    Raises:
        InputError: otherwise.
    """
    if not is_word(value):
        problem = f"{what} {quoted(value)} is empty, too long, or has white space or control characters"
        raise InputError(path, problem, "give it another id", line)
    if value in seen:
        raise InputError(path, f"{what} {value!r} occurs a second time", "remove one of the two", line)
    seen.add(value)
    return value
