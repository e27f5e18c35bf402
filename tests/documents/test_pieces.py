import gzip
import io
import json
import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson
import pytest

from conftest import Write
from random_examples import given, st
from reading import read_documents_jsonl
from texts import BYTES, damaged
from touche.documents import pieces
from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.argsme import pieces_of_argsme
from touche.documents.jsonl import pieces_of_jsonl
from touche.documents.pieces import Splitter
from touche.errors import InputError

SIZES = st.integers(1, 99) | st.just(1 << 22)
JSONL = b"".join(orjson.dumps({"docno": letter, "text": "caf\u00e9"}) + b"\r\n\n" for letter in "abcd")

ARGUMENTS = json.dumps(
    {
        "x": ["arguments", {"arguments": [1]}],
        "arguments": [
            {"id": letter, "conclusion": '"\\', "premises": [{"text": "\u00e9"}]} for letter in "abcd"
        ],
        "y": {"é": None},
    },
    ensure_ascii=False,
    indent=1,
).encode()

PROCESSED = b"id,conclusion,premises,sentences\r\n" + b"".join(
    f'{id},"a ""b"", c\n",[],"[{{\'sent_id\': \'{id}__CONC__1\', \'sent_text\': """"}}]"\n\n'.encode()
    for id in "abcd"
)


def outcome(documents: Callable[[], Iterator[Any]]) -> tuple[list[Any], str]:
    """Returns the documents, and the error that ends the rest."""
    records = []
    try:
        for document in documents():
            records.append(document)
    except InputError as error:
        return records, str(error)
    return records, ""


def in_pieces(split: Splitter, path: Path, size: int) -> tuple[list[Any], str]:
    """The same from pieces of one size; another process could have read each of them from the file."""
    seen: set[str] = set()

    def documents() -> Iterator[Any]:
        for piece in split(path):
            yield from pickle.loads(pickle.dumps(piece.without_raw())).with_raw().documents(seen)

    with patch.object(pieces, "SIZE", size):
        return outcome(documents)


WHOLE = {pieces_of_jsonl: JSONL, pieces_of_argsme: ARGUMENTS, pieces_of_args_processed: PROCESSED}


@pytest.mark.parametrize("split", WHOLE)
@given(data=st.data(), size=SIZES)
def test_whatever_the_size_of_pieces_the_same_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, split: Splitter, data: st.DataObject, size: int
) -> None:
    raw = data.draw(BYTES | damaged(WHOLE[split]) | st.integers().map(lambda end: WHOLE[split][:end]))
    path = tmp_path_factory.mktemp("pieces") / "file"
    path.write_bytes(data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + raw)
    assert in_pieces(split, path, size) == in_pieces(split, path, 1 << 22)


@pytest.mark.parametrize("split", WHOLE)
def test_a_piece_is_sent_without_its_bytes_unless_the_file_is_compressed(
    tmp_path: Path, split: Splitter
) -> None:
    (tmp_path / "plain").write_bytes(WHOLE[split])
    (tmp_path / "packed").write_bytes(gzip.compress(WHOLE[split]))
    with patch.object(pieces, "SIZE", 50):
        plain, packed = ([*split(tmp_path / name)] for name in ("plain", "packed"))
    assert len(plain) > 2
    assert [piece.raw for piece in plain] == [piece.raw for piece in packed]
    assert {piece.without_raw().raw for piece in plain} == {b""}
    assert [piece.without_raw().with_raw() for piece in plain] == plain
    assert [piece.without_raw().with_raw() for piece in packed] == packed


def test_a_stream_without_a_file_is_sent_with_its_bytes() -> None:
    """As Spark opens files of other file systems."""
    window = pieces.Window(Path("x"), io.BufferedReader(io.BytesIO(JSONL)), pieces_of_jsonl)  # type: ignore[arg-type]
    window.read_more("a line")
    piece = window.cut(len(JSONL))
    assert piece.without_raw().with_raw() == piece and piece.raw == JSONL


@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_file_that_was_replaced_or_changed_is_refused(tmp_path: Path, is_replaced: bool) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_bytes(JSONL)
    [piece] = pieces_of_jsonl(path)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    new = tmp_path / "new" if is_replaced else path
    new.write_bytes(JSONL.replace(b"a", b"e"))
    if is_replaced:  # by a file of the same size and age, such as one from the same archive
        os.utime(new, ns=times)
        new.replace(path)
    else:
        os.utime(path, ns=(times[0], times[1] + 1))
    with pytest.raises(RuntimeError, match=r"documents\.jsonl has changed since the piece was cut"):
        piece.without_raw().with_raw()


@pytest.mark.parametrize("split", WHOLE)
def test_only_those_that_are_wanted_are_picked(split: Splitter, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(WHOLE[split])

    def read(among: set[str] | None) -> list[Any]:
        return [document for piece in split(tmp_path / "file") for document in piece.documents(wanted=among)]

    documents = read(None)
    assert read({document.id for document in documents[1::2]}) == documents[1::2] != []
    assert read(set()) == []


@pytest.mark.parametrize(("size", "fits"), [((1 << 26) - 1, True), (1 << 26, False)])
def test_a_record_of_64_mib_is_refused_and_a_shorter_one_read(write: Write, size: int, fits: bool) -> None:
    empty = b'{"docno": "d", "text": ""}'
    long = empty.replace(b'""', b'"%b"' % (b"x" * (size - len(empty))))
    path = write("a.jsonl", b'{"docno": "a", "text": ""}\n' + long + b"\n")
    documents, problem = outcome(lambda: read_documents_jsonl(path))
    assert len(documents) == 1 + fits
    assert ("a.jsonl:2: a line of 64 MiB or more" in problem) == (not fits)
