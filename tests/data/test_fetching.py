import gzip
import hashlib
import io
import re
import tarfile
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from unittest.mock import Mock

import pytest

from conftest import Touche, Write, use_clone
from known import KNOWN
from touche import tasks
from touche.data.official_files import copy_samples, fetch
from touche.data.publishers import Source, sources_in
from touche.data.sources import official
from touche.data.verifying import verify
from touche.errors import InputError, ToucheError

CONTENT = b"1 0 a 2\n" * 50_000
MD5 = hashlib.md5(CONTENT).hexdigest()


class Publisher(BaseHTTPRequestHandler):
    """Serves one file; the connection breaks after ``breaks_after`` bytes of an answer."""

    content: ClassVar[bytes] = CONTENT
    breaks_after: ClassVar[int | None] = None
    ranges: ClassVar[bool] = True
    seconds: ClassVar[float] = 0  # before an answer
    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.asked.append(wanted)
        start = int(re.findall(r"\d+", wanted or "0")[0]) if self.ranges else 0
        time.sleep(self.seconds)
        if self.path == "/gone":
            self.send_error(404)
        elif self.path == "/refused" or start >= len(self.content):
            self.send_error(416)
        else:
            rest = self.content[start:]
            self.send_response(206 if self.ranges else 200)
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[: self.breaks_after])

    def log_message(self, format: str, *arguments: object) -> None:
        """Is silent."""


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a publisher on loopback."""
    monkeypatch.setattr(Publisher, "asked", [])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Publisher)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone without data, to fetch into."""
    for folder in ("baselines", "topics"):
        (tmp_path / "clone" / folder).mkdir(parents=True)
    use_clone(tmp_path / "clone", monkeypatch)
    return tmp_path / "clone"


def source(url: str = "", md5: str = MD5, path: str = "qrels/a.qrels", member: str = "") -> Source:
    return Source(
        path=path,
        title="a title",
        page="https://example.org",
        licence="CC BY 4.0",
        url=url,
        md5=md5,
        size=len(CONTENT),
        member=member,
    )


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return packed.getvalue()


def tarred(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        link = tarfile.TarInfo(f"links/{Path(name).name}")
        link.type = tarfile.SYMTYPE
        link.linkname = "/etc/passwd"
        archive.addfile(link)
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def test_a_file_is_fetched_and_verified(publisher: str, home: Path) -> None:
    assert fetch(source(f"{publisher}/a.qrels")).word == "fetched"
    assert (home / "qrels" / "a.qrels").read_bytes() == CONTENT
    assert verify(source(f"{publisher}/a.qrels")).word == "verified"
    assert fetch(source(f"{publisher}/a.qrels")).word == "available"
    assert len(Publisher.asked) == 1
    assert [path.name for path in (home / "qrels").iterdir()] == ["a.qrels"]


@pytest.mark.parametrize(
    ("url", "md5", "message"),
    [
        ("PUBLISHER/gone", MD5, r"cannot be downloaded from http://.*/gone \(404 .*use --from"),
        ("http://127.0.0.1:9/a", MD5, "cannot be downloaded"),
        ("PUBLISHER/a", "0000", rf"its md5 is {MD5} instead of 0000; corpora/new/a"),
    ],
)
def test_a_failed_download_leaves_nothing(
    publisher: str, home: Path, url: str, md5: str, message: str
) -> None:
    before = {*home.rglob("*")}
    with pytest.raises(ToucheError, match=message):
        fetch(source(url.replace("PUBLISHER", publisher), md5, path="corpora/new/a"))
    assert {*home.rglob("*")} - {home / "downloads"} == before


def test_an_interrupted_download_goes_on(publisher: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Publisher, "breaks_after", 150_000)
    with pytest.raises(ToucheError, match=r"qrels/a\.qrels cannot be downloaded .*; try again to resume"):
        fetch(source(f"{publisher}/a.qrels"))
    assert not (home / "qrels" / "a.qrels").exists()
    monkeypatch.setattr(Publisher, "breaks_after", None)
    assert fetch(source(f"{publisher}/a.qrels")).word == "fetched"
    assert (home / "qrels" / "a.qrels").read_bytes() == CONTENT
    assert Publisher.asked == ["bytes=0-", f"bytes={2 * 65536}-"]


@pytest.mark.parametrize(("ranges", "part"), [(False, b"some older beginning"), (True, CONTENT)])
def test_what_was_downloaded_before_is_used_or_replaced(
    publisher: str, home: Path, monkeypatch: pytest.MonkeyPatch, ranges: bool, part: bytes
) -> None:
    """A publisher without ranges sends the whole file again; one with ranges refuses the request."""
    monkeypatch.setattr(Publisher, "ranges", ranges)
    (home / "downloads").mkdir()
    (home / "downloads" / f"{MD5}-a.qrels.part").write_bytes(part)
    assert fetch(source(f"{publisher}/a.qrels")).word == "fetched"
    assert (home / "qrels" / "a.qrels").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("path", "member", "broken"),
    [
        ("runs/task/a.run", "", b"\x1f\x8b" + b"x" * 300),
        ("runs/task/a.run", "", gzip.compress(CONTENT)[:-300]),
        ("runs/task/a.run", "", b"PK\x03\x04" + b"x" * 300),
        ("runs/task/a.run", "", b"an error page"),
        ("qrels/a.qrels", "inner", b"no archive"),
        ("qrels/a.qrels", "inner", zipped(inner=CONTENT)[:-30]),
        ("qrels/a.qrels", "inner", zipped(other=CONTENT)),
    ],
)
def test_a_broken_download_is_fetched_again(
    publisher: str, home: Path, monkeypatch: pytest.MonkeyPatch, path: str, member: str, broken: bytes
) -> None:
    url = f"{publisher}/a"
    wanted = replace(source(url, "", path, member), unpacked_md5=MD5)
    monkeypatch.setattr(Publisher, "content", broken)
    with pytest.raises(InputError, match=f"^{url}: .*; {path} was not accepted; fetch it again, or see"):
        fetch(wanted)
    assert not [path for path in home.rglob("*") if path.is_file()]
    monkeypatch.setattr(Publisher, "content", zipped(inner=CONTENT) if member else CONTENT)
    assert fetch(wanted).path == path
    assert (home / path).read_bytes() == CONTENT


def test_a_server_that_refuses_a_whole_file_does_not_stop_the_others(
    touche: Touche, publisher: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [source(f"{publisher}/{name}", path=f"qrels/{name}") for name in ("refused", "b")]
    monkeypatch.setattr("touche.data.official.sources_of", lambda chosen=(): files)
    code, out, err = touche("data", "fetch", "touche-2020-task-1")
    assert code == 2 and "qrels/b: fetched (md5 " in out
    assert f"error: qrels/refused cannot be downloaded from {publisher}/refused (416 " in err


@pytest.mark.parametrize("number_of_fetches", [2, 4])
def test_fetches_into_one_folder_wait_for_each_other(
    publisher: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number_of_fetches: int,
) -> None:
    monkeypatch.setattr(Publisher, "seconds", 0.3)
    wanted = source(f"{publisher}/a.qrels")
    with ThreadPoolExecutor(number_of_fetches) as pool:
        statuses = [*pool.map(lambda _: fetch(wanted), range(number_of_fetches))]
    words = sorted(status.word for status in statuses)
    assert words == [*["available"] * (number_of_fetches - 1), "fetched"]
    assert Publisher.asked == ["bytes=0-"]
    assert (home / "qrels" / "a.qrels").read_bytes() == CONTENT
    assert [*(home / "downloads").iterdir()] == []
    assert f"waiting for another process that fetches into {home}/downloads" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "archive", "member"),
    [
        ("a.zip", zipped(**{"..__..__inner.qrels": CONTENT}), "inner.qrels"),
        ("a.tar.gz", tarred("../../inner.qrels", CONTENT), "inner.qrels"),
        ("a.tar.gz", tarred("/inner.qrels", CONTENT), "inner.qrels"),
        # As in BEIR's archives.
        ("a.zip", zipped(data__dev__a=b"no", data__test__a=CONTENT), "test/a"),
        ("a.tar.gz", tarred("data/test/a", CONTENT), "data/test/a"),
        ("a.zip", zipped(another_a=b"no", a=CONTENT), "a"),
    ],
)
def test_a_member_of_an_archive_lands_where_it_belongs_whatever_its_path(
    write: Write, home: Path, tmp_path: Path, name: str, archive: bytes, member: str
) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / name).write_bytes(archive)
    before = set(tmp_path.rglob("*"))
    wanted = source(f"https://example.org/{name}", hashlib.md5(archive).hexdigest(), member=member)
    status = fetch(wanted, tmp_path / "mirror")
    assert (status.word, status.remark) == ("fetched", f"md5 {wanted.md5} of the archive")
    assert set(tmp_path.rglob("*")) - before == {home / "qrels", home / "qrels" / "a.qrels"}
    assert (home / "qrels" / "a.qrels").read_bytes() == CONTENT
    assert verify(wanted).remark == "only the md5 of its archive is published"


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (zipped(other=b""), "no inner.qrels in the archive"),
        (tarred("other", b""), "no inner.qrels in the archive"),
        (tarred("inner.qrels", CONTENT)[:-300], "broken archive"),
        (b"no archive", "broken archive"),
    ],
)
def test_a_broken_archive_leaves_nothing(home: Path, tmp_path: Path, archive: bytes, message: str) -> None:
    (tmp_path / "a.zip").write_bytes(archive)
    wanted = source("https://example.org/a.zip", hashlib.md5(archive).hexdigest(), member="inner.qrels")
    with pytest.raises(InputError, match=message):
        fetch(wanted, tmp_path)
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_a_file_of_a_mirror_is_verified_if_its_md5_is_published(home: Path, write: Write) -> None:
    mirror = write("mirror/qrels/a.qrels", CONTENT).parents[1]
    assert fetch(source("https://example.org/a.qrels"), mirror).word == "fetched"
    (home / "qrels" / "a.qrels").unlink()
    with pytest.raises(InputError, match=f"mirror/qrels/a.qrels: its md5 is {MD5}"):
        fetch(source("https://example.org/a.qrels", md5="0000"), mirror)
    archive = zipped(inner=CONTENT)
    wanted = source("https://example.org/a.zip", hashlib.md5(archive).hexdigest(), member="inner")
    copied = fetch(wanted, mirror)
    assert (copied.word, copied.remark) == (
        "copied",
        "not verified: only the md5 of its archive is published",
    )
    (home / "qrels" / "a.qrels").unlink()
    (mirror / "a.zip").write_bytes(archive)
    assert fetch(wanted, mirror).word == "fetched"  # the file that can be verified is preferred
    assert fetch(source("https://example.org/b", path="qrels/b"), mirror).word == "not in the mirror"


def test_a_corpus_needs_a_licence_only_if_its_record_requires_an_agreement(tmp_path: Path) -> None:
    record = {"title": "a", "url": "https://example.org", "licence": "b", "agreement": ["corpora/a"]}
    record["by_hand"] = {"corpora/b/c.jsonl": "https://example.org/c.jsonl", "corpora/d": ""}
    statuses = {source.path: fetch(source, folder=tmp_path) for source in sources_in(record)}
    assert statuses["corpora/a"].word == "needs a licence"
    assert {statuses[path].word for path in ("corpora/b/c.jsonl", "corpora/d")} == {"not fetched"}
    remark = statuses["corpora/b/c.jsonl"].remark
    assert "https://example.org/c.jsonl" in remark and str(tmp_path / "corpora/b/c.jsonl") in remark
    assert "unknown" in statuses["corpora/d"].remark


def test_every_file_that_a_card_names_has_a_source_with_md5_and_size() -> None:
    chosen = [name for name in KNOWN if name.startswith("touche")]
    cards = [tasks.task(name) for name in chosen]
    named = {f"topics/{task.topics}" for task in cards}
    named |= {f"qrels/{judgments.file}" for task in cards for judgments in task.qrels.values()}
    named |= {f"corpora/{task.corpora['full'].directory}" for task in cards}
    folders = {"/".join(source.path.split("/")[:2]) for source in official(chosen)}
    assert folders == named
    assert "qrels/touche-task2-2022-stance.qrels" in {source.path for source in official()}
    for source in official(chosen):
        if source.path not in ("corpora/clueweb12", "corpora/clueweb22-b") and "2023" not in source.path:
            assert re.fullmatch("[0-9a-f]{32}", source.md5) and source.size > 1000
            assert source.url.startswith(source.page) and source.licence == "CC BY 4.0"


@pytest.fixture
def two(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[Source]:
    """Only two files are official."""
    both = [source(f"https://example.org/{name}", path=f"qrels/{name}") for name in ("a.qrels", "b.qrels")]
    for function in ("touche.data.official.sources_of", "touche.data.official_files.official"):
        monkeypatch.setattr(function, lambda chosen=(): both)
    return both


def test_when_one_file_is_refused_the_rest_is_fetched(
    touche: Touche, two: None, home: Path, write: Write
) -> None:
    mirror = write("mirror/qrels/b.qrels", CONTENT).parents[1]
    write("mirror/qrels/a.qrels", "forged")
    write("mirror/corpora/argsme-2020-04-01-sample/args-me.json", "[]")
    code, out, err = touche("data", "fetch", "--from", mirror)
    assert code == 2
    assert "qrels/b.qrels: fetched (md5 " in out
    assert "corpora/argsme-2020-04-01-sample/args-me.json: copied (not verified: no md5 is published)" in out
    assert err.splitlines()[0] == f"2 files, 2 of them to fetch (800 kB) to {home}"
    assert f"error: {mirror}/qrels/a.qrels: its md5 is" in err and "touche: 1 file missing; " in err
    assert sorted(path.name for path in (home / "qrels").iterdir()) == ["b.qrels"]


def test_an_archive_with_several_files_is_downloaded_once(
    touche: Touche, publisher: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Publisher, "content", archive := zipped(data__a=CONTENT, data__b=b"1 0 b 1\n"))
    digest = hashlib.md5(archive).hexdigest()
    files = [source(f"{publisher}/a.zip", digest, f"qrels/{name}", f"data/{name}") for name in "ab"]
    monkeypatch.setattr("touche.data.official.sources_of", lambda chosen=(): files)
    code, out, err = touche("data", "fetch", "touche-2020-task-1")
    assert code == 0, err
    assert out.count("fetched (md5 ") == 2
    assert Publisher.asked == ["bytes=0-"]
    assert [*(home / "downloads").iterdir()] == []
    assert (home / "qrels" / "b").read_bytes() == b"1 0 b 1\n"


def test_no_large_download_begins_unasked(touche: Touche, two: None, home: Path) -> None:
    code, _, err = touche("data", "fetch")
    assert code == 2 and "all data is a download of 800 kB; pass a DATASET, or add --all" in err


def test_what_is_fetched_can_go_to_another_folder(
    touche: Touche, two: None, home: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other data folders may have files; TOUCHE_DATA then names this folder."""
    mirror = write("mirror/qrels/b.qrels", CONTENT).parents[1]
    for root in ("mirror", "clone"):
        write(f"{root}/qrels/a.qrels", CONTENT)
        write(f"{root}/corpora/touche-2022-task-2-sample/p.qrels", CONTENT)
    code, out, err = touche("data", "fetch", "--from", mirror, "--to", tmp_path / "my data")
    assert (code, out.count("fetched (md5")) == (0, 2)
    assert err.splitlines()[0].endswith(f"(800 kB) to {tmp_path}/my data")
    assert err.splitlines()[-1] == f"to use the data: export TOUCHE_DATA='{tmp_path}/my data'"
    monkeypatch.setenv("TOUCHE_DATA", str(mirror))
    err = touche("data", "fetch", "--from", mirror, "--to", tmp_path / "my data")[2]
    assert err.splitlines()[-1].endswith(f"""TOUCHE_DATA='{tmp_path}/my data':"$TOUCHE_DATA\"""")
    written = sorted(path.name for path in (tmp_path / "my data").rglob("*") if path.is_file())
    assert written == ["a.qrels", "b.qrels", "p.qrels"] and not (home / "qrels" / "b.qrels").exists()
    write("my data/qrels/a.qrels", "forged")
    err = touche("data", "fetch", "--from", mirror, "--to", tmp_path / "my data")[2]
    assert f"{tmp_path}/my data/qrels/a.qrels: its md5 is" in err


def test_the_command_verifies_and_a_missing_file_or_md5_fails_only_for_a_named_dataset(
    touche: Touche, two: list[Source], write: Write
) -> None:
    write("clone/qrels/a.qrels", CONTENT)
    write("clone/qrels/c.qrels", CONTENT)
    two.append(source(md5="", path="qrels/c.qrels"))
    lines = [
        f"qrels/a.qrels: verified (md5 {MD5})",
        "qrels/b.qrels: missing",
        "qrels/c.qrels: not verified (no md5 is published)",
        "1 verified, 1 missing, 1 not verified\n",
    ]
    assert touche("data", "verify")[:2] == (0, "\n".join(lines))
    assert touche("data", "verify", "touche-2020-task-1")[0] == 1
    write("clone/qrels/b.qrels", "forged")
    code, out, _ = touche("data", "verify")
    assert code == 1
    assert re.search(r"qrels/b\.qrels: differs \(its md5 is [0-9a-f]{32} instead of ", out)


def test_a_download_outlives_a_full_disk(publisher: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Publisher, "content", archive := zipped(inner=CONTENT))
    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr("touche.data.official_files.shutil.copyfileobj", full)
    wanted = source(f"{publisher}/a.zip", hashlib.md5(archive).hexdigest(), member="inner")
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        fetch(wanted)
    assert (home / "downloads" / f"{wanted.md5}-a.zip").read_bytes() == archive


def test_named_samples_that_a_mirror_lacks_are_an_error(
    touche: Touche, two: None, home: Path, tmp_path: Path
) -> None:
    code, out, err = touche("data", "fetch", "touche-2020-task-1/sample", "--from", tmp_path)
    assert code == 2 and "qrels/a.qrels: not in the mirror" in out
    assert "corpora/argsme-2020-04-01-sample is not published; pass the folder that contains it" in err


def test_a_sample_that_the_folder_has_is_no_problem(two: None, tmp_path: Path) -> None:
    (tmp_path / "corpora" / "argsme-2020-04-01-sample").mkdir(parents=True)
    assert [*copy_samples(["touche-2020-task-1/sample"], None, tmp_path)] == []
