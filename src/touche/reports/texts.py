"""Document texts for reports: the part that contains most of a topic's terms, with the terms marked."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache

from touche.documents.document_records import AnyDocument, Argument, Image
from touche.documents.pages import Page
from touche.scan.tokens import analysis_named, encoded, words

_ENGLISH = analysis_named("english")
_term = lru_cache(maxsize=100_000)(_ENGLISH.term)
_MAX_SHOWN = 450  # characters per text
# Not among Lucene's stop words.
_QUESTION_WORDS = """
am any been being better between can could did do does doing from get had has have having he her his how i its
may might more most much must my need our ought shall she should than their them them we were what when where
which who whom whose why would you your
"""
_BEFORE_FIRST = 60  # characters before the first marked term
_CONCLUSION = "__CONC__"  # marks a conclusion's sentence id


def read_texts(ids: Set[str], documents: Iterable[AnyDocument]) -> dict[str, list[tuple[str, str]]]:
    """Returns documents' or sentences' parts by id, each with its kind and text.

    The kind is ``conclusion``, ``premise``, ``title`` or ``address``, or empty for any other text. Reading
    stops once all ids are found.
    """
    texts: dict[str, list[tuple[str, str]]] = {}
    for document in documents:
        if document.id in ids:
            texts[document.id] = _parts(document)
        if isinstance(document, Argument):
            for sentence in document.sentences or ():
                if sentence.id in ids:
                    kind = "conclusion" if _CONCLUSION in sentence.id else "premise"
                    texts[sentence.id] = [(kind, sentence.text)]
        if len(texts) == len(ids):
            break
    return texts


def title_terms(title: str) -> frozenset[str]:
    """Returns the terms in a topic's title: English stems without stop words and question words."""
    return frozenset(_ENGLISH.terms(title)).difference(_ENGLISH.terms(_QUESTION_WORDS))


def passage(text: str, terms: Set[str]) -> list[tuple[str, bool]]:
    """Returns the part of a text where the terms occur most often.

    Args:
        text: the whole text; whitespace is collapsed.
        terms: English stems.

    Returns:
        The part in pieces, each with whether it's a term.
    """
    text = encoded(" ".join(text.split())).decode()  # without lone surrogates, which HTML doesn't allow
    marks = _marks(text, terms)
    begin, end = _shown_part(text, [start for start, _ in marks])
    pieces = [("… " if begin else "", False)]
    position = begin
    for start, stop in marks:
        if begin <= start and stop <= end:
            pieces += [(text[position:start], False), (text[start:stop], True)]
            position = stop
    pieces += [(text[position:end], False), (" …" if end < len(text) else "", False)]
    return [(part, is_term) for part, is_term in pieces if part]


def _parts(document: AnyDocument) -> list[tuple[str, str]]:
    """Returns the kinds and texts of a document's parts, as in ``read_texts``."""
    if isinstance(document, Argument):
        return [("conclusion", document.conclusion), ("premise", " ".join(document.premises))]
    if isinstance(document, Image):
        first_page = [("address", page.url) for page in document.pages[:1]]  # empty if there are no pages
        return [*first_page, ("", document.text)]
    if isinstance(document, Page) and document.title:
        return [("title", document.title), ("", document.body or "")]
    return [("", document.text)]


def _marks(text: str, terms: Set[str]) -> list[tuple[int, int]]:
    """Returns the start and end of each word whose stem is among the terms."""
    marks = []
    end = 0  # of the previous word
    for word in words(text):
        start = text.index(word, end)
        end = start + len(word)
        if _term(word) in terms:
            marks.append((start, end))
    return marks


def _shown_part(text: str, starts: Sequence[int]) -> tuple[int, int]:
    """Returns where the part with the most marked terms begins and ends.

    Args:
        text: the whole text.
        starts: positions of the marked terms, ascending.
    """
    if len(text) <= _MAX_SHOWN:
        return 0, len(text)
    after_first = _MAX_SHOWN - _BEFORE_FIRST  # characters from the first shown term onwards

    def shown_terms(position: int) -> int:
        """Returns how many terms the part contains if its first one is at this position."""
        return bisect_left(starts, position + after_first) - bisect_left(starts, position)

    first = max(starts, key=shown_terms, default=0)  # the earliest of the best positions
    begin = 0
    if first > _BEFORE_FIRST:  # start with a whole word
        blank = text.find(" ", first - _BEFORE_FIRST, first)
        begin = first if blank < 0 else blank + 1
    if len(text) - begin <= _MAX_SHOWN:
        return begin, len(text)
    end = text.rfind(" ", begin, begin + _MAX_SHOWN)
    if end <= first:  # if no blank follows the first term, split the long word
        end = begin + _MAX_SHOWN
    return begin, end
