"""Listing the runs in an archive: which published result is which run?"""

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import touche
from conftest import ROOT
from touche import tasks
from touche.regression.published_cells import EQUAL, check_published
from touche.tasks.public_runs import public_runs

CARD = """id = "cats-2027"
title = "Cats"
url = "https://example.org"
topics = "cats-2027.xml"
[qrels.relevance]
file = "cats-2027.qrels"
[corpora.full]
directory = "cats-2027"
[rules]
unit = "document"
[[published]]
dimension = "relevance"
measure = "nDCG@5"
evaluator = "touche"
qrels = "cats-2027.qrels"
sources = ["a table"]
runs = [
    { team = "Puss in Boots", tag = "boots", value = 1.0, baseline = true },
    { team = "Katana", tag = "one", value = 0.86 },
    { team = "Katana", tag = "two", value = 0.67 },
    { team = "Athos", tag = "a", value = 0.62 },
    { team = "Athos", tag = "b", value = 0.62 },
    { team = "Renamed", tag = "r", value = 0.38 },
    { team = "Zorro", tag = "z", value = 0.1 },
]
"""
# Documents in the runs' order; the judgments are d1: 2, d2: 1 and 0 for the others.
RUNS = {
    "Puss in Boots Baseline/Run": "d1 d2",
    "Katana/Run 1": "d2 d1",
    "Katana/Run 2": "d3 d1 d2",
    "Athos/Run": "d3 d2 d1",
    "Formerly/Run": "d3 d4 d1",
    "Stranger/Run": "d3",
}


def line(document: str, rank: int) -> str:
    return f"1 Q0 {document} {rank} {10 - rank} tag\n"


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive in the layout of 2020 task 2, and a data folder with its task and an index that names it."""
    for folder in ("tasks/public-runs", "topics", "qrels", "runs/cats-2027"):
        (tmp_path / folder).mkdir(parents=True)
    qrels = "".join(f"1 0 d{number} {grade}\n" for number, grade in enumerate([2, 1, 0, 0], 1))
    (tmp_path / "qrels" / "cats-2027.qrels").write_text(qrels)
    topics = "<topics><topic><number>1</number><title>Cats?</title></topic></topics>"
    (tmp_path / "topics" / "cats-2027.xml").write_text(topics)
    path = tmp_path / "runs.zip"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("runs-task-1/Katana/README.txt", "not a run")
        opened.writestr("runs-task-1/Zorro/Run/run.txt", "not a run either\n")
        for name, documents in RUNS.items():
            run = "".join(line(document, rank) for rank, document in enumerate(documents.split(), 1))
            opened.writestr(f"runs-task-1/{name}/run.txt", run)
            (tmp_path / "runs" / "cats-2027" / f"{name.split('/')[1]}.run").write_text(run)
    (tmp_path / "tasks" / "cats-2027.toml").write_text(CARD)
    blob = hashlib.sha1(b"blob %d\0" % path.stat().st_size + path.read_bytes()).hexdigest()
    index = f"""[[repositories]]
page = "https://example.org"
licence = "none stated"
url = "https://example.org/runs.zip!"
git_blob = "{blob}"

[without_run]
"Puss in Boots" = ["boots"]
Katana = ["one", "two"]
Athos = ["a", "b"]
Renamed = ["r"]
Zorro = ["z"]
"""
    (tmp_path / "tasks" / "public-runs" / "cats-2027.toml").write_text(index)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    return path


def listed(*arguments: str | Path) -> Result:
    from runs_of_archive import main

    return CliRunner().invoke(main, ["cats-2027", *map(str, arguments)])


def test_runs_are_listed_with_the_results_that_have_their_scores(archive: Path, tmp_path: Path) -> None:
    values = {row.row.tag: row.row.value for row in touche.published("cats-2027")}
    assert values["one"] == 0.86
    result = listed("--archive", archive)
    assert result.exit_code == 0, result.output
    index = tmp_path / "tasks" / "public-runs" / "cats-2027.toml"
    assert public_runs(tasks.task("cats-2027")).runs == [], "it only prints"
    assert listed("--archive", archive, "--write").output == result.output
    assert index.read_text() == result.output.partition("\n")[2].removesuffix("\n")
    found = {run.tags: (run.file, run.path) for _, run in public_runs(tasks.task("cats-2027")).runs}
    assert found == {
        ("boots",): ("puss-in-boots", "runs-task-1/Puss in Boots Baseline/Run/run.txt"),
        ("one",): ("katana-1", "runs-task-1/Katana/Run 1/run.txt"),
        ("two",): ("katana-2", "runs-task-1/Katana/Run 2/run.txt"),
        ("r",): ("renamed", "runs-task-1/Formerly/Run/run.txt"),
    }
    remarks = [text for text in result.output.splitlines() if text.startswith("# runs-task-1")]
    assert [text.partition("/run.txt: ")[2].partition("; ")[0] for text in remarks] == [
        "run.txt:1: 4 columns instead of 6",
        "several published results have its scores: Athos, a",
        "no published result has its scores",
    ]
    with zipfile.ZipFile(archive) as opened:
        for _, run in public_runs(tasks.task("cats-2027")).runs:
            (tmp_path / "runs" / "cats-2027" / f"{run.file}.run").write_bytes(opened.read(run.path))
    cells = [cell for cell in check_published("cats-2027") if cell.verdict == EQUAL]
    assert [cell.row.tag for cell in cells] == ["boots", "one", "two", "r"]


def test_two_runs_with_the_scores_of_one_result_are_not_listed(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("runs-task-1/Katana/Run 3/run.txt", line("d2", 1) + line("d1", 2))
    index = tmp_path / "tasks" / "public-runs" / "cats-2027.toml"
    blob = hashlib.sha1(b"blob %d\0" % archive.stat().st_size + archive.read_bytes()).hexdigest()
    old = next(text for text in index.read_text().splitlines() if text.startswith("git_blob"))
    index.write_text(index.read_text().replace(old, f'git_blob = "{blob}"'))
    output = listed("--archive", archive).output
    assert output.count(": another run also has the scores of Katana, one\n") == 2
    assert 'tags = ["one"]' not in output and '"Katana" = ["one"]' in output


def test_another_archive_and_a_listed_task_are_refused(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes() + b"x")
    assert "the archive's git blob id is" in listed("--archive", archive).output
    archive.write_bytes(archive.read_bytes()[:-1])
    assert listed("--archive", archive, "--write").exit_code == 0
    result = listed("--archive", archive)
    assert result.exit_code == 1 and "has no archive whose runs aren't listed" in result.output
