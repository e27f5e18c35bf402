"""How often a phrase occurs in a text, as Lucene counts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


def frequency(places: Sequence[Sequence[int]], terms: Sequence[int], slop: int) -> float:
    """How often a phrase occurs, each time counted as 1 / (1 + how far its words are apart).

    Args:
        places: where each word of the phrase stands in the text, ascending; words that are the same have the
            same places.
        terms: which word it is, by numbers.
        slop: by how many places they may be apart.

    Returns:
        The sum, a float32 in value.
    """
    if not slop:
        return float(len(set.intersection(*({at - n for at in each} for n, each in enumerate(places)))))
    sloppy, found = _Sloppy(places, terms), np.float32(0)
    while (apart := sloppy.next_match(slop)) is not None:
        found += np.float32(1) / np.float32(1 + apart)
    return float(found)


@dataclass
class _Word:
    """A word of the phrase on its way through the text.

    Attributes:
        offset: its place in the phrase.
        number: its place among those of the phrase that are the same.
        ahead: where it stands, of which the first is yet to come.
        here: where the phrase would begin if it were exact.
    """

    offset: int
    number: int
    ahead: list[int]
    here: int = 0

    def advance(self) -> bool:
        """To where it stands next; False if there is no such place."""
        if self.ahead:
            self.here = self.ahead.pop() - self.offset
            return True
        return False

    def __lt__(self, other: "_Word") -> bool:
        """Whether it lags behind the other."""
        return (self.here, self.offset) < (other.here, other.offset)


class _Queue:
    """Lucene's PriorityQueue: words may go on while they wait, and come out as they do there."""

    def __init__(self) -> None:
        self._heap: list[_Word] = []  # the n-th is to come before those at 2n + 1 and 2n + 2

    @property
    def top(self) -> _Word:
        """The one that comes out next."""
        return self._heap[0]

    def add(self, word: _Word) -> None:
        """Takes one in."""
        self._heap.append(word)
        at = len(self._heap) - 1
        while at and word < self._heap[above := (at - 1) // 2]:
            self._heap[at] = self._heap[above]
            at = above
        self._heap[at] = word

    def pop(self) -> _Word:
        """The next one, which leaves the queue."""
        heap, word = self._heap, self._heap.pop()
        if not heap:
            return word
        found, at = heap[0], 0
        while (below := 2 * at + 1) < len(heap):
            below += below + 1 < len(heap) and heap[below + 1] < heap[below]
            if not heap[below] < word:
                break
            heap[at] = heap[below]
            at = below
        heap[at] = word
        return found


class _Sloppy:
    """Lucene's SloppyPhraseMatcher: the word that lags behind goes on, until all are close together.

    Words that are the same never stand in the same place: where they meet, the lesser one goes on.
    """

    def __init__(self, places: Sequence[Sequence[int]], terms: Sequence[int]) -> None:
        self._same: list[list[_Word]] = [[] for _ in terms]
        for offset, (term, each) in enumerate(zip(terms, places, strict=True)):
            same = self._same[offset] = self._same[terms.index(term)]
            same.append(_Word(offset, len(same), [*reversed(each)]))
        words = [next(word for word in same if word.offset == n) for n, same in enumerate(self._same)]
        # Of words that are the same, the second begins at their second place, and so on.
        self._positioned = all(word.advance() for word in words for _ in range(1 + word.number))
        self._end, self._queue = max(word.here for word in words), _Queue()
        for word in words:
            self._queue.add(word)

    def next_match(self, slop: int) -> int | None:
        """How far the words of the next match are apart; None if there is none."""
        if not self._positioned:
            return None
        word = self._queue.pop()
        apart, second = self._end - word.here, self._queue.top.here
        while self._go_on(word):
            if word.here > second:
                self._queue.add(word)
                if apart <= slop:
                    return apart
                word = self._queue.pop()
                apart, second = self._end - word.here, self._queue.top.here
            else:
                apart = min(apart, self._end - word.here)
        self._positioned = False
        return apart if apart <= slop else None

    def _go_on(self, word: _Word) -> bool:
        """Moves a word to its next place, and those of the same that it meets there."""
        first, moved = word, set[int]()
        if not self._advance(word):
            return False
        while met := self._met(word):
            word = min(word, met)
            if not self._advance(word):
                return False
            if met is not first:
                moved.add(met.number)
        self._queue_again(moved)
        return True

    def _queue_again(self, moved: set[int]) -> None:
        """Lets words that have moved find their place, by number; others of that number count as they do."""
        out = []
        while moved:
            out.append(word := self._queue.pop())
            if len(self._same[word.offset]) > 1:
                moved.discard(word.number)
        for word in reversed(out):
            self._queue.add(word)

    def _advance(self, word: _Word) -> bool:
        moved = word.advance()
        self._end = max(self._end, word.here)
        return moved

    def _met(self, word: _Word) -> _Word | None:
        """Another one of the same that stands in the same place of the text."""
        place = word.here + word.offset
        others = (each for each in self._same[word.offset] if each is not word)
        return next((each for each in others if each.here + each.offset == place), None)
