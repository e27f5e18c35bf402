import gzip
import random
from typing import Any

import pytest

from archives import record, record_of_clueweb22
from conftest import Write
from touche.documents.pages import LARGEST_PAGE, RawPage, Skipped
from touche.documents.warc import read_warc

INFO = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 3\r\n\r\na:b\r\n\r\n"


CUT = "cut off, or of a wrong length"


def page(id: str, html: bytes = b"<p>words", charset: str | None = "utf-8") -> RawPage:
    return RawPage(id=id, url=f"http://a.example/{id}", content=html, charset=charset)


def encoded(id: str, header: bytes, content: bytes) -> bytes:
    """A record whose content a server has encoded; its length is that of the whole response."""
    plain = record(id, content, length=0)
    head, blank, http = plain.partition(b"\r\n\r\n")
    http = http[:-4].replace(b"200 OK\r\n", b"200 OK\r\n" + header + b"\r\n")
    return head.replace(b"Length: 0", b"Length: %d" % len(http)) + blank + http + b"\r\n\r\n"


def old(id: str, newline: str = "\n", **others: Any) -> bytes:
    """A record of ClueWeb09: WARC/0.18, in which all lines end in LF, also those of the server."""
    return record(id, version="0.18", newline=newline, **others)


SHOWN = b"<pre>\nWARC/1.0\nWARC-Type: response\n"
MIXED = b"\n<p>words\n\n<p>more\r\n\r\n<p>words"
OF_CLUEWEB22 = b"<html>\n\n<meta charset=latin1><p>caf\xc3\xa9"  # no status line of the server
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>words"
ARCHIVES: dict[str, tuple[list[bytes], list[RawPage | Skipped]]] = {
    "pages": ([INFO, record("a"), record("b")], [page("a"), page("b")]),
    "an image": ([record("a", kind="image/png")], [Skipped("a", "not of text")]),
    "an archive on a page": ([record("a", SHOWN)], [page("a", SHOWN)]),
    "chunks": (
        [encoded("a", b"Transfer-Encoding: chunked", b"8\r\n<p>words\r\n0\r\n\r\n"), record("b")],
        [page("a"), page("b")],
    ),
    "not gzipped": (
        [record("a"), encoded("b", b"Content-Encoding: gzip", b"<p>"), record("c")],
        [page("a"), Skipped("b", "that is broken"), page("c")],
    ),
    "ids": (
        [record("a"), record("a"), record("seen"), record("a b")],
        [page("a"), *(Skipped(id, "without an id of its own") for id in ("a", "seen", "a b"))],
    ),
    **{
        f"with {newline!a}, of servers with both": (
            [
                record("a", MIXED, newline=newline, of_server="\n"),
                record("b", MIXED, newline=newline, of_server="\r\n"),
            ],
            [page("a", MIXED), page("b", MIXED)],
        )
        for newline in ("\n", "\r\n")
    },
    "of ClueWeb09": (
        [
            INFO.replace(b"1.0", b"0.18").replace(b"\r\n", b"\n"),
            old("a", charset="; charset=cp1252"),
            old("b"),
        ],
        [page("a", charset="cp1252"), page("b")],
    ),
    "of ClueWeb09 by the standard": ([old("a", "\r\n"), old("b", "\r\n")], [page("a"), page("b")]),
    "of ClueWeb22": (
        [
            record_of_clueweb22(id, content)
            for id, content in (("a", OF_CLUEWEB22), ("b", HTTP), ("c", b"<p>caf\xe9"))
        ],
        [page("a", OF_CLUEWEB22), page("b", charset=None), page("c", b"<p>caf\xe9", None)],
    ),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ARCHIVES)
def test_pages_of_an_archive(write: Write, name: str, packed: bool, caplog: pytest.LogCaptureFixture) -> None:
    records, pages = ARCHIVES[name]
    content = b"".join(map(gzip.compress, records) if packed else records)
    assert list(read_warc(write("a.warc", content), {"seen"})) == pages
    assert bool(caplog.messages) is (name == "not gzipped")


def test_a_page_without_an_id_of_trec_has_that_of_the_record(write: Write) -> None:
    (page_read,) = read_warc(write("a.warc", record("")), set())
    assert page_read.id == "<urn:uuid:12345678-0000-0000-0000-000000000000>"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (record("a") + b"junk\r\n" * 9 + record("b"), "broken after 1 record (Invalid WARC header)"),
        (gzip.compress(record("a"))[:-6] + b"\0" * 6, "broken after "),
        (record("a")[:-9], "is truncated after "),
        (b"once upon a time", "has no records; check that it is a web archive"),
        (b"", "has no records; check that it is a web archive"),
    ],
)
def test_what_is_wrong_with_an_archive_is_reported_on_a_line(
    write: Write, content: bytes, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    results = read_warc(write("odd\n\x1b/a.warc", content), set())
    pages = [result.id for result in results if isinstance(result, RawPage)]
    assert pages == (["a", "b"] if b"junk" in content else [])
    assert any(message in text for text in caplog.messages)
    assert all(text.isprintable() and r"odd\n\x1b" in text for text in caplog.messages)


@pytest.mark.parametrize("packed", [True, False])
def test_what_precedes_the_end_of_an_archive_that_is_cut_off_is_kept_and_the_end_reported(
    write: Write, packed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    records = [record(id, b"<p>words" * 40) for id in "abc"]
    parts = [*map(gzip.compress, records)] if packed else records
    for cut in (*range(1, 40), *range(40, len(parts[-1]), 7)):
        caplog.clear()
        path = write("a.warc", b"".join(parts)[:-cut])
        first, second, *others = read_warc(path, set())
        assert [first.id, second.id] == ["a", "b"]
        assert all(isinstance(result, RawPage) for result in (first, second))
        if others != [RawPage(id="c", url="http://a.example/c", content=b"<p>words" * 40, charset="utf-8")]:
            assert not any(isinstance(result, RawPage) for result in others)
        warnings = [text for text in caplog.messages if text.startswith(f"{path} is truncated after ")]
        assert warnings or any(isinstance(result, Skipped) for result in others)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("cut", [0, 90])
def test_records_whose_length_counts_removed_carriage_returns_are_all_read(
    write: Write, packed: bool, cut: int, caplog: pytest.LogCaptureFixture
) -> None:
    """ClueWeb09: a record that is taken to be longer by some bytes would hide the next one."""
    content = b"".join(record(id, version="0.18") for id in "abcdef").replace(b"\r\n", b"\n")
    content = content[: len(content) - cut]
    results = list(read_warc(write("a.warc", gzip.compress(content) if packed else content), set()))
    assert results == [page(id) for id in "abcde"] + ([Skipped("f", CUT)] if cut else [page("f")])
    assert ["truncated after 6 records" in text for text in caplog.messages] == [True] * bool(cut)


@pytest.fixture(scope="module")
def large() -> list[bytes]:
    """Records that need several reads, gzipped or not."""
    chance = random.Random(1)
    return [record(f"p{number}", chance.randbytes(10_000).hex().encode()) for number in range(40)]


@pytest.mark.parametrize("packed", ["not", "each", "whole", "by ten"])
def test_nothing_is_said_of_an_archive_that_is_whole_however_it_is_packed(
    write: Write, large: list[bytes], packed: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Archives of ClueWeb09 and ClueWeb12 are one gzip stream each."""
    tens = [b"".join(large[start : start + 10]) for start in range(0, 40, 10)]
    parts = {"not": large, "each": large, "whole": [b"".join(large)], "by ten": tens}[packed]
    path = write("a.warc", b"".join(parts if packed == "not" else map(gzip.compress, parts)))
    assert [result.id for result in read_warc(path, set())] == [f"p{number}" for number in range(40)]
    assert not caplog.messages


@pytest.mark.parametrize("cut", [1, 4, 9, 1000, 30_001, 200_000])
def test_a_large_gzip_stream_that_is_cut_off_is_noticed(
    write: Write, large: list[bytes], caplog: pytest.LogCaptureFixture, cut: int
) -> None:
    path = write("a.warc", gzip.compress(b"".join(large))[:-cut])
    results = list(read_warc(path, set()))
    assert [result.id for result in results] == [f"p{number}" for number in range(len(results))]
    has_skipped = any(isinstance(result, Skipped) for result in results)
    assert has_skipped or f"{path} is truncated after " in caplog.text


def test_what_is_wrong_in_clueweb09_costs_only_the_page_where_it_is(write: Write) -> None:
    blank = old("b").replace(b"WARC-TREC-ID", b"\nWARC-TREC-ID")  # ends the headers too early
    odd = (
        old("d").replace(b"WARC-TREC-ID", b"no header\nWARC-TREC-ID").replace(b"a.example", b"a\xff.example")
    )
    content = old("a") + blank + old("c") + odd + b"junk\n" + old("e", length=200) + old("f") + old("g")
    results = list(read_warc(write("00.warc", content), set()))
    assert [result.id for result in results if isinstance(result, RawPage)] == [*"acdefg"]


def test_a_wrong_length_costs_as_few_pages_as_can_be(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    for length in (10, -5, 10**30, "abc", ""):
        content = record("a") + record("b", length=length) + record("c")  # type: ignore[arg-type]
        results = list(read_warc(write("a.warc", content), set()))
        assert results[0] == page("a")
        assert [result for result in results[1:] if isinstance(result, RawPage)] in ([], [page("c")])
        assert results[1] == Skipped("b", CUT) or caplog.messages
    results = list(read_warc(write("a.warc", record("a", length=300) + record("b") + record("c")), set()))
    assert results[0] == Skipped("a", "of a wrong length, with another page in it")


def test_a_bomb_is_read_to_its_limit_only(write: Write) -> None:
    bomb = gzip.compress(record("bomb", b"a" * (100 << 20)))
    content = gzip.compress(record("a")) + bomb + gzip.compress(record("b"))
    assert len(content) < LARGEST_PAGE
    first, second, third = read_warc(write("a.warc", content), set())
    assert (first, third) == (page("a"), page("b"))
    assert isinstance(second, RawPage) and len(second.content) == LARGEST_PAGE + 1
