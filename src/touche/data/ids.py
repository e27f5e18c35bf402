"""Ids of a collection that runs may contain."""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from touche.data.places import has_corpus, locate_corpus
from touche.documents.discovery import find_documents
from touche.documents.records import AnyDocument, Argument
from touche.errors import ToucheError
from touche.tasks import PAIR, Corpus, Rules

_LARGEST = 50_000_000  # bytes; a larger collection takes seconds, and touche lint reads it


def ids_of_result(result: str, rules: Rules) -> list[str]:
    """Returns the ids in the third column of a run: two for a pair of sentences, else one."""
    return result.split(",") if rules.unit == PAIR else [result]


def ids_in(document: AnyDocument, rules: Rules) -> list[str]:
    """Returns the ids of a document that a run may contain; every conclusion has an id."""
    if rules.unit != PAIR or not isinstance(document, Argument):
        return [document.id]
    conclusion = f"{document.id}__CONC__1"
    return [*dict.fromkeys([*(sentence.id for sentence in document.sentences or ()), conclusion])]


def ids_of_collection(corpus: Corpus, rules: Rules) -> frozenset[str] | None:
    """Returns all ids of a collection; None if it is missing, broken, larger than 50 MB, or of web pages."""
    if not has_corpus(corpus):
        return None
    folder = locate_corpus(corpus)
    state = list[tuple[Path, int]]()
    size = 0
    for path in _files(folder):
        with suppress(OSError):
            status = path.stat()
            state.append((path, status.st_mtime_ns))
            size += status.st_size
        if size > _LARGEST:
            return None
    with suppress(ToucheError):
        return _read(folder, rules, tuple(state))
    return None


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder, followlinks=True):
        yield from (Path(parent, name) for name in names)


@lru_cache(maxsize=4)
def _read(folder: Path, rules: Rules, state: tuple[tuple[Path, int], ...]) -> frozenset[str] | None:
    """Reads the ids once, unless a file was changed; web pages would have to be parsed."""
    documents = find_documents(folder)
    if documents.format.noun == "web pages":
        return None
    return frozenset(id for document in documents for id in ids_in(document, rules))
