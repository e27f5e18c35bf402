import gzip
import json

import pytest

from conftest import Write
from touche.documents.clueweb22 import is_clueweb22_json, read_clueweb22_json
from touche.documents.pages import Page

ID = "clueweb22-en0000-00-0000"


def packed(*urls: str) -> bytes:
    """Lines of the collection: each is a gzip stream, and addresses end in a line break."""
    fields = {"Language": "en", "Clean-Text": "Cats\nCats hunt birds."}
    lines = [{"URL": url, "ClueWeb22-ID": f"{ID}{number}"} | fields for number, url in enumerate(urls)]
    return b"".join(gzip.compress(json.dumps(line).encode() + b"\n", mtime=0) for line in lines)


def test_pages_have_a_text_an_address_and_a_language_and_nothing_else(write: Write) -> None:
    path = write("en0000-00.json", packed("https://a.example/cats/0\n", "http://[broken"))
    assert list(read_clueweb22_json(path, set())) == [
        Page(f"{ID}0", body="Cats\nCats hunt birds.", host="a.example", path="/cats/0", language="en"),
        Page(f"{ID}1", body="Cats\nCats hunt birds.", language="en"),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (packed(""), True),
        (gzip.decompress(packed("")), True),
        (b'{"ClueWeb22-ID" : "a"}', True),
        (b'{"arguments": [{"id": "a"}]}', False),
        (rb'{"arguments": [{"id": "a", "conclusion": "{\"a\",\"ClueWeb22-ID\": b"}]}', False),
        (b'{"arguments": [\n{"ClueWeb22-ID": "a"}]}', False),
        (b"", False),
        (gzip.compress(b"a" * 10**8, mtime=0), False),
    ],
)
def test_a_file_is_known_by_its_first_line(write: Write, content: bytes, expected: bool) -> None:
    path = write("a.json", content)
    assert is_clueweb22_json(path) is expected
