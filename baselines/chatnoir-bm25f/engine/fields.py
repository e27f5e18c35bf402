"""The fields in ChatNoir's index: their texts, the filters that test them, and the bonuses."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from touche import Page, scan

SETTINGS: Mapping[str, Any] = tomllib.loads(
    (Path(__file__).parents[1] / "chatnoir.toml").read_text(encoding="utf-8")
)
FILTERS = SETTINGS["filters"]
# Why a filter removes a page.
FOREIGN = "in another language"
SHORT = "with too little main content"
ANY = "any"  # every page's label


def field_text(field: str, page: Page) -> str:
    """Returns a field's text; empty if the field is missing."""
    if field == "host":
        return host_labels(page.host or "")
    return getattr(page, field) or ""


def host_labels(host: str) -> str:
    """Returns a host's searchable labels, each as one token, even with hyphens.

    Like ChatNoir's indexer, it leaves out labels such as www and com, and two-letter ones.
    """
    left_out = SETTINGS["host"]["left_out"]
    labels = (label.replace("-", "_") for label in host.split("."))
    return " ".join(label for label in labels if len(label) > 2 and label not in left_out)


def filter_reason(page: Page) -> str:
    """Returns why a filter removes a page, or an empty string. A missing field passes its filter."""
    if page.language not in (None, FILTERS["language"]):
        return FOREIGN
    if page.body is not None and len(page.body) < FILTERS["shortest_body"]:
        return SHORT
    return ""


def is_wikipedia(page: Page) -> bool:
    """Returns whether a page is from Wikipedia in the searched language."""
    return page.host == f"{FILTERS['language']}.wikipedia.org"


def is_shallow(page: Page) -> bool:
    """Returns whether the path is ``/``, ``/wiki/`` or ``/index.*``."""
    return re.fullmatch(r"/(wiki/|index\.[a-z]+)?", page.path or "") is not None


LABELS: Mapping[str, Callable[[Page], bool]] = {
    ANY: lambda page: True,
    "wikipedia": is_wikipedia,
    "shallow": is_shallow,
}
"""The properties of pages that queries can test, each with a function that finds it in a page."""


class Row(NamedTuple):
    """A page without its texts.

    Attributes:
        id: the id.
        host: the host; empty if unknown.
        labels: its names in ``LABELS``.
        removal_reason: why a filter removes it; empty if it passes all filters.
        matches: whether it passes the filters and matches a topic.
    """

    id: str
    host: str
    labels: Sequence[str]
    removal_reason: str
    matches: bool = False

    @classmethod
    def from_page(cls, page: Page) -> "Row":
        """Returns a page's row, before it is matched."""
        labels = tuple(name for name, has_label in LABELS.items() if has_label(page))
        return cls(id=page.id, host=page.host or "", labels=labels, removal_reason=filter_reason(page))


@dataclass(frozen=True)
class Pages:
    """Pages with the frequencies and positions of query terms in their fields.

    Attributes:
        rows: one per page.
        fields: each field's counts by name.
    """

    rows: Sequence[Row]
    fields: Mapping[str, scan.Counts]

    def only(self, chosen: scan.Array) -> "Pages":
        """Returns some pages; ``chosen`` has a boolean per page."""
        fields = {name: counts.only(chosen) for name, counts in self.fields.items()}
        rows = [row for row, is_chosen in zip(self.rows, chosen.tolist(), strict=True) if is_chosen]
        return Pages(rows, fields)

    @classmethod
    def join(cls, parts: "Sequence[Pages]") -> "Pages":
        """Joins at least one part."""
        fields = {name: scan.joined_counts([part.fields[name] for part in parts]) for name in parts[0].fields}
        return cls([row for part in parts for row in part.rows], fields)
