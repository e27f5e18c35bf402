"""Listing the runs in an archive: which published result is which run?"""

import hashlib
import re
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import touche
from conftest import ROOT
from touche import tasks
from touche.regression.published_cells import EQUAL, check_published
from touche.reports.report_records import TaskReport
from touche.tasks.public_runs import NOT_LISTED, public_runs

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


def blob_of(archive: Path) -> str:
    return hashlib.sha1(b"blob %d\0" % archive.stat().st_size + archive.read_bytes()).hexdigest()


def update_blob(archive: Path, folder: Path) -> None:
    """Writes a changed archive's git blob id to the index."""
    index = folder / "tasks" / "public-runs" / "cats-2027.toml"
    index.write_text(re.sub('git_blob = ".*"', f'git_blob = "{blob_of(archive)}"', index.read_text()))


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
    index = f"""[[repositories]]
page = "https://example.org"
licence = "none stated"
url = "https://example.org/runs.zip!"
git_blob = "{blob_of(path)}"

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
    assert [text.partition(".txt: ")[2].partition("; ")[0] for text in remarks] == [
        "not read, because it isn't FOLDER/TEAM/.../run.txt",
        "run.txt:1: 4 columns instead of 6",
        "several published results have its scores: Athos, a",
        "no published result has its scores",
    ]
    unlisted = public_runs(tasks.task("cats-2027")).unlisted
    assert unlisted is not None and unlisted.git_blob == blob_of(archive)
    assert listed("--archive", archive).output == result.output, "it can be repeated"
    with zipfile.ZipFile(archive) as opened:
        for _, run in public_runs(tasks.task("cats-2027")).runs:
            (tmp_path / "runs" / "cats-2027" / f"{run.file}.run").write_bytes(opened.read(run.path))
    cells = {cell.row.tag: cell.verdict for cell in check_published("cats-2027")}
    assert cells == {
        **dict.fromkeys(["boots", "one", "two", "r"], EQUAL),
        **dict.fromkeys(["a", "b", "z"], NOT_LISTED),
    }
    part = TaskReport("cats-2027", tasks.task("cats-2027"), views=[])
    assert part.checked == (
        "4 published values re-evaluated from the teams' runs; 3 values whose run should be public, in an "
        "archive that nobody has listed yet"
    )


def test_results_without_a_run_are_not_public_if_all_runs_are_listed(archive: Path, tmp_path: Path) -> None:
    """The archive has a run of Puss in Boots and nothing else, so the other runs aren't in it."""
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("runs-task-1/Puss in Boots/", "")
        opened.writestr("runs-task-1/Puss in Boots/run.txt", line("d1", 1) + line("d2", 2))
    update_blob(archive, tmp_path)
    assert listed("--archive", archive, "--write").exit_code == 0
    index = public_runs(tasks.task("cats-2027"))
    assert index.unlisted is None and [run.team for _, run in index.runs] == ["Puss in Boots"]
    result = listed("--archive", archive)
    assert result.exit_code == 1 and "has no archive whose runs aren't listed" in result.output


def test_an_archive_in_another_layout_is_refused(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("Puss in Boots/boots.txt", line("d1", 1) + line("d2", 2))
        opened.writestr("run.txt", line("d1", 1))
    update_blob(archive, tmp_path)
    index = tmp_path / "tasks" / "public-runs" / "cats-2027.toml"
    before = index.read_text()
    result = listed("--archive", archive, "--write")
    assert result.exit_code == 1 and index.read_text() == before
    assert "no file in the archive is FOLDER/TEAM/.../run.txt; adapt members()" in result.output


def test_an_archive_whose_runs_are_all_ambiguous_stays_unlisted(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("runs-task-1/Athos/run.txt", "".join(map(line, ["d3", "d2", "d1"], [1, 2, 3])))
    update_blob(archive, tmp_path)
    assert listed("--archive", archive, "--write").exit_code == 0
    [repository] = public_runs(tasks.task("cats-2027")).repositories
    assert repository.git_blob == blob_of(archive) and repository.runs == ()


def test_two_runs_with_the_scores_of_one_result_are_not_listed(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("runs-task-1/Katana/Run 3/run.txt", line("d2", 1) + line("d1", 2))
    update_blob(archive, tmp_path)
    output = listed("--archive", archive).output
    assert output.count(": another run also has the scores of Katana, one\n") == 2
    assert 'tags = ["one"]' not in output and '"Katana" = ["one"]' in output


def test_other_repositories_of_the_index_stay_as_they_are(archive: Path, tmp_path: Path) -> None:
    """The archive's other run of the same result is named, and not listed a second time."""
    index = tmp_path / "tasks" / "public-runs" / "cats-2027.toml"
    other = """[[repositories]]
page = "https://example.com"
licence = "MIT"
url = "https://example.com/runs/"
runs = [
    { file = "one", team = "Katana", tags = ["one"], path = "one.txt", md5 = "0" },
]

"""
    index.write_text(other + index.read_text().replace('["one", "two"]', '["two"]'))
    result = listed("--archive", archive, "--write")
    assert result.exit_code == 0, result.output
    assert other in index.read_text()
    found = {run.tags: repository.licence for repository, run in public_runs(tasks.task("cats-2027")).runs}
    assert found == {("one",): "MIT", **dict.fromkeys([("boots",), ("two",), ("r",)], "none stated")}
    assert "Run 1/run.txt: the index has another run of Katana, one\n" in result.output


def test_missing_judgments_and_a_broken_index_are_errors_in_sentences(archive: Path, tmp_path: Path) -> None:
    index = tmp_path / "tasks" / "public-runs" / "cats-2027.toml"
    (tmp_path / "qrels" / "cats-2027.qrels").unlink()
    result = listed("--archive", archive)
    assert result.exit_code == 1 and "cats-2027.qrels" in result.output
    index.write_text(index.read_text().replace('["z"]', '["y"]'))
    result = listed("--archive", archive)
    assert result.exit_code == 1 and "no published result of Zorro, y" in result.output


def test_another_archive_is_refused(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes() + b"x")
    assert "the archive's git blob id is" in listed("--archive", archive).output
