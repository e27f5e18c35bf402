import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Write
from touche.formats.clueweb22 import NAME, is_clueweb22_json, read_clueweb22_json
from touche.formats.pages import Page

ID = "clueweb22-en0000-00-0000"


def fields(number: int, **others: object) -> dict[str, object]:
    """A line as the collection has it; addresses end in a line break."""
    known = {
        "URL": f"https://a.example/cats/{number}\n",
        "URL-hash": "0123456789ABCDEF",
        "Language": "en",
        "ClueWeb22-ID": f"{ID}{number}",
        "Clean-Text": "Cats\nCats hunt birds.",
    }
    return known | others


def packed(*lines: dict[str, object]) -> bytes:
    """Each line is a gzip stream of its own."""
    return b"".join(gzip.compress(json.dumps(each).encode() + b"\n", mtime=0) for each in lines)


def test_pages_have_a_text_an_address_and_a_language_and_nothing_else(write: Write) -> None:
    path = write("en0000-00.json", packed(fields(0), fields(1, URL="http://[broken", Language="de")))
    assert list(read_clueweb22_json(path)) == [
        Page(f"{ID}0", body="Cats\nCats hunt birds.", host="a.example", path="/cats/0", language="en"),
        Page(f"{ID}1", body="Cats\nCats hunt birds.", language="de"),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (packed(fields(0)), True),
        (gzip.decompress(packed(fields(0))), True),
        (b'{"ClueWeb22-ID" : "a"}', True),
        (b'{"arguments": [{"id": "a"}]}', False),
        (rb'{"arguments": [{"id": "a", "conclusion": "{\"a\",\"ClueWeb22-ID\": b"}]}', False),
        (b'{"arguments": [\n{"ClueWeb22-ID": "a"}]}', False),
        (b"", False),
        (gzip.compress(b"a" * 10**8, mtime=0), False),
        (packed(fields(0))[:20], False),
    ],
)
def test_a_file_is_known_by_its_first_line(write: Write, content: bytes, expected: bool) -> None:
    assert is_clueweb22_json(write("a.json", content)) is expected


def test_what_cannot_be_read_is_not_of_clueweb22(tmp_path: Path) -> None:
    assert not is_clueweb22_json(tmp_path)
    assert not is_clueweb22_json(tmp_path / "missing.json")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ("en0000-00.json.gz", "zh_chs0123-99.json", "other0000-00.json.gz")),
        *((name, False) for name in ("args-me.json", "2020-04.json", "en0000-00.offset", "en0000-00.json.p")),
    ],
)
def test_names_of_the_collection(name: str, expected: bool) -> None:
    assert bool(NAME.fullmatch(name)) is expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"])), url=st.text(st.characters(codec="utf-8")))
def test_any_text_and_address_come_through(write: Write, text: str, url: str) -> None:
    path = write("a.json", json.dumps(fields(0, **{"Clean-Text": text, "URL": url})))
    (page,) = read_clueweb22_json(path)
    assert page.body == text
    assert (page.host is None) is (page.path is None)
