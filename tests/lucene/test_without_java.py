"""An image of most baselines holds no Java."""

import subprocess
import sys

import pytest

from conftest import ROOT

WITHOUT = """
import sys
sys.modules["jpype"] = None  # as if it were not installed
from touche.__main__ import main
sys.argv[0] = "touche"
main()
"""


def touche(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.parametrize(
    "baseline", ["dirichletlm", "bm25", "tfidf", "rank-bm25", "dirichletlm-pairs", "chatnoir-bm25f"]
)
def test_what_ranks_by_the_scan_needs_no_java(tmp_path: object, baseline: str) -> None:
    part = {"dirichletlm-pairs": "pairs", "chatnoir-bm25f": "pages"}.get(baseline, "arguments")
    done = touche("run", baseline, "-i", f"spot-check/{part}", "-o", tmp_path)
    assert (done.returncode, "wrote" in done.stderr) == (0, True), done.stderr


@pytest.mark.parametrize("baseline", ["bm25", "chatnoir-bm25f"])
def test_what_ranks_by_lucene_says_what_is_missing(tmp_path: object, baseline: str) -> None:
    done = touche("run", baseline, "--engine", "lucene", "-i", "spot-check/arguments", "-o", tmp_path)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert last.startswith("touche: Lucene needs Java, ") and "FROM touche/lucene; else: pip install" in last
    assert last.endswith("[lucene]' && pip install --no-deps pyserini==1.6.0")
