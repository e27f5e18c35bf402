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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touche import lucene as lucene
    from touche import pairs as pairs
    from touche import scan as scan
    from touche.api import TaskData as TaskData
    from touche.api import compare as compare
    from touche.api import evaluate as evaluate
    from touche.api import fuse as fuse
    from touche.api import identify as identify
    from touche.api import lint as lint
    from touche.api import overlap as overlap
    from touche.api import published as published
    from touche.api import published_topics as published_topics
    from touche.api import regress as regress
    from touche.api import report as report
    from touche.api import run as run
    from touche.api import task as task
    from touche.api import wide as wide
    from touche.baselines.method import Rankings as Rankings
    from touche.baselines.method import Topics as Topics
    from touche.baselines.method import baseline as baseline
    from touche.baselines.pyterrier import pyterrier as pyterrier
    from touche.documents.collection import Documents as Documents
    from touche.documents.pages import Page as Page
    from touche.documents.records import AnyDocument as AnyDocument
    from touche.documents.records import Argument as Argument
    from touche.documents.records import Document as Document
    from touche.documents.records import Sentence as Sentence
    from touche.documents.records import conclusion_of as conclusion_of
    from touche.documents.records import premises_of as premises_of
    from touche.errors import ToucheError as ToucheError
    from touche.errors import check_range as check_range
    from touche.trec.columns import Run as Run
    from touche.trec.forms import AnyQrels as AnyQrels
    from touche.trec.forms import AnyRun as AnyRun
    from touche.trec.forms import qrels_of as qrels_of
    from touche.trec.forms import run_of as run_of
    from touche.trec.framed import Table as Table
    from touche.trec.qrels import Qrels as Qrels
    from touche.trec.topics import Topic as Topic
    from touche.tuning.sweeps import sweep as sweep

_HOMES = {
    "baselines.method": "Rankings Topics baseline",
    "baselines.pyterrier": "pyterrier",
    "documents.collection": "Documents",
    "errors": "ToucheError check_range",
    "trec.columns": "Run",
    "documents.records": "AnyDocument Argument Document Sentence conclusion_of premises_of",
    "trec.forms": "AnyQrels AnyRun qrels_of run_of",
    "trec.framed": "Table",
    "documents.pages": "Page",
    "trec.qrels": "Qrels",
    "trec.topics": "Topic",
    "api": "TaskData compare evaluate fuse identify lint overlap published published_topics regress "
    "report run task wide",
    "tuning.sweeps": "sweep",
}
_MODULES = ("lucene", "pairs", "scan")
__all__ = sorted([*" ".join(_HOMES.values()).split(), *_MODULES])


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
