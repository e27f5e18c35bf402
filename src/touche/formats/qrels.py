"""Judgments in TREC's qrels format: ``topic 0 document label`` on each line."""

import re
from collections.abc import Collection
from pathlib import Path

from touche.errors import InputError
from touche.formats.runs import split_columns
from touche.io.identifiers import quoted
from touche.io.opening import read_lines

_LABEL = re.compile(r"([+-]?[0-9]{1,18})(?:\.0{0,9})?")
_LARGEST = 1_000_000  # trec_eval's memory and time grow with it, and it scores 0 where its numbers end

Qrels = dict[str, dict[str, int]]  # topic -> document -> label


def read_qrels(
    path: Path, excluded_topics: Collection[str] = (), labels: Collection[int] | None = None
) -> Qrels:
    """Reads judgments; labels are whole numbers, also written as ``4.0``.

    Args:
        path: the file.
        excluded_topics: topics whose judgments are left out, as the task's card says.
        labels: the labels that may occur, or None for any.

    Raises:
        InputError: if the file is unreadable, holds no judgment, a line is broken or has an unknown label, or
            a document is judged twice with two labels.
    """
    qrels: Qrels = {}
    for line, text in read_lines(path):
        columns = split_columns(text)
        if len(columns) != 4:
            problem = f"{len(columns)} columns instead of 4"
            raise InputError(path, problem, "write: topic 0 document label", line)
        topic, _, document, label = columns
        if topic in excluded_topics:
            continue
        whole = _LABEL.fullmatch(label)
        if whole is None or abs(number := int(whole[1])) > _LARGEST:
            problem = f"label {quoted(label)} is not a whole number up to {_LARGEST:,}"
            raise InputError(path, problem, "write labels such as -2, 0 or 2", line)
        if labels is not None and number not in labels:
            problem = f"label {label} is unknown; this file has {', '.join(map(str, sorted(labels)))}"
            raise InputError(path, problem, "check that this is the right file", line)
        if qrels.setdefault(topic, {}).setdefault(document, number) != number:
            problem = f"document {document!r} of topic {topic} has two labels"
            raise InputError(path, problem, "remove one of the two", line)
    if not qrels:
        raise InputError(path, "no judgments in it", "check that this is the right file")
    return qrels
