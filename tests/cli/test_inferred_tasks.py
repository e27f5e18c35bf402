"""The task of runs that the command line does not name, and the baseline behind its options."""

from pathlib import Path

import pytest

from conftest import Touche, Write
from spotcheck import run_text

PASSAGES = "data:\n  test collection:\n    name: %s\n    files:\n      %s: {}\n"


@pytest.mark.parametrize("command", ["evaluate", "lint", "compare", "report"])
def test_the_task_is_read_from_the_metadata(
    touche: Touche, write: Write, tmp_path: Path, command: str
) -> None:
    runs = [write(f"{name}/run.txt", run_text(tag=name)) for name in "ab"]
    write("a/ir-metadata.yml", PASSAGES % ("spot-check/passages", "x.xml"))
    output = ["-o", tmp_path / "page"] if command == "report" else []
    code, out, err = touche(command, *runs, *output)
    assert (code, err.splitlines()[0]) == (0, f"task: spot-check/passages, from {tmp_path}/a/ir-metadata.yml")
    named = touche(command, *runs, *output, "--task", "spot-check/passages")
    assert (code, out) == named[:2] and "task: " not in named[2]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (PASSAGES % ("in", "spot-check-passages.xml"), ""),
        (PASSAGES % ("in", "topics.xml"), "no ir-metadata.yml next to a run names a known task; pass --task"),
        (PASSAGES % ("../in", "x"), "no ir-metadata.yml next to a run names a known task; pass --task"),
        ("data: [", "not YAML"),
        ('data: "\\UFFFFFFFF"', "not YAML"),
        ("data:\n  test collection: a\n", "no ir-metadata.yml next to a run names a known task; pass --task"),
        ("", "no ir-metadata.yml next to a run names a known task; pass --task"),
    ],
)
def test_metadata_is_not_trusted(touche: Touche, write: Write, metadata: str, expected: str) -> None:
    run = write("a/run.txt", run_text())
    write("a/ir-metadata.yml", metadata)
    code, _, err = touche("evaluate", run)
    assert (code == 2 and expected in err and err.count("\n") == 1) if expected else code == 0


def test_runs_of_two_tasks_are_refused(touche: Touche, write: Write) -> None:
    runs = [write(f"{name}/run.txt", run_text(tag=name)) for name in "ab"]
    for name, task in ("a", "passages"), ("b", "pages"):
        write(f"{name}/ir-metadata.yml", PASSAGES % (f"spot-check/{task}", "x"))
    code, _, err = touche("evaluate", *runs)
    assert code == 2 and "the runs are of spot-check/passages and spot-check/pages; pass runs of one" in err


def test_options_may_stand_before_the_baseline(touche: Touche, tmp_path: Path) -> None:
    folders = "-i", "spot-check/passages", "-o"
    assert touche("run", "bm25", "--depth", "3", *folders, tmp_path / "bm25")[0] == 0
    assert touche("run", "--depth", "3", *folders, tmp_path / "dph", "bm25")[0] == 0
    first, second = ((tmp_path / name / "run.txt").read_text() for name in ("bm25", "dph"))
    assert first == second
    assert touche("run", "--tag", "bm25", "dph", *folders, tmp_path / "tagged")[0] == 0
    assert " bm25\n" in (tmp_path / "tagged" / "run.txt").read_text()
    assert "cmd: touche run dph\n" in (tmp_path / "tagged" / "ir-metadata.yml").read_text()


@pytest.mark.parametrize("command", ["evaluate", "lint", "compare", "report"])
def test_a_missing_run_is_named_before_its_task(touche: Touche, tmp_path: Path, command: str) -> None:
    output = ["-o", tmp_path / "page"] if command == "report" else []
    code, _, err = touche(command, tmp_path / "no-such-file.txt", *output)
    assert (code, err) == (2, f"touche: {tmp_path}/no-such-file.txt: No such file; check the path\n")
