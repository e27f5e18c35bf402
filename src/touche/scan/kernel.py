"""Calls the compiled kernel, words.c, with its table words.npz."""

import ctypes
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from touche.io.compiled import NUMBER, POINTER, compiled

Array = np.ndarray[Any, np.dtype[Any]]
"""An array of numbers, one for each document."""

# What a word means that isn't a term.
COUNTED = -1  # it counts for the length
DROPPED = -2  # it counts only for positions
IGNORED = -3  # it counts for nothing

_STEPS_ROW_LENGTH = 32  # CLASSES in words.c, a power of two for fast indexing
_PADDING = bytes(8)  # after a text, because the kernel reads eight bytes at once
_LETTER_CODES = 32  # a letter in five bits; a and A are 1
# Why reading stops before the last text.
_NEEDS_MEANING = 1
_NO_MEMORY = 2


@dataclass(frozen=True)
class Counts:
    """How often texts contain terms.

    Attributes:
        lengths: each text's length in words, int32.
        offsets: each term's first posting, and finally the number of postings, int64.
        texts: each term's texts, ascending, int32.
        tf: the term's frequency in each of them, int32.
        positions: the term's positions in each of them, ascending, from 0, int32. Dropped words count,
            ignored ones don't. None if positions weren't requested.
    """

    lengths: Array
    offsets: Array
    texts: Array
    tf: Array
    positions: Array | None = None

    @property
    def terms(self) -> Array:
        """The term of each posting."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))

    def postings(self, term: int) -> tuple[Array, Array]:
        """Returns the texts with a term, and its frequency in each.

        Args:
            term: the term's index.
        """
        postings = slice(self.offsets[term], self.offsets[term + 1])
        return self.texts[postings], self.tf[postings]

    def only(self, chosen: Array) -> "Counts":
        """Returns the counts for some texts, which get new indexes.

        Args:
            chosen: a boolean per text.
        """
        is_chosen_posting = chosen[self.texts]
        # How many chosen postings come before each posting; finally how many there are.
        chosen_before = np.concatenate([[0], np.cumsum(is_chosen_posting, dtype=np.int64)])
        new_indexes = np.cumsum(chosen, dtype=np.int32) - 1  # we only use those for chosen texts
        positions = self.positions
        if positions is not None:
            positions = positions[np.repeat(is_chosen_posting, self.tf)]  # a posting has tf positions
        return Counts(
            lengths=self.lengths[chosen],
            offsets=chosen_before[self.offsets],
            texts=new_indexes[self.texts[is_chosen_posting]],
            tf=self.tf[is_chosen_posting],
            positions=positions,
        )


def split(text: bytes) -> list[bytes]:
    """Splits UTF-8 text into words like Lucene's StandardTokenizer."""
    bounds = np.empty((len(text), 2), dtype=np.int64)  # at most one word per byte
    count = _library().split(_automaton(), text + _PADDING, len(text), bounds.ctypes.data)
    return [text[begin:end] for begin, end in bounds[:count].tolist()]


def prefix_table(beginnings: Iterable[str]) -> Array:
    """Returns the kernel's table of word beginnings, which ignores case.

    Args:
        beginnings: lower-case beginnings; one or two letters followed by NUL are a whole word.

    Returns:
        A table indexed by the codes of a word's first three letters: 1 if the kernel must ask what such a
        word means. A beginning with fewer than three letters selects all words that start with it. Other
        characters share codes with letters, so the kernel can ask too often.
    """
    has_to_ask = np.zeros((_LETTER_CODES,) * 3, dtype=np.uint8)
    for beginning in beginnings:
        if beginning.isascii():  # we always ask about other words
            has_to_ask[tuple(ord(letter) % _LETTER_CODES for letter in beginning[:3])] = 1
    return has_to_ask


class Counter:
    """Counts terms in texts. Create one for many texts, because it caches what words mean."""

    def __init__(
        self,
        term_count: int,
        beginnings: Array,
        meaning: Callable[[bytes], int],
        *,
        with_positions: bool = False,
    ) -> None:
        """Creates a counter.

        Args:
            term_count: how many terms there are.
            beginnings: ``prefix_table`` for words that mean a term, DROPPED or IGNORED. All other words are
                COUNTED.
            meaning: returns the index of a word's term, or COUNTED, DROPPED or IGNORED.
            with_positions: whether to store positions.
        """
        self._term_count = term_count
        self._meaning = meaning
        self._with_positions = with_positions
        self._beginnings = beginnings  # the kernel only stores its address
        seed = int.from_bytes(os.urandom(8))  # seeds a hash table, so that no input can make it slow
        self._counter = _library().new_counter(_automaton(), beginnings.ctypes.data, term_count, seed)
        if not self._counter:
            raise MemoryError
        weakref.finalize(self, _library().free_counter, self._counter)

    def read(self, texts: Sequence[bytes]) -> Counts:
        """Counts terms in UTF-8 texts."""
        bounds = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in texts], out=bounds[1:])
        raw = b"".join((*texts, _PADDING))
        lengths = np.empty(len(texts), dtype=np.int32)
        unknown = np.empty(2, dtype=np.int64)  # begin and end of the word that the kernel asks about
        # Compute addresses before the loop: ``ndarray.ctypes`` could lose a signal's exception.
        arguments = (raw, bounds.ctypes.data, len(texts), lengths.ctypes.data, unknown.ctypes.data)
        _library().begin(self._counter, self._with_positions)
        while (ended := _library().read_on(self._counter, *arguments)) == _NEEDS_MEANING:
            begin, end = unknown.tolist()
            word = raw[begin:end]
            # The kernel stores the meaning. It only fails when there is no memory.
            if not _library().tell(self._counter, word + _PADDING, len(word), self._meaning(word)):
                raise MemoryError
        if ended == _NO_MEMORY:
            raise MemoryError
        return self._counts(lengths)

    def _counts(self, lengths: Array) -> Counts:
        """Returns the counts for the texts read, with their lengths."""
        library = _library()
        offsets = np.empty(self._term_count + 1, dtype=np.int64)
        texts, tf = np.empty((2, library.postings_of(self._counter)), dtype=np.int32)
        library.take_postings(
            self._counter, self._term_count, offsets.ctypes.data, texts.ctypes.data, tf.ctypes.data
        )
        positions = None
        if self._with_positions:
            positions = np.empty(library.occurrences_of(self._counter), dtype=np.int32)
            scratch = np.empty_like(offsets)  # memory for the kernel to count in
            library.take_places(self._counter, self._term_count, scratch.ctypes.data, positions.ctypes.data)
        return Counts(lengths=lengths, offsets=offsets, texts=texts, tf=tf, positions=positions)


_AUTOMATON_ARRAYS = ("block_of", "blocks", "steps", "ends")  # in words.c's order


@cache
def table() -> dict[str, Array]:
    """Returns words.npz's arrays, made by tests/scan/words.py, with longer rows for words.c."""
    with np.load(Path(__file__).with_name("words.npz")) as arrays:
        by_name = dict(arrays)
    steps = by_name["steps"]
    missing_columns = _STEPS_ROW_LENGTH - steps.shape[1]
    by_name["steps"] = np.pad(steps, ((0, 0), (0, missing_columns)))
    return by_name


@cache
def _automaton() -> "ctypes.Array[ctypes.c_void_p]":
    """Returns the addresses of the arrays that words.c splits texts with."""
    addresses = [table()[name].ctypes.data for name in _AUTOMATON_ARRAYS]
    return (ctypes.c_void_p * len(addresses))(*addresses)


@cache
def _library() -> Any:
    """Returns words.c's functions, each with its result type and argument types."""
    return compiled(
        Path(__file__).with_name("words.so"),
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
