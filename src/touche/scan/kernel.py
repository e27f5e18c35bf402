"""The compiled part: words.c, which hatch_build.py compiles at installation, and its table, words.npz."""

import ctypes
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from touche.compiled import NUMBER, POINTER, compiled

Array = np.ndarray[Any, np.dtype[Any]]
"""Numbers, one for each document."""

COUNTED, DROPPED = -1, -2  # meanings of a word that is no term: it counts for the length, or not even that

_HERE = Path(__file__).parent
_LIBRARY, _TABLE = _HERE / "words.so", _HERE / "words.npz"
_CLASSES = 32  # a row of the automaton's steps, a power of two
_BEHIND = bytes(8)  # the kernel reads eight bytes at once
_LETTERS = 32  # a letter in five bits: a and A are 1
_UNKNOWN, _NO_MEMORY = 1, 2  # how reading ends, if not with the last text


@dataclass(frozen=True)
class Counts:
    """What was read of texts.

    Attributes:
        lengths: of each text in words that count, int32.
        begins: where the postings of each term begin, and last where they end, int64.
        texts: for each term the places of the texts that have it, ascending, int32.
        tf: how often each of these has it, int32.
        places: where it has it, int32: of each text in turn, ascending, from 0 and with words that are
            dropped; None if nobody asked.
    """

    lengths: Array
    begins: Array
    texts: Array
    tf: Array
    places: Array | None = None

    @property
    def terms(self) -> Array:
        """The term of each posting."""
        return np.repeat(np.arange(len(self.begins) - 1, dtype=np.int32), np.diff(self.begins))

    def of(self, term: int) -> tuple[Array, Array]:
        """The texts that have a term, and how often."""
        begin, end = self.begins[term : term + 2]
        return self.texts[begin:end], self.tf[begin:end]

    def only(self, kept: Array) -> "Counts":
        """What was read of some of the texts.

        Args:
            kept: for each text, whether it is one of them.
        """
        postings, numbers = kept[self.texts], np.cumsum(kept, dtype=np.int32) - 1
        before = np.concatenate([[0], np.cumsum(postings, dtype=np.int64)])
        return Counts(
            self.lengths[kept],
            before[self.begins],
            numbers[self.texts[postings]],
            self.tf[postings],
            None if self.places is None else self.places[np.repeat(postings, self.tf)],
        )


def split(text: bytes) -> list[bytes]:
    """The words of a text in UTF-8, as Lucene's StandardTokenizer tells them apart."""
    places = np.empty((len(text), 2), dtype=np.int64)
    found = _library().split(ctypes.byref(_automaton()), text + _BEHIND, len(text), places.ctypes.data)
    return [text[begin:end] for begin, end in places[:found].tolist()]


def beginning_with(beginnings: Iterable[str]) -> Array:
    """What the kernel needs to tell whether a word begins like one of these, in either case.

    Args:
        beginnings: of words, in lower case; a character NUL stands for the end of the word.
    """
    found = np.zeros((_LETTERS,) * 3, dtype=np.uint8)
    for beginning in beginnings:
        if beginning.isascii():  # all words that are not are asked for anyway
            found[tuple(ord(letter) % _LETTERS for letter in beginning[:3])] = 1
    return found


class Counter:
    """Counts terms in texts; it remembers what words mean, so that one is made for many texts."""

    def __init__(
        self, terms: int, beginnings: Array, meaning: Callable[[bytes], int], *, placed: bool = False
    ) -> None:
        """A counter of so many terms.

        Args:
            terms: how many there are.
            beginnings: of ``beginning_with``: how words of ASCII begin that are terms or to be dropped.
            meaning: of a word the number of its term, or COUNTED, or DROPPED.
            placed: whether it notes where the terms stand.
        """
        self._terms, self._meaning, self._placed = terms, meaning, placed
        self._beginnings = beginnings  # has to live as long as the counter
        automaton, seed = ctypes.byref(_automaton()), int.from_bytes(os.urandom(8))
        self._counter = _library().new_counter(automaton, beginnings.ctypes.data, terms, seed)
        if not self._counter:
            raise MemoryError
        weakref.finalize(self, _library().free_counter, self._counter)

    def read(self, texts: Sequence[bytes]) -> Counts:
        """Lengths and terms of texts in UTF-8."""
        bounds = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in texts], out=bounds[1:])
        lengths, raw = np.empty(len(texts), dtype=np.int32), b"".join((*texts, _BEHIND))
        unknown = np.empty(2, dtype=np.int64)
        # Addresses, as numbers: to find them takes Python, and a signal could come in between.
        given = (raw, bounds.ctypes.data, len(texts), lengths.ctypes.data, unknown.ctypes.data)
        _library().begin(self._counter, self._placed)
        while (ended := _library().read_on(self._counter, *given)) == _UNKNOWN:
            word = raw[slice(*unknown.tolist())]
            if not _library().tell(self._counter, word + _BEHIND, len(word), self._meaning(word)):
                raise MemoryError
        if ended == _NO_MEMORY:
            raise MemoryError
        return Counts(lengths, *self._postings())

    def _postings(self) -> tuple[Array, Array, Array, Array | None]:
        library, begins = _library(), np.empty(self._terms + 1, dtype=np.int64)
        texts, tf = np.empty((2, library.postings_of(self._counter)), dtype=np.int32)
        arrays = (begins.ctypes.data, texts.ctypes.data, tf.ctypes.data)
        library.take_postings(self._counter, self._terms, *arrays)
        if not self._placed:
            return begins, texts, tf, None
        places, room = np.empty(library.occurrences_of(self._counter), dtype=np.int32), np.empty_like(begins)
        library.take_places(self._counter, self._terms, room.ctypes.data, places.ctypes.data)
        return begins, texts, tf, places


_ARRAYS = ("block_of", "blocks", "steps", "ends")  # in the order of words.c


class _Automaton(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in _ARRAYS]


@cache
def table() -> dict[str, Array]:
    """The arrays of words.npz, which docs/words.py makes and tells of."""
    with np.load(_TABLE) as arrays:
        found = dict(arrays)
    steps = found["steps"]
    found["steps"] = np.pad(steps, ((0, 0), (0, _CLASSES - steps.shape[1])))
    return found


@cache
def _automaton() -> _Automaton:
    return _Automaton(*(table()[name].ctypes.data for name in _ARRAYS))


@cache
def _library() -> Any:
    return compiled(
        _LIBRARY,
        {
            "split": (NUMBER, POINTER, ctypes.c_char_p, NUMBER, POINTER),
            "new_counter": (POINTER, POINTER, POINTER, NUMBER, ctypes.c_uint64),
            "free_counter": (None, POINTER),
            "begin": (None, POINTER, NUMBER),
            "read_on": (NUMBER, POINTER, ctypes.c_char_p, POINTER, NUMBER, POINTER, POINTER),
            "tell": (NUMBER, POINTER, ctypes.c_char_p, NUMBER, ctypes.c_int32),
            "postings_of": (NUMBER, POINTER),
            "take_postings": (None, POINTER, NUMBER, POINTER, POINTER, POINTER),
            "occurrences_of": (NUMBER, POINTER),
            "take_places": (None, POINTER, NUMBER, POINTER, POINTER),
        },
    )
