"""Groups items by key."""

from collections.abc import Callable, Iterable
from typing import TypeVar

_Item = TypeVar("_Item")
_Key = TypeVar("_Key")


def group_by(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """Groups items by key, in order. Unlike ``itertools.groupby``, it doesn't need sorted items."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
