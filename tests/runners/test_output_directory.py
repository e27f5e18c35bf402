"""What a sandbox wrote replaces an earlier run, and no input."""

import os
from pathlib import Path

import pytest

from conftest import Write, write_files
from touche.errors import InputError, ToucheError
from touche.io import temporary
from touche.runners.container_runs import Job, _check_run, _output_directory


def job(output: Path, source: str = "spot-check/passages") -> Job:
    return Job("bm25", (), source, output)


@pytest.fixture
def earlier(write: Write) -> Path:
    for name in ("run.txt", "ir-metadata.yml", "notes.txt"):
        output = write(f"out/{name}", "earlier").parent
    return output


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_only_a_run_leaves_the_sandbox_and_no_link_is_followed(earlier: Path, tmp_path: Path) -> None:
    """With the modes of the user's own files, whatever those in the sandbox are."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (earlier / "link").symlink_to(elsewhere)
    (earlier / "run.txt").unlink()
    (earlier / "run.txt").symlink_to(earlier / "notes.txt")
    umask = os.umask(0o027)
    try:
        with _output_directory(job(earlier)) as folder:
            names = ("run.txt", "ir-metadata.yml", "notes.txt", "link/thesis.tex", ".git/config")
            for path in filter(Path.is_file, write_files(folder, dict.fromkeys(names, "new")).rglob("*")):
                path.chmod(0o604)
    finally:
        os.umask(umask)
    assert texts(earlier) == {"run.txt": "new", "ir-metadata.yml": "new", "notes.txt": "earlier"}
    assert {path.name for path in earlier.iterdir()} == {"run.txt", "ir-metadata.yml", "notes.txt", "link"}
    assert not [*elsewhere.iterdir()]
    assert {(earlier / name).stat().st_mode & 0o777 for name in ("run.txt", "ir-metadata.yml")} == {0o640}


def test_links_do_not_leave_the_sandbox(earlier: Path) -> None:
    with _output_directory(job(earlier)) as folder:
        (folder / "run.txt").symlink_to("/etc/passwd")
        (folder / "ir-metadata.yml").symlink_to("/etc/passwd")
    assert [path.name for path in earlier.iterdir()] == ["notes.txt"]


def test_an_invalid_run_replaces_a_link_and_not_the_file_that_it_leads_to(earlier: Path) -> None:
    (earlier / "run.txt.invalid").symlink_to(earlier / "notes.txt")
    with (
        pytest.raises(InputError, match=r"out/run.txt.invalid: .* empty"),
        _output_directory(job(earlier)) as folder,
    ):
        (folder / "run.txt").touch(0o604)
        _check_run(job(earlier), folder)
    assert texts(earlier) == {"notes.txt": "earlier", "run.txt.invalid": ""}


def test_an_error_leaves_no_run(earlier: Path) -> None:
    with pytest.raises(ValueError, match="of the run"), _output_directory(job(earlier)) as folder:
        (folder / "run.txt").write_text("half")
        raise ValueError("of the run")
    assert [path.name for path in earlier.iterdir()] == ["notes.txt"]


def test_a_run_may_be_written_into_its_input_folder_and_again(earlier: Path, write: Write) -> None:
    write("out/topics.xml", "of the input")
    for text in ("new", "newer"):
        with _output_directory(job(earlier, str(earlier))) as folder:
            for file in ("run.txt", "topics.xml"):
                (folder / file).write_text(text)
        assert texts(earlier) == {"run.txt": text, "topics.xml": "of the input", "notes.txt": "earlier"}


def refused(output: Path, name: str, content: bytes | None, size: int = 0, mode: int = 0o600) -> str:
    """Why a run is refused of which an image wrote one file differently."""
    with pytest.raises(ToucheError) as caught, _output_directory(job(output)) as folder:
        (folder / "run.txt").write_text("1 Q0 a 1 2 t\n")
        (folder / "ir-metadata.yml").write_text("tag: t\n")
        if content is not None:
            (folder / name).write_bytes(content)
        if size:
            os.truncate(folder / name, size)
        (folder / name).chmod(mode)
        _check_run(job(output), folder)
    assert not list(output.glob(".touche-run-*"))
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "size", "problem"),
    [
        (b"tag: t", 3_000_000_000, "larger than 65,536 bytes"),
        (b"tag: t\n" * 10_000, 0, "larger than 65,536 bytes"),
        (b"tag: [", 0, "not YAML"),
        (b"[" * 50_000, 0, "not YAML"),
        (b"\x00", 0, "not YAML"),
        (b"PK\x03\x04", 0, "a zip archive"),
    ],
)
def test_metadata_is_checked_like_other_input(earlier: Path, content: bytes, size: int, problem: str) -> None:
    message = refused(earlier, "ir-metadata.yml", content, size)
    assert message.startswith(f"{earlier}/ir-metadata.yml: refused, because the image wrote it: ")
    assert problem in message and message.endswith("; let the image write YAML of at most 64 KiB")
    assert [path.name for path in earlier.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    "content",
    [b"1 Q0 d\0 1 1 x\n", b"1 Q0 d 1 1 x\n" + b"x" * 70_000, b"\xff\xfe1 Q0", b"PK\x03\x04", b"\x1f\x8b12"],
)
def test_a_run_that_is_no_text_is_kept_and_named(earlier: Path, content: bytes) -> None:
    assert refused(earlier, "run.txt", content).startswith(f"{earlier}/run.txt.invalid:")
    assert (earlier / "run.txt.invalid").read_bytes() == content
    assert not (earlier / "run.txt").exists()


def test_a_sparse_run_is_not_copied(earlier: Path) -> None:
    message = refused(earlier, "run.txt", None, 3_000_000_000)
    assert "bm25 wrote a run.txt of 3,000,000,000 bytes, which is not kept: " in message
    assert [path.name for path in earlier.iterdir()] == ["notes.txt"]


def test_files_and_folders_may_have_any_mode(earlier: Path) -> None:
    with _output_directory(job(earlier)) as folder:
        for name in ("run.txt", "ir-metadata.yml"):
            (folder / name).write_text("1 Q0 a 1 2 t\n" if name == "run.txt" else "tag: t\n")
            (folder / name).chmod(0)
        folder.chmod(0)
        _check_run(job(earlier), folder)
        assert {(folder / name).stat().st_mode & 0o777 for name in ("run.txt", "ir-metadata.yml")} == {0o600}
    assert (earlier / "run.txt").exists() and (earlier / "ir-metadata.yml").exists()


def test_deep_folders_are_removed(earlier: Path) -> None:
    """Deeper than Python's stack, and than the longest path."""
    start = Path.cwd()
    with _output_directory(job(earlier)) as folder:
        (folder / "run.txt").write_text("1 Q0 a 1 2 t\n")
        try:
            os.chdir(folder)
            for _ in range(3000):
                os.mkdir("d")  # noqa: PTH102 (relative to the folder it has changed to)
                os.chdir("d")
        finally:
            os.chdir(start)
    assert {path.name for path in earlier.iterdir()} == {"run.txt", "notes.txt"}


def test_a_folder_that_cannot_be_removed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(temporary.shutil, "rmtree", lambda folder, ignore_errors: None)
    monkeypatch.setattr(temporary.subprocess, "run", lambda *arguments, **options: None)
    with temporary.temporary_folder("left-", within=tmp_path) as folder:
        pass
    assert f"{folder} cannot be removed; remove it as the user" in caplog.text


def test_the_next_run_removes_what_a_killed_run_left_and_not_what_another_run_uses(earlier: Path) -> None:
    (earlier / ".touche-run-killed" / "deep").mkdir(parents=True)
    (earlier / ".touche-run-killed" / "run.txt").touch()
    (earlier / ".touche-run-link").symlink_to(earlier.parent)
    (earlier / ".touche-run-file").touch()
    with _output_directory(job(earlier)) as used, _output_directory(job(earlier)) as other:
        left = {path.name for path in earlier.glob(".touche-run-*")}
        assert left == {".touche-run-link", ".touche-run-file", used.name, other.name}
    assert earlier.parent.exists()
