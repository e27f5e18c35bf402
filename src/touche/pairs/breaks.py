"""Splits English texts into sentences exactly like Java's BreakIterator (JDK 21).

Each character has a sign, from breaks.npz, which tests/pairs/breaks.py generates:

* ``P`` separates paragraphs, ``!`` ends a sentence (! ? 。), ``.`` may end one, ``|`` is a danda
* ``"`` is a straight quote, ``)`` a closing quote or bracket, a blank is a blank or line end
* ``1`` is a digit or comma, ``a`` a small letter, ``A`` any other letter
* ``^`` is a mark, which belongs to the character before it, ``N`` is U+FFFF, and ``o`` all else

We follow Java even where it contradicts grammar. For example, ``Yes.  (1)`` becomes three sentences, of which
the second is the full stop.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from touche.scan.kernel import Array

_TABLE = Path(__file__).with_name("breaks.npz")
_END_OF_TEXT = "$"  # the sign after the last character
_OUT_OF_TEXT = re.compile(r"[P!.|N$]")  # signs that leave the state "text"

# The next state for each sign. The sign ^ keeps every state; other signs that aren't listed end the
# sentence.
_ROWS = {
    "text": {'") 1aAo': "text", ".": "stop", "!": "end", "|": "danda", "P": "over"},
    "over": {},
    "danda": {" ": "danda"},
    "end": {'!.")': "end", " ": "after end", "P": "over"},
    "after end": {" ": "after end", "P": "over"},
    "stop": {".)": "stop", '"': "quote", " ": "blank", "|o": "begun", "1aA": "text", "!": "end", "P": "over"},
    "quote": {".)": "stop", '"': "quote", " ": "blank", "|o": "odd", "1": "text", "!": "end", "P": "over"},
    "blank": {".": "stop", " ": "blanks", '"|o': "begun", ")1a": "text", "!": "end", "P": "over"},
    "blanks": {".": "stop", " ": "blanks", '"|o': "odd", ")1": "text", "!": "end", "P": "over"},
    "begun": {".": "stop", '"|o': "begun", " )1": "text", "!": "end", "P": "over"},
    "odd": {'"|o': "begun"},
}
_STEPS = {
    state: {sign: next_state for signs, next_state in (row | {"^": state}).items() for sign in signs}
    for state, row in _ROWS.items()
}
# The next sentence may have begun in these states.
_MAY_BEGIN = {"begun", "odd"}
# In these states, signs may belong to the next sentence.
_UNSURE = {"stop", "quote", "blank", "blanks", *_MAY_BEGIN}


def split_with_blanks(text: str) -> Iterator[str]:
    """Yields the sentences, each with the blanks after it. Joined, they are the text.

    Lone surrogates, e.g. from broken JSON escapes, become question marks.
    """
    raw = text.encode("utf-32-le", "replace")  # code points as four-byte integers
    signs = _signs()[np.frombuffer(raw, dtype="<u4")].tobytes().decode("ascii") + _END_OF_TEXT
    begin = 0
    while signs[begin] != _END_OF_TEXT:
        end = _end_of_sentence(signs, begin)
        yield raw[4 * begin : 4 * end].decode("utf-32-le")
        begin = end


def _end_of_sentence(signs: str, begin: int) -> int:
    """Returns where a sentence ends: the index after its last character.

    We follow the states up to the first sign that none of them allows. If that's a letter, it begins the next
    sentence, together with the signs before it that may belong there. If it's another sign, the sentence
    ends before the first sign that may not belong to it, such as a full stop.

    Args:
        signs: the text's signs, followed by ``_END_OF_TEXT``.
        begin: the index of the sentence's first character.
    """
    state = "text"
    at = begin
    ends = {state: begin + 1}  # where each state's last sign ends; a sentence has at least one character
    while signs[at] in _STEPS[state]:
        state = _STEPS[state][signs[at]]
        at += 1
        if state == "text":  # skip signs that keep this state
            at = _OUT_OF_TEXT.search(signs, at).start()  # type: ignore[union-attr]
        ends[state] = at
    is_whole = signs[at] == _END_OF_TEXT and state not in _MAY_BEGIN  # the text ends with this sentence
    excluded = _MAY_BEGIN if signs[at] in "aA" or is_whole else _UNSURE
    return max(end for state, end in ends.items() if state not in excluded)


@cache
def _signs() -> Array:
    """Returns each code point's sign, as ASCII codes in an array of bytes.

    The file stores ranges of code points that share a sign: the signs and the ranges' sizes.
    """
    with np.load(_TABLE) as ranges:
        return np.repeat(ranges["signs"], ranges["sizes"])
