"""Splits text in any script into words, for baselines that don't use Lucene's tokenizers."""

import re
from functools import cache
from itertools import chain
from unicodedata import category

from touche.io.identifiers import check_text

_JOINERS = "\u200c\u200d"  # between letters in Persian, Hindi and others


def words(text: str, also: str = "") -> list[str]:
    r"""Returns a text's words, which consist of letters, digits, underscores and marks.

    Marks are accents and vowel signs, as in Hindi, Thai and Hebrew. Python's ``\w`` doesn't match them, so
    ``\w+`` would split words at each vowel sign.

    Args:
        text: the text.
        also: other characters that belong to words, such as ``+#`` for C++ and C#.

    Examples:
        >>> import touche
        >>> touche.words("हिन्दी, C++ or cafés?")
        ['हिन्दी', 'C', 'or', 'cafés']
    """
    check_text("text", text)
    check_text("also", also)
    return _pattern(also).findall(text)


@cache
def _pattern(also: str) -> re.Pattern[str]:
    letters = rf"[\w{re.escape(also)}]" if also else r"\w"
    points = chain(range(0x300, 0x1F000), range(0xE0100, 0xE01F0))  # where Unicode's marks are
    marks = "".join(char for char in map(chr, points) if category(char).startswith("M"))
    # For speed: nearly all words end before a character below U+0300, which is no mark.
    return re.compile(rf"{letters}+(?:(?![\0-\u02ff])[{marks}{_JOINERS}]+{letters}*)*")
