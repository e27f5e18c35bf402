"""The input of a run on Spark: files that all machines see under the same paths."""

from dataclasses import replace
from functools import partial
from typing import Any

from touche.cluster.collection import OnSpark
from touche.cluster.shipping import Ship
from touche.errors import ToucheError
from touche.tira.inputs import Files, Input


def find(context: Any, ship: Ship, given: Input) -> Input:
    """An input of one machine, read by workers, that see its files under the same paths.

    Args:
        context: a SparkContext.
        ship: of ``folder_sent``.
        given: the input.

    Raises:
        ToucheError: if it is not in files of documents.
    """
    files = given.documents
    if not isinstance(files, Files):
        raise ToucheError("Spark reads topics and files of documents only; leave --runner spark out")
    size = sum(path.stat().st_size for path in files.paths)
    paths = [path.absolute() for path in files.paths]
    sources = partial(context.parallelize, paths)
    return replace(given, documents=OnSpark(files, size, sources, context.defaultParallelism, ship))
