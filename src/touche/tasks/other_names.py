"""Suggests a task for an id that only other systems use, such as ``argsme/2020-04-01/touche-2021-task-1``."""

import re
from collections.abc import Iterable

_DATE = r"(?P<year>20\d\d)(-?)[01]\d\2[0-3]\d(?!\d)"
_YEAR = r"(?<!\d)20\d\d(?!\d)"
_VERSION = r"v\d+"
_WORDS = rf"{_VERSION}|[a-z]+|\d+"
# How other systems name the versions of a task that are called v1 and v2 in touche's ids.
_VERSION_OF = {"argsme/1.0": "v1", "webis-touche2020": "v2"}


def candidates(name: str, ids: Iterable[str]) -> list[str]:
    """Returns the ids that a name may mean; several if it leaves the task or the version open.

    The ids that the name contains come first, in any spelling. If the name contains no id, these are the ids
    that contain all its numbers, and all its words that occur in any id.

    Args:
        name: an unknown id, e.g. ``argsme/2020-04-01/touche-2021-task-1``, ``touche2020`` or ``2021-1``.
        ids: the ids of the known tasks.
    """
    words_by_id = {id: set(re.findall(_WORDS, id)) for id in ids}
    words = _words_of(name.lower())
    contained = [id for id, words_of_id in words_by_id.items() if words_of_id <= words]
    if contained:
        # Choose the longest ids: a name with a version contains both touche-2020-task-1 and
        # touche-2020-task-1-v1.
        longest = max(len(words_by_id[id]) for id in contained)
        return [id for id in contained if len(words_by_id[id]) == longest]
    vocabulary = set[str]().union(*words_by_id.values())
    words = {word for word in words if word in vocabulary or word.isdigit()}
    if len(words) < 2:  # one word alone, such as "task", occurs in too many ids
        return []
    return [id for id, words_of_id in words_by_id.items() if words <= words_of_id]


def has_unknown_year(name: str, ids: Iterable[str]) -> bool:
    """Returns whether a name contains a year, but no year that occurs in a known id."""
    years = set(re.findall(_YEAR, name))
    return bool(years) and years.isdisjoint(re.findall(_YEAR, " ".join(ids)))


def _words_of(name: str) -> set[str]:
    """Returns the words and numbers in a name. A date is left out, unless the name contains no other year;
    then the date's year is returned.
    """
    without_dates = re.sub(_DATE, " ", name)
    has_year = re.search(_YEAR, without_dates)
    words = set(re.findall(_WORDS, without_dates if has_year else re.sub(_DATE, r"\g<year>", name)))
    if not any(re.fullmatch(_VERSION, word) for word in words):
        words |= {version for text, version in _VERSION_OF.items() if text in name}
    return words
