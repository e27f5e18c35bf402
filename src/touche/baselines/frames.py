"""A baseline run from Python: the ranking as a pandas DataFrame."""

import warnings
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from touche.baselines.loader import load
from touche.baselines.method import Baseline
from touche.baselines.options import checked
from touche.baselines.running import run as write
from touche.data.places import opened
from touche.formats.columns import Run
from touche.formats.runs import read_run
from touche.io.temporary import temporary_folder
from touche.tira.outputs import RUN_FILE

if TYPE_CHECKING:
    from pandas import DataFrame


def run(
    baseline: str | PathLike[str] | Baseline, dataset: str | PathLike[str], **options: Any
) -> "DataFrame":
    """Runs a baseline; what ``touche run`` writes into run.txt, as a frame.

    Args:
        baseline: the name of a shipped one, the path of a folder with a baseline.py, or a function that is
            decorated by ``baseline``.
        dataset: the id of a dataset, such as ``spot-check/arguments``; ``irds:`` and the id of one of
            ir_datasets, which downloads it; or the path of an input directory.
        options: those of the baseline, by their names; the others are at their defaults.

    Returns:
        A row for each hit, with the columns of PyTerrier: qid and docno, texts; rank, from 0; score. The tag
        is ``frame.attrs["tag"]``. A topic for which nothing was found is a Python warning.

    Raises:
        ToucheError: if there is no such baseline, dataset or option, or the input is unusable.
    """
    ranker = baseline if isinstance(baseline, Baseline) else load(fspath(baseline))
    values = checked(ranker.options, options)
    source = opened(fspath(dataset), needs_documents=ranker.needs_documents)
    with temporary_folder("touche-run-") as folder:
        without_hits = write(ranker, source, folder, values)
        for topic in without_hits:
            text = f"{ranker.name}: nothing found for topic {topic.number}: {topic.title}"
            warnings.warn(text, stacklevel=2)
        has_hits = len(without_hits) < len(source.topics)
        tag = ranker.tag(values)
        return (read_run(folder / RUN_FILE) if has_hits else Run.of([])).called(tag)
