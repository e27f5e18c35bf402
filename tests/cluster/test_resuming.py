"""Saved parts are reused only for the same files, code and topics."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import Write
from touche.cluster.collection import SparkDocuments
from touche.cluster.inputs import find
from touche.documents import discovery


def stamp_of(collection: Path) -> str:
    documents = find(
        SimpleNamespace(defaultParallelism=2, parallelize=list), None, discovery.find(collection)
    ).documents  # type: ignore[arg-type]
    assert isinstance(documents, SparkDocuments)
    return documents.stamp


@pytest.mark.parametrize(
    "change",
    [
        lambda path: os.utime(path, ns=(1, 1)),
        lambda path: path.write_text(path.read_text() + " "),
        lambda path: path.rename(path.with_name("passages-2.jsonl")),
    ],
    ids=["time", "size", "name"],
)
def test_files_that_have_changed_are_others(write: Write, change: Callable[[Path], None]) -> None:
    write("in/topics.xml", "<topics><topic><number>1</number><title>a</title></topic></topics>")
    path = write("in/passages-1.jsonl", '{"id": "p1", "contents": "a"}\n')
    before = stamp_of(path.parent)
    assert stamp_of(path.parent) == before
    change(path)
    assert stamp_of(path.parent) != before
