"""Files with a collection's statistics, which engines read or write."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from touche.errors import ParameterError


@dataclass(frozen=True)
class StatisticsFiles:
    """Files with a collection's statistics.

    Attributes:
        known: the whole collection's statistics to use, or None.
        output: where to write this collection's statistics, or None.
        report: an engine calls it when it uses or writes statistics.
        is_whole: whether the documents are the whole collection, so that their counts must agree with the
            file.
    """

    known: Path | None = None
    output: Path | None = None
    report: Callable[[], object] = field(default=bool, compare=False)  # bool() does nothing
    is_whole: bool = False

    def __post_init__(self) -> None:
        if self.known and self.output:
            raise ParameterError("--statistics and --keep-statistics exclude each other; omit one of them")
