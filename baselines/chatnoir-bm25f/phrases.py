"""How often a phrase occurs in a text, as Lucene counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

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
        ahead: where it stands, of which the first is yet to come.
        here: where the phrase would begin if it were exact.
    """

    offset: int
    ahead: list[int]
    here: int = 0

    def advance(self) -> bool:
        """To where it stands next; False if there is no such place."""
        if self.ahead:
            self.here = self.ahead.pop() - self.offset
            return True
        return False

    @property
    def order(self) -> tuple[int, int]:
        """By which the word comes first that is to go on."""
        return self.here, self.offset


class _Sloppy:
    """Lucene's SloppyPhraseMatcher: the word that lags behind goes on, until all are close together.

    Words that are the same never stand in the same place: where they meet, the lesser one goes on.
    """

    def __init__(self, places: Sequence[Sequence[int]], terms: Sequence[int]) -> None:
        self._words = [_Word(offset, [*reversed(each)]) for offset, each in enumerate(places)]
        by_term = sorted(self._words, key=lambda word: (terms[word.offset], word.offset))
        same = [list(each) for _, each in groupby(by_term, key=lambda word: terms[word.offset])]
        self._same = {word.offset: each for each in same for word in each}
        # Of words that are the same, the second begins at their second place, and so on.
        self._positioned = all(
            all(word.advance() for _ in range(1 + number))
            for each in same
            for number, word in enumerate(each)
        )
        self._end = max(word.here for word in self._words)

    def next_match(self, slop: int) -> int | None:
        """How far the words of the next match are apart; None if there is none."""
        if not self._positioned:
            return None
        word = min(self._words, key=lambda each: each.order)
        apart, second = self._end - word.here, self._behind(word)
        while self._go_on(word):
            if word.here > second:
                if apart <= slop:
                    return apart
                word = min(self._words, key=lambda each: each.order)
                apart, second = self._end - word.here, self._behind(word)
            else:
                apart = min(apart, self._end - word.here)
        self._positioned = False
        return apart if apart <= slop else None

    def _behind(self, word: _Word) -> int:
        """Where the next word stands that lags behind."""
        return min(each.here for each in self._words if each is not word)

    def _go_on(self, word: _Word) -> bool:
        """Moves a word to its next place, and those of the same that it meets there."""
        if not self._advance(word):
            return False
        while met := self._met(word):
            word = min(word, met, key=lambda each: each.order)
            if not self._advance(word):
                return False
        return True

    def _advance(self, word: _Word) -> bool:
        moved = word.advance()
        self._end = max(self._end, word.here)
        return moved

    def _met(self, word: _Word) -> _Word | None:
        """Another one of the same that stands in the same place of the text."""
        place = word.here + word.offset
        others = (each for each in self._same[word.offset] if each is not word)
        return next((each for each in others if each.here + each.offset == place), None)
