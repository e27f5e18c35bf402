"""What ChatNoir's index knows of a page: texts in fields, what filters ask for, and what earns a bonus."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from touche.web.page import Page

NUMBERS: Mapping[str, Any] = tomllib.loads(
    (Path(__file__).parent / "chatnoir.toml").read_text(encoding="utf-8")
)
FILTERS = NUMBERS["filters"]
PASSES, FOREIGN, SHORT = "passes", "in another language", "with too little main content"


def fields_of(names: Iterable[str]) -> dict[str, Callable[[Page], str]]:
    """The fields by name, each a function of the page."""
    return {name: partial(text_of, name) for name in names}


def text_of(field: str, page: Page) -> str:
    """The text of a field; none where it is missing."""
    return labels_of(page.host or "") if field == "host" else getattr(page, field) or ""


def labels_of(host: str) -> str:
    """The labels of a host that are searched; each is one token, even where there are hyphens in it."""
    left_out = NUMBERS["host"]["left_out"]
    labels = (label.replace("-", "_") for label in host.split("."))
    return " ".join(label for label in labels if len(label) > 2 and label not in left_out)


def filtered(page: Page) -> str:
    """Whether a page passes, or what stops it; what a collection does not tell, passes."""
    if page.language not in (None, FILTERS["language"]):
        return FOREIGN
    return SHORT if page.body is not None and len(page.body) < FILTERS["shortest_body"] else PASSES


def is_wikipedia(page: Page) -> bool:
    """Whether a page is from the Wikipedia of the language that is searched."""
    return page.host == f"{FILTERS['language']}.wikipedia.org"


def is_shallow(page: Page) -> bool:
    """Whether the path is /, /wiki/ or /index.*"""
    return re.fullmatch(r"/(wiki/|index\.[a-z]+)?", page.path or "") is not None


LABELS: Mapping[str, Callable[[Page], bool]] = {"wikipedia": is_wikipedia, "shallow": is_shallow}
