"""Phrases: how often words are close together in a text, as in Lucene."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


def frequency(positions: Sequence[Sequence[int]], terms: Sequence[int], slop: int) -> float:
    """Returns a phrase's frequency in a text. An occurrence counts 1 / (1 + distance of its words).

    Args:
        positions: for each word in the phrase, its ascending positions in the text.
        terms: for each word in the phrase, its term's index; equal words have the same index.
        slop: the largest distance between the words; 0 for the exact phrase.

    Returns:
        The sum over all occurrences, as float32.
    """
    if slop == 0:
        # Where the phrase would start if each word is at one of its positions.
        starts = [
            {position - offset for position in positions_of_word}
            for offset, positions_of_word in enumerate(positions)
        ]
        return float(len(set.intersection(*starts)))
    total = np.float32(0)
    for distance in _SloppyPhraseMatcher(positions, terms).matches(slop):
        total += np.float32(1) / np.float32(1 + distance)
    return float(total)


@dataclass(eq=False)
class _Word:
    """A word in the phrase, and its current position in the text.

    Attributes:
        offset: its index in the phrase.
        repetition: how many equal words come before it in the phrase.
        equal_words: all equal words in the phrase, including itself, in order.
        later: its later positions in the text, the next one last.
        start: where an exact phrase would start that has this word at its current position.
    """

    offset: int
    repetition: int
    equal_words: "list[_Word]"
    later: list[int]
    start: int = 0

    @property
    def position(self) -> int:
        return self.start + self.offset

    def __lt__(self, other: "_Word") -> bool:
        return (self.start, self.offset) < (other.start, other.offset)


class _SloppyPhraseMatcher:
    """Lucene's SloppyPhraseMatcher: the word furthest behind advances until all words are close together.

    Equal words never share a position: when they meet, the lesser word advances. Words also advance while
    they wait in the queue, so their order depends on Lucene's PriorityQueue; heapq orders them differently.
    """

    def __init__(self, positions: Sequence[Sequence[int]], terms: Sequence[int]) -> None:
        """Moves all words to their first positions. Arguments as for ``frequency``."""
        self._greatest_start = 0  # never less, because the first word's start is a position in the text
        self._queue: list[_Word] = []  # a binary heap
        words = []
        words_by_term = defaultdict[int, list[_Word]](list)
        for offset, (term, positions_of_word) in enumerate(zip(terms, positions, strict=True)):
            equal_words = words_by_term[term]
            word = _Word(
                offset=offset,
                repetition=len(equal_words),
                equal_words=equal_words,
                # The second of several equal words starts at their second position, and so on.
                later=list(reversed(positions_of_word[len(equal_words) :])),
            )
            words.append(word)
            equal_words.append(word)
        self._can_match = all(map(self._advance, words))  # False if equal words have too few positions
        for word in words:
            self._push(word)

    def matches(self, slop: int) -> Iterator[int]:
        """Yields each match's distance: its greatest minus its least start, 0 for the exact phrase.

        The word furthest behind steps on until another word is behind it. The smallest distance during these
        steps is a match's, if it's at most ``slop``.
        """
        while self._can_match:
            word = self._pop()
            distance = self._greatest_start - word.start
            next_start = self._queue[0].start  # like in Lucene, not read again when this other word moves
            self._can_match = self._advance_past_equals(word)
            # While the popped word stays furthest behind, a step makes the distance smaller, or
            # larger when an equal word moves too.
            while self._can_match and word.start <= next_start:
                distance = min(distance, self._greatest_start - word.start)
                self._can_match = self._advance_past_equals(word)
            if distance <= slop:
                yield distance
            self._push(word)

    def _advance_past_equals(self, word: _Word) -> bool:
        """Moves a word to its next position. If it meets an equal word there, the lesser one moves on.

        Returns:
            False if a word has no further position.
        """
        popped = word  # by ``matches``; the other words are in the queue
        met_repetitions: set[int] = set()  # words met in the queue, like in Lucene
        if not self._advance(word):
            return False
        while met := _equal_word_here(word):
            word = min(word, met)  # by start, then by offset
            if not self._advance(word):
                return False
            if met is not popped:
                met_repetitions.add(met.repetition)
        self._queue_again(met_repetitions)
        return True

    def _advance(self, word: _Word) -> bool:
        """Moves a word to its next position; returns False if it has none."""
        if not word.later:
            return False
        word.start = word.later.pop() - word.offset
        self._greatest_start = max(self._greatest_start, word.start)
        return True

    def _queue_again(self, repetitions: set[int]) -> None:
        """Pops words until all repetitions are out, then pushes them to their new places.

        Args:
            repetitions: the repetitions of words that were met. Like in Lucene, any repeated word with such a
                repetition counts.
        """
        popped = []
        while repetitions:
            word = self._pop()
            popped.append(word)
            if len(word.equal_words) > 1:  # it is repeated
                repetitions.discard(word.repetition)
        for word in reversed(popped):
            self._push(word)

    def _push(self, word: _Word) -> None:
        """Adds a word to the heap; it rises while its parent is greater."""
        heap = self._queue
        heap.append(word)
        index = len(heap) - 1
        while index > 0 and word < heap[(index - 1) // 2]:
            parent = (index - 1) // 2
            heap[index], heap[parent] = heap[parent], heap[index]
            index = parent

    def _pop(self) -> _Word:
        """Removes the heap's first word. The last word replaces it, and sinks below smaller ones."""
        heap = self._queue
        heap[0], heap[-1] = heap[-1], heap[0]
        word = heap.pop()
        index = 0
        while children := [child for child in (2 * index + 1, 2 * index + 2) if child < len(heap)]:
            smallest = min(children, key=lambda child: heap[child])
            if heap[index] < heap[smallest]:
                break
            heap[index], heap[smallest] = heap[smallest], heap[index]
            index = smallest
        return word


def _equal_word_here(word: _Word) -> _Word | None:
    """Returns an equal word at the same position, or None."""
    others = (other for other in word.equal_words if other is not word)
    return next((other for other in others if other.position == word.position), None)
