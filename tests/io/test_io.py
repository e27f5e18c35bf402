import errno
import fcntl
import gzip
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from msgspec import field

from conftest import Write
from touche.errors import InputError
from touche.io.identifiers import check_new_id, quoted
from touche.io.inputs import keeping_inputs
from touche.io.json_lines import read_jsonl, text_field
from touche.io.opening import open_binary, read_lines
from touche.io.temporary import temporary_folder
from touche.io.toml import Name, Strict, Text, read_record
from touche.io.writing import make_folder, together, whole, write_whole


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("file.txt", b"first\r\n\n  \nfourth", [(1, "first"), (4, "fourth")]),
        ("file.txt", b"\xef\xbb\xbffirst\n", [(1, "first")]),  # a byte order mark
        ("file.gz", b"text\n", [(1, "text")]),
        ("named-wrongly.txt", gzip.compress(b"text\n"), [(1, "text")]),
    ],
)
def test_lines_have_their_numbers_and_blank_ones_are_left_out(
    write: Write, name: str, content: bytes, lines: list[tuple[int, str]]
) -> None:
    assert list(read_lines(write(name, content))) == lines


LINES = gzip.compress("".join(f"line {n * n * n}\n" for n in range(5000)).encode())


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (LINES[:-200], "file: the gzip stream is broken"),
        (LINES[:20] + bytes(4) + LINES[24:], "the gzip stream is broken"),
        (b"fine\ncaf\xe9\n", r"file:2: not UTF-8 \(byte 0xe9\)"),
        (b"\xef\xbb\xbffirst\xe9\n", r"file:1: not UTF-8 \(byte 0xe9\)"),
        (b"first\n" + b"\0" * (1 << 27), "file:2: a line of 64 MiB or more"),
        (gzip.compress(b"\0" * 10**6) * 5000, "more than 500 times its size|a line of 64 MiB"),  # 5 GB
        pytest.param(gzip.compress(b"\n" * 10**6) * 5000, "500 times its size", marks=pytest.mark.slow),
    ],
    ids=["cut off", "corrupted", "latin-1", "latin-1 after a mark", "endless", "bomb", "bomb of lines"],
)
def test_a_broken_file_is_an_error_with_its_line(write: Write, content: bytes, error: str) -> None:
    with pytest.raises(InputError, match=error):
        list(read_lines(write("file", content)))


def test_a_bomb_is_refused_before_much_of_it_is_unpacked(write: Write) -> None:
    size = 0
    with (
        pytest.raises(InputError, match="500 times its size"),
        open_binary(write("bomb", gzip.compress(b"\n" * 60_000_000))) as file,
    ):
        while block := file.read(1 << 20):
            size += len(block)
    assert size < 30_000_000


def test_streams_may_follow_each_other_with_zeros_between_and_nothing_else(write: Write) -> None:
    whole = gzip.compress(b"a\n") + bytes(5000) + gzip.compress(b"") + gzip.compress(b"b\n") + bytes(9)
    assert [text for _, text in read_lines(write("whole", whole))] == ["a", "b"]
    for rest in (b"junk", b"\x1f", gzip.compress(b"c")[:-1]):
        with pytest.raises(InputError, match="the gzip stream is broken"):
            list(read_lines(write("bad", whole + rest)))


def test_gzip_is_unpacked_from_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    packed = gzip.compress(b"".join(b"%d\n" % number for number in range(10**6)))
    writer = threading.Thread(target=pipe.write_bytes, args=(packed,))
    writer.start()
    assert sum(1 for _ in read_lines(pipe)) == 10**6
    writer.join()


@pytest.mark.parametrize("value", [2**64, True, None, 1.5])
def test_what_is_neither_text_nor_whole_number_of_64_bits_is_no_text(value: Any) -> None:
    assert text_field({"id": 2**64 - 1}, "id", Path("f"), 1) == "18446744073709551615"
    with pytest.raises(InputError, match='f:1: "id" is not a text'):
        text_field({"id": value}, "id", Path("f"), 1)


class Corpus(Strict, frozen=True):
    file: Name
    depth: int = 5


class Card(Strict, frozen=True):
    team: Text
    corpora: dict[str, Corpus] = field(default_factory=dict)
    runs: tuple[Corpus, ...] = ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("team = 5", "team: Expected `str`, got `int` (5); correct it"),
        ("teem = 'a'", "Object contains unknown field `teem`; did you mean team?"),
        (
            "team = 'a'\n[corpora.full]\nfile = 'a'\nteam = 'a'",
            "corpora.full: Object .*`team`; choose among file",
        ),
        ("team = 'a'\n[corpora.full]\nfile = 'a'\n[corpora.part]\nfile = 7", "corpora.part.file: .*(7)"),
        ("team = 'a'\n[[runs]]\nfile = 'a'\n[[runs]]\ndepht = 2", r"runs[2]: .*`depht`; did you mean depth?"),
        ("team = 'a'\n[[runs]]\nfile = '../b'", r"runs[1].file: this name leads out of its folder ('../b')"),
        ('team = "a"\n[[runs]]\nfile = "a\\n/../../b"', r"runs[1].file: this name leads out of its folder ("),
        ("team = 'a'\n[[runs]]", r"runs[1]: Object missing required field `file`"),
    ],
)
def test_what_is_wrong_with_a_table_is_named_with_its_value_and_the_nearest_key(
    write: Write, text: str, message: str
) -> None:
    expected = ".*".join(map(re.escape, f"card.toml: {message}".split(".*")))
    with pytest.raises(InputError, match=expected):
        read_record(write("card.toml", text), Card)


def test_a_quote_is_short_and_always_there() -> None:
    assert (quoted("a\nb"), len(quoted("a" * 10**6)), quoted(10**5000)) == ("'a\\nb'", 64, "of type int")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        *((line, "") for line in (b'{"a": 1', b"[1]", b"NaN", b'{"a": \\ud800}')),
        (b'{"a": "caf\xe9"}', r"not UTF-8 \(byte 0xe9\); save the file in UTF-8"),
    ],
)
def test_a_line_that_is_no_json_object_is_named(write: Write, line: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=rf"file\.jsonl:2: {problem}"):
        list(read_jsonl(write("file.jsonl", b'\xef\xbb\xbf{"a": 1}\n%b\n' % line)))


@pytest.mark.parametrize("value", ["", " ", "a b", " a", "a\n", "a\u2003b", "a\0", "a\x1b[0m", "a" * 1001])
def test_an_id_that_cannot_stand_in_a_run_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="is empty, too long, or has white space or control characters"):
        check_new_id(value, "document", set(), Path("file"), 3)


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The private folder for temporary ones, in a cache folder of the test's own."""
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "cache" / "touche" / "temporary"


def test_a_users_folder_outside_of_the_private_one_is_never_removed(private: Path, tmp_path: Path) -> None:
    own = tmp_path / "touche-run-argsrank"
    own.mkdir()
    private.mkdir(parents=True)
    private.chmod(0o700)
    (private / "touche-run-abcdefgh").symlink_to(own)
    os.utime(own, (0, 0))
    with temporary_folder("touche-run-"):
        pass
    assert own.is_dir() and stat.S_IMODE(private.stat().st_mode) == 0o700


@pytest.mark.parametrize(("variable", "mounted"), [("unset", False), ("TMPDIR", False), ("unset", True)])
def test_a_temporary_folder_removes_those_of_killed_processes_and_none_in_use(
    private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, mounted: bool
) -> None:
    """The private folder is in the home, but not if TMPDIR is set, nor for a container."""
    monkeypatch.setenv(variable, str(tmp_path))
    ours = tmp_path / f"touche-{os.geteuid()}" if variable == "TMPDIR" or mounted else private
    with temporary_folder("touche-index-", mounted=mounted) as folder:
        assert folder.parent == ours and stat.S_IMODE(ours.stat().st_mode) == 0o700
        (ours / "touche-run-a1b2c3_d" / "index").mkdir(parents=True)
        with temporary_folder("touche-run-", mounted=mounted) as second:
            assert {*ours.iterdir()} == {folder, second}
    assert [*ours.iterdir()] == [] and (ours == private or not private.exists())


def to_a_link(private: Path) -> None:
    private.rename(private.with_name("elsewhere")).chmod(0o700)
    private.symlink_to(private.with_name("elsewhere"))


OBSTACLES: dict[str, Callable[[Path, pytest.MonkeyPatch], Any]] = {
    "open to others": lambda private, _: private.chmod(0o755),
    "another user's": lambda _, patch: patch.setattr("os.geteuid", lambda: os.getuid() + 1),
    "a link": lambda private, _: to_a_link(private),
    "no locks": lambda _, patch: patch.setattr("fcntl.flock", Mock(side_effect=OSError)),
    "a file": lambda _, patch: patch.setenv("XDG_CACHE_HOME", __file__),
    "read-only": lambda _, patch: patch.setenv("XDG_CACHE_HOME", "/proc"),
    "no home": lambda _, patch: patch.setenv("XDG_CACHE_HOME", "~/.cache"),
}


@pytest.mark.parametrize(
    ("obstacle", "in_tmpdir"),
    [*((obstacle, False) for obstacle in OBSTACLES), *((obstacle, True) for obstacle in list(OBSTACLES)[:4])],
)
def test_without_a_safe_private_folder_nothing_is_cleaned_up(
    private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str, in_tmpdir: bool
) -> None:
    if in_tmpdir:
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        private = tmp_path / f"touche-{os.geteuid()}"
    private.mkdir(mode=0o700, parents=True)
    other = private / "touche-run-a1b2c3_d"
    other.mkdir()
    OBSTACLES[obstacle](private, monkeypatch)
    with temporary_folder("touche-run-") as folder:
        assert folder.parent == tmp_path and folder.stat().st_mode & 0o077 == 0
    assert other.is_dir() and not folder.exists()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOTSUP])
def test_one_warning_says_that_folders_cannot_be_locked(
    private: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    code: int,
) -> None:
    monkeypatch.setattr("fcntl.flock", Mock(side_effect=OSError(code, os.strerror(code))))
    for _ in range(2):
        with temporary_folder("touche-run-") as folder:
            assert folder.parent == tmp_path
    (warning,) = caplog.messages
    assert f"cannot be locked ({os.strerror(code)}); remove the folders touche-*" in warning
    assert f"leave in {tmp_path}" in warning and [*private.iterdir()] == []


def test_a_folder_that_is_removed_while_it_waits_for_its_lock_is_made_again(
    private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock
    removed = list[Path]()

    def removed_meanwhile(file: int, how: int) -> None:
        flock(file, how)
        if not removed:
            removed.extend(private.iterdir())
            removed[0].rmdir()

    monkeypatch.setattr("fcntl.flock", removed_meanwhile)
    with temporary_folder("touche-run-") as folder:
        assert folder.is_dir() and folder not in removed and folder.parent == private


def test_nobody_waits_for_a_process_that_removes_folders(private: Path) -> None:
    private.mkdir(mode=0o700, parents=True)
    (private / "touche-run-abandoned").mkdir()
    locks = [os.open(path, os.O_RDONLY) for path in (private, private / "touche-run-abandoned")]
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_EX)
    with temporary_folder("touche-run-") as folder:
        assert folder.parent == private
    for lock in locks:
        os.close(lock)


FOLDERS = """
from touche.io.temporary import temporary_folder
for number in range(40):
    with temporary_folder("touche-run-") as folder:
        (folder / "file").write_text("text")
        assert folder.parent.name == "temporary" and (folder / "file").read_text() == "text"
"""


def test_many_processes_make_temporary_folders_at_once(private: Path) -> None:
    children = [subprocess.Popen([sys.executable, "-c", FOLDERS]) for _ in range(8)]
    assert [child.wait() for child in children] == [0] * 8
    assert [*private.iterdir()] == []


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        pytest.param("a\n", b"a\n", id="text"),
        pytest.param('"\udcff"', b'"\\udcff"', id="a name that is no UTF-8"),
    ],
)
def test_a_file_is_written_whole_whatever_it_says(tmp_path: Path, text: str, raw: bytes) -> None:
    write_whole(tmp_path / "run.txt", text)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("run.txt", raw)]


def test_two_writers_of_a_file_disturb_each_other_in_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In containers, all have the same process id."""
    monkeypatch.setattr("os.getpid", lambda: 1)
    with whole(tmp_path / "run.txt") as file:
        file.write(b"first")
        write_whole(tmp_path / "run.txt", "second")
        assert (tmp_path / "run.txt").read_text() == "second"
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("run.txt", "first")]


WAITING = """
import sys
from pathlib import Path
from touche.io.writing import whole
with whole(Path("run.txt")):
    print(flush=True)
    sys.stdin.read(1)
"""


def test_hidden_files_of_killed_writers_are_removed_and_those_of_living_ones_stay(tmp_path: Path) -> None:
    run = tmp_path / "run.txt"
    metadata = tmp_path / "ir-metadata.yml"
    command = [sys.executable, "-c", WAITING]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": tmp_path}
    killed = subprocess.Popen(command, **pipes)
    living = subprocess.Popen(command, **pipes)
    with killed, living:
        for process in (killed, living):
            process.stdout.readline()
        killed.kill()
        killed.wait()
        (tmp_path / f".ir-metadata.yml.{'0' * 16}.earlier").write_text("hidden before the kill")
        (tmp_path / ".run.txt.mine.part").write_text("not of this library")
        assert len([*tmp_path.iterdir()]) == 4
        with together(run):
            write_whole(run, "new")
            write_whole(metadata, "new")
        hidden = {path.name for path in tmp_path.iterdir()} - {run.name, metadata.name, ".run.txt.mine.part"}
        assert len(hidden) == 1
        living.communicate(b"x")
    assert living.returncode == 0 and run.read_text() == ""


def test_a_function_that_fails_removes_the_empty_folders_that_it_has_made(tmp_path: Path) -> None:
    (tmp_path / "earlier").mkdir()

    @keeping_inputs
    def succeed(folder: Path) -> None:
        make_folder(folder)

    @keeping_inputs
    def fail() -> None:
        for name in ("earlier", "earlier/deep", "new/deep", "new/other", "used/deep"):
            make_folder(tmp_path / name)
        write_whole(tmp_path / "used" / "file", "")
        succeed(tmp_path / "of-a-part")
        thread = threading.Thread(target=succeed, args=[tmp_path / "of-a-thread"])
        thread.start()
        thread.join()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "earlier", "file", "of-a-part", "of-a-thread", "used",
    ]  # fmt: skip


@pytest.mark.parametrize("names", [[], ["b", "c"]])
def test_a_block_without_its_first_file_replaces_the_others(tmp_path: Path, names: list[str]) -> None:
    with together(tmp_path / "a"):
        for name in names:
            write_whole(tmp_path / name, name)
    assert sorted(path.name for path in tmp_path.iterdir()) == names


@pytest.mark.parametrize("opened", [whole, partial(whole, is_cache=True)])
def test_an_error_about_another_file_does_not_name_the_output(
    tmp_path: Path, opened: Callable[[Path], AbstractContextManager[Any]]
) -> None:
    with pytest.raises(OSError, match=r"No such file"), opened(tmp_path / "run.txt"):
        (tmp_path / "missing").read_text()
    with pytest.raises(OSError, match=r"refused"), opened(tmp_path / "run.txt"):
        socket.create_connection(("127.0.0.1", 1))
    full = r"run\.txt: cannot be written \(No space"
    with pytest.raises(InputError, match=full), opened(tmp_path / "run.txt"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not [*tmp_path.iterdir()]


def test_a_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own.txt"
    names = ["a" * 16, "b" * 16]
    own.write_text("precious")
    monkeypatch.setattr("touche.io.writing.token_hex", lambda _: names[0])
    for part in (f".run.txt.{os.getpid()}.part", f".run.txt.{names[0]}.part"):
        (tmp_path / part).symlink_to(own)
    with pytest.raises(InputError, match=r"run.txt: cannot be written \(File exists\)"):
        write_whole(tmp_path / "run.txt", "text")
    assert own.read_text() == "precious"


@pytest.mark.parametrize("name", ["run.txt", "link"])
def test_a_private_file_stays_private(write: Write, tmp_path: Path, name: str) -> None:
    private = write("run.txt", "earlier")
    private.chmod(0o600)
    (tmp_path / "link").symlink_to("run.txt")
    with whole(tmp_path / name) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
        file.write(b"text")
    assert (stat.S_IMODE(private.stat().st_mode), private.read_text()) == (0o600, "text")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a file of another group")
@pytest.mark.parametrize(("may_change", "sizes"), [(True, (1, 1, 0o664)), (False, (0, 0, 0o604))])
def test_a_file_keeps_its_owner_and_opens_to_no_other_group(
    write: Write, monkeypatch: pytest.MonkeyPatch, may_change: bool, sizes: tuple[int, int, int]
) -> None:
    def refused(*_: int) -> None:
        raise PermissionError

    os.chown(path := write("run.txt", "earlier"), 1, 1)
    path.chmod(0o664)
    if not may_change:
        monkeypatch.setattr("os.fchown", refused)
    write_whole(path, "text")
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == sizes


@pytest.mark.parametrize("target", ["elsewhere/run.txt", "elsewhere/new.txt"])
def test_a_file_is_written_through_a_link(write: Write, tmp_path: Path, target: str) -> None:
    write("elsewhere/run.txt", "earlier")
    link = tmp_path / "run.txt"
    link.symlink_to(target)
    write_whole(link, "text")
    assert link.is_symlink() and (tmp_path / target).read_text() == "text"
    assert not [*tmp_path.rglob("*.part")]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda path: path.symlink_to(path.name), r"cannot be written \(Too many levels"),
        (os.mkfifo, "a device or a pipe, not a file; choose another name"),
    ],
    ids=["a link to itself", "a pipe"],
)
def test_what_is_no_file_is_not_replaced(tmp_path: Path, make: Callable[[Path], None], error: str) -> None:
    make(path := tmp_path / "run.txt")
    with pytest.raises(InputError, match=rf"run.txt: {error}"):
        write_whole(path, "text")
    assert path.is_symlink() or path.is_fifo()
