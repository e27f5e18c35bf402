"""A text's stance towards two compared objects, from words of praise and blame near their mentions."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from pathlib import Path

import touche
from touche import Topic, scan

POLARITIES = {"praise.txt": 1, "blame.txt": -1}  # by the words' file name


def sides_of_words(topic: Topic) -> dict[str, int] | None:
    """Returns 1 for each word of the first compared object, -1 for the second's; None if there aren't two.

    Words are in lower case without the plural's s. A word that both objects share is left out.
    """
    # Lucene's English stop words have no term.
    objects = [
        {singular(word) for word in words(name) if scan.terms(word, "stopped")} for name in topic.objects
    ]
    if len(objects) != 2 or not all(objects):
        return None
    first, second = objects
    return dict.fromkeys(first - second, 1) | dict.fromkeys(second - first, -1)


def stance(text: str, sides: Mapping[str, int] | None, polarities: Mapping[str, int], window: int) -> str:
    """Returns a text's stance; Q0 if the topic doesn't compare two objects.

    Args:
        text: the text.
        sides: the sides of words that mention an object, from ``sides_of_words``.
        polarities: 1 for words of praise, -1 for words of blame.
        window: the largest distance between such a word and a mention, in words.
    """
    if sides is None:
        return "Q0"
    tokens = words(text)
    mentions = [
        (position, sides[singular(token)])
        for position, token in enumerate(tokens)
        if singular(token) in sides
    ]
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
