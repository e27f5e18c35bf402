import bz2
import errno
import gzip
import io
import lzma
import os
import re
import socket
import stat
import sys
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from msgspec import field

from conftest import Write
from touche.errors import InputError
from touche.io.identifiers import check_new_id, quoted
from touche.io.json_lines import read_jsonl, text_field
from touche.io.opening import OF_TABLES, Limits, open_binary, plain_name, read_lines
from touche.io.temporary import temporary_folder
from touche.io.toml import Name, Strict, Text, read_record
from touche.io.writing import check_outputs, whole, write_whole


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


PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
}


@pytest.mark.parametrize("suffix", PACKED)
def test_packed_files_are_read_whatever_their_name_and_refused_if_they_are_broken(
    write: Write, suffix: str
) -> None:
    pack = PACKED[suffix]
    content = b"".join(b"line %d\n" % (n * n * n) for n in range(5000))
    packed = pack(content[:500]) + pack(content[500:])
    for name in ("file", f"file.{suffix}"):
        # ``write`` packs the content of *.gz itself.
        path = write(name, content if suffix == "gz" and name != "file" else packed)
        assert len(list(read_lines(path))) == 5000
    assert plain_name(f"queries.jsonl.{suffix}") == "queries.jsonl"
    with pytest.raises(InputError, match=r"/file: the \w+ stream is broken \(.*; fetch the file again\Z"):
        list(read_lines(write("file", packed[:-9])))
    bomb = write("file", pack(bytes(150_000_000)))
    with (
        pytest.raises(InputError, match="unpacks to more than 5 times"),
        open_binary(bomb, OF_TABLES) as file,
    ):
        file.read()


def tar(name: str) -> bytes:
    with tarfile.open(fileobj=(out := io.BytesIO()), mode="w") as packed:
        packed.addfile(tarfile.TarInfo(name))
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"PK\x03\x04rest", "a zip archive; unpack it"),
        (tar("run.txt"), "a tar archive; unpack it"),
        (gzip.compress(tar("run.txt")), "a tar archive; unpack it"),
        (b"7z\xbc\xaf\x27\x1crest", "a 7z archive"),
        (b"PAR1rest", "a Parquet file; convert it, or pass its frame of pandas"),
    ],
)
def test_other_packings_and_formats_are_named(write: Write, content: bytes, what: str) -> None:
    with pytest.raises(InputError, match=f"/file: the file is {what}"):
        list(read_lines(write("file", content)))


def test_without_its_package_zstandard_is_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"need the package backports\.zstd; install it, or use gzip"):
        list(read_lines(write("file", zstd.compress(b"a"))))


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
        (gzip.compress((b" " * 9999 + b"\n") * 100) * 40, "500 times its size"),
    ],
    ids=["cut off", "corrupted", "latin-1", "latin-1 after a mark", "endless", "bomb", "bomb of lines"],
)
def test_a_broken_file_is_an_error_with_its_line(write: Write, content: bytes, error: str) -> None:
    with pytest.raises(InputError, match=error):
        list(read_lines(write("file", content)))


def test_a_bomb_is_refused_before_much_of_it_is_unpacked(write: Write) -> None:
    packed = gzip.compress(b"\n" * 60_000_000)
    size = 0
    with (
        pytest.raises(InputError, match="500 times its size"),
        open_binary(write("bomb", packed)) as file,
    ):
        while block := file.read(1 << 20):
            size += len(block)
    assert 10_000_000 < size < 10_000_000 + 500 * len(packed)


@pytest.mark.parametrize("suffix", PACKED)
def test_streams_may_follow_each_other_and_nothing_else_is_dropped(write: Write, suffix: str) -> None:
    pack = PACKED[suffix]
    whole = pack(b"a\n") + pack(b"") + pack(b"b\n")
    assert [text for _, text in read_lines(write("whole", whole))] == ["a", "b"]
    damaged = bytearray(pack(b"c\n"))
    damaged[1] ^= 1  # as part of the header
    for rest in (
        b"junk",
        pack(b"c")[:1],
        pack(b"c")[:-1],
        bytes(damaged),
        b"1 Q0 d 1 1 t\n",
        b"\0" * 9 + b"x",
    ):
        for packed in (whole + rest, pack(b"a" * 200_000) + rest):
            with pytest.raises(InputError, match=rf"/bad: the {packing_name(suffix)} stream is broken"):
                list(read_lines(write("bad", packed)))


def packing_name(suffix: str) -> str:
    return {"gz": "gzip", "bz2": "bzip2", "zst": "zstd"}.get(suffix, suffix)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("padding", [4, 5000, 1 << 17])
def test_zeros_may_pad_streams(write: Write, suffix: str, padding: int) -> None:
    pack = PACKED[suffix]
    whole = pack(b"a\n") + bytes(padding) + pack(b"b\n") + bytes(padding)
    assert [text for _, text in read_lines(write("whole", whole))] == ["a", "b"]


def test_padding_of_xz_has_its_length_checked_as_xz_does(write: Write) -> None:
    for packed in (
        lzma.compress(b"a\n") + bytes(6),
        lzma.compress(b"a") + bytes(70_001) + lzma.compress(b"b"),
    ):
        with pytest.raises(InputError, match="the padding is not a multiple of 4 bytes"):
            list(read_lines(write("bad", packed)))


@pytest.mark.parametrize("suffix", PACKED)
def test_an_empty_stream_is_an_empty_file(write: Write, suffix: str) -> None:
    assert list(read_lines(write("empty", PACKED[suffix](b"")))) == []


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


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            '[{"a": 1},\n{"a": 2}]',
            r"1: broken JSON \(an array\); write one object per line, without brackets",
        ),
        ('[\n  {\n    "a": 1', r"1: broken JSON \(an array\)"),
        ('[{"a": 1}, {"a": 2}]', "1: not a JSON object, but an array; write one object per line"),
        ('{\n  "a": 1\n}\n', r"1: broken JSON \(an object over several lines\); write one object per line"),
        ('{"a": 1}\n{"a": 2,\n "b": 1}\n', r"2: broken JSON \(an object over several lines\)"),
        ('{"a": {\n"b": 1}}\n', r"1: broken JSON \(an object over several lines\)"),
        ('{"a": [\n1]}\n', r"1: broken JSON \(an object over several lines\)"),
        (
            '{"a": {"b": 1}},\n{"a": 2}\n',
            r"1: broken JSON \(several objects, or a comma after one\); write one",
        ),
        ('{"a": 1}{"a": 2}\n', r"1: broken JSON \(several objects, or a comma after one\)"),
        ('{"a": 1}, {"a": 2}\n', r"1: broken JSON \(several objects"),
        ("{'a': 1}\n", r"1: broken JSON \(single quotes, as in Python\); write double quotes"),
        ('{"a": "cut o', r"1: broken JSON \(unexpected .*; repair or remove the line"),
    ],
)
def test_json_that_is_not_in_lines_is_named(write: Write, content: str, problem: str) -> None:
    with pytest.raises(InputError, match=rf"file\.jsonl:{problem}"):
        list(read_jsonl(write("file.jsonl", content)))


@pytest.mark.parametrize("value", ["", " ", "a b", " a", "a\n", "a\u2003b", "a\0", "a\x1b[0m", "a" * 1001])
def test_an_id_that_cannot_stand_in_a_run_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="is empty, too long, or has white space or control characters"):
        check_new_id(value, "document", set(), Path("file"), 3)


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


def test_two_writers_of_a_file_disturb_each_other_in_nothing(tmp_path: Path) -> None:
    with whole(tmp_path / "run.txt") as file:
        file.write(b"first")
        write_whole(tmp_path / "run.txt", "second")
        assert (tmp_path / "run.txt").read_text() == "second"
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("run.txt", "first")]


def test_an_error_about_another_file_does_not_name_the_output(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"No such file"), whole(tmp_path / "run.txt"):
        (tmp_path / "missing").read_text()
    with pytest.raises(OSError, match=r"refused"), whole(tmp_path / "run.txt"):
        socket.create_connection(("127.0.0.1", 1))
    full = r"run\.txt: cannot be written \(No space"
    with pytest.raises(InputError, match=full), whole(tmp_path / "run.txt"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not [*tmp_path.iterdir()]


def test_a_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own.txt"
    own.write_text("precious")
    monkeypatch.setattr("touche.io.writing.token_hex", lambda _: "a")
    (tmp_path / ".run.txt.a.part").symlink_to(own)
    with pytest.raises(InputError, match=r"run.txt: cannot be written \(File exists\)"):
        write_whole(tmp_path / "run.txt", "text")
    assert own.read_text() == "precious"


def test_a_temporary_folder_is_removed_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), temporary_folder("touche-", within=tmp_path) as folder:
        (folder / "file").write_text(str(1 / 0))
    with pytest.raises(InputError, match=r"file: cannot be written \(Not a directory\)"):
        (tmp_path / "file").touch()
        with temporary_folder("touche-", within=tmp_path / "file"):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("umask", [0o022, 0o027])
def test_a_file_has_the_mode_that_the_umask_gives_whatever_it_replaces(write: Write, umask: int) -> None:
    path = write("run.txt", "earlier")
    path.chmod(0o604)
    before = os.umask(umask)
    write_whole(path, "text")
    os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("target", ["elsewhere/run.txt", "elsewhere/new.txt"])
def test_a_file_is_written_through_a_link(write: Write, tmp_path: Path, target: str) -> None:
    write("elsewhere/run.txt", "earlier")
    link = tmp_path / "run.txt"
    link.symlink_to(target)
    write_whole(link, "text")
    assert link.is_symlink() and (tmp_path / target).read_text() == "text"
    assert not [*tmp_path.rglob("*.part")]


def test_an_output_is_no_input_and_no_file_of_an_input_folder(write: Write, tmp_path: Path) -> None:
    topics, page = write("in/topics.xml", "t"), write("in/pages/a.html", "p")
    (tmp_path / "linked.xml").symlink_to(topics)
    (tmp_path / "linked").symlink_to("in")
    new = [tmp_path / "out" / "run.txt", topics.with_name("run.txt"), page.with_name("b.html")]
    check_outputs(new, [topics, page.parent])
    for path in (topics, tmp_path / "linked.xml", tmp_path / "linked" / "topics.xml", page):
        with pytest.raises(InputError, match="an input of this command, which it would overwrite"):
            check_outputs([path], [topics, page.parent])
    with pytest.raises(InputError, match="two outputs have this name"):
        check_outputs([tmp_path / "new.xml", tmp_path / "in" / ".." / "new.xml"])


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


def test_a_packed_pipe_may_unpack_to_a_multiple_of_what_it_contains(tmp_path: Path) -> None:
    """A pipe has no size. A sparse file has any size, so what was read counts."""
    limits = Limits(1 << 20, most_times=500, always_unpacked=1000)
    os.mkfifo(pipe := tmp_path / "pipe")
    packed = gzip.compress(os.urandom(50_000).hex().encode())
    writer = threading.Thread(target=pipe.write_bytes, args=[packed])
    writer.start()
    with open_binary(pipe, limits) as file:
        assert len(file.read()) == 100_000
    writer.join()
    sparse = tmp_path / "sparse.gz"
    sparse.write_bytes(gzip.compress(b"a" * 100_000_000))  # more than 500 times a buffer of 128 KB
    os.truncate(sparse, 1 << 30)
    with pytest.raises(InputError, match="more than 500 times its size"), open_binary(sparse, limits) as file:
        file.read()
