"""Baselines as PyTerrier transformers (Macdonald and Tonellotto 2020)."""

from os import PathLike
from typing import TYPE_CHECKING, Any

from touche.baselines.baseline_options import checked
from touche.baselines.loader import as_baseline
from touche.baselines.method import Baseline
from touche.data.datasets import opened
from touche.io.identifiers import dataset_name
from touche.io.optional import imported

if TYPE_CHECKING:
    from pyterrier import Transformer


def pyterrier(
    baseline: str | PathLike[str] | Baseline, dataset: str | PathLike[str] | None = None, **options: Any
) -> "Transformer":
    """Returns a baseline as a PyTerrier transformer. You need Java only if the baseline does.

    * With a dataset, it retrieves: it adds docno, score and rank to a frame with qid and query. If the
      frame contains docno, it re-ranks these documents using the whole dataset's statistics.
    * Without a dataset, it re-ranks the documents in the frame, which needs the columns docno and text.

    Args:
        baseline: the name of a shipped baseline, the path of a folder with a baseline.py, or a function
            decorated with ``baseline``.
        dataset: a dataset's id, such as ``spot-check/arguments``, or the path of an input directory.
            ``irds:`` before an ir_datasets id downloads that dataset. None re-ranks.
        options: the baseline's options; those you don't pass keep their defaults.

    Raises:
        ToucheError: if PyTerrier is not installed, or there is no such baseline, dataset or option.

    Examples:
        >>> import touche
        >>> bm25 = touche.pyterrier("bm25", "spot-check/arguments", k1=1.2)
        >>> sorted(bm25.search("wind power").columns)
        ['docno', 'qid', 'query', 'rank', 'score']
    """
    imported("pyterrier", "pyterrier")  # raises an error with a remedy if PyTerrier is missing
    from touche.baselines.transformer import BaselineTransformer  # imported late: it imports PyTerrier

    ranker = as_baseline(baseline)
    values = checked(ranker.options, options)
    documents = None
    if dataset is not None:
        documents = opened(dataset_name(dataset), needs_documents=ranker.needs_documents).documents
    return BaselineTransformer(ranker, values, documents)
