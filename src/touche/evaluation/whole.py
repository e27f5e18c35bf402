"""DataFrames that print whole; imported where pandas is at hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from shutil import get_terminal_size

from pandas import DataFrame, option_context


class Whole(DataFrame):  # type: ignore[misc]
    """A frame without «...»: wider than the terminal, its columns stand below one another."""

    @property
    def _constructor(self) -> type["Whole"]:
        return Whole

    def __repr__(self) -> str:
        """All rows and columns, and texts in full."""
        with _shown():
            return str(super().__repr__())

    def _repr_html_(self) -> str | None:
        with _shown():
            html: str | None = super()._repr_html_()
            return html


@contextmanager
def _shown() -> Iterator[None]:
    every = ("display.max_rows", "display.max_columns", "display.max_colwidth")
    options = [(each, None) for each in every] + [("display.width", get_terminal_size((100, 24)).columns)]
    with option_context(*(part for option in options for part in option)):
        yield
