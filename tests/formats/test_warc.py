import gzip
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archives import record, record_of_clueweb22
from conftest import Write
from touche.errors import InputError
from touche.formats.pages import LARGEST, RawPage, Skipped
from touche.formats.warc import page_of_response, read_warc

INFO = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 3\r\n\r\na:b\r\n\r\n"


CUT = "cut off, or of a wrong length"


def page(id: str) -> RawPage:
    return RawPage(id, f"http://a.example/{id}", b"<p>words", "utf-8")


@pytest.mark.parametrize("packed", ["not", "each", "whole"])
def test_pages_of_an_archive(write: Write, packed: str) -> None:
    records = [INFO, record("a"), record("b"), record("c", kind="image/png")]
    content = b"".join(gzip.compress(each) if packed == "each" else each for each in records)
    path = write("a.warc", gzip.compress(content) if packed == "whole" else content)
    assert list(read_warc(path)) == [page("a"), page("b"), Skipped("c", "not of text")]


def test_the_id_is_that_of_trec_or_of_the_record(write: Write) -> None:
    (found,) = read_warc(write("a.warc", record("")))
    assert found.id == "<urn:uuid:12345678-0000-0000-0000-000000000000>"


@pytest.mark.parametrize("packed", [True, False])
def test_what_precedes_the_end_of_an_archive_that_is_cut_off_is_kept_and_the_end_reported(
    write: Write, packed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    records = [record(each, b"<p>words" * 40) for each in "abc"]
    parts = [gzip.compress(each) if packed else each for each in records]
    for cut in (*range(1, 40), *range(40, len(parts[-1]), 7)):
        caplog.clear()
        path = write("a.warc", b"".join(parts)[:-cut])
        first, second, *others = read_warc(path)
        assert [first.id, second.id] == ["a", "b"]
        assert all(isinstance(each, RawPage) for each in (first, second))
        if others != [RawPage("c", "http://a.example/c", b"<p>words" * 40, "utf-8")]:
            assert not any(isinstance(each, RawPage) for each in others)
        told = [text for text in caplog.messages if text.startswith(f"{path} is cut off after ")]
        assert told or any(isinstance(each, Skipped) for each in others)


@pytest.fixture(scope="module")
def large() -> list[bytes]:
    """Records that are read in more than one go, gzipped or not."""
    chance = random.Random(1)
    return [record(f"p{number}", chance.randbytes(10_000).hex().encode()) for number in range(40)]


@pytest.mark.parametrize("packed", ["not", "each", "whole", "by ten"])
def test_nothing_is_said_of_an_archive_that_is_whole_however_it_is_packed(
    write: Write, large: list[bytes], packed: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Archives of ClueWeb09 and ClueWeb12 are one gzip stream each."""
    tens = [b"".join(large[start : start + 10]) for start in range(0, 40, 10)]
    parts = {"not": large, "each": large, "whole": [b"".join(large)], "by ten": tens}[packed]
    path = write("a.warc", b"".join(each if packed == "not" else gzip.compress(each) for each in parts))
    assert [each.id for each in read_warc(path)] == [f"p{number}" for number in range(40)]
    assert not caplog.messages


def test_a_large_gzip_stream_that_is_cut_off_is_noticed(
    write: Write, large: list[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    content = gzip.compress(b"".join(large))
    for cut in (1, 4, 9, 1000, 30_001, len(content) // 2):
        caplog.clear()
        path = write("a.warc", content[:-cut])
        found = list(read_warc(path))
        assert [each.id for each in found] == [f"p{number}" for number in range(len(found))]
        assert any(isinstance(each, Skipped) for each in found) or f"{path} is cut off after " in caplog.text


def test_a_gzip_stream_with_a_wrong_sum_is_no_traceback(
    write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    content = bytearray(gzip.compress(record("a")))
    content[-6] ^= 1
    path = write("a.warc", bytes(content))
    list(read_warc(path))
    assert any(text.startswith(f"{path} is broken after ") for text in caplog.messages)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_archives_of_clueweb09(
    write: Write, newline: str, packed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """WARC/0.18, with lines that end in LF alone, those of the server, too."""
    records = [record(each, charset="; charset=cp1252", version="0.18", newline=newline) for each in "ab"]
    info = INFO.replace(b"1.0", b"0.18").replace(b"\r\n", newline.encode())
    content = info + b"".join(records)
    path = write("00.warc", gzip.compress(content) if packed else content)
    assert list(read_warc(path)) == [
        RawPage(each, f"http://a.example/{each}", b"<p>words", "cp1252") for each in "ab"
    ]
    assert not caplog.messages


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_a_server_sent_may_have_other_lines_than_the_archive(write: Write, newline: str) -> None:
    html = b"\n<p>words\n\n<p>more\r\n\r\n<p>words"
    ends = {"a": "\n", "b": "\r\n"}
    content = b"".join(record(id, html, newline=newline, of_server=end) for id, end in ends.items())
    assert list(read_warc(write("a.warc", content))) == [
        RawPage(id, f"http://a.example/{id}", html, "utf-8") for id in "ab"
    ]


def test_what_is_wrong_in_clueweb09_costs_only_the_page_where_it_is(write: Write) -> None:
    def old(id: str, length: int | None = None) -> bytes:
        return record(id, length=length, version="0.18", newline="\n")

    blank = old("b").replace(b"WARC-TREC-ID", b"\nWARC-TREC-ID")  # ends the headers too early
    odd = (
        old("d").replace(b"WARC-TREC-ID", b"no header\nWARC-TREC-ID").replace(b"a.example", b"a\xff.example")
    )
    content = old("a") + blank + old("c") + odd + b"junk\n" + old("e", length=200) + old("f") + old("g")
    found = list(read_warc(write("00.warc", content)))
    assert [each.id for each in found if isinstance(each, RawPage)] == ["a", "c", "d", "g"]
    assert Skipped("e", "of a wrong length, with another page in it") in found


def test_pages_of_clueweb22(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    """The first line of a page is not taken for one that a server said."""
    html = "<html>\n\n<meta charset=latin1><p>caf\u00e9".encode()
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>words"
    records = [
        record_of_clueweb22("clueweb22-en0000-00-00000", html),
        record_of_clueweb22("clueweb22-en0000-00-00001", http),
        record_of_clueweb22("clueweb22-en0000-00-00002", b"<p>caf\xe9"),
    ]
    ids = [f"clueweb22-en0000-00-0000{number}" for number in range(3)]
    content = b"".join(map(gzip.compress, records))
    assert list(read_warc(write("en0000-00.warc", content))) == [
        RawPage(ids[0], f"http://a.example/{ids[0]}", html, "utf-8"),
        RawPage(ids[1], f"http://a.example/{ids[1]}", b"<p>words"),
        RawPage(ids[2], f"http://a.example/{ids[2]}", b"<p>caf\xe9"),
    ]
    assert not caplog.messages


def test_a_page_that_cannot_be_unpacked_is_left_out_alone(write: Write) -> None:
    encoded = record("b").replace(b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n")
    broken = encoded.replace(b"Length: 67", b"Length: 91")
    assert broken != encoded
    found = list(read_warc(write("a.warc", record("a") + broken + record("c"))))
    assert found == [page("a"), Skipped("b", "that is broken"), page("c")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    pages=st.lists(st.binary(min_size=1).filter(lambda page: b"\nWARC/" not in page), min_size=1, max_size=3)
)
def test_pages_are_the_same_in_every_collection_s_archives(write: Write, pages: list[bytes]) -> None:
    for made in (
        [record(f"p{number}", each) for number, each in enumerate(pages)],
        [record(f"p{number}", each, version="0.18", newline="\n") for number, each in enumerate(pages)],
        [record_of_clueweb22(f"p{number}", each) for number, each in enumerate(pages)],
    ):
        for content in (b"".join(made), b"".join(map(gzip.compress, made)), gzip.compress(b"".join(made))):
            found = list(read_warc(write("a.warc", content)))
            assert [each.content for each in found if isinstance(each, RawPage)] == pages


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_response_is_read_as_in_an_archive(newline: str) -> None:
    def response(*headers: str, body: str = "<p>words") -> RawPage | Skipped:
        lines = "".join(f"{each}{newline}" for each in ("HTTP/1.1 200 OK", *headers, ""))
        return page_of_response("a", "http://a.example/", (lines + body).encode())

    html = "content-type: Text/HTML;  Charset=ISO-8859-1"
    assert response(html) == RawPage("a", "http://a.example/", b"<p>words", "iso-8859-1")
    assert response("Content-Type: image/png") == Skipped("a", "not of text")
    assert response() == Skipped("a", "not of text")
    assert response(html, body="") == Skipped("a", CUT)
    assert response(html, "Content-Encoding: gzip") == Skipped("a", "that is broken")


def test_a_wrong_length_costs_as_few_pages_as_can_be(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    for length in (10, -5, 10**30, "abc", ""):
        content = record("a") + record("b", length=length) + record("c")  # type: ignore[arg-type]
        found = list(read_warc(write("a.warc", content)))
        assert found[0] == page("a")
        assert [each for each in found[1:] if isinstance(each, RawPage)] in ([], [page("c")])
        assert found[1] == Skipped("b", CUT) or caplog.messages
    found = list(read_warc(write("a.warc", record("a", length=300) + record("b") + record("c"))))
    assert found[0] == Skipped("a", "of a wrong length, with another page in it")


def test_a_page_that_shows_an_archive_is_kept(write: Write) -> None:
    html = b"<pre>\nWARC/1.0\nWARC-Type: response\n"
    (found,) = read_warc(write("a.warc", record("a", html)))
    assert isinstance(found, RawPage) and found.content == html


def test_junk_between_records_costs_none(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    path = write("a.warc", record("a") + b"junk\r\n" * 9 + record("b"))
    assert list(read_warc(path)) == [page("a"), page("b")]
    assert (
        f"{path} is broken after 1 records (Invalid WARC header); what can be read is kept" in caplog.messages
    )


def test_chunks_are_put_together(write: Write) -> None:
    content = record("a", b"8\r\n<p>words\r\n0\r\n\r\n").replace(
        b"200 OK", b"200 OK\r\nTransfer-Encoding: chunked"
    )
    length = content.index(b"\r\n\r\nHTTP")
    size = len(content) - 4 - length - 4
    old = content[:length].rpartition(b" ")[2]
    assert list(read_warc(write("a.warc", content.replace(b"Length: " + old, b"Length: %d" % size)))) == [
        page("a")
    ]


def test_a_bomb_is_read_to_its_limit_only(write: Write) -> None:
    bomb = gzip.compress(record("bomb", b"a" * (100 << 20)))
    content = gzip.compress(record("a")) + bomb + gzip.compress(record("b"))
    assert len(content) < LARGEST
    first, second, third = read_warc(write("a.warc", content))
    assert (first, third) == (page("a"), page("b"))
    assert isinstance(second, RawPage) and len(second.content) == LARGEST + 1


def test_ids_of_one_s_own(write: Write) -> None:
    seen = {"b"}
    found = list(read_warc(write("a.warc", record("a") + record("a") + record("b") + record("a b")), seen))
    assert found == [page("a"), *(Skipped(id, "without an id of its own") for id in ("a", "b", "a b"))]


@pytest.mark.parametrize("content", [b"once upon a time", b"", INFO])
def test_an_archive_without_a_page_does_not_end_a_run(
    write: Write, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = write("a.warc", content)
    assert list(read_warc(path)) == []
    if content != INFO:
        assert f"{path} holds no record; is it a web archive?" in caplog.messages


@pytest.mark.parametrize("content", [b"", record("a", b"<p>words")[:-9], record("a", b"<p>words") + b"junk"])
def test_warnings_stay_on_their_line(write: Write, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    list(read_warc(write("odd\n\x1b/a.warc", content)))
    assert caplog.messages
    assert all(each.isprintable() and r"odd\n\x1b" in each for each in caplog.messages)


def test_a_missing_archive_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing.warc: cannot be read \(No such file"):
        list(read_warc(tmp_path / "missing.warc"))
