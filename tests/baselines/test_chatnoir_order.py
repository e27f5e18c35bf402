"""benchmarks/chatnoir_order.py on pages of the toy collection, with a run of the replica itself."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Touche

SCRIPT = ROOT / "benchmarks" / "chatnoir_order.py"


def table(*arguments: object) -> tuple[dict[str, list[float]], str]:
    """The figures of each variant, and what is printed on standard error."""
    done = subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    rows = [line.rsplit(maxsplit=5) for line in done.stdout.splitlines()[1:]]
    return {variant: [*map(float, numbers)] for variant, *numbers in rows}, done.stderr


@pytest.fixture
def statistics(touche: Touche, tmp_path: Path) -> Path:
    """Statistics of a larger collection, in which frequent terms are rare."""
    path = tmp_path / "whole.json"
    pages = ("run", "chatnoir-bm25f", "-i", "spot-check/pages", "-o", tmp_path)
    assert touche(*pages, "--keep-statistics", path)[0] == 0
    record = json.loads(path.read_text())
    for field in record["fields"].values():
        field["documents"] += 10_000
        field["tokens"] += 90_000
        for term, (df, ttf) in field["terms"].items():
            rarer = 5_000 if len(term) > 5 else 0
            field["terms"][term] = [df + rarer, ttf + rarer]
    path.write_text(json.dumps(record))
    return path


def test_the_replica_agrees_with_itself_in_one_variant(
    touche: Touche, statistics: Path, tmp_path: Path
) -> None:
    run = ("run", "chatnoir-bm25f", "-i", "spot-check/pages", "-o", tmp_path)
    assert touche(*run, "--statistics", statistics)[0] == 0
    rows, _ = table("spot-check/pages", tmp_path / "run.txt", statistics)
    both = rows.pop(f"lengths before Lucene 7, statistics of {statistics}")
    assert both == [1, 1, 1, 4, 25]
    assert [row[0] < 1 and row[1] < 1 and row[3:] == [4, 25] for row in rows.values()] == [True] * 3
