"""Columns of TREC's files, split and read as C does, so trec_eval; Python's own reading is more generous."""

import re
from math import isfinite

# No quantifier gives back what it took, as stretches of digits may be long.
_DECIMAL = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")


def split_columns(text: str, at_most: int = -1) -> list[str]:
    """The columns of a line, split at ASCII white space only; ``at_most`` so many times, -1 for always."""
    columns = text.encode("utf-8", "surrogatepass").strip().split(maxsplit=at_most)
    return [column.decode("utf-8", "surrogatepass") for column in columns]


def decimal(text: str) -> float | None:
    """The finite number that a column is, or None."""
    number = float(text) if _DECIMAL.fullmatch(text) else None
    return number if number is not None and isfinite(number) else None
