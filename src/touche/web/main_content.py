"""The main content of a page by the rules of ChatNoir's indexer of 2020 and 2021, and how it cut texts short.

The rules are those of its public source (chatnoir2-indexer, and the extractor of Kiesel et al. 2017 that it
calls): the page is rendered as lines; what is too short for a paragraph goes, and so do sentences that are no
prose.
"""

import re
from itertools import pairwise

_SHORTEST = 50  # characters of a paragraph
_PROSE = 0.5  # share of a sentence's words and signs that are made of letters only
_KEPT = 0.6  # share of the allowed length that a text must keep to be cut at a word

# Where a sentence ends, near enough to UAX 29: after a full stop it goes on if the next letter is small.
_END = re.compile(r"[!?…][\"'”’)\]]* |\.[\"'”’)\]]* (?![-,:;–—]|(?:[^\w.!?]|\d)*[a-z])")
# Words and signs, as UAX 29 tells them apart, near enough again.
_SEGMENT = re.compile(r"\w+(?:['’.:]\w+|,\d+)*|[^\w\s]")

# The indexer's own list of English stop words was not at hand; that of function words here is ours.
_STOP_WORDS = frozenset(
    """a about above after again against all am among an and any are as at be because been before being below
    between both but by can cannot could did do does doing down during each either else ever every few
    for from further had has have having he her here hers herself him himself his how however i if in
    into is it its itself just may me might more most much must my myself neither no nor not of off
    often on once only or other our ours ourselves out over own rather same shall she should since so
    some such than that the their theirs them themselves then there therefore these they this those
    though through thus to too under until up upon us very was we were what when where whether which
    while who whom whose why will with within without would yet you your yours yourself yourselves""".split()
)


def main_content(rendered: str) -> str:
    """The sentences of a rendered page that are its main content, joined by blanks.

    Args:
        rendered: the text of a page, in which each block and each row of a table is a line.
    """
    paragraphs = (" ".join(line.split()) for line in rendered.split("\n"))
    return " ".join(
        sentence
        for paragraph in paragraphs
        if len(paragraph) >= _SHORTEST
        for sentence in _sentences(paragraph)
        if _is_prose(sentence)
    )


def shortened(text: str, length: int) -> str:
    """A text of so many characters at the most, cut at a word unless that would leave less than 60%."""
    if len(text) <= length:
        return text.strip()
    at = text.rfind(" ", 0, length + 1)  # that sign may be the blank that ends the last word
    return text[: at if at >= int(_KEPT * length) else length].strip()


def _sentences(paragraph: str) -> list[str]:
    ends = [0, *(found.end() for found in _END.finditer(paragraph)), len(paragraph)]
    return [paragraph[start:end].strip() for start, end in pairwise(ends) if start < end]


def _is_prose(sentence: str) -> bool:
    """Whether half of the words and signs are made of letters, and one is a stop word."""
    if _is_plain_prose(sentence):
        return True
    segments = _SEGMENT.findall(sentence)
    letters = sum(map(str.isalpha, segments))
    return letters >= _PROSE * len(segments) and not _STOP_WORDS.isdisjoint(map(str.lower, segments))


def _is_plain_prose(sentence: str) -> bool:
    """Whether it is even if all else were single signs, as most sentences are; that is faster to see."""
    words = sentence.split(" ")
    letters = list(filter(str.isalpha, words))
    others = len(sentence) - (len(words) - 1) - sum(map(len, letters))
    return len(letters) >= _PROSE * (len(letters) + others) and not _STOP_WORDS.isdisjoint(
        map(str.lower, letters)
    )
