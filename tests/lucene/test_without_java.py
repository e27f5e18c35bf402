"""Images of most baselines contain no Java."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from touche.data.places import shipped_baselines

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
    ("baseline", "part"), [("bm25", "arguments"), ("dirichletlm-pairs", "pairs"), ("chatnoir-bm25f", "pages")]
)
def test_what_ranks_by_the_scan_needs_no_java(tmp_path: object, baseline: str, part: str) -> None:
    done = touche("run", baseline, "-i", f"spot-check/{part}", "-o", tmp_path)
    assert (done.returncode, "wrote" in done.stderr) == (0, True), done.stderr


DOCKERFILES = sorted(ROOT.glob("baselines/*/Dockerfile"))
OF_LUCENE = [file.parent.name for file in DOCKERFILES if "touche/lucene" in file.read_text(encoding="utf-8")]


def test_every_baseline_is_listed_and_those_that_need_lucene_are_marked() -> None:
    shown = touche("run", "--help").stdout
    lines = {line.split()[0]: line for line in shown.splitlines() if line.split()[:1]}
    assert {*shipped_baselines()} <= {*lines}
    assert [name for name in shipped_baselines() if "needs the extra lucene" in lines[name]] == OF_LUCENE
    assert "  dirichletlm-variants  " in touche("run").stderr
    assert "lucene" in touche("run", "elrond", "--help").stderr  # its options are in code that imports Lucene


def test_what_ranks_by_lucene_says_what_is_missing_and_leaves_an_earlier_run_alone(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("of an earlier run")
    done = touche("run", "elrond", "-i", "spot-check/arguments", "-o", tmp_path)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert last.startswith("touche: Lucene is not installed; install it with: pip install ")
    assert "[lucene]' && pip install --no-deps pyserini==1.6.0" in last
    assert (tmp_path / "run.txt").read_text() == "of an earlier run"


def test_regress_reports_what_is_not_installed_and_neither_passes_nor_fails_it(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    done = touche("regress", *OF_LUCENE, "bm25", "--dataset", "spot-check/arguments", "--junit", junit)
    assert done.returncode == 0, done.stderr
    *rows, _, remedy, counts = done.stdout.splitlines()
    assert {row.split()[0] for row in rows if row.endswith("not installed")} == {*OF_LUCENE}
    assert remedy.startswith("not installed: the extra lucene is missing; install it with: pip install ")
    assert "failed" not in counts and "passed" in counts
    assert 'failures="0"' in junit.read_text() and 'skipped="0"' not in junit.read_text()
    alone = touche("regress", "elrond", "--dataset", "spot-check/arguments")
    assert alone.returncode == 2 and "the extra lucene is missing" in alone.stderr
