import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

from archives import record
from conftest import ROOT, Write, write_files
from touche.documents import pages
from touche.documents.html import workers
from touche.documents.html.extraction import parse, parse_as_in_2020
from touche.documents.html.parsing import parsed
from touche.documents.html_folder import read_pages_csv
from touche.documents.pages import Page, PageError, RawPage, Skipped
from touche.documents.warc import read_warc
from touche.errors import InputError

HTML = """<!DOCTYPE html>
<html lang="en"><head><title>  Wool or
 down? </title>
<META NAME="Description" content="We slept under   both."><meta name="keywords" content="wool, down">
<style>p { color: red }</style></head>
<body><nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li></ul></nav>
<article><h1>The verdict</h1><p>The wool duvet was better for my husband, who sweats at night.</p>
<h4>Too deep</h4><h3>Price</h3><p>The down duvet costs more and weighs less, which I like.</p></article>
<script>var better = "never indexed";</script><footer>Imprint and privacy</footer></body></html>"""


def raw(
    html: str | bytes, charset: str | None = None, url: str = "https://Beds.example/wool/?q=1#a"
) -> RawPage:
    return RawPage(
        id="p", url=url, content=html if isinstance(html, bytes) else html.encode(), charset=charset
    )


def test_a_page_is_taken_apart() -> None:
    page = parse(raw(HTML))
    assert (page.title, page.meta_description, page.meta_keywords) == (
        "Wool or down?", "We slept under both.", "wool, down"
    )  # fmt: skip
    assert page.headings == "The verdict\nPrice"
    assert (page.host, page.path, page.language) == ("beds.example", "/wool/", "en")
    assert page.body is not None and page.full_body is not None
    assert "better for my husband" in page.body and "Imprint" not in page.body and "Shop" not in page.body
    assert "Imprint" in page.full_body and "never indexed" not in page.full_body
    assert page.text == f"{page.title} {page.body}"


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title> </title>", "<h2>Second</h2><h1>First</h1>", "First"),
        ("", "<p class='title'>Named</p><h2>Second</h2>", "Second"),
        ("", "<p class='title'>Named</p>", "Named"),
        ("", "<p>text</p>", ""),
        (f"<title>{'x' * 91}</title>", "", "x" * 90),
    ],
)
def test_a_title_is_the_first_that_is_there(head: str, body: str, title: str) -> None:
    assert parse(raw(f"<html><head>{head}</head><body>{body}<p>some text</p></body></html>")).title == title


@pytest.mark.parametrize(
    ("encoding", "declared", "charset"),
    [
        ("utf-8", "utf-8", None),
        ("utf-8", "utf-8", "utf-8"),
        ("latin-1", "iso-8859-1", "iso-8859-1"),
        ("latin-1", "utf-8", "utf-8"),  # a wrong promise
        ("utf-16", "utf-8", None),
        ("latin-1", "iso-8859-1", "utf8mb4"),  # which is none
        ("utf-8", "utf-8", "base64"),  # which is none of a text
        ("utf-8", "utf-8", "\0"),
    ],
)
def test_encodings_are_repaired(encoding: str, declared: str, charset: str | None) -> None:
    text = "The café next door has had the same menu and the same cook for thirty years, says Zoë. " * 5
    html = f'<html><head><meta charset="{declared}"></head><body><p>{text}</p></body></html>'
    body = parse(raw(html.encode(encoding), charset)).body
    assert body is not None and "The café next" in body and "says Zoë." in body


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a" * (pages.LARGEST_PAGE + 1), "larger than 1 MiB"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "not of text"),
        (b"%PDF-1.4\n" + bytes(range(256)), "not of text"),
        (bytes(range(256)) * 20, "without readable text"),
        (b"", "without readable text"),
        (b"<div>" * 100_000 + b"deep", "nested too deeply"),
        (b"<html><body><script>x</script></body></html>", "without readable text"),
        (b"<html><frameset><frame src=a></frameset></html>", "without readable text"),
        (b"<html><body>&#xfffd;&#xfffd; word</body></html>", "without readable text"),
    ],
)
def test_what_cannot_be_parsed_says_why(content: bytes, reason: str) -> None:
    with pytest.raises(PageError, match=reason):
        parse(raw(content, "utf-8"))


def test_headings_are_read_once_and_in_time_that_grows_with_their_number() -> None:
    page = parse(
        raw("<h2>a</h2><h1>b <div><h3>c</h3></div></h1><p class=title>x" * 10 + "<h2>d</h2>" * 10_000)
    )
    assert str(page.headings).split("\n")[:4] == ["a", "b c", "a", "b c"]
    for headings in (1_999, 2_000, 2_001):  # a selector finds fewer than 2,000
        many = parse(raw("<h2>a <b>b</b></h2><p>c" * headings))
        assert many.headings == "\n".join(["a b"] * headings)[:16384]
    for parser in (parse, parse_as_in_2020):
        started = time.process_time()
        bomb = parser(raw("<h1><div>" * 140 + " " * 500_000 + "word " * 100_000))
        assert len(str(bomb.headings)) <= 16384 and time.process_time() - started < 8


def test_a_page_is_taken_apart_as_in_2020() -> None:
    meta = (
        '<meta name="Keywords" content="no"><meta name="keywords">'
        '<meta name="keywords" content="wool,  down ">'
        f'<meta name="description" content="{"word " * 80}words"><meta name="description" content="no">'
    )
    html = HTML.replace("<head>", f"<head>{meta}").replace("like.", "like and, as it is, need at night.")
    html = html.replace("<h4>Too deep</h4>", "<h4>Too deep</h4><h2>Beds</h2><h1>Or <h3>not</h3></h1>")
    page = parse(raw(html))
    then = parse_as_in_2020(raw(html))
    assert then.headings == "The verdictOrBedsnotPrice"
    assert then.title == page.title == "Wool or down?"
    assert (then.meta_keywords, page.meta_keywords) == ("wool, down", "no")
    assert then.meta_description == ("word " * 80).strip()
    assert then.body == (
        "The wool duvet was better for my husband, who sweats at night. "
        "The down duvet costs more and weighs less, which I like and, as it is, need at night."
    )
    alike = ("id", "full_body", "host", "path", "language")
    assert all(getattr(then, name) == getattr(page, name) for name in alike)


def test_a_title_of_2020_is_cut_at_a_word_and_may_be_the_text() -> None:
    text = "We slept under the wool duvet for a whole winter, and under the other for the next one, too."
    pages = (f"<title>{text}</title></head><h1>No</h1>", f"<title> </title></head><p>{text}</p>")
    titles = [parse_as_in_2020(raw(f"<html><head>{page}<h2>No</h2></html>")).title for page in pages]
    assert titles == [text[: text.index(" too.")]] * 2


def fails(page: RawPage) -> Page:
    """A parser in another process."""
    if page.id == "8":
        raise RuntimeError
    left, _ = signal.getitimer(signal.ITIMER_VIRTUAL)
    if page.id == "9":
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.1)
        while True:
            pass
    return Page(page.id, title=str(left))


def dies_of_7(page: RawPage) -> Page:
    """A parser in another process, which a page can kill."""
    if page.id == "7":
        os._exit(11)
    return Page(page.id)


def test_pages_come_in_order_without_those_that_fail_or_take_too_long(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(workers, "_BATCH_SIZE", 2)
    records: list[RawPage | Skipped] = [RawPage(str(n), "", b"x") for n in range(21)]
    records[3] = Skipped("3", "cut off")
    results = list(parsed(records, fails))
    assert [page.id for page in results] == [str(n) for n in range(21) if n not in (3, 8, 9)]
    assert all(0 < float(page.title or 0) < 5.1 for page in results)
    assert caplog.messages == [
        "skipped 3 of 21 pages: 1 cut off, 1 that the parser failed on (RuntimeError), "
        "1 that took the parser too long; the first is 3"
    ]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_crash_is_an_error_that_names_the_archive(
    monkeypatch: pytest.MonkeyPatch, write: Write, processes: int
) -> None:
    monkeypatch.setattr(workers, "_BATCH_SIZE", 2)
    path = write("a.warc", b"".join(record(str(n)) for n in range(40)))
    with pytest.raises(
        InputError, match=r"a\.warc: page [0-6], or one of the next \d+, crashed the parser; "
    ):
        list(parsed(read_warc(path, set()), dies_of_7, processes))


def test_pages_that_are_parsed_already_are_counted_wherever_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for documents in permutations([Page("1"), Page("2"), Skipped("3", "cut off")]):
        caplog.clear()
        assert len(list(parsed(documents))) == 2
        assert caplog.messages == ["skipped 1 of 3 pages: 1 cut off; the first is 3"]


SCRIPT = """
from pathlib import Path
from touche.documents.discovery import find_documents
from touche.documents.html.extraction import parse

def own(page):
    return parse(page)

print("begin")
documents = find_documents(Path("corpora/spot-check-pages"))
"""
READ = "print(len(list(documents)))"


@pytest.mark.parametrize(
    ("last", "code", "out", "error"),
    [
        (READ, 0, "begin\n62\n", ""),
        (f'if __name__ == "__main__": {READ}', 0, "begin\n62\n", ""),
        (f"documents = documents.parsed_by(own)\n{READ}", 1, "begin\n", "move these functions into a module"),
    ],
    ids=["without a guard", "with a guard", "with a parser"],
)
def test_a_script_runs_once_and_a_parser_in_it_is_an_error(
    write: Write, last: str, code: int, out: str, error: str
) -> None:
    script = write("script.py", SCRIPT + last)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stdout) == (code, out)
    assert error in done.stderr.splitlines()[-1]
    assert done.stderr.count("Traceback") == code  # by the script itself, and none by the processes


def test_few_pages_are_under_way_at_a_time() -> None:
    taken = 0

    def endless() -> Iterator[RawPage]:
        nonlocal taken
        while True:
            taken += 1
            yield raw(HTML)

    stream = parsed(endless())
    for _ in range(100):
        next(stream)
    stream.close()
    assert taken < 32 * (3 * (os.cpu_count() or 1) + 4)


def test_other_documents_are_passed_on() -> None:
    assert list(parsed([])) == []
    results = list(parsed(["a", raw(HTML), "b", raw(HTML)]))
    assert results[0::2] == ["a", "b"] and all(isinstance(page, Page) for page in results[1::2])


def test_a_folder_of_files(tmp_path: Path) -> None:
    rows = "a,a.html,http://a.example/\nb,b.html,\nc,loop.html,\nd,pipe.html,\n"
    write_files(tmp_path, {"a.html": "<p>a", "pages.csv": f"id,file,url\n{rows}"})
    (tmp_path / "loop.html").symlink_to(tmp_path / "loop.html")
    os.mkfifo(tmp_path / "pipe.html")  # which would keep a reader waiting for ever
    assert list(read_pages_csv(tmp_path / "pages.csv", set())) == [
        RawPage("a", "http://a.example/", b"<p>a"),
        Skipped("b", "without a file"),
        Skipped("c", "without a file"),
        Skipped("d", "without a file"),
    ]


def test_a_table_of_pages_may_have_long_and_few_cells_and_blank_rows(tmp_path: Path) -> None:
    url = f"http://a.example/{'x' * 200_000}"
    write_files(tmp_path, {"a.html": "<p>a", "pages.csv": f'id,file,url\na,a.html,"{url}"\n\nb,a.html\n'})
    pages = list(read_pages_csv(tmp_path / "pages.csv", set()))
    assert pages == [RawPage("a", url, b"<p>a"), RawPage("b", "", b"<p>a")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("b,../secret.html,", "'../secret.html' is outside of the folder"),
        ("b,/etc/passwd,", "'/etc/passwd' is outside of the folder"),
        ("a,a.html,", "page 'a' occurs a second time"),
        ("b,a\0.html,", r"'a\\x00.html' is outside of the folder"),
        ("b,link.html,", "'link.html' is outside of the folder"),
        ("b,a\rb.html,", "broken CSV"),
        (",a.html,", "the row has no id or no file"),
        ("b", "the row has no id or no file"),
    ],
)
def test_a_table_of_pages_that_is_broken(tmp_path: Path, row: str, message: str) -> None:
    write_files(tmp_path, {"a.html": "<p>a", "pages.csv": f"id,file,url\na,a.html,\n{row}\n"})
    (tmp_path / "link.html").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match=rf"pages\.csv:3: {message}"):
        list(read_pages_csv(tmp_path / "pages.csv", set()))
