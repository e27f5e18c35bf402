"""What a sandbox wrote replaces an earlier run, and no input."""

import os
from pathlib import Path

import pytest

from conftest import Write, write_files
from touche.errors import InputError
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
