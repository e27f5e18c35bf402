"""Groups of items that have the same key."""

from collections.abc import Callable, Iterable
from typing import TypeVar

_Item = TypeVar("_Item")
_Key = TypeVar("_Key")


def group_by(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """Returns the items with each key, in their order; keys are in the order of their first items.

    Unlike ``itertools.groupby``, it does not need sorted items.

    Args:
        items: the items.
        key: returns the key of an item.
    """
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
