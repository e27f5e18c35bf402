"""The table by which src/touche/scan/ tells words apart, read from Lucene 9.9 and Java.

python tests/scan/words.py    # writes it

Lucene's tokenizer is an automaton over classes of characters (UAX 29 of Unicode 12.1, and emoji of UTS 51).
The table has the same automaton with as few states as possible: in state s a character of class c leads to
``steps[s, c]``, and s ends a word if ``ends[s]``. It also has the class of each character, its lower case in
Java, and how Lucene writes it in ASCII.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jpype
import numpy as np

from touche.lucene.java import java

TABLE = Path(__file__).parents[2] / "src" / "touche" / "scan" / "words.npz"
CODE_POINTS = 0x110000
BLOCK = 256

# Each class by one of its characters; Lucene tells no others apart.
CLASSES = {
    "other": " ",
    "letter": "a",
    "hebrew": "\u05d0",
    "hangul": "\uac00",
    "emoji letter": "\u2139",
    "digit": "0",
    "numeric": "\u0660",
    "katakana": "\u30a2",
    "hiragana": "\u3042",
    "han": "\u4e00",
    "complex": "\u0e01",  # Thai and others that write no spaces
    "complex mark": "\u0e31",
    "joins words": "_",  # ExtendNumLet
    "in letters": ":",  # MidLetter
    "in numbers": ",",  # MidNum
    "in both": ".",  # MidNumLet
    "single quote": "'",
    "double quote": '"',
    "mark": "\u0300",  # Extend or Format
    "joiner": "\u200d",
    "as text": "\ufe0e",
    "as emoji": "\ufe0f",
    "pictograph": "\u2764",
    "skin": "\U0001f3fb",
    "flag letter": "\U0001f1e6",
    "key": "#",
    "key cap": "\u20e3",
    "tag": "\U000e0020",
    "end of tags": "\U000e007f",
}
# A state of Lucene that has no successor, an action that finds no word, and bits of a state's attribute.
_DEAD = -1
_NO_WORD = 1
_FINAL = 1
_LAST = 8


def automaton() -> tuple[np.ndarray, np.ndarray]:
    """Returns steps and ends of Lucene's automaton; nothing follows state 0, and state 1 is the beginning."""
    moves, rows, attributes, actions = map(_field, ("ZZ_TRANS", "ZZ_ROWMAP", "ZZ_ATTRIBUTE", "ZZ_ACTION"))
    column_of = _columns()
    columns = [int(column_of[ord(sign)]) for sign in CLASSES.values()]
    states = {_DEAD: 0, 0: 1}
    steps = [[0] * len(columns)]
    ends = [False, False]
    for state in _growing(states):
        row = []
        for column in columns:
            following = int(moves[rows[state] + column])
            attribute = int(attributes[following])
            is_end = following != _DEAD and bool(attribute & _FINAL) and actions[following] != _NO_WORD
            if not is_end and attribute & _LAST:
                following = _DEAD
            if following not in states:
                states[following] = len(states)
                ends.append(is_end)
            row.append(states[following])
        steps.append(row)
    return _fewest(np.array(steps), np.array(ends))


def _growing(states: Mapping[int, int]) -> Iterator[int]:
    """Yields all states but the first, including those that are added meanwhile."""
    done = 1
    while done < len(states):
        yield list(states)[done]
        done += 1


def _fewest(steps: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same with states that differ in nothing made one (Moore 1956)."""
    group = ends.astype(int)
    groups = 0
    while group.max() >= groups:
        groups = group.max() + 1
        _, first, group = np.unique(
            np.column_stack([group, group[steps]]), axis=0, return_index=True, return_inverse=True
        )
        order = np.argsort(np.argsort(first))  # in the order in which they were found, so that 0 and 1 stay
        group = order[group.ravel()]
    representatives = np.sort(first)
    return group[steps[representatives]].astype(np.uint8), ends[representatives]


def classes() -> np.ndarray:
    """The class of every code point."""
    lucene = _columns()
    names = {lucene[ord(sign)]: number for number, sign in enumerate(CLASSES.values())}
    if len(names) != lucene.max() + 1:
        raise SystemExit("Lucene knows other classes of characters than CLASSES")
    classes: np.ndarray = np.array([names[n] for n in range(len(names))], dtype=np.uint8)[lucene]
    return classes


def _columns() -> np.ndarray:
    """Lucene's class of every code point."""
    blocks = _field("ZZ_CMAP_BLOCKS")
    top = _field("ZZ_CMAP_TOP")
    points = np.arange(CODE_POINTS)
    columns: np.ndarray = blocks[top[points >> 8] | points & 255]  # the first block is that of the first 256
    return columns


def _field(name: str) -> np.ndarray:
    field = java("org.apache.lucene.analysis.standard.StandardTokenizerImpl").class_.getDeclaredField(name)
    field.setAccessible(True)
    return np.array(field.get(None)[:])


def lower_case() -> tuple[np.ndarray, np.ndarray]:
    """The code points above ASCII that have another lower case, and this, each of one code point."""
    lower = java("java.lang.Character").toLowerCase
    pairs = [(n, int(lower(jpype.JInt(n)))) for n in range(128, CODE_POINTS)]
    upper, lowered = np.array([pair for pair in pairs if pair[0] != pair[1]], dtype=np.int32).T
    return upper, lowered


def without_accents() -> tuple[np.ndarray, np.ndarray]:
    """The code points that Lucene's ASCIIFoldingFilter writes in ASCII, and how."""
    fold = java("org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter").foldToASCII
    folded = jpype.JArray(jpype.JChar)(8)
    pairs = {}
    for n in range(128, 0x10000):
        size = fold(jpype.JArray(jpype.JChar)([chr(n)]), 0, folded, 0, 1)
        pairs[n] = "".join(map(str, folded[:size]))
    changed = {pair: sign for pair, sign in pairs.items() if sign != chr(pair)}
    return np.array(list(changed), dtype=np.int32), np.array(list(changed.values()))


def table() -> dict[str, Any]:
    """All arrays of the table by their names."""
    blocks, block_of = np.unique(classes().reshape(-1, BLOCK), axis=0, return_inverse=True)
    steps, ends = automaton()
    upper, lower = lower_case()
    accented, folded = without_accents()
    return {
        "block_of": block_of.ravel().astype(np.uint8),
        "blocks": blocks,
        "steps": steps,
        "ends": ends,
        "upper": upper,
        "lower": lower,
        "accented": accented,
        "folded": folded,
    }


if __name__ == "__main__":
    np.savez_compressed(TABLE, **table())
