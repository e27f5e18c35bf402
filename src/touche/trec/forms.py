"""The types of frames that users can pass, and the error about values that touche can't use."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias, TypeGuard

from touche.errors import NotInstalledError, ToucheError
from touche.io.identifiers import quoted


class PandasFrame(Protocol):
    """A DataFrame of pandas."""

    @property
    def columns(self) -> Any: ...
    @property
    def to_dict(self) -> Callable[..., Any]: ...


class ConvertibleFrame(Protocol):
    """A frame from another library, such as polars, that can be converted to a pandas DataFrame."""

    @property
    def to_pandas(self) -> Callable[..., Any]: ...


Frame: TypeAlias = PandasFrame | ConvertibleFrame


def is_frame(value: object) -> TypeGuard[Frame]:
    """Returns whether a value is a pandas frame, or can be converted to one."""
    return (hasattr(value, "to_dict") and hasattr(value, "columns")) or hasattr(value, "to_pandas")


def as_pandas(frame: Frame) -> Any:
    """Converts a frame to a DataFrame of pandas.

    Raises:
        NotInstalledError: if the frame's library needs a package for the conversion that isn't installed.
    """
    if not hasattr(frame, "to_pandas"):
        return frame
    try:
        return frame.to_pandas()
    except ImportError as error:
        problem = f"the frame cannot be converted to pandas ({error})"
        raise NotInstalledError(f"{problem}; install what it needs, or pass a frame of pandas") from error


def unusable(value: object, name: str, noun: str, forms: str, of_iterator: str = "") -> ToucheError:
    """Returns the error about a value that has none of the forms that touche can use.

    Args:
        value: what was passed.
        name: what to call the value at the beginning of the message, such as ``run``.
        noun: what the value should be, such as ``a run``.
        forms: the possible forms, in words.
        of_iterator: as in ``remedy_for``.
    """
    remedy = remedy_for(value, of_iterator) or f"pass {forms}"
    return ToucheError(f"{name}: {quoted(value)} is not {noun}; {remedy}")


def remedy_for(value: object, of_iterator: str = "") -> str:
    """Returns what to pass instead, if the value is an open file, bytes, an iterator or a list of records.

    Args:
        value: what was passed.
        of_iterator: what to pass instead of an iterator if it doesn't yield records, such as ``a list of its
            runs``.

    Returns:
        The second half of an error message; empty for any other value.
    """
    if hasattr(value, "read"):
        return "pass its path instead of an open file"
    if isinstance(value, bytes):
        return "pass a path as os.fsdecode(path)"
    if isinstance(value, Iterator):
        remedy = "make a frame of its records, such as pandas.DataFrame(records)"
        return f"{remedy}, or {of_iterator}" if of_iterator else remedy
    records = value if isinstance(value, list | tuple) and not hasattr(value, "_asdict") else [value]
    if any(isinstance(record, Mapping) or _has_fields(record) for record in records):
        return "pass a frame of the records, such as pandas.DataFrame(records), or a path"
    return ""


def _has_fields(record: object) -> bool:
    """Returns whether a value is a named tuple, or another record of ir_datasets or ir_measures."""
    return hasattr(record, "_asdict") or hasattr(record, "query_id")
