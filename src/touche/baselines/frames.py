"""Baselines run from Python."""

import warnings
from os import PathLike, fspath
from typing import Any

from touche.baselines.loader import load
from touche.baselines.method import Baseline
from touche.baselines.options import checked
from touche.baselines.running import run as write
from touche.data.places import opened
from touche.formats.columns import Run
from touche.formats.runs import read_run
from touche.io.temporary import temporary_folder
from touche.tira.outputs import RUN_FILE


def run(baseline: str | PathLike[str] | Baseline, dataset: str | PathLike[str], **options: Any) -> Run:
    """Runs a baseline and returns the run, like ``touche run`` in run.txt.

    Args:
        baseline: the name of a shipped baseline, the path of a folder with a baseline.py, or a function
            decorated by ``baseline``.
        dataset: the id of a dataset, such as ``spot-check/arguments``, or the path of an input directory.
            With ``irds:`` before an id of ir_datasets, that dataset is downloaded.
        options: options of the baseline by name; other options have their defaults.

    Returns:
        The run. Its ``frame()`` has a row for each hit, with the columns of PyTerrier: qid and docno, texts;
        rank, from 0; score. A topic without results is a Python warning.

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
