"""The script of docs/how-to/large-collections.md deals files to the tasks of a job array."""

import os
import re
import subprocess
from pathlib import Path

from conftest import ROOT, Write


def test_each_document_is_in_one_share_and_what_tells_of_documents_in_all(
    tmp_path: Path, write: Write
) -> None:
    page = (ROOT / "docs/how-to/large-collections.md").read_text()
    (script,) = re.findall(r"`out/scan.sh`:\n\n```bash\n(.*?)```", page, re.DOTALL)
    write("scan.sh", script)
    write("touche", "#!/bin/sh\n").chmod(0o755)  # does nothing
    beside = {"topics.xml", "spam-ranks.txt", "page-ranks.txt"}
    archives = {f"{n}.warc.gz" for n in range(5)}
    for name in beside | archives:
        write(f"given/{name}", name)

    def dealt(task: int, last: int, word: str = "first") -> str:
        array = {"ID": task, "MIN": 1, "MAX": last, "COUNT": 3}
        settings = {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in array.items()}
        environment = {**os.environ, **settings, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        command = ["sh", "scan.sh", word, "given", "work", "bm25"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == (2 if done.stderr else 0)
        return done.stderr

    assert [dealt(task, 3) for task in range(1, 4)] == [""] * 3
    shares = [{path.name for path in (tmp_path / f"work/{task}/input").iterdir()} for task in range(1, 4)]
    assert all(beside < share for share in shares)
    assert sorted(name for share in shares for name in share - beside) == sorted(archives)
    assert "leaves a share out" in dealt(1, 5)
    assert "first or second, not third" in dealt(1, 3, "third")
