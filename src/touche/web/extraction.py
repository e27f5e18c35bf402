"""From the HTML of a page to the fields that ChatNoir searches (Bevendorff et al. 2018).

The libraries are those of ChatNoir's authors, and the rules are those of their two indexers where they are
public: of today's, and of the one that made the index of 2020 and 2021.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, detect_mime
from resiliparse.parse.html import HTMLTree
from resiliparse.parse.lang import detect_fast

from touche.formats.pages import LARGEST, Page, PageError, RawPage, host_and_path
from touche.web.main_content import main_content, shortened

_TITLE, _DESCRIPTION, _META, _ALL_HEADINGS = 90, 400, 8192, 16384  # characters
_KEYWORDS_2020 = 400
_HEADINGS = ("h1", "h2", "h3")
_MANY = 2_000  # headings; of more it is faster to look at every node
_DEEPEST = 300  # levels; the time to find the main content grows by their square, and browsers stop at 512
_TOO_DEEP = " > ".join(["*"] * (_DEEPEST + 1))
_UNREADABLE = 0.1  # share of characters
# What a file begins with; of mere doubt about a text (octet-stream) there is much, and it is seen below.
_BINARY = ("image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/gzip")


def parse(raw: RawPage) -> Page:
    """Takes a page apart by the rules of today's indexer.

    Raises:
        PageError: if it is no text, too large, too deeply nested or empty.
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
    """Takes a page apart by the rules of the indexer of 2020 and 2021.

    Raises:
        PageError: as of ``parse``.
    """
    tree, page = _read(raw)
    rendered = extract_plain_text(tree, preserve_formatting=True, list_bullets=False, alt_texts=False)
    return replace(
        page,
        title=shortened(_blanks(tree.title or "") or _blanks(rendered), _TITLE),
        headings="".join(_texts(sorted(_heading_nodes(tree), key=lambda node: node.tag)))[:_ALL_HEADINGS],
        body=main_content(rendered),
        meta_description=shortened(_meta(tree, '[name="description"][content]'), _DESCRIPTION),
        meta_keywords=shortened(_meta(tree, '[name="keywords"][content]'), _KEYWORDS_2020),
        rules=parse_as_in_2020.__name__,
    )


def _read(raw: RawPage) -> tuple[HTMLTree, Page]:
    """A page as a tree, and the fields that are the same by the rules of both indexers."""
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
    except (LookupError, ValueError):  # a server may name what is no encoding
        pass
    return bytes_to_str(raw.content, detect_encoding(raw.content) or "utf-8")


def _unreadable(text: str) -> int:
    """The number of characters that cannot be read, each distinct one looked at once."""
    words = "".join(text.split())
    if words.isprintable() and "\ufffd" not in words:  # as nearly all texts are
        return 0
    counts = Counter(words)  # without blanks
    return counts["\ufffd"] + sum(count for each, count in counts.items() if not each.isprintable())


def _title(tree: HTMLTree) -> str:
    """The title, or the first heading or what a page calls its title."""
    assert tree.document is not None
    first = (tree.document.query_selector(kind) for kind in ("h1", "h2", ".title"))
    texts = (tree.title, *(found.text for found in first if found is not None))
    return next((found for text in texts if (found := _blanks(text or ""))), "")


def _outermost(nodes: Iterable[Any]) -> Iterator[Any]:
    """The headings that are not within another one."""
    last = None
    for node in nodes:
        if last is None or not last.contains(node):
            last = node
            yield node


def _texts(nodes: Iterable[Any]) -> Iterator[str]:
    """The texts of headings, as many as are kept; a text can be in a hundred headings."""
    length = 0
    for node in nodes:
        if length >= _ALL_HEADINGS:
            return
        text = _blanks(node.text or "")
        length += len(text)
        yield text


def _heading_nodes(tree: HTMLTree) -> Sequence[Any]:
    """The headings, in their order.

    What a selector finds is taken at once: going through it takes time by the square of how many there are.
    """
    assert tree.document is not None
    found = tree.document.query_selector_all(", ".join(_HEADINGS))
    return found[:] if len(found) <= _MANY else [node for node in tree.document if node.tag in _HEADINGS]


def _meta(tree: HTMLTree, attributes: str) -> str:
    """The content of the first element; that of 2020 has one, and its name is compared letter by letter."""
    assert tree.document is not None
    found = tree.document.query_selector(f"meta{attributes}")
    return _blanks((found.getattr("content") or "") if found is not None else "")[:_META]


def _blanks(text: str) -> str:
    return " ".join(text.split())
