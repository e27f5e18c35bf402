"""Web pages, as they come and in fields."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

TEXTS = ("text/html", "application/xhtml+xml", "text/plain")  # types of content that are parsed
LARGEST = 1 << 20  # bytes of a page; ChatNoir takes no larger ones


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as it came from the web.

    Attributes:
        id: the id.
        url: where it came from; empty where unknown.
        content: its bytes.
        charset: the encoding that the server named, or None.
    """

    id: str
    url: str
    content: bytes
    charset: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A web page in fields; a field that a collection does not have is None, one without text is empty.

    Attributes:
        id: the id.
        title: the title, or where there is none the first heading.
        headings: the headings of the first three levels, one a line.
        body: the main content, without navigation and the like.
        full_body: all text.
        meta_description: what the page says of itself.
        meta_keywords: what it wants to be found by.
        host: the host name.
        path: the path.
        language: such as ``en``, or ``unknown``.
        rules: the name of the parser that took it apart; pages are equal even if this differs.
    """

    id: str
    title: str | None = None
    headings: str | None = None
    body: str | None = None
    full_body: str | None = None
    meta_description: str | None = None
    meta_keywords: str | None = None
    host: str | None = None
    path: str | None = None
    language: str | None = None
    rules: str | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """Title and main content, for methods that know one field only."""
        return f"{self.title or ''} {self.body or ''}".strip()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A page that was left out, and why."""

    id: str
    reason: str


def page_of(document: Any) -> Page:
    """A document as a page; of anything but a page the text is the main content, and all else is missing."""
    return document if isinstance(document, Page) else Page(document.id, body=document.text)


Parser = Callable[[RawPage], Page]


def host_and_path(url: str) -> tuple[str | None, str | None]:
    """Splits an address; both parts are None where there is no host."""
    try:
        parts = urlsplit(url)
        return (parts.hostname, parts.path) if parts.hostname else (None, None)
    except ValueError:  # such as a broken IPv6 address
        return None, None


class PageError(ValueError):
    """Why a page cannot be parsed."""
