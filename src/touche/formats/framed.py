"""Results that can be used like their DataFrames."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame


class Framed:
    """A result with a frame, whose columns and methods it has as well, such as ``result.to_csv()``."""

    def frame(self) -> "DataFrame":
        """The result as a pandas DataFrame."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return str(self.frame()._repr_html_())

    if not TYPE_CHECKING:  # which would let any attribute pass

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # as copy and pickle ask
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return getattr(self.frame(), name)
