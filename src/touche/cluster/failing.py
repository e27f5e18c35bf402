"""What goes wrong on a worker: what Spark is to try again elsewhere, and what would be the same there."""

import gzip
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from touche.cluster.shipping import FOLDER
from touche.errors import InputError, ToucheError, one_line

_R = TypeVar("_R")

_PASSING = (OSError, MemoryError)  # of this worker: a full disk, a file system that is away
_LONGEST = 200  # characters of what a machine says


class SparkError(ToucheError):
    """Spark has given up; its log tells more."""


@dataclass(frozen=True)
class Failed:
    """In place of a result: an error that another worker would come across, too.

    Attributes:
        reason: what is said of it.
    """

    reason: str

    @classmethod
    def by(cls, error: Exception) -> "Failed":
        """What is said of an error: its own sentence, or the line of the baseline that it comes from.

        Raises:
            Exception: the error itself, if Spark is to try again.
        """
        if _is_passing(error):
            raise error
        if isinstance(error, ToucheError):
            return cls(str(error))
        return cls(f"the baseline failed on a worker ({reason_of(traceback.format_exc())}); repair it")


def _is_passing(error: Exception) -> bool:
    """Whether another worker, or this one later, may get by without the error; a broken file stays so."""
    cause = error.__cause__ if isinstance(error, InputError) else error
    return isinstance(cause, _PASSING) and not isinstance(cause, gzip.BadGzipFile)


def caught(work: Callable[..., _R], *given: Any) -> "_R | Failed":
    """What work comes to, or why it fails wherever it is done."""
    try:
        return work(*given)
    except Exception as error:
        return Failed.by(error)


def of_both(add: Callable[[_R, _R], _R], one: "_R | Failed", other: "_R | Failed") -> "_R | Failed":
    """What two results add up to; the first that failed, if one did."""
    if isinstance(one, Failed) or isinstance(other, Failed):
        return one if isinstance(one, Failed) else other
    return caught(add, one, other)


@contextmanager
def sentences() -> Iterator[None]:
    """Says in one line why Spark has given up.

    Raises:
        SparkError: if it has.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, ConnectionError) as error:
        what = reason_of(_said(getattr(error, "java_exception", error)))
        raise SparkError(f"Spark failed ({what})") from error


def _said(what: object) -> str:
    """What it says; objects of a Java that has ended say nothing."""
    try:
        return str(what)
    except Exception:
        return "its Java has ended"


def reason_of(message: str) -> str:
    """The last line of a worker's traceback, with the line of the baseline's code; or what Java says."""
    _, _, trace = message.rpartition("Traceback (most recent call last):")
    own = re.findall(rf'{FOLDER}\w+/([^"]*)", line (\d+)', trace)
    told = re.findall(r"^(?:\w+\.)*\w+(?:Error|Exception)\b.*", trace, re.MULTILINE)
    place = f"{':'.join(own[-1])}: " if own else ""
    lines = [line.strip() for line in told or message.splitlines() if line.strip()]
    reason = re.sub(r"^touche\.errors\.\w+: ", "", (lines or ["for no reason that they told"])[0])
    return shortened(place + reason)


def shortened(message: str) -> str:
    """What a machine says, in a line that is not too long."""
    return one_line(message)[:_LONGEST]
