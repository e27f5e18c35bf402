import gzip
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conftest import Write
from texts import BYTES, IDS, TEXTS, damaged
from touche.errors import InputError
from touche.formats import pieces
from touche.formats.jsonl import (
    pieces_of_documents,
    pieces_of_passages,
    read_documents_jsonl,
    read_passages_jsonl,
)
from touche.formats.pieces import Splitter

SIZES = st.integers(1, 99) | st.just(1 << 22)
JSONL = b"".join(orjson.dumps({"docno": each, "text": "caf\u00e9"}) + b"\r\n\n" for each in "abcd")


def outcome(documents: Callable[[], Iterator[Any]]) -> tuple[list[Any], str]:
    """What is read, and what is wrong with the rest."""
    found = []
    try:
        for each in documents():
            found.append(each)
    except InputError as error:
        return found, str(error)
    return found, ""


def in_pieces(split: Splitter, path: Path, size: int) -> tuple[list[Any], str]:
    """The same from pieces of a size, each of which another process could have read."""
    seen: set[str] = set()

    def documents() -> Iterator[Any]:
        for piece in split(path):
            yield from pickle.loads(pickle.dumps(piece)).documents(seen)

    with patch.object(pieces, "SIZE", size):
        return outcome(documents)


@pytest.mark.parametrize("split", [pieces_of_documents])
@given(raw=BYTES | damaged(JSONL), size=SIZES)
@example(raw=b"\xef\xbb\xbf" + JSONL, size=2)
@example(raw=JSONL[:-9], size=40)
def test_whatever_the_size_of_pieces_the_same_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, split: Splitter, raw: bytes, size: int
) -> None:
    path = tmp_path_factory.mktemp("pieces") / "file"
    path.write_bytes(raw)
    assert in_pieces(split, path, size) == in_pieces(split, path, 1 << 22)


@given(st.dictionaries(IDS, TEXTS), st.sampled_from(["\n", "\r\n", "\n\n \n"]), SIZES)
def test_lines_in_pieces_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str], end: str, size: int
) -> None:
    path = tmp_path_factory.mktemp("pieces") / "file"
    lines = [orjson.dumps({"id": id, "contents": text}).decode() for id, text in texts.items()]
    path.write_text(end.join(lines), encoding="utf-8", newline="")
    found, problem = in_pieces(pieces_of_passages, path, size)
    assert ({each.id: each.text for each in found}, problem) == (texts, "")


def test_pieces_know_their_lines_and_hold_whole_records(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "SIZE", 100)
    path = write("a.jsonl", JSONL)
    found = list(pieces_of_documents(path))
    assert b"".join(each.raw for each in found) == JSONL and len(found) > 1
    begins = [JSONL[: JSONL.index(each.raw)].count(b"\n") + 1 for each in found]
    assert [each.line for each in found] == begins
    assert all(each.raw.endswith(b"\n") for each in found)


def test_what_precedes_a_broken_gzip_stream_is_read_first(write: Write) -> None:
    packed = gzip.compress(b'{"docno": "a", "text": ""}\n{"docno": 1.5}\n' + JSONL)
    path = write("a.jsonl", packed[:-9])
    assert outcome(lambda: read_documents_jsonl(path))[1].startswith(f'{path}:2: "docno" is not a text')
    found, problem = outcome(lambda: read_passages_jsonl(write("b.jsonl", gzip.compress(b"\n" * 9)[:-9])))
    assert not found and "b.jsonl:10: the gzip stream is broken" in problem


@pytest.mark.parametrize(("size", "fits"), [((1 << 26) - 1, True), (1 << 26, False)])
def test_a_record_of_64_mib_is_refused_and_a_shorter_one_read(write: Write, size: int, fits: bool) -> None:
    start, end = b'{"docno": "d", "text": "', b'"}'
    long = start + b"x" * (size - len(start) - len(end)) + end
    path = write("a.jsonl", b'{"docno": "a", "text": ""}\n' + long + b"\n")
    found, problem = outcome(lambda: read_documents_jsonl(path))
    assert (len(found), "a.jsonl:2: a line of 64 MiB or more" in problem) == (
        (2, False) if fits else (1, True)
    )
