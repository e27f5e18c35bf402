"""Texts of documents as a report shows them: the part that has most of a topic's terms, with these marked."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache

from touche.formats.documents import AnyDocument, Argument
from touche.formats.pages import Page
from touche.scan.tokens import analysis_named, encoded, words

_ENGLISH = analysis_named("english")
_term = lru_cache(maxsize=100_000)(_ENGLISH.term)
_LONGEST = 450  # characters that are shown of a text
_BEFORE = 60  # of these, before the first term that is marked
_CONCLUSION = "__CONC__"  # in the id of a sentence of a conclusion


def texts_of(ids: Set[str], documents: Iterable[AnyDocument]) -> dict[str, list[tuple[str, str]]]:
    """The texts of documents, or of sentences, by id: the kind of each of its parts, and the text.

    The kind is ``conclusion``, ``premise`` or ``title``, or empty for a text that is all there is. Reads no
    further than it must.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for document in documents:
        if document.id in ids:
            found[document.id] = _parts(document)
        for sentence in (document.sentences or ()) if isinstance(document, Argument) else ():
            if sentence.id in ids:
                kind = "conclusion" if _CONCLUSION in sentence.id else "premise"
                found[sentence.id] = [(kind, sentence.text)]
        if len(found) == len(ids):
            break
    return found


def terms_of(title: str) -> frozenset[str]:
    """The terms of a topic's title: English stems without stop words."""
    return frozenset(_ENGLISH.terms(title))


def passage(text: str, terms: Set[str]) -> list[tuple[str, bool]]:
    """What is to be read of a text: the part that holds most of the terms.

    Args:
        text: the whole text; white space is folded.
        terms: English stems.

    Returns:
        The pieces of the part in their order, each with whether it is one of the terms.
    """
    text = encoded(" ".join(text.split())).decode()
    marks = _marks(text, terms)
    begin, end = _window(text, [start for start, _ in marks])
    pieces, at = [("… " if begin else "", False)], begin
    for start, stop in (mark for mark in marks if begin <= mark[0] and mark[1] <= end):
        pieces += [(text[at:start], False), (text[start:stop], True)]
        at = stop
    pieces += [(text[at:end], False), (" …" if end < len(text) else "", False)]
    return [piece for piece in pieces if piece[0]]


def _parts(document: AnyDocument) -> list[tuple[str, str]]:
    if isinstance(document, Argument):
        return [("conclusion", document.conclusion), ("premise", " ".join(document.premises))]
    if isinstance(document, Page) and document.title:
        return [("title", document.title), ("", document.body or "")]
    return [("", document.text)]


def _marks(text: str, terms: Set[str]) -> list[tuple[int, int]]:
    """Where words are whose stems are among the terms."""
    found, at = [], 0
    for word in words(text):
        at = text.index(word, at)
        if _term(word) in terms:
            found.append((at, at + len(word)))
        at += len(word)
    return found


def _window(text: str, starts: Sequence[int]) -> tuple[int, int]:
    """From where to where a text is shown; words are left whole, unless one is longer than that."""
    if len(text) <= _LONGEST:
        return 0, len(text)
    reach = _LONGEST - _BEFORE
    first = max(starts, key=lambda at: bisect_left(starts, at + reach) - bisect_left(starts, at), default=0)
    begin = 0 if first <= _BEFORE else text.find(" ", first - _BEFORE, first) + 1 or first
    if len(text) - begin <= _LONGEST:
        return begin, len(text)
    end = text.rfind(" ", begin, begin + _LONGEST)
    return begin, end if end > first else begin + _LONGEST
