"""Every published baseline of the Touché shared tasks, ready to rerun, and the tools that check them.

A baseline is a function with the decorator ``baseline``. It yields ``Rankings`` for ``Topics`` and
``Documents``.

* documents and topics: ``Topic``; ``AnyDocument``, which is a ``Document``, ``Argument`` or ``Page``;
  ``Sentence``; ``premises_of`` and ``conclusion_of`` return parts of any document
* engines: ``scan`` (no index), ``lucene`` (Lucene itself), ``pairs`` (sentence pairs and embeddings)
* checks and errors of a baseline: ``check_range``, ``ToucheError``
* a task with its data: ``task`` returns ``TaskData``
* runs and qrels in any usual form: ``AnyRun`` and ``AnyQrels``; ``run_of`` and ``qrels_of`` convert them
  to ``Run`` and ``Qrels``
* a function for each command: ``run``, ``evaluate``, ``compare``, ``overlap``, ``fuse``, ``lint``,
  ``identify``, ``report``, ``regress``, ``sweep``, ``published``, ``published_topics``; ``wide``
  makes a table for papers; results are a ``Table`` or have ``frame()``
* a transformer of PyTerrier: ``pyterrier``

No function prints or exits, and warnings are Python warnings. To switch progress bars off, write
``logging.getLogger("touche").setLevel("WARNING")``.

The page "Python API" of the documentation describes all names. Other modules belong to the command line.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touche import lucene as lucene
    from touche import pairs as pairs
    from touche import scan as scan
    from touche.baselines.method import Rankings as Rankings
    from touche.baselines.method import Topics as Topics
    from touche.baselines.method import baseline as baseline
    from touche.baselines.pyterrier import pyterrier as pyterrier
    from touche.collection.documents import Documents as Documents
    from touche.errors import ToucheError as ToucheError
    from touche.errors import check_range as check_range
    from touche.formats.columns import Run as Run
    from touche.formats.documents import AnyDocument as AnyDocument
    from touche.formats.documents import Argument as Argument
    from touche.formats.documents import Document as Document
    from touche.formats.documents import Sentence as Sentence
    from touche.formats.documents import conclusion_of as conclusion_of
    from touche.formats.documents import premises_of as premises_of
    from touche.formats.forms import AnyQrels as AnyQrels
    from touche.formats.forms import AnyRun as AnyRun
    from touche.formats.forms import qrels_of as qrels_of
    from touche.formats.forms import run_of as run_of
    from touche.formats.framed import Table as Table
    from touche.formats.pages import Page as Page
    from touche.formats.qrels import Qrels as Qrels
    from touche.formats.topics import Topic as Topic
    from touche.library import TaskData as TaskData
    from touche.library import compare as compare
    from touche.library import evaluate as evaluate
    from touche.library import fuse as fuse
    from touche.library import identify as identify
    from touche.library import lint as lint
    from touche.library import overlap as overlap
    from touche.library import published as published
    from touche.library import published_topics as published_topics
    from touche.library import regress as regress
    from touche.library import report as report
    from touche.library import run as run
    from touche.library import task as task
    from touche.library import wide as wide
    from touche.tuning.sweeps import sweep as sweep

_HOMES = {
    "baselines.method": "Rankings Topics baseline",
    "baselines.pyterrier": "pyterrier",
    "collection.documents": "Documents",
    "errors": "ToucheError check_range",
    "formats.columns": "Run",
    "formats.documents": "AnyDocument Argument Document Sentence conclusion_of premises_of",
    "formats.forms": "AnyQrels AnyRun qrels_of run_of",
    "formats.framed": "Table",
    "formats.pages": "Page",
    "formats.qrels": "Qrels",
    "formats.topics": "Topic",
    "library": "TaskData compare evaluate fuse identify lint overlap published published_topics regress "
    "report run task wide",
    "tuning.sweeps": "sweep",
}
_MODULES = ("lucene", "pairs", "scan")
__all__ = sorted([*" ".join(_HOMES.values()).split(), *_MODULES])


class _Library(ModuleType):
    """Protects functions named like a package, such as ``touche.report``, when the package is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and name not in _MODULES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Library


def __getattr__(name: str) -> Any:
    # Imports wait until a name is used, because the command handles signals before slow imports.
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{home}"), name)
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
