"""Web pages: raw, and parsed into fields."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

TEXT_TYPES = ("text/html", "application/xhtml+xml", "text/plain")  # types of content that are parsed
LARGEST_PAGE = 1 << 20  # bytes; larger pages are skipped, because ChatNoir ignores them


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as a server sent it.

    Attributes:
        id: the id.
        url: the address; empty if unknown.
        content: the bytes.
        charset: the server's encoding, or None.
        source: the file with the page, for errors; empty if unknown.
    """

    id: str
    url: str
    content: bytes
    charset: str | None = None
    source: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Page:
    """A page in fields. A field that the collection lacks is None; a field without text is empty.

    Attributes:
        id: the id.
        title: the title; without one, the first heading.
        headings: the headings of levels 1 to 3, one per line.
        body: the main content, without navigation and similar parts.
        full_body: the whole text.
        meta_description: the page's description of itself.
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
        """Title and main content, for methods with one field."""
        return f"{self.title or ''} {self.body or ''}".strip()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A page that was skipped; the reason is a phrase such as ``not of text``."""

    id: str
    reason: str


def as_page(document: Any) -> Page:
    """Returns a document as a page; the text of other documents becomes the main content.

    Args:
        document: a document of any kind.

    Returns:
        The page.

    Examples:
        >>> import touche
        >>> touche.as_page(touche.Document("d1", "Coal is dirty.")).body
        'Coal is dirty.'
    """
    return document if isinstance(document, Page) else Page(document.id, body=document.text)


Parser = Callable[[RawPage], Page]
"""Parses a page; raises ``PageError`` for a page to skip."""


def host_and_path(url: str) -> tuple[str | None, str | None]:
    """Returns the host and the path of a URL; both are None if there is no host."""
    try:
        parts = urlsplit(url)
        return (parts.hostname, parts.path) if parts.hostname else (None, None)
    except ValueError:  # such as a broken IPv6 address
        return None, None


class PageError(ValueError):
    """The reason why a page cannot be parsed."""
