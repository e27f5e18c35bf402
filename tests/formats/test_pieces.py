import csv
import io
import json
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
from texts import BYTES, damaged
from touche.errors import InputError
from touche.formats import args_processed, pieces
from touche.formats.args_processed import pieces_of_args_processed
from touche.formats.argsme import pieces_of_argsme
from touche.formats.jsonl import (
    pieces_of_documents,
    read_documents_jsonl,
)
from touche.formats.pieces import Splitter

SIZES = st.integers(1, 99) | st.just(1 << 22)
JSONL = b"".join(orjson.dumps({"docno": each, "text": "caf\u00e9"}) + b"\r\n\n" for each in "abcd")

ARGUMENTS = json.dumps(
    {
        "x": ["arguments", {"arguments": [1]}],
        "arguments": [{"id": each, "conclusion": '"\\', "premises": [{"text": "\u00e9"}]} for each in "abcd"],
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


WHOLE = {pieces_of_documents: JSONL, pieces_of_argsme: ARGUMENTS, pieces_of_args_processed: PROCESSED}


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
def test_only_those_that_are_wanted_are_picked(split: Splitter, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(WHOLE[split])

    def read(among: set[str] | None) -> list[Any]:
        return [each for piece in split(tmp_path / "file") for each in piece.documents(among=among)]

    documents = read(None)
    assert read({document.id for document in documents[1::2]}) == documents[1::2] != []
    assert read(set()) == []


CELLS = st.text('",\n\r aé', max_size=4) | st.sampled_from(['"a"', '"a""b"', '"a\n,"', '"a'])


@example(['a","b', 'c"'], "\n", 2)
@given(
    st.lists(st.lists(CELLS, max_size=3).map(",".join), max_size=5), st.sampled_from(["\n", "\r\n"]), SIZES
)
def test_pieces_hold_the_rows_that_python_finds_in_csv(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, size: int
) -> None:
    """Cells are written as they are, so that most of them quote where they should not."""
    path = tmp_path_factory.mktemp("pieces") / "file"
    path.write_bytes(("a\n" + end.join(lines)).encode())
    rows = []

    def collected(piece: pieces.Piece, seen: set[str], among: None, columns: list[str]) -> Iterator[Any]:
        read_line = io.BytesIO(piece.raw).readline
        for _, row in args_processed._rows(read_line, piece.path, piece.line):
            rows.append(row)
            yield row

    with patch.object(pieces, "SIZE", size), patch.object(args_processed, "_arguments_of", collected):
        _, problem = outcome(lambda: args_processed.read_args_processed_csv(path))
    expected, is_broken = [], False
    try:
        for row in csv.reader((line.decode() for line in path.open("rb")), strict=True):
            expected.append(row)
    except csv.Error:
        is_broken = True
    assert (rows, "broken CSV" in problem) == (expected[1:], is_broken)


BLANKS = st.text(" \t\r\n", max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=9) | st.just('\\"[{,}]\\'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=9,
)
ELEMENTS = st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=5)


@given(ELEMENTS, VALUES, VALUES, BLANKS, st.booleans(), SIZES)
def test_pieces_hold_the_elements_that_python_finds_in_json(
    tmp_path_factory: pytest.TempPathFactory,
    elements: list[Any],
    before: Any,
    after: Any,
    blanks: str,
    ascii: bool,
    size: int,
) -> None:
    text = json.dumps(
        {"before": before, "arguments": elements, "after": after},
        ensure_ascii=ascii,
        separators=(f"{blanks},{blanks}", f"{blanks}:{blanks}"),
    )
    path = tmp_path_factory.mktemp("pieces") / "file"
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    with patch.object(pieces, "SIZE", size):
        found = [each for piece in pieces_of_argsme(path) for each in json.loads(b"[%b]" % piece.raw)]
    assert found == json.loads(path.read_bytes())["arguments"]


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


@pytest.mark.parametrize(("size", "fits"), [((1 << 26) - 1, True), (1 << 26, False)])
def test_a_record_of_64_mib_is_refused_and_a_shorter_one_read(write: Write, size: int, fits: bool) -> None:
    start, end = b'{"docno": "d", "text": "', b'"}'
    long = start + b"x" * (size - len(start) - len(end)) + end
    path = write("a.jsonl", b'{"docno": "a", "text": ""}\n' + long + b"\n")
    found, problem = outcome(lambda: read_documents_jsonl(path))
    assert (len(found), "a.jsonl:2: a line of 64 MiB or more" in problem) == (
        (2, False) if fits else (1, True)
    )
