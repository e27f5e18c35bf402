"""The table by which src/touche/pairs/breaks.py tells sentences apart: the sign of every character.

python tests/pairs/breaks.py    # writes it, in a minute

Java's BreakIterator is asked: characters of the same sign are those that it treats alike.
"""

from pathlib import Path
from typing import Any

import numpy as np

from touche.lucene.java import java, string

TABLE = Path(__file__).parents[2] / "src" / "touche" / "pairs" / "breaks.npz"
CODE_POINTS = 0x110000
AT_ONCE = 256

# Each sign with a character that has it; Java tells no others apart.
EXAMPLES = {
    "P": "\u2029",
    "!": "!",
    ".": ".",
    "|": "\u0964",
    '"': '"',
    ")": ")",
    " ": " ",
    "1": "1",
    "a": "a",
    "A": "A",
    "o": "$",
    "^": "\u0300",
    "N": "\uffff",
}
# Where these texts end their sentences, with a character in the middle, tells its sign.
AROUND = (('."', ".1"), (". ", '"a'), ("!", "!"))
ALONE = EXAMPLES["N"]  # ends any sentence, so that many texts are asked for at once

Ends = tuple[int, ...]


def ends(text: str) -> list[int]:
    """Where the sentences of a text end, in code points."""
    breaks = java("java.text.BreakIterator").getSentenceInstance(java("java.util.Locale").ENGLISH)
    breaks.setText(string(text))
    is_break = np.zeros(2 * len(text) + 1, dtype=bool)  # in units of 16 bits
    while (position := breaks.next()) != breaks.DONE:
        is_break[position] = True
    wide = [1 + (sign > "\uffff") for sign in text]
    return (np.flatnonzero(is_break[np.cumsum(wide)]) + 1).tolist() if text else []


def answers(points: range) -> list[Ends]:
    """What Java says of each of these characters: the ends in its texts, one after the other."""
    texts = ["".join(before + chr(point) + after + ALONE for before, after in AROUND) for point in points]
    size = len(texts[0])
    ends_of_texts: list[list[int]] = [[] for _ in points]
    for position in ends("".join(texts)):
        number, within = divmod(position - 1, size)
        ends_of_texts[number].append(within)
    return [tuple(text_ends) for text_ends in ends_of_texts]


def table() -> dict[str, Any]:
    """Runs of characters with the same sign: the signs in ASCII, and how long the runs are."""
    sign_of = {
        answers(range(ord(example), ord(example) + 1))[0]: ord(sign) for sign, example in EXAMPLES.items()
    }
    chunks = (range(first, first + AT_ONCE) for first in range(0, CODE_POINTS, AT_ONCE))
    signs = np.array([sign_of[answer] for chunk in chunks for answer in answers(chunk)], dtype=np.uint8)
    begins = np.concatenate([[0], np.flatnonzero(np.diff(signs)) + 1])
    return {"signs": signs[begins], "sizes": np.diff([*begins, CODE_POINTS]).astype(np.int32)}


if __name__ == "__main__":
    np.savez_compressed(TABLE, **table())
