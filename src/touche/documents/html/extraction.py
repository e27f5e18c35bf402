"""Makes the fields that ChatNoir searches (Bevendorff et al. 2018) from the HTML of a page.

The libraries are those of ChatNoir's authors. The rules are the public ones of today's indexer, and of the
indexer of 2020 and 2021.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, detect_mime
from resiliparse.parse.html import HTMLTree
from resiliparse.parse.lang import detect_fast

from touche.documents.html.main_content import main_content, shortened
from touche.documents.pages import LARGEST, Page, PageError, RawPage, host_and_path

# Characters.
_TITLE = 90
_DESCRIPTION = 400
_KEYWORDS_2020 = 400
_META = 8192
_ALL_HEADINGS = 16384
_HEADINGS = ("h1", "h2", "h3")
_MANY = 2_000  # headings; with more, visiting every node is faster
_DEEPEST = 300  # levels; finding the main content takes quadratic time, and browsers stop at 512
_TOO_DEEP = " > ".join(["*"] * (_DEEPEST + 1))
_UNREADABLE = 0.1  # largest share of unreadable characters
# Types detected from the first bytes. octet-stream is not among them, because many texts get it.
_BINARY = ("image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/gzip")


def parse(raw: RawPage) -> Page:
    """Parses a page by the rules of today's indexer.

    Raises:
        PageError: if the page is not text, or is too large, too deeply nested or empty.
    """
    tree, page = _read(raw)
    return replace(
        page,
        title=_title(tree)[:_TITLE],
        headings="\n".join(filter(None, _texts(_outermost(_heading_nodes(tree)))))[:_ALL_HEADINGS],
        body=extract_plain_text(tree, main_content=True, preserve_formatting=False),
        meta_description=_meta(tree, '[name="description" i]')[:_DESCRIPTION],
        meta_keywords=_meta(tree, '[name="keywords" i]'),
        rules=parse.__name__,
    )


def parse_as_in_2020(raw: RawPage) -> Page:
    """Parses a page by the rules of the indexer of 2020 and 2021.

    Args:
        raw: the page as a server sent it; ``Documents.parsed_by`` passes each page of a collection.

    Returns:
        The page in fields.

    Raises:
        PageError: if the page is not text, or is too large, too deeply nested or empty.

    Examples:
        >>> import touche
        >>> documents = touche.task("spot-check/pages").documents
        >>> documents.parsed_by(touche.parse_as_in_2020).parser.__name__
        'parse_as_in_2020'
    """
    tree, page = _read(raw)
    rendered = extract_plain_text(tree, preserve_formatting=True, list_bullets=False, alt_texts=False)
    # All h1, then all h2 and so on, without separators, as that indexer had them.
    headings = "".join(_texts(sorted(_heading_nodes(tree), key=lambda node: node.tag)))
    return replace(
        page,
        title=shortened(_normalised(tree.title or "") or _normalised(rendered), _TITLE),
        headings=headings[:_ALL_HEADINGS],
        body=main_content(rendered),
        meta_description=shortened(_meta(tree, '[name="description"][content]'), _DESCRIPTION),
        meta_keywords=shortened(_meta(tree, '[name="keywords"][content]'), _KEYWORDS_2020),
        rules=parse_as_in_2020.__name__,
    )


def _read(raw: RawPage) -> tuple[HTMLTree, Page]:
    """Returns a page as a tree, and the fields that both indexers share."""
    tree = _tree(raw)
    full_body = extract_plain_text(tree, preserve_formatting=False)
    if not full_body or _unreadable(full_body) > _UNREADABLE * len(full_body):
        raise PageError("without readable text")
    host, path = host_and_path(raw.url)
    language = detect_fast(full_body)[0]
    full_body = full_body.replace("\ufffd", "")
    return tree, Page(raw.id, full_body=full_body, host=host, path=path, language=language)


def _tree(raw: RawPage) -> HTMLTree:
    if len(raw.content) > LARGEST:
        raise PageError("larger than 1 MiB")
    if detect_mime(raw.content).startswith(_BINARY):
        raise PageError("not of text")
    tree = HTMLTree.parse(_text(raw))
    if tree.body is None or tree.document is None:
        raise PageError("without readable text")
    if tree.document.query_selector(_TOO_DEEP) is not None:
        raise PageError("nested too deeply")
    return tree


def _text(raw: RawPage) -> str:
    try:
        if raw.charset:
            return bytes_to_str(raw.content, raw.charset)
    except (LookupError, ValueError):  # the server's encoding is unknown
        pass
    return bytes_to_str(raw.content, detect_encoding(raw.content) or "utf-8")


def _unreadable(text: str) -> int:
    """Returns the number of unreadable characters."""
    words = "".join(text.split())
    if words.isprintable() and "\ufffd" not in words:  # true for nearly all texts
        return 0
    counts = Counter(words)  # each distinct character is tested once
    return counts["\ufffd"] + sum(count for char, count in counts.items() if not char.isprintable())


def _title(tree: HTMLTree) -> str:
    """Returns the title, else the first heading or element of class ``title``."""
    assert tree.document is not None
    first = (tree.document.query_selector(kind) for kind in ("h1", "h2", ".title"))
    texts = (tree.title, *(node.text for node in first if node is not None))
    return next(filter(None, (_normalised(text or "") for text in texts)), "")


def _outermost(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yields the headings that are not within another heading."""
    last = None
    for node in nodes:
        if last is None or not last.contains(node):
            last = node
            yield node


def _texts(nodes: Iterable[Any]) -> Iterator[str]:
    """Yields the texts of headings up to the limit, because a text can be in a hundred nested headings."""
    length = 0
    for node in nodes:
        if length >= _ALL_HEADINGS:
            return
        text = _normalised(node.text or "")
        length += len(text)
        yield text


def _heading_nodes(tree: HTMLTree) -> Sequence[Any]:
    """Returns the headings in order.

    A selector's result is copied at once, because iterating over it takes quadratic time.
    """
    assert tree.document is not None
    nodes = tree.document.query_selector_all(", ".join(_HEADINGS))
    return nodes[:] if len(nodes) <= _MANY else [node for node in tree.document if node.tag in _HEADINGS]


def _meta(tree: HTMLTree, attributes: str) -> str:
    """Returns the content of the first matching element; in 2020 names were case-sensitive."""
    assert tree.document is not None
    node = tree.document.query_selector(f"meta{attributes}")
    return "" if node is None else _normalised(node.getattr("content") or "")[:_META]


def _normalised(text: str) -> str:
    return " ".join(text.split())
