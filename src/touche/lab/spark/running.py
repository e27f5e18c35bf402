"""Runs a baseline on Spark's workers."""

import logging
from collections.abc import Callable, Mapping
from os import PathLike
from types import MappingProxyType
from typing import Any

from touche.baselines.loader import as_baseline
from touche.baselines.method import Baseline
from touche.errors import ToucheError
from touche.io.identifiers import as_path, check_text, dataset_name, name_or_path, optional_path
from touche.lab.spark.inputs import opened
from touche.runners.baseline_runs import EMPTY, WrittenRun, write_opened_run

MASTER = "local[*]"  # all of this machine's processors

_log = logging.getLogger(__name__)


def run_on_spark(
    baseline: str | PathLike[str] | Baseline,
    dataset: str | PathLike[str],
    output: str | PathLike[str],
    *,
    options: Mapping[str, Any] = MappingProxyType({}),
    topics: str | PathLike[str] | None = None,
    corpus: str | None = None,
    statistics: str | PathLike[str] | None = None,
    keep_statistics: str | PathLike[str] | None = None,
    tag: str = "",
    team: str = "",
    master: str = MASTER,
    log: Callable[[str], None] = _log.info,
) -> WrittenRun:
    """Runs a baseline on a Spark cluster and writes run.txt and ir-metadata.yml, like ``touche spark``.

    The run is the same as on one machine, byte for byte.

    Args:
        baseline, output, options, corpus, statistics, keep_statistics, tag, team, log: as for ``write_run``.
        dataset: as for ``run``, or an address that Spark reads, such as ``s3a://bucket/corpus``.
        topics: a file of topics for an address; by default the topics at the address.
        master: the cluster's address; by default, this machine's processors.

    Returns:
        The run's path, its time in seconds, and its warnings, which are Python warnings too.

    Raises:
        ToucheError: if there is no such baseline, dataset or option, the baseline doesn't rank with
            ``touche.scan``, PySpark or Java is missing, Spark fails, or the output can't be written.

    Examples:
        >>> import touche
        >>> touche.run_on_spark("bm25", "spot-check/arguments", "")
        Traceback (most recent call last):
        touche.errors.ToucheError: -i or -o is empty; pass the input and the output directory
    """
    check_text("tag", tag)
    check_text("team", team)
    name = dataset_name(dataset)
    if not name or name_or_path("output", output) == "":
        raise ToucheError(EMPTY)
    ranker = as_baseline(baseline)
    return write_opened_run(
        ranker,
        opened(ranker, name, corpus, optional_path("topics", topics), master),
        as_path("output", output),
        options,
        statistics=optional_path("statistics", statistics),
        keep_statistics=optional_path("keep_statistics", keep_statistics),
        tag=tag,
        team=team,
        runner="spark",
        log=log,
    )
