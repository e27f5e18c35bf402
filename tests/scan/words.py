"""The table by which src/touche/scan/ tells words apart, from the rules below and what Lucene knows.

python tests/scan/words.py    # writes it

The rules are those of Unicode's text segmentation (UAX 29, word boundaries) and of its sequences of emoji
(UTS 51), as far as Lucene 9.9 keeps them. They are written as expressions over classes of characters, and
become one automaton with as few states as do: in state s a character of class c leads to ``steps[s, c]``,
and s ends a word if ``ends[s]``. Which characters are of one class (Unicode 12.1), Lucene is asked, and what
their lower case is, Java.
"""

from collections.abc import Callable, Iterator, Mapping
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
_NUMBER = {name: number for number, name in enumerate(CLASSES)}

# An expression adds its states to an automaton, from the state given to the one that it returns.
Graph = list[dict[int | None, set[int]]]  # per state: where a class, or nothing (None), leads to
Expression = Callable[[Graph, int], int]


def one(*names: str) -> Expression:
    """One character of any of these classes."""

    def add(graph: Graph, begin: int) -> int:
        graph.append({})
        for name in names:
            graph[begin].setdefault(_NUMBER[name], set()).add(len(graph) - 1)
        return len(graph) - 1

    return add


def row(*parts: Expression) -> Expression:
    """One after the other."""

    def add(graph: Graph, begin: int) -> int:
        for part in parts:
            begin = part(graph, begin)
        return begin

    return add


def either(*parts: Expression) -> Expression:
    """Any of these."""

    def add(graph: Graph, begin: int) -> int:
        graph.append({})
        end = len(graph) - 1
        for part in parts:
            graph.append({})
            _link(graph, begin, len(graph) - 1)
            _link(graph, part(graph, len(graph) - 1), end)
        return end

    return add


def many(part: Expression) -> Expression:
    """Any number of times, or not at all."""

    def add(graph: Graph, begin: int) -> int:
        graph.append({})
        middle = len(graph) - 1
        _link(graph, begin, middle)
        _link(graph, part(graph, middle), middle)
        graph.append({})
        _link(graph, middle, len(graph) - 1)
        return len(graph) - 1

    return add


def maybe(part: Expression) -> Expression:
    """Once or not at all."""
    return either(part, row())


def some(part: Expression) -> Expression:
    """Once or more often."""
    return row(part, many(part))


def _link(graph: Graph, begin: int, end: int) -> None:
    graph[begin].setdefault(None, set()).add(end)


_MARKS = ("mark", "complex mark", "joiner", "key cap", "skin", "tag", "end of tags")


def of(*names: str) -> Expression:
    """One character of any of these classes, with the marks that follow it (WB4)."""
    return row(one(*names), many(one(*_MARKS, "as text", "as emoji")))


def shown(*names: str) -> Expression:
    """The same, where a choice between text and emoji has a meaning of its own."""
    return row(one(*names), many(one(*_MARKS)))


def words() -> Expression:
    """What counts as a word; of all that begin at a place, the longest does."""
    return either(
        _text(),
        some(of("complex", "complex mark")),
        of("han"),
        of("hiragana"),
        _emoji(),
        row(shown("key", "digit"), maybe(one("as emoji")), shown("key cap")),
        row(of("flag letter"), of("flag letter")),
    )


def _text() -> Expression:
    """Letters and digits, where WB5 to WB13b see no boundary."""
    joined = many(of("joins words"))
    digit = of("digit", "numeric")
    letter = of("letter", "hebrew", "hangul", "emoji letter")
    within_number = ("in numbers", "in both", "single quote")
    within_word = ("in letters", "in both", "single quote")
    number = row(digit, many(row(either(joined, of(*within_number)), digit)))
    word = row(letter, many(row(either(joined, of(*within_word)), letter)))
    hebrew = row(of("hebrew"), either(of("single quote"), row(of("double quote"), of("hebrew"))))
    katakana = row(of("katakana"), many(row(joined, of("katakana"))))
    part = either(katakana, some(either(number, word, hebrew)))
    return row(joined, part, many(row(some(of("joins words")), part)), joined)


def _emoji() -> Expression:
    """emoji_zwj_sequence and emoji_tag_sequence of UTS 51."""
    joiners = many(one("joiner"))
    picture = shown("pictograph", "emoji letter")
    element = either(
        row(joiners, picture, maybe(one("as emoji"))),
        row(maybe(row(joiners, shown("pictograph"))), shown("skin")),
    )
    joined = many(row(one("joiner"), element))
    return row(element, either(joined, row(some(one("tag")), one("end of tags"))))


def automaton(expression: Expression) -> tuple[np.ndarray, np.ndarray]:
    """The steps and the ends; state 0 is where nothing can follow any more, state 1 the beginning."""
    graph: Graph = [{}]
    end = expression(graph, 0)
    states = {frozenset[int](): 0, _reached(graph, {0}): 1}
    steps: list[list[int]] = []
    for state in _growing(states):
        row_of_state = []
        for number in range(len(CLASSES)):
            after = set[int]().union(*(graph[node].get(number, set()) for node in state))
            row_of_state.append(states.setdefault(_reached(graph, after), len(states)))
        steps.append(row_of_state)
    return _fewest(np.array(steps), np.array([end in state for state in states]))


def _growing(states: Mapping[frozenset[int], int]) -> Iterator[frozenset[int]]:
    done = 0
    while done < len(states):
        yield list(states)[done]
        done += 1


def _reached(graph: Graph, states: set[int]) -> frozenset[int]:
    """These states and those that nothing leads to from them."""
    reached = set(states)
    ahead = list(states)
    while ahead:
        new = graph[ahead.pop()].get(None, set()) - reached
        reached |= new
        ahead += new
    return frozenset(reached)


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
    blocks = _of_lucene("ZZ_CMAP_BLOCKS")
    top = _of_lucene("ZZ_CMAP_TOP")
    points = np.arange(CODE_POINTS)
    lucene = blocks[top[points >> 8] | points & 255]  # the first block is that of the first 256 code points
    names = {lucene[ord(sign)]: number for number, sign in enumerate(CLASSES.values())}
    if len(names) != lucene.max() + 1:
        raise SystemExit("Lucene knows other classes of characters than CLASSES")
    classes: np.ndarray = np.array([names[n] for n in range(len(names))], dtype=np.uint8)[lucene]
    return classes


def _of_lucene(name: str) -> np.ndarray:
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
    steps, ends = automaton(words())
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
