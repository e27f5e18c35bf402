"""Errors on workers: retries and messages."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from touche.documents.document_records import AnyDocument
from touche.documents.jsonl import pieces_of_jsonl
from touche.documents.pieces import parse_pieces
from touche.errors import InputError
from touche.io.json_lines import read_jsonl
from touche.lab.spark.failing import failure_reason, result_or_failure
from touche.lab.spark.worker import ReadTask, cut_files


def _read_documents_jsonl(path: Path, seen: set[str]) -> Iterator[AnyDocument]:
    return parse_pieces(pieces_of_jsonl(path), seen)


@pytest.mark.parametrize(
    "work",
    [
        lambda paths: list(cut_files(pieces_of_jsonl, paths)),
        lambda paths: list(ReadTask(reader=_read_documents_jsonl, parser=None, make_parts=list)(paths)),  # type: ignore[arg-type]
        lambda paths: result_or_failure(list, read_jsonl(paths[0])),
    ],
    ids=["cutting", "reading", "folding"],
)
def test_what_may_pass_is_tried_again_and_a_broken_file_is_not(
    tmp_path: Path, work: Callable[[list[Path]], Any]
) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        work([tmp_path / "away.jsonl"])
    packed = gzip.compress(b'{"docno": "d1", "text": "a"}')
    for n, broken in enumerate((packed[:-9], packed[:-8] + bytes(8))):  # cut off; another checksum
        path = tmp_path / f"{n}.jsonl.gz"
        path.write_bytes(broken)
        assert "the gzip stream is broken" in str(work([path]))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("", "no reason stated"),
        ("Job aborted: disk full\n\tat org", "Job aborted: disk full"),
        (
            "Job aborted\nTraceback (most recent call last):\ntouche.errors.InputError: a: broken; mend it\n",
            "a: broken; mend it",
        ),
    ],
)
def test_the_reason_of_a_failure_is_found_in_what_java_says(message: str, reason: str) -> None:
    assert failure_reason(message) == reason
