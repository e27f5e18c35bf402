"""Finds a page's main content and shortens texts, as ChatNoir's 2020 and 2021 indexer did.

The rules come from its public source: chatnoir2-indexer, and the extractor by Kiesel et al. 2017 that it
contains. The page is rendered as lines. Lines that are too short for a paragraph are dropped, and so are
sentences that aren't prose.
"""

import re
from itertools import pairwise

_SHORTEST_PARAGRAPH = 50  # characters
_LEAST_WORDS = 0.5  # share of words among a sentence's words and signs
_LEAST_LENGTH = 0.6  # cut between words if at least this share of the allowed length remains

# Ends of sentences, similar to UAX 29: after a full stop, a lower-case letter continues the sentence.
_SENTENCE_END = re.compile(r"[!?…][\"'”’)\]]* |\.[\"'”’)\]]* (?![-,:;–—]|(?:[^\w.!?]|\d)*[a-z])")
# Words and signs, also similar to UAX 29.
_SEGMENT = re.compile(r"\w+(?:['’.:]\w+|,\d+)*|[^\w\s]")

# The indexer's own English stop words are not public; these function words replace them.
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
    """Returns the main content's sentences, joined by blanks.

    Args:
        rendered: the page's text, with one line per block and table row.
    """
    paragraphs = (" ".join(line.split()) for line in rendered.split("\n"))
    return " ".join(
        sentence
        for paragraph in paragraphs
        if len(paragraph) >= _SHORTEST_PARAGRAPH
        for sentence in _sentences(paragraph)
        if _is_prose(sentence)
    )


def shortened(text: str, length: int) -> str:
    """Shortens a text to ``length`` characters.

    Cuts between words, or within a word if less than 60% would remain.
    """
    if len(text) <= length:
        return text.strip()
    end_of_word = text.rfind(" ", 0, length + 1)  # the blank may be just after the allowed characters
    if end_of_word >= int(_LEAST_LENGTH * length):
        return text[:end_of_word].strip()
    return text[:length].strip()


def _sentences(paragraph: str) -> list[str]:
    # A match includes the blank after a sentence, so it never reaches the paragraph's end.
    bounds = [0, *(match.end() for match in _SENTENCE_END.finditer(paragraph)), len(paragraph)]
    return [paragraph[begin:end].strip() for begin, end in pairwise(bounds)]


def _is_prose(sentence: str) -> bool:
    """Requires a stop word, and that at least half of the words and signs are words of letters."""
    segments = _SEGMENT.findall(sentence)
    words = [segment for segment in segments if segment.isalpha()]
    has_stop_word = not _STOP_WORDS.isdisjoint(map(str.lower, segments))
    return has_stop_word and len(words) >= _LEAST_WORDS * len(segments)
