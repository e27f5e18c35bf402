"""Ids of a collection that runs may contain."""

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from touche.data.places import has_corpus, locate_corpus
from touche.errors import ToucheError
from touche.tasks import PAIR, Corpus, Rules

_MOST_BYTES = 50_000_000  # a larger collection takes seconds, and ``touche lint`` reads it


def ids_of_result(result: str, rules: Rules) -> list[str]:
    """Returns the ids in the third column of a run: two for a pair of sentences, else one."""
    return result.split(",") if rules.unit == PAIR else [result]


@dataclass(frozen=True)
class SmallCollection:
    """A collection that is small enough to be read for a warning.

    Attributes:
        folder: its folder.
        state: its files with their times of change in nanoseconds, so that a changed collection differs.
    """

    folder: Path
    state: tuple[tuple[Path, int], ...]


def small_collection(corpus: Corpus) -> SmallCollection | None:
    """Returns a collection without opening its files; None if it is missing, or larger than 50 MB."""
    if not has_corpus(corpus):
        return None
    folder = locate_corpus(corpus)
    state = list[tuple[Path, int]]()
    size = 0  # bytes
    walk = os.walk(folder, followlinks=True)
    for path in (Path(parent, name) for parent, _, names in walk for name in names):
        with suppress(OSError):  # a broken link, or a file that was removed meanwhile
            status = path.stat()
            state.append((path, status.st_mtime_ns))
            size += status.st_size
        if size > _MOST_BYTES:
            return None
    return SmallCollection(folder, tuple(state))


def ids_in(collection: SmallCollection, *, of_sentences: bool) -> frozenset[str] | None:
    """Returns the ids of all sentences, or else documents; None if they are broken, or web pages."""
    with suppress(ToucheError):
        return _read_ids(collection, of_sentences=of_sentences)
    return None


@lru_cache(maxsize=4)  # few, because all ids of a collection are in memory; errors are not saved
def _read_ids(collection: SmallCollection, *, of_sentences: bool) -> frozenset[str] | None:
    """Reads the ids of sentences or documents once; a changed collection is another key of the cache."""
    from touche.documents.ids import read_ids  # here, because it takes 34 ms, and is rarely needed

    return read_ids(collection.folder, of_sentences=of_sentences)
