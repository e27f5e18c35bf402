"""Infers the settings of a run from its scores: model, analysis, fields and parameters."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from touche.data import datasets
from touche.identification.answer import Answer, answer
from touche.identification.samples import read_scores, sample_of
from touche.trec.columns import Run


def identify(
    run: Path | Run, dataset: str, mean_lengths: Mapping[str, float] = MappingProxyType({})
) -> Answer:
    """Infers the settings of a run with the documents of a dataset.

    At most 150 common documents of a topic are used.

    Args:
        run: a run, or a file ``*.tsv`` with topic, document and score on each line.
        dataset: a dataset id, such as ``touche-2021-task-1/sample``; a part of the documents is enough.
        mean_lengths: known mean lengths in the whole collection, in tokens, by the field's name. For
            arguments, pass ``premises`` and ``conclusion``, or ``text`` and ``title`` as in BEIR's format.
            Lucene's mean is over documents with a token in the field.

    Raises:
        ToucheError: if the run is broken, the dataset is missing, or run and dataset share no document. Also
            if the documents lack a field in ``mean_lengths``, or only one part of arguments has a length.
    """
    lines = run if isinstance(run, Run) else read_scores(run)
    source = datasets.open_dataset(dataset)
    sample = sample_of(lines, source.topics, source.documents, dataset, mean_lengths)
    return answer(sample, source.documents)
