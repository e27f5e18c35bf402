"""What a sandbox wrote replaces an earlier run, and no input."""

from pathlib import Path

import pytest

from conftest import Write
from touche.containers.runs import Job, _output_directory
from touche.errors import InputError


def job(output: Path, source: str = "spot-check/passages") -> Job:
    return Job("bm25", (), source, output)


@pytest.fixture
def earlier(write: Write) -> Path:
    for name in ("run.txt", "ir-metadata.yml", "notes.txt"):
        output = write(f"out/{name}", "earlier").parent
    return output


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_files_are_replaced_and_metadata_of_another_run_does_not_stay(earlier: Path) -> None:
    with _output_directory(job(earlier)) as folder:
        (folder / "run.txt").write_text("new")
        (folder / "deep").mkdir()
        (folder / "deep" / "more.txt").write_text("new")
        (folder / "link").symlink_to("/etc/passwd")
        (folder / "folder").symlink_to("/etc")
    assert texts(earlier) == {"run.txt": "new", "deep/more.txt": "new", "notes.txt": "earlier"}
    assert {path.name for path in earlier.iterdir()} == {"run.txt", "deep", "notes.txt"}


def test_an_error_leaves_no_run(earlier: Path) -> None:
    with pytest.raises(ValueError, match="of the run"), _output_directory(job(earlier)) as folder:
        (folder / "run.txt").write_text("half")
        raise ValueError("of the run")
    assert [path.name for path in earlier.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("name", ["topics.xml", "deep/more.txt"])
def test_no_file_of_the_input_is_replaced(earlier: Path, write: Write, name: str) -> None:
    """But a run may be written into its input folder, and again."""
    write(f"out/{name}", "of the input")
    refused = pytest.raises(InputError, match="an input of this command")
    with refused, _output_directory(job(earlier, str(earlier))) as folder:
        (folder / "deep").mkdir()
        for file in ("run.txt", name):
            (folder / file).write_text("new")
    assert texts(earlier) == {name: "of the input", "notes.txt": "earlier"}
    with _output_directory(job(earlier, str(earlier))) as folder:
        (folder / "run.txt").write_text("new")
    assert (earlier / "run.txt").read_text() == "new"
