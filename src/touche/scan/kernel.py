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

# How a word is counted that doesn't become a term.
COUNTED = -1  # it counts for the text's length and for positions
DROPPED = -2  # it counts for positions, but not for the length
IGNORED = -3  # it counts neither for the length nor for positions

_STEPS_ROW_LENGTH = 32  # CLASSES in words.c, a power of two for fast indexing
# Appended to each text, because the kernel reads eight bytes at a time, also at the text's end.
_PADDING = bytes(8)
_LETTER_CODES = 32  # letters have codes of five bits, from 1 for a and A
# Return codes that say why the kernel stopped before the end of the last text.
_NEEDS_MEANING = 1
_NO_MEMORY = 2


@dataclass(frozen=True)
class Counts:
    """How often texts contain terms.

    Attributes:
        lengths: each text's length in words, int32.
        offsets: for each term, the index of its first posting in ``texts`` and ``tf``. The last element is
            the number of postings, int64.
        texts: term by term, the indexes of the texts that contain the term, ascending, int32.
        tf: for each element of ``texts``, how often the text contains the term, int32.
        positions: for each element of ``texts``, the term's positions in the text, ascending, counted from 0,
            int32. Words that are dropped take up a position, words that are ignored don't. None if positions
            weren't requested.
    """

    lengths: Array
    offsets: Array
    texts: Array
    tf: Array
    positions: Array | None = None

    @property
    def terms(self) -> Array:
        """The index of the term of each posting."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))

    def postings(self, term: int) -> tuple[Array, Array]:
        """Returns the indexes of the texts that contain a term, and the term's frequency in each of them.

        Args:
            term: the term's index.
        """
        postings = slice(self.offsets[term], self.offsets[term + 1])
        return self.texts[postings], self.tf[postings]

    def only(self, chosen: Array) -> "Counts":
        """Returns the counts for some of the texts. These texts get new indexes, counted from 0.

        Args:
            chosen: a boolean for each text: whether to include it.
        """
        is_chosen_posting = chosen[self.texts]
        # For each posting, how many of the postings before it are chosen. The last element is how many are
        # chosen in total.
        chosen_before = np.concatenate([[0], np.cumsum(is_chosen_posting, dtype=np.int64)])
        new_indexes = np.cumsum(chosen, dtype=np.int32) - 1  # only meaningful for chosen texts
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
    bounds = np.empty((len(text), 2), dtype=np.int64)  # there can't be more words than bytes
    count = _library().split(_automaton(), text + _PADDING, len(text), bounds.ctypes.data)
    return [text[begin:end] for begin, end in bounds[:count].tolist()]


def prefix_table(beginnings: Iterable[str]) -> Array:
    """Returns the table from which the kernel knows which beginnings of words are relevant. Case doesn't
    matter.

    Args:
        beginnings: beginnings of words in lower case. One or two letters followed by NUL stand for a whole
            word.

    Returns:
        A table with an element for each combination of the codes of a word's first three letters. It's 1 if
        the kernel must ask which term such a word becomes. A beginning with fewer than three letters includes
        all words that start with it. Characters that aren't letters have the same codes as some letters, so
        the kernel sometimes asks although it needn't, which is harmless.
    """
    has_to_ask = np.zeros((_LETTER_CODES,) * 3, dtype=np.uint8)
    for beginning in beginnings:
        # Words that aren't ASCII needn't be in the table, because the kernel always asks about them.
        if beginning.isascii():
            has_to_ask[tuple(ord(letter) % _LETTER_CODES for letter in beginning[:3])] = 1
    return has_to_ask


class Counter:
    """Counts terms in texts. Use the same object for many texts, because it remembers which term each word
    becomes.
    """

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
            beginnings: a ``prefix_table`` with the beginnings of all words that become a term, or that are
                DROPPED or IGNORED. All other words are COUNTED.
            meaning: a function that returns, for a word in UTF-8, the index of the term that it becomes, or
                else COUNTED, DROPPED or IGNORED.
            with_positions: whether to store positions.
        """
        self._term_count = term_count
        self._meaning = meaning
        self._with_positions = with_positions
        self._beginnings = beginnings  # keep a reference, because the kernel only stores the array's address
        # Random seed for the kernel's hash table, so that nobody can create texts that make it slow.
        seed = int.from_bytes(os.urandom(8))
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
        # Where the kernel writes the begin and end of the word that it asks about.
        unknown = np.empty(2, dtype=np.int64)
        # Compute addresses before the loop: if a signal arrives while ``ndarray.ctypes`` is evaluated, its
        # exception could get lost.
        arguments = (raw, bounds.ctypes.data, len(texts), lengths.ctypes.data, unknown.ctypes.data)
        _library().begin(self._counter, self._with_positions)
        while (ended := _library().read_on(self._counter, *arguments)) == _NEEDS_MEANING:
            begin, end = unknown.tolist()
            word = raw[begin:end]
            # Tell the kernel, which remembers it. This only fails if there is no memory left.
            if not _library().tell(self._counter, word + _PADDING, len(word), self._meaning(word)):
                raise MemoryError
        if ended == _NO_MEMORY:
            raise MemoryError
        return self._counts(lengths)

    def _counts(self, lengths: Array) -> Counts:
        """Returns the counts in the texts that the kernel has read. ``lengths`` are the texts' lengths."""
        library = _library()
        offsets = np.empty(self._term_count + 1, dtype=np.int64)
        texts, tf = np.empty((2, library.postings_of(self._counter)), dtype=np.int32)
        library.take_postings(
            self._counter, self._term_count, offsets.ctypes.data, texts.ctypes.data, tf.ctypes.data
        )
        positions = None
        if self._with_positions:
            positions = np.empty(library.occurrences_of(self._counter), dtype=np.int32)
            scratch = np.empty_like(offsets)  # memory that the kernel needs for counting
            library.take_places(self._counter, self._term_count, scratch.ctypes.data, positions.ctypes.data)
        return Counts(lengths=lengths, offsets=offsets, texts=texts, tf=tf, positions=positions)


_AUTOMATON_ARRAYS = ("block_of", "blocks", "steps", "ends")  # in the order in which words.c expects them


@cache
def table() -> dict[str, Array]:
    """Returns the arrays in words.npz, which tests/scan/words.py creates. Rows are extended to the length
    that words.c expects.
    """
    with np.load(Path(__file__).with_name("words.npz")) as arrays:
        by_name = dict(arrays)
    steps = by_name["steps"]
    missing_columns = _STEPS_ROW_LENGTH - steps.shape[1]
    by_name["steps"] = np.pad(steps, ((0, 0), (0, missing_columns)))
    return by_name


@cache
def _automaton() -> "ctypes.Array[ctypes.c_void_p]":
    """Returns the addresses of the arrays with the rules by which words.c splits texts into words."""
    addresses = [table()[name].ctypes.data for name in _AUTOMATON_ARRAYS]
    return (ctypes.c_void_p * len(addresses))(*addresses)


@cache
def _library() -> Any:
    """Returns the compiled words.c as a library. The types of its functions' results and arguments are
    declared.
    """
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
