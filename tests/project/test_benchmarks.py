"""The benchmark page, compared with what was measured; and the rehearsal of the nightly rerun, on a part."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

FOLDER = ROOT / "benchmarks"


def test_tables_and_picture_are_those_of_the_measured_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    import speed_page

    page = (FOLDER / "RESULTS.md").read_text(encoding="utf-8")
    assert speed_page.replaced(page) == page
    assert page.count("<!-- end -->") == 4
    drawn = (FOLDER / "speed.svg").read_text(encoding="utf-8")
    for rounds in speed_page.read_timings().values():
        assert speed_page.label(rounds) in drawn


@pytest.mark.slow
def test_a_rehearsal_fetches_made_up_collections_and_reruns_baselines(official: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    command = [sys.executable, FOLDER / "rehearsal.py", tmp_path / "work", "bm25", "dirichletlm-pairs"]
    command += ["--share", "0.0005", "--results", results]
    datasets = ["beir-webis-touche2020-v2", "touche-2020-task-1", "touche-2022-task-1", "touche-2022-task-2"]
    for dataset in datasets:
        command += ["--dataset", dataset]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    records = [json.loads(line) for line in results.read_bytes().splitlines()]
    reruns = [record for record in records if "wall" in record]
    assert {record["dataset"] for record in reruns} == set(datasets)
    assert "failed" not in {record["verdict"] for record in reruns}
    assert all(record["wall"] and record["memory"] > 1e7 for record in reruns)
    assert all(record["unpacked"] > 1e5 for record in records if "fetch" in record)
    assert not (tmp_path / "work" / "server").exists()
