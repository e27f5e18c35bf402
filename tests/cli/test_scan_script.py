"""The script of docs/cluster.md deals files to the tasks of a job array."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, Write


def _dealt(
    folder: Path, array: dict[str, int | str], word: str = "first"
) -> subprocess.CompletedProcess[str]:
    """The script, with a command in place of touche that does nothing."""
    (script,) = re.findall(
        r"`out/scan.sh`:\n\n```bash\n(.*?)```", (ROOT / "docs/cluster.md").read_text(), re.DOTALL
    )
    (folder / "scan.sh").write_text(script)
    (folder / "touche").write_text("#!/bin/sh\n")
    (folder / "touche").chmod(0o755)
    settings = {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in array.items()}
    environment = {**os.environ, **settings, "PATH": f"{folder}:{os.environ['PATH']}"}
    command = ["sh", "scan.sh", word, "given", "work", "bm25"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_each_document_is_in_one_share_and_what_tells_of_documents_in_all(
    tmp_path: Path, write: Write
) -> None:
    beside = {"topics.xml", "spam-ranks.txt", "page-ranks.txt"}
    archives = {f"{n}.warc.gz" for n in range(5)}
    for name in beside | archives:
        write(f"given/{name}", name)
    shares = []
    for task in range(1, 4):
        assert _dealt(tmp_path, {"ID": task, "MIN": 1, "MAX": 3, "COUNT": 3}).returncode == 0
        shares.append({path.name for path in (tmp_path / "work" / str(task) / "input").iterdir()})
    assert all(beside < each for each in shares)
    assert sorted(name for each in shares for name in each - beside) == sorted(archives)


@pytest.mark.parametrize(
    ("array", "word", "error"),
    [
        ({"ID": 0, "MIN": 0, "MAX": 4, "COUNT": 3}, "first", "leaves a share out"),
        ({"ID": 0, "MIN": 0, "MAX": 2, "COUNT": 3}, "third", "first or second, not third"),
    ],
)
def test_shares_that_are_not_the_whole_are_refused(
    tmp_path: Path, write: Write, array: dict[str, int | str], word: str, error: str
) -> None:
    write("given/topics.xml", "")
    found = _dealt(tmp_path, array, word)
    assert (found.returncode, error in found.stderr) == (2, True), found.stderr
