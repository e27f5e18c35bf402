"""A text's stance towards two compared objects, from words of praise and blame near their mentions."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import touche
from touche import Topic, scan

POLARITIES = {"praise.txt": 1, "blame.txt": -1}  # by the words' file name


@dataclass(frozen=True)
class Objects:
    """The words of each compared object. A word that both objects share mentions neither.

    Attributes:
        first, second: words in lower case without the plural's s; empty if the topic doesn't compare two
            objects.
    """

    first: frozenset[str] = frozenset()
    second: frozenset[str] = frozenset()

    @classmethod
    def from_topic(cls, topic: Topic) -> "Objects":
        """Returns a topic's objects; both are empty if there aren't two."""
        if len(topic.objects) != 2:
            return cls()
        # Lucene's English stop words have no term.
        first, second = (
            frozenset(singular(word) for word in words(name) if scan.terms(word, "stopped"))
            for name in topic.objects
        )
        return cls(first, second)

    def stance(self, text: str, polarities: Mapping[str, int], window: int) -> str:
        """Returns a text's stance; Q0 if the topic doesn't compare two objects.

        Args:
            text: the text.
            polarities: 1 for words of praise, -1 for words of blame.
            window: the largest distance between such a word and a mention, in words.
        """
        if not (self.first and self.second):
            return "Q0"
        tokens = words(text)
        sides = [self._side(token) for token in tokens]
        mentions = [(position, side) for position, side in enumerate(sides) if side]
        votes = []  # positive for the first object, 0 for a word equally near to both
        for position, token in enumerate(tokens):
            side = _nearest_side(mentions, position, window) if token in polarities else None
            if side is not None:
                votes.append(polarities[token] * side)
        if not votes:  # no word of praise or blame near a mention
            return "NO"
        if sum(votes) == 0:
            return "NEUTRAL"
        return "FIRST" if sum(votes) > 0 else "SECOND"

    def _side(self, token: str) -> int:
        """Returns 1 if a word mentions the first object, -1 for the second, otherwise 0."""
        is_first = singular(token) in self.first
        is_second = singular(token) in self.second
        if is_first == is_second:  # neither object, or both
            return 0
        return 1 if is_first else -1


def lexicon() -> dict[str, int]:
    """Returns the polarities of the words in ``lexicon/``: 1 for praise, -1 for blame."""
    folder = Path(__file__).parent / "lexicon"
    return {word: sign for name, sign in POLARITIES.items() for word in _read_words(folder / name)}


def words(text: str) -> list[str]:
    """Returns a text's words in lower case."""
    return touche.words(text.lower(), also="+#")  # as in C++ and C#


def singular(word: str) -> str:
    """Returns a word without the plural's s. Short words such as gas keep it."""
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def _nearest_side(mentions: Sequence[tuple[int, int]], position: int, window: int) -> int | None:
    """Returns the nearest mention's side: 0 if both objects are equally near, None if none is near.

    Args:
        mentions: each mention's position and side, in text order.
        position: the position of a word of praise or blame.
        window: the largest distance from a mention, in words.
    """
    # The first mention that isn't before the position; (position,) precedes (position, side).
    next_index = bisect(mentions, (position,))
    neighbours = mentions[max(0, next_index - 1) : next_index + 1]  # the mentions before and after
    # Without neighbours, the distance is too large.
    nearest = min((abs(position - other) for other, _ in neighbours), default=window + 1)
    if nearest > window:
        return None
    sides = {side for other, side in neighbours if abs(position - other) == nearest}
    return sum(sides)  # 1 or -1 for one side, 0 for both


def _read_words(path: Path) -> list[str]:
    """Reads a file with a word per line; lines starting with # are comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
