"""Words of texts in any script, for baselines without a tokenizer of Lucene."""

import re
from functools import cache
from itertools import chain
from unicodedata import category

_JOINERS = "\u200c\u200d"  # between letters of Persian, Hindi and others


def words(text: str, also: str = "") -> list[str]:
    r"""Returns the words of a text: letters, digits and underscores, with their marks.

    Marks are accents and vowel signs, such as those of Hindi, Thai and Hebrew. Python's ``\w`` has none of
    them, so ``\w+`` would split words at each vowel sign.

    Args:
        text: the text.
        also: other characters that words have, such as ``+#`` for C++ and C#.

    Examples:
        >>> import touche
        >>> touche.words("हिन्दी, C++ or cafés?")
        ['हिन्दी', 'C', 'or', 'cafés']
    """
    return _pattern(also).findall(text)


@cache
def _pattern(also: str) -> re.Pattern[str]:
    letters = rf"[\w{re.escape(also)}]" if also else r"\w"
    points = chain(range(0x300, 0x1F000), range(0xE0100, 0xE01F0))  # with all marks of Unicode
    marks = "".join(char for char in map(chr, points) if category(char).startswith("M"))
    # Nearly all words are followed by a character below U+0300, for which the many marks need no look.
    return re.compile(rf"{letters}+(?:(?![\0-\u02ff])[{marks}{_JOINERS}]+{letters}*)*")
