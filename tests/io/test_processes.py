"""Worker processes."""

import tempfile
from pathlib import Path

from touche.io.processes import Pool


def test_a_check_starts_all_processes_at_once(tmp_path: Path) -> None:
    with Pool(3, tempfile.mkdtemp, None, None, str(tmp_path)) as pool:  # each process creates a folder
        pool.check("do nothing")
    assert len(list(tmp_path.iterdir())) == 3
