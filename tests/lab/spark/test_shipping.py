"""The folder of a baseline is sent to the workers."""

import os
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import write_files
from touche.errors import InputError
from touche.lab.spark.shipping import folder_sent


def test_files_of_any_age_are_sent_but_no_environment_and_circles_are_refused(tmp_path: Path) -> None:
    files = {"own/helper/models.py": "one", "own/venv/pyvenv.cfg": "", "words.txt": "school"}
    folder = write_files(tmp_path, files) / "own"
    (folder / "nothing.txt").symlink_to("nowhere")
    (folder / "words.txt").symlink_to(tmp_path / "words.txt")
    os.utime(tmp_path / "words.txt", (0, 0))  # archives cannot contain this time
    sent: list[str] = []
    context = SimpleNamespace(addArchive=sent.append)
    with folder_sent(context, folder), zipfile.ZipFile(sent[0].partition("#")[0]) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files == {"helper/models.py": b"one", "words.txt": b"school"}
    (folder / "helper" / "again").symlink_to("..")
    with pytest.raises(InputError, match="again: links to folders"), folder_sent(context, folder):
        pass
