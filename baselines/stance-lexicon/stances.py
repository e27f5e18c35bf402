"""The stance of a text towards two compared objects, from words of praise and blame near their mentions."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import touche
from touche import Topic, scan

POLARITIES = {"praise.txt": 1, "blame.txt": -1}  # by the name of the file with the words


@dataclass(frozen=True)
class Objects:
    """The words of each compared object; a word of both objects is a mention of neither.

    Attributes:
        first, second: words in lower case, without the plural's s; empty if the topic does not have two
            objects.
    """

    first: frozenset[str] = frozenset()
    second: frozenset[str] = frozenset()

    @classmethod
    def from_topic(cls, topic: Topic) -> "Objects":
        """Returns the objects of a topic; both are empty if the topic does not have two objects."""
        if len(topic.objects) != 2:
            return cls()
        # Lucene's English stop words have no term.
        first, second = (
            frozenset(singular(word) for word in words(name) if scan.terms(word, "stopped"))
            for name in topic.objects
        )
        return cls(first, second)

    def stance(self, text: str, polarities: Mapping[str, int], window: int) -> str:
        """Returns the stance of a text; Q0 if the topic does not have two objects.

        Args:
            text: the text.
            polarities: 1 for words of praise, and -1 for words of blame.
            window: the largest distance of such a word from a mention, in words.
        """
        if not (self.first and self.second):
            return "Q0"
        tokens = words(text)
        sides = [self._side(token) for token in tokens]
        mentions = [(position, side) for position, side in enumerate(sides) if side]
        votes = []  # positive for the first object, 0 for a word that is equally near to both
        for position, token in enumerate(tokens):
            side = _nearest_side(mentions, position, window) if token in polarities else None
            if side is not None:
                votes.append(polarities[token] * side)
        if not votes:  # no word of praise or blame is near a mention
            return "NO"
        if sum(votes) == 0:
            return "NEUTRAL"
        return "FIRST" if sum(votes) > 0 else "SECOND"

    def _side(self, token: str) -> int:
        """Returns 1 for a mention of the first object, -1 for one of the second, else 0."""
        is_first = singular(token) in self.first
        is_second = singular(token) in self.second
        if is_first == is_second:  # neither, or a word that both objects have
            return 0
        return 1 if is_first else -1


def lexicon() -> dict[str, int]:
    """Returns the polarities of the words in ``lexicon/``: 1 for praise, -1 for blame."""
    folder = Path(__file__).parent / "lexicon"
    return {word: sign for name, sign in POLARITIES.items() for word in _read_words(folder / name)}


def words(text: str) -> list[str]:
    """Returns the words of a text in lower case."""
    return touche.words(text.lower(), also="+#")  # as in C++ and C#


def singular(word: str) -> str:
    """Returns a word without the plural's s; short words such as gas keep their s."""
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def _nearest_side(mentions: Sequence[tuple[int, int]], position: int, window: int) -> int | None:
    """Returns the side of the nearest mention: 0 if both objects are equally near, None if none is near.

    Args:
        mentions: position and side of each mention, in the order of the text.
        position: the position of a word of praise or blame.
        window: the largest distance of a mention, in words.
    """
    # The index of the first mention that is not before the position; (position,) precedes (position, side).
    next_index = bisect(mentions, (position,))
    neighbours = mentions[max(0, next_index - 1) : next_index + 1]  # the mentions before and after
    # Without neighbours, the distance is too large.
    nearest = min((abs(position - other) for other, _ in neighbours), default=window + 1)
    if nearest > window:
        return None
    sides = {side for other, side in neighbours if abs(position - other) == nearest}
    return sum(sides)  # 1 or -1 for one side, 0 for both


def _read_words(path: Path) -> list[str]:
    """Reads a file with a word on each line; lines that begin with # are comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
