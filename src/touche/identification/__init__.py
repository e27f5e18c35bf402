"""Infers the settings of a run from its scores: model, analysis, fields and parameters."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from touche.data.datasets import open_dataset
from touche.identification.answer import Answer, answer
from touche.identification.samples import read_scores, sample_of
from touche.io.identifiers import expanded
from touche.trec.run_forms import AnyRun, run_of


def identify(run: AnyRun, task: str, *, mean_lengths: Mapping[str, float] = MappingProxyType({})) -> Answer:
    """Infers the retrieval model, the analysis and the parameters of a run from its scores.

    Args:
        run: a run, or the path of a file ``*.tsv`` with topic, document and score on each line.
        task: the id of a dataset, such as ``touche-2021-task-1/sample``; a part of the documents is enough.
            At most 150 common documents of a topic are used.
        mean_lengths: known mean lengths of fields in the whole collection, in tokens. For
            arguments, pass both premises and conclusion, or text and title in BEIR's format. Lucene's mean is
            over documents with a token in the field.

    Returns:
        The answer; its ``frame()`` has the best hypotheses.

    Raises:
        ToucheError: if the run or the dataset is unusable, or both have no common document.

    Examples:
        >>> import touche
        >>> touche.identify({"1": {"no-such-document": 1.5}}, "spot-check/arguments")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        touche.errors.ToucheError: ...
    """
    is_file = isinstance(run, str | PathLike)  # perhaps a *.tsv file, which has three columns
    lines = read_scores(Path(expanded(run))) if is_file else run_of(run)
    dataset = open_dataset(task)
    sample = sample_of(lines, dataset.topics, dataset.documents, task, mean_lengths)
    return answer(sample, dataset.documents)
