"""Folders for the fields of pages, shared by workers."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from touche.cluster.fields import FieldsFolder
from touche.errors import InputError

pytest.importorskip("pyarrow.fs", reason="needs pyarrow: make .venv/spark")


def test_a_task_that_is_done_twice_at_once_or_fails_or_is_killed_leaves_one_whole_file(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "new" / "deep"
    folder_of_fields = FieldsFolder.at(f"{folder.as_uri()}/")
    folder_of_fields.begin()
    with ExitStack() as second:
        with folder_of_fields.opened("p.parquet") as one:
            other = second.enter_context(folder_of_fields.opened("p.parquet"))
            one.write(b"pages")
            other.write(b"pa")
        assert (folder / "p.parquet").read_bytes() == b"pages"
        other.write(b"ges")
    with pytest.raises(ValueError, match="amid"), folder_of_fields.opened("a.parquet") as file:
        file.write(b"pa")
        raise ValueError("amid")
    (folder / ".unfinished" / "b.parquet.0").touch()  # left by a killed task
    folder_of_fields.end()
    assert [(path.name, path.read_bytes()) for path in folder.iterdir()] == [("p.parquet", b"pages")]


def test_a_folder_with_fields_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pages-00000.parquet").touch()
    with pytest.raises(InputError, match="contains pages; empty it"):
        FieldsFolder.at(tmp_path.as_uri()).begin()


@pytest.mark.slow
def test_an_address_that_cannot_be_opened_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert FieldsFolder.at("S3A://bucket/a/") == FieldsFolder("s3://bucket/a")
    assert FieldsFolder.at("fields").address == str(Path.cwd() / "fields")
    for address in ("ftp://host/fields", f"file://{tmp_path}/file", "s3://"):
        with pytest.raises(InputError, match=r"cannot be written \(.*\); check the address"):
            FieldsFolder.at(address).begin()
