"""The files with a collection's statistics, which its engine reads or writes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from touche.errors import ParameterError


@dataclass(frozen=True)
class StatisticsFiles:
    """Files with the statistics of a collection.

    Attributes:
        known: the file with the statistics of the whole collection, or None.
        output: the file to which this collection's statistics are written, or None.
        report: called by an engine that uses the statistics or writes them; by default nothing happens.
        is_whole: whether the documents are the whole collection, whose counts are compared with the file.
    """

    known: Path | None = None
    output: Path | None = None
    report: Callable[[], object] = field(default=bool, compare=False)  # bool() does nothing
    is_whole: bool = False

    def __post_init__(self) -> None:
        """Raises ParameterError if there are both files."""
        if self.known and self.output:
            raise ParameterError("--statistics and --keep-statistics exclude each other; omit one of them")
