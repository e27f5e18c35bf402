"""Every published baseline of the Touché shared tasks, ready to rerun, and what is needed to check them.

A baseline is a function decorated by ``baseline``, which makes ``Rankings`` of ``Topics`` and ``Documents``.

* what it ranks: ``Topic``; ``AnyDocument``, which is a ``Document``, ``Argument`` or ``Page``; ``Sentence``;
  and of any document its ``premises_of`` and ``conclusion_of``
* what it ranks by: ``scan`` (no index), ``lucene`` (Lucene itself), ``pairs`` (of sentences; embeddings)
* what it complains with: ``check_range``, ``ToucheError``
* what runs are worth: ``run``, ``evaluate``, ``compare``, ``published``; which settings are best: ``sweep``

All names here are told in docs/reference/python.md; what else the package holds is for the command line.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touche import lucene as lucene
    from touche import pairs as pairs
    from touche import scan as scan
    from touche.baselines.frames import run as run
    from touche.baselines.method import Rankings as Rankings
    from touche.baselines.method import Topics as Topics
    from touche.baselines.method import baseline as baseline
    from touche.collection.documents import Documents as Documents
    from touche.errors import ToucheError as ToucheError
    from touche.errors import check_range as check_range
    from touche.evaluation.frames import compare as compare
    from touche.evaluation.frames import evaluate as evaluate
    from touche.evaluation.frames import published as published
    from touche.formats.documents import AnyDocument as AnyDocument
    from touche.formats.documents import Argument as Argument
    from touche.formats.documents import Document as Document
    from touche.formats.documents import Sentence as Sentence
    from touche.formats.documents import conclusion_of as conclusion_of
    from touche.formats.documents import premises_of as premises_of
    from touche.formats.pages import Page as Page
    from touche.formats.topics import Topic as Topic
    from touche.tuning.frames import sweep as sweep

_HOMES = {
    "baselines.frames": "run",
    "baselines.method": "Rankings Topics baseline",
    "collection.documents": "Documents",
    "errors": "ToucheError check_range",
    "evaluation.frames": "compare evaluate published",
    "formats.documents": "AnyDocument Argument Document Sentence conclusion_of premises_of",
    "formats.pages": "Page",
    "formats.topics": "Topic",
    "tuning.frames": "sweep",
}
_MODULES = ("lucene", "pairs", "scan")
__all__ = sorted([*" ".join(_HOMES.values()).split(), *_MODULES])


def __getattr__(name: str) -> Any:
    # Once they are asked for: the command minds signals before it imports what takes time.
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{home}"), name)
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
