"""A whole collection, read once: by all processors where it is large."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Protocol, TypeVar, runtime_checkable

from touche.errors import InputError
from touche.formats.documents import AnyDocument
from touche.formats.pieces import Piece
from touche.progress import processors
from touche.scan.counting import Counting, Fields, Part, Vocabulary, count, joined
from touche.scan.keeping import Here, Kept
from touche.web.page import RawPage, Skipped

_T = TypeVar("_T")
_R = TypeVar("_R")
Work = Callable[[Piece], tuple[Sequence[str], _T]]  # gives the ids that it read, and what it is for

_log = logging.getLogger(__name__)

_FEW = 16  # pieces, which one process has read before others have started
_MOST = 16  # processes, which are as many as one can cut pieces for
_TOGETHER = 1 << 16  # documents that are scored together: their numbers fit into a processor's cache


def read(documents: Iterable[AnyDocument], vocabulary: Vocabulary, fields: Fields) -> Kept[Part]:
    """Reads a collection and counts; what is found does not depend on the number of processes.

    Args:
        documents: the collection; never held in memory as a whole.
        vocabulary: the terms to count.
        fields: the fields by name, each a function of the document.
    """
    began = time.monotonic()
    found = _shared(documents, partial(_counting, vocabulary, fields), lambda parts: list(_together(parts)))
    parts = found or list(_together(count(documents, vocabulary, fields)))  # which says if there are none
    how = f"{_processes() if found else 1} of {processors()} processors"
    _tell(parts, fields, f"{time.monotonic() - began:.1f} s by {how}")
    return Here(parts)


def _tell(parts: Sequence[Part], fields: Fields, how: str) -> None:
    terms = [sum(int(part.fields[n].lengths.sum()) for part in parts) for n in range(len(fields))]
    terms_of = ", ".join(f"{count} terms in {name}" for count, name in zip(terms, fields, strict=True))
    _log.debug("read %d documents in %s: %s", sum(len(part.ids) for part in parts), how, terms_of)


def picked(documents: Iterable[AnyDocument], ids: Collection[str]) -> list[AnyDocument]:
    """The documents that have these ids, in the order of the collection."""
    found = _shared(documents, partial(_picking, ids), _chained)
    return [each for each in documents if each.id in ids] if found is None else found


def _counting(vocabulary: Vocabulary, fields: Fields) -> Work[Part]:
    counting = Counting(vocabulary, fields)

    def count_piece(piece: Piece) -> tuple[Sequence[str], Part]:
        part = counting.part(_ready(piece.documents()))
        return part.ids, part

    return count_piece


def _picking(ids: Collection[str]) -> Work[list[AnyDocument]]:
    return lambda piece: ((), _ready(piece.documents(among=ids)))


def _ready(documents: Iterable[AnyDocument | RawPage | Skipped]) -> list[AnyDocument]:
    """The documents of a piece.

    Raises:
        ValueError: if a page is still to be parsed.
    """
    found = list[AnyDocument]()
    for each in documents:
        if isinstance(each, RawPage | Skipped):
            raise ValueError("a page that is still to be parsed")
        found.append(each)
    return found


def _chained(parts: Iterable[list[AnyDocument]]) -> list[AnyDocument]:
    return list(chain(*parts))


def _together(parts: Iterable[Part]) -> Iterator[Part]:
    """The same documents in larger parts."""
    waiting: list[Part] = []
    for part in parts:
        waiting.append(part)
        if sum(len(each.ids) for each in waiting) >= _TOGETHER:
            yield joined(waiting)
            waiting.clear()
    if any(part.ids for part in waiting):
        yield joined(waiting)


@runtime_checkable
class _InPieces(Protocol):
    """A collection whose files can be cut, such as ``touche.tira.inputs.Files``."""

    def pieces(self) -> Iterator[Piece] | None:
        """The pieces, if its format can be cut."""


def _shared(
    documents: Iterable[AnyDocument],
    make: Callable[[], Work[_T]],
    gather: Callable[[Iterator[_T]], _R],
) -> _R | None:
    """What processes find in the pieces of a collection; None where this process is to read it itself."""
    pieces = documents.pieces() if isinstance(documents, _InPieces) and processors() > 1 else None
    if pieces is None:
        return None
    try:
        first = list(islice(pieces, _FEW))
    except InputError:  # others may come before it
        return None
    if len(first) < _FEW:
        return None
    from touche.scan.sharing import shared  # here, for it takes as long to import as a small run

    return shared(chain(first, pieces), _processes(), make, gather)


def _processes() -> int:
    return min(processors(), _MOST)
