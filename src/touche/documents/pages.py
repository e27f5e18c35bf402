"""Web pages, raw or parsed into fields."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

TEXT_TYPES = ("text/html", "application/xhtml+xml", "text/plain")  # content types that we parse
LARGEST_PAGE = 1 << 20  # bytes; larger pages are skipped, as ChatNoir does


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as a server sent it.

    Attributes:
        url: the address; empty if unknown.
        charset: the encoding that the server declared, or None.
        source: the page's file, for errors; empty if unknown.
    """

    id: str
    url: str
    content: bytes
    charset: str | None = None
    source: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Page:
    """A page in fields. A field is None if the collection doesn't provide it, and empty if the page doesn't.

    Attributes:
        id: the id.
        title: the title, or else the first heading.
        headings: the headings of levels 1 to 3, one per line.
        body: the main content, without navigation and the like.
        full_body: the whole text.
        meta_description: the page's own description.
        meta_keywords: the page's keywords.
        host: the host name.
        path: the path.
        language: a code such as ``en``, or ``unknown``.
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

    @property
    def text(self) -> str:
        """Title and main content, for methods that search a single field."""
        return f"{self.title or ''} {self.body or ''}".strip()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A skipped page. The reason is a phrase such as ``not of text``."""

    id: str
    reason: str


def as_page(document: Any) -> Page:
    """Returns a document as a page. Other documents' text becomes the main content.

    Args:
        document: a document of any kind.

    Examples:
        >>> import touche
        >>> touche.as_page(touche.Document("d1", "Coal is dirty.")).body
        'Coal is dirty.'
    """
    return document if isinstance(document, Page) else Page(document.id, body=document.text)


Parser = Callable[[RawPage], Page]
"""Parses a page; raises ``PageError`` for a page to skip."""


def host_and_path(url: str) -> tuple[str | None, str | None]:
    """Returns a URL's host and path, or None for both if it names no host."""
    try:
        parts = urlsplit(url)
        return (parts.hostname, parts.path) if parts.hostname else (None, None)
    except ValueError:  # e.g. a broken IPv6 address
        return None, None


class PageError(ValueError):
    """Why a page can't be parsed."""
