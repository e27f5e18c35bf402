"""Every published baseline of the Touché shared tasks, ready to rerun, and what is needed to check them.

A baseline is a function decorated by ``baseline``, which makes ``Rankings`` of ``Topics`` and ``Documents``.

* what it ranks: ``Topic``; ``AnyDocument``, which is a ``Document``, ``Argument`` or ``Page``; ``Sentence``;
  and of any document its ``premises_of`` and ``conclusion_of``
* what it ranks by: ``scan`` (no index), ``lucene`` (Lucene itself), ``pairs`` (of sentences; embeddings)
* what it complains with: ``check_range``, ``ToucheError``
* what runs are worth: ``run``, ``evaluate``, ``compare``, ``published``

All names here are told in docs/reference.md; what else the package holds is for the command line.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touche import lucene, pairs, scan
    from touche.baselines.frames import run
    from touche.baselines.method import Rankings, Topics, baseline
    from touche.collection.documents import Documents
    from touche.errors import ToucheError, check_range
    from touche.evaluation.frames import compare, evaluate, published
    from touche.formats.documents import AnyDocument, Argument, Document, Sentence, conclusion_of, premises_of
    from touche.formats.pages import Page
    from touche.formats.topics import Topic

__all__ = [
    "AnyDocument",
    "Argument",
    "Document",
    "Documents",
    "Page",
    "Rankings",
    "Sentence",
    "Topic",
    "Topics",
    "ToucheError",
    "baseline",
    "check_range",
    "compare",
    "conclusion_of",
    "evaluate",
    "lucene",
    "pairs",
    "premises_of",
    "published",
    "run",
    "scan",
]

_HOMES = {
    "touche.baselines.frames": ("run",),
    "touche.baselines.method": ("Rankings", "Topics", "baseline"),
    "touche.collection.documents": ("Documents",),
    "touche.errors": ("ToucheError", "check_range"),
    "touche.evaluation.frames": ("compare", "evaluate", "published"),
    "touche.formats.documents": (
        "AnyDocument",
        "Argument",
        "Document",
        "Sentence",
        "conclusion_of",
        "premises_of",
    ),
    "touche.formats.topics": ("Topic",),
    "touche.formats.pages": ("Page",),
}


def __getattr__(name: str) -> Any:
    # Once they are asked for: the command minds signals before it imports what takes time.
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
