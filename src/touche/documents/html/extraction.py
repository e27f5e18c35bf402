"""Parses HTML into the fields that ChatNoir searches (Bevendorff et al. 2018).

We use the same libraries as ChatNoir's authors. The rules are public, both for ChatNoir's present indexer and
for its indexer of 2020 and 2021.
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

# Longest fields, in characters.
_LONGEST_TITLE = 90
_LONGEST_DESCRIPTION = 400
_LONGEST_KEYWORDS_IN_2020 = 400
_LONGEST_META = 8192  # any meta element's content
_LONGEST_HEADINGS = 16384  # all headings together
_HEADING_TAGS = ("h1", "h2", "h3")
_MANY_HEADINGS = 2_000  # with more, visiting every node is faster
_MOST_LEVELS = 300  # finding the main content takes quadratic time, and browsers stop at 512
_TOO_DEEP = " > ".join(["*"] * (_MOST_LEVELS + 1))  # selects elements below that level
_MOST_UNREADABLE = 0.1  # share of characters
# Detected from the first bytes. Not octet-stream, because many texts are detected as that.
_BINARY = ("image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/gzip")


def parse(raw: RawPage) -> Page:
    """Parses a page as ChatNoir's present indexer does. Errors as in ``parse_as_in_2020``."""
    tree, page = _tree_and_shared_fields(raw)
    headings = [text for text in _heading_texts(_outermost(_heading_nodes(tree))) if text]
    return replace(
        page,
        title=_title(tree)[:_LONGEST_TITLE],
        headings="\n".join(headings)[:_LONGEST_HEADINGS],
        body=extract_plain_text(tree, main_content=True, preserve_formatting=False),
        # i ignores case.
        meta_description=_meta(tree, '[name="description" i]')[:_LONGEST_DESCRIPTION],
        meta_keywords=_meta(tree, '[name="keywords" i]'),
    )


def parse_as_in_2020(raw: RawPage) -> Page:
    """Parses a page as ChatNoir's 2020 and 2021 indexer did.

    Args:
        raw: the page as a server sent it; ``Documents.parsed_by`` passes each page of a collection.

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
    # As in that indexer: all h1, then all h2 and so on, without separators.
    headings = "".join(_heading_texts(sorted(_heading_nodes(tree), key=lambda node: node.tag)))
    title = _normalised(tree.title or "") or _normalised(rendered)  # else all text, shortened below
    return replace(
        page,
        title=shortened(title, _LONGEST_TITLE),
        headings=headings[:_LONGEST_HEADINGS],
        body=main_content(rendered),
        # Names were case-sensitive.
        meta_description=shortened(_meta(tree, '[name="description"][content]'), _LONGEST_DESCRIPTION),
        meta_keywords=shortened(_meta(tree, '[name="keywords"][content]'), _LONGEST_KEYWORDS_IN_2020),
    )


def _tree_and_shared_fields(raw: RawPage) -> tuple[HTMLTree, Page]:
    """Returns the tree, and a page with the fields that both indexers compute alike."""
    tree = _tree(raw)
    full_body = extract_plain_text(tree, preserve_formatting=False)
    if not full_body or _count_unreadable(full_body) > _MOST_UNREADABLE * len(full_body):
        raise PageError("without readable text")
    host, path = host_and_path(raw.url)
    language, _ = detect_fast(full_body)
    full_body = full_body.replace("\ufffd", "")  # stands for bytes that can't be decoded
    return tree, Page(raw.id, full_body=full_body, host=host, path=path, language=language)


def _tree(raw: RawPage) -> HTMLTree:
    """Parses a page, or raises PageError if it is not text, too large or too deeply nested."""
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
    """Decodes a page using the server's encoding, or a detected one if that is missing or unknown."""
    if raw.charset:
        with suppress(LookupError, ValueError):  # an unknown encoding
            return bytes_to_str(raw.content, raw.charset)
    return bytes_to_str(raw.content, detect_encoding(raw.content) or "utf-8")


def _count_unreadable(text: str) -> int:
    """Counts characters that are unprintable, or U+FFFD, which replaces broken bytes."""
    characters = "".join(text.split())  # without whitespace, which Python calls unprintable
    if characters.isprintable() and "\ufffd" not in characters:  # true for nearly all texts
        return 0
    counts = Counter(characters)
    return counts["\ufffd"] + sum(count for char, count in counts.items() if not char.isprintable())


def _title(tree: HTMLTree) -> str:
    """Returns the title, or else the first non-empty text among the first h1, h2 and ``.title``."""
    assert tree.document is not None  # checked by ``_tree``
    nodes = map(tree.document.query_selector, ("h1", "h2", ".title"))
    texts = (_normalised(node.text or "") for node in nodes if node is not None)
    return _normalised(tree.title or "") or next(filter(None, texts), "")


def _outermost(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yields headings in page order, except those inside another heading."""
    outermost = None
    for node in nodes:
        if outermost is None or not outermost.contains(node):
            outermost = node
            yield node


def _heading_texts(nodes: Iterable[Any]) -> Iterator[str]:
    """Yields headings' texts up to the allowed length: nested headings can repeat a text many times."""
    total_length = 0
    for node in nodes:
        if total_length >= _LONGEST_HEADINGS:
            return
        text = _normalised(node.text or "")
        total_length += len(text)
        yield text


def _heading_nodes(tree: HTMLTree) -> Sequence[Any]:
    assert tree.document is not None  # checked by ``_tree``
    nodes = tree.document.query_selector_all(", ".join(_HEADING_TAGS))
    if len(nodes) > _MANY_HEADINGS:
        return [node for node in tree.document if node.tag in _HEADING_TAGS]
    return nodes[:]  # a copy, because iterating over a selector's result takes quadratic time


def _meta(tree: HTMLTree, attributes: str) -> str:
    """Returns the content of the first ``meta`` element that matches a CSS attribute selector."""
    assert tree.document is not None  # checked by ``_tree``
    node = tree.document.query_selector(f"meta{attributes}")
    if node is None:
        return ""
    return _normalised(node.getattr("content") or "")[:_LONGEST_META]


def _normalised(text: str) -> str:
    return " ".join(text.split())
