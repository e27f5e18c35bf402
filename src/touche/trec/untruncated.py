"""DataFrames that print all rows, all columns and whole texts. Imported only if pandas is installed."""

from shutil import get_terminal_size

from pandas import DataFrame, option_context


class UntruncatedFrame(DataFrame):  # type: ignore[misc]
    """A frame that is printed completely, without "...". Columns that don't fit into the terminal are printed
    below the others.
    """

    @property
    def _constructor(self) -> type["UntruncatedFrame"]:
        """The type that pandas gives to frames derived from this one."""
        return UntruncatedFrame

    def __repr__(self) -> str:
        return str(self.to_string(line_width=get_terminal_size((100, 24)).columns))

    def _repr_html_(self) -> str:
        with option_context("display.max_colwidth", None):
            return str(self.to_html(notebook=True))
