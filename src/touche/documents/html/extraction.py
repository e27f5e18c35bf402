"""Makes the fields that ChatNoir searches (Bevendorff et al. 2018) from the HTML of a page.

The libraries are those of ChatNoir's authors. The rules are the public ones of its present indexer, and of
its indexer of 2020 and 2021.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, detect_mime
from resiliparse.parse.html import HTMLTree
from resiliparse.parse.lang import detect_fast

from touche.documents.html.main_content import main_content, shortened
from touche.documents.pages import LARGEST_PAGE, Page, PageError, RawPage, host_and_path

# The longest fields, in characters.
_LONGEST_TITLE = 90
_LONGEST_DESCRIPTION = 400
_LONGEST_KEYWORDS_IN_2020 = 400
_LONGEST_META = 8192  # the content of any element ``meta``
_LONGEST_HEADINGS = 16384  # all headings together
_HEADING_TAGS = ("h1", "h2", "h3")
_MANY_HEADINGS = 2_000  # with more, visiting every node is faster
_MOST_LEVELS = 300  # finding the main content takes quadratic time, and browsers stop at 512
_TOO_DEEP = " > ".join(["*"] * (_MOST_LEVELS + 1))  # selects elements below that level
_MOST_UNREADABLE = 0.1  # share of characters
# Types detected from the first bytes. octet-stream is not among them, because many texts get it.
_BINARY = ("image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/gzip")


def parse(raw: RawPage) -> Page:
    """Parses a page by the rules of ChatNoir's present indexer.

    Raises:
        PageError: if the page is not text, or is too large, too deeply nested or empty.
    """
    tree, page = _tree_and_shared_fields(raw)
    headings = [text for text in _heading_texts(_outermost(_heading_nodes(tree))) if text]
    return replace(
        page,
        title=_title(tree)[:_LONGEST_TITLE],
        headings="\n".join(headings)[:_LONGEST_HEADINGS],
        body=extract_plain_text(tree, main_content=True, preserve_formatting=False),
        # The letter i means: in upper or lower case.
        meta_description=_meta(tree, '[name="description" i]')[:_LONGEST_DESCRIPTION],
        meta_keywords=_meta(tree, '[name="keywords" i]'),
    )


def parse_as_in_2020(raw: RawPage) -> Page:
    """Parses a page by the rules of ChatNoir's indexer of 2020 and 2021.

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
    tree, page = _tree_and_shared_fields(raw)
    rendered = extract_plain_text(tree, preserve_formatting=True, list_bullets=False, alt_texts=False)
    # All h1, then all h2 and so on, without separators, as that indexer had them.
    headings = "".join(_heading_texts(sorted(_heading_nodes(tree), key=lambda node: node.tag)))
    title = _normalised(tree.title or "") or _normalised(rendered)  # else all text, shortened below
    return replace(
        page,
        title=shortened(title, _LONGEST_TITLE),
        headings=headings[:_LONGEST_HEADINGS],
        body=main_content(rendered),
        # That indexer distinguished upper and lower case in names.
        meta_description=shortened(_meta(tree, '[name="description"][content]'), _LONGEST_DESCRIPTION),
        meta_keywords=shortened(_meta(tree, '[name="keywords"][content]'), _LONGEST_KEYWORDS_IN_2020),
    )


def _tree_and_shared_fields(raw: RawPage) -> tuple[HTMLTree, Page]:
    """Returns a page as a tree, and the fields that both indexers share."""
    tree = _tree(raw)
    full_body = extract_plain_text(tree, preserve_formatting=False)
    if not full_body or _count_unreadable(full_body) > _MOST_UNREADABLE * len(full_body):
        raise PageError("without readable text")
    host, path = host_and_path(raw.url)
    language, _ = detect_fast(full_body)
    full_body = full_body.replace("\ufffd", "")  # the replacement of bytes that cannot be decoded
    return tree, Page(raw.id, full_body=full_body, host=host, path=path, language=language)


def _tree(raw: RawPage) -> HTMLTree:
    """Parses a page; raises PageError if it has no text, or is too large or too deeply nested."""
    if len(raw.content) > LARGEST_PAGE:
        raise PageError("larger than 1 MiB")
    if detect_mime(raw.content).startswith(_BINARY):
        raise PageError("not of text")
    tree = HTMLTree.parse(_decode(raw))
    if tree.body is None or tree.document is None:
        raise PageError("without readable text")
    if tree.document.query_selector(_TOO_DEEP) is not None:
        raise PageError("nested too deeply")
    return tree


def _decode(raw: RawPage) -> str:
    """Decodes a page by the server's encoding; if that is missing or unknown, by the detected encoding."""
    if raw.charset:
        with suppress(LookupError, ValueError):  # the server's encoding is unknown
            return bytes_to_str(raw.content, raw.charset)
    return bytes_to_str(raw.content, detect_encoding(raw.content) or "utf-8")


def _count_unreadable(text: str) -> int:
    """Returns the number of characters that are not printable, or U+FFFD, which is for broken bytes."""
    characters = "".join(text.split())  # without white space, which Python calls not printable
    if characters.isprintable() and "\ufffd" not in characters:  # true for nearly all texts
        return 0
    counts = Counter(characters)  # each distinct character is tested once
    return counts["\ufffd"] + sum(count for char, count in counts.items() if not char.isprintable())


def _title(tree: HTMLTree) -> str:
    """Returns the title; if it is empty, that of the first h1, else of the first h2, else of ``.title``."""
    assert tree.document is not None  # as ``_tree`` has checked
    nodes = map(tree.document.query_selector, ("h1", "h2", ".title"))
    texts = (_normalised(node.text or "") for node in nodes if node is not None)
    return _normalised(tree.title or "") or next(filter(None, texts), "")


def _outermost(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yields the headings that are not within another heading; all are in the order of the page."""
    outermost = None  # the last yielded one
    for node in nodes:
        if outermost is None or not outermost.contains(node):
            outermost = node
            yield node


def _heading_texts(nodes: Iterable[Any]) -> Iterator[str]:
    """Yields the texts of headings until they reach the allowed length.

    Further headings are not read, because those of ``parse_as_in_2020`` can be nested: a hundred of them may
    contain the same long text.
    """
    total_length = 0
    for node in nodes:
        if total_length >= _LONGEST_HEADINGS:
            return
        text = _normalised(node.text or "")
        total_length += len(text)
        yield text


def _heading_nodes(tree: HTMLTree) -> Sequence[Any]:
    """Returns the headings of levels 1 to 3 in the order of the page."""
    assert tree.document is not None  # as ``_tree`` has checked
    nodes = tree.document.query_selector_all(", ".join(_HEADING_TAGS))
    if len(nodes) > _MANY_HEADINGS:
        return [node for node in tree.document if node.tag in _HEADING_TAGS]
    return nodes[:]  # a copy, because iterating over a selector's result takes quadratic time


def _meta(tree: HTMLTree, attributes: str) -> str:
    """Returns the content of the first element ``meta`` that matches the attributes of a CSS selector."""
    assert tree.document is not None  # as ``_tree`` has checked
    node = tree.document.query_selector(f"meta{attributes}")
    if node is None:
        return ""
    return _normalised(node.getattr("content") or "")[:_LONGEST_META]


def _normalised(text: str) -> str:
    """Returns a text with single blanks as white space, and none around it."""
    return " ".join(text.split())
