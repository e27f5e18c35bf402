"""Workers' errors: some deserve a retry on another worker, others would happen there too.

Spark decides how often it retries (``spark.task.maxFailures``); our settings are in
``touche.lab.spark.session``.
"""

import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from touche.errors import InputError, ToucheError, one_line
from touche.io.packages import without_packages
from touche.lab.spark.shipping import FOLDER_PREFIX

_R = TypeVar("_R")

_TRANSIENT_ERRORS = (OSError, MemoryError)  # such as a full disk or a lost file system
_MAX_MESSAGE_LENGTH = 200  # characters


class SparkError(ToucheError):
    """Spark failed; its log has the details."""


@dataclass(frozen=True)
class Failed:
    """An error in place of a result. It would happen on every worker."""

    reason: str

    @classmethod
    def from_error(cls, error: Exception) -> "Failed":
        """Describes an error: our own by its message, others by the baseline's line that raised it.

        Raises:
            Exception: the error itself if Spark should retry.
        """
        # An unreadable file's InputError has the system's error as its cause.
        cause = error.__cause__ if isinstance(error, InputError) else error
        if isinstance(cause, _TRANSIENT_ERRORS):  # a retry may help, unlike for a broken file
            raise error
        if isinstance(error, ToucheError):
            return cls(str(error))
        trace = "".join(traceback.format_exception(error))
        return cls(f"the baseline failed on a worker ({failure_reason(trace)}); correct it")


def result_or_failure(work: Callable[..., _R], *arguments: Any) -> "_R | Failed":
    """Calls a function and returns its result, or the error if it would happen on every worker."""
    try:
        return work(*arguments)
    except Exception as error:
        return Failed.from_error(error)


def add_results(add: Callable[[_R, _R], _R], one: "_R | Failed", other: "_R | Failed") -> "_R | Failed":
    """Adds two results; returns the first error if there is one."""
    if isinstance(one, Failed):
        return one
    if isinstance(other, Failed):
        return other
    return result_or_failure(add, one, other)


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turns Spark's errors into a SparkError with one sentence."""
    from py4j.protocol import Py4JError  # optional
    from pyspark.errors import PySparkException  # optional

    try:
        yield
    except (Py4JError, PySparkException, ConnectionError) as error:
        # The text of a Java error's exception is a traceback.
        reason = failure_reason(_error_text(getattr(error, "java_exception", error)))
        raise SparkError(f"Spark failed ({reason})") from error


def _error_text(error: object) -> str:
    """Returns an error's text. If the Java process is gone, its errors can't be printed."""
    try:
        return str(error)
    except Exception:
        return "its Java process has ended"


def failure_reason(message: str) -> str:
    """Returns the error in a worker's traceback with the baseline's line, or Java's message."""
    message = without_packages(message)  # a baseline's package has a generated name
    # The last traceback is the baseline's. If there is none, this is the whole message.
    _, _, trace = message.rpartition("Traceback (most recent call last):")
    baseline_lines = re.findall(rf'{FOLDER_PREFIX}\w+/([^"]*)", line (\d+)', trace)
    errors = re.findall(r"^(?:\w+\.)*\w+(?:Error|Exception)\b.*", trace, re.MULTILINE)
    origin = ""
    if baseline_lines:
        file, number = baseline_lines[-1]  # the innermost call
        origin = f"{file}:{number}: "
    lines = errors or message.splitlines()
    reason = next((line.strip() for line in lines if line.strip()), "no reason stated")
    # Our own errors say enough without their class.
    return shortened(origin + re.sub(r"^touche\.errors\.\w+: ", "", reason))


def shortened(message: str) -> str:
    """Returns a message on one line, cut to 200 characters."""
    return one_line(message)[:_MAX_MESSAGE_LENGTH]
