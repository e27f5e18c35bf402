"""From the HTML of a page to the fields that ChatNoir searches (Bevendorff et al. 2018).

The libraries are those of ChatNoir's authors, and the rules are those of their indexer where it is public.
"""

from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, detect_mime
from resiliparse.parse.html import HTMLTree
from resiliparse.parse.lang import detect_fast

from touche.web.page import LARGEST, Page, PageError, RawPage

_TITLE, _DESCRIPTION, _META, _ALL_HEADINGS = 90, 400, 8192, 16384  # characters
_HEADINGS = ("h1", "h2", "h3")
_DEEPEST = 300  # levels; the time to find the main content grows by their square, and browsers stop at 512
_TOO_DEEP = " > ".join(["*"] * (_DEEPEST + 1))
_UNREADABLE = 0.1  # share of characters
# What a file begins with; of mere doubt about a text (octet-stream) there is much, and it is seen below.
_BINARY = ("image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/gzip")


def parse(raw: RawPage) -> Page:
    """Takes a page apart.

    Raises:
        PageError: if it is no text, too large, too deeply nested or empty.
    """
    tree = _tree(raw)
    full_body = extract_plain_text(tree, preserve_formatting=False)
    if not full_body or sum(map(_is_unreadable, full_body)) > _UNREADABLE * len(full_body):
        raise PageError("without readable text")
    url = _split(raw.url)
    known = bool(url.hostname)
    return Page(
        id=raw.id,
        title=_title(tree)[:_TITLE],
        headings="\n".join(filter(None, _headings(tree)))[:_ALL_HEADINGS],
        body=extract_plain_text(tree, main_content=True, preserve_formatting=False),
        full_body=full_body.replace("\ufffd", ""),
        meta_description=_meta(tree, "description")[:_DESCRIPTION],
        meta_keywords=_meta(tree, "keywords"),
        host=url.hostname if known else None,
        path=url.path if known else None,
        language=detect_fast(full_body)[0],
    )


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


def _is_unreadable(character: str) -> bool:
    return character == "\ufffd" or not (character.isprintable() or character.isspace())


def _title(tree: HTMLTree) -> str:
    """The title, or the first heading or what a page calls its title."""
    assert tree.document is not None
    first = (tree.document.query_selector(kind) for kind in ("h1", "h2", ".title"))
    texts = (tree.title, *(found.text for found in first if found is not None))
    return next((found for text in texts if (found := _blanks(text or ""))), "")


def _headings(tree: HTMLTree) -> Iterator[str]:
    """The headings of three levels, but for those within another one."""
    assert tree.document is not None
    last, length = None, 0
    for node in tree.document:
        # Not by a selector: going through what it finds takes time by the square of how many there are.
        if (
            node.tag in _HEADINGS
            and length < _ALL_HEADINGS
            and not (last is not None and last.contains(node))
        ):
            last, text = node, _blanks(node.text or "")
            length += len(text)
            yield text


def _meta(tree: HTMLTree, name: str) -> str:
    assert tree.document is not None
    found = tree.document.query_selector(f'meta[name="{name}" i]')
    return _blanks((found.getattr("content") or "") if found is not None else "")[:_META]


def _blanks(text: str) -> str:
    return " ".join(text.split())


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # such as a broken IPv6 address
        return urlsplit("")
