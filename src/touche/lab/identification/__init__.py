"""Infers a run's settings from its scores: model, analysis, fields and parameters."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from touche.data.datasets import open_dataset
from touche.io.identifiers import expanded, is_path
from touche.lab.identification.answer import Answer, answer
from touche.lab.identification.samples import sample_of
from touche.trec.run_forms import AnyRun, run_of
from touche.trec.scores_files import read_scores


def identify(run: AnyRun, task: str, *, mean_lengths: Mapping[str, float] = MappingProxyType({})) -> Answer:
    """Infers a run's retrieval model, analysis and parameters from its scores.

    Args:
        run: a run, or the path of a ``*.tsv`` file with topic, document and score on each line.
        task: a dataset id such as ``touche-2021-task-1/sample``; a part of the documents is enough. At most
            150 common documents per topic are used.
        mean_lengths: known mean field lengths in the whole collection, in tokens. For arguments, pass
            premises and conclusion; in BEIR's format, text and title. Lucene averages over documents with a
            token in the field.

    Returns:
        The answer; ``frame()`` lists the best hypotheses.

    Raises:
        ToucheError: if the run or dataset is unusable, or they share no document.

    Examples:
        >>> import touche
        >>> touche.identify({"1": {"no-such-document": 1.5}}, "spot-check/arguments")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        touche.errors.ToucheError: ...
    """
    # A file can also be a *.tsv file with three columns.
    lines = read_scores(Path(expanded(run))) if is_path(run) else run_of(run)
    dataset = open_dataset(task)
    sample = sample_of(lines, dataset.topics, dataset.documents, task, mean_lengths)
    return answer(sample, dataset.documents)
