import hashlib
from pathlib import Path

import pytest
import yaml

import touche as touche_library
from conftest import Touche, Write
from touche.errors import ToucheError

A = "7 PRO x 1 3.0 one\n7 PRO y 2 2.0 one\n8 Q0 z 1 1.0 one\n"
B = "9 Q0 w 1 5 two words\n7 CON y 1 0.9 two words\n7 CON v 2 0.9 two words\n"


@pytest.fixture
def runs(write: Write) -> list[Path]:
    """Two runs that have one topic, and one document of it, in common."""
    return [write("a/run.txt", A), write("b/run.txt", B)]


def test_a_fused_run_is_whole_and_says_what_it_is_made_of(
    touche: Touche, tmp_path: Path, runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    doubt = "warning: 2 topics in only some of the runs; check that all runs are of one task\n"
    said = f"{doubt}fuse: {out}/run.txt of 2 runs, 3 topics\n"
    assert touche("fuse", *runs, "-o", out) == (0, "", said)
    # y is first in B because of its later id; neither of x and w is in the other run of its topic.
    assert (out / "run.txt").read_text() == (
        "7 PRO y 1 0.032522473 touche-rrf\n"
        "7 PRO x 2 0.016393442 touche-rrf\n"
        "7 CON v 3 0.016129032 touche-rrf\n"
        "8 Q0 z 1 0.016393442 touche-rrf\n"
        "9 Q0 w 1 0.016393442 touche-rrf\n"
    )
    record = yaml.safe_load((out / "ir-metadata.yml").read_text())
    md5 = {f"{run.parent.name}/run.txt": hashlib.md5(run.read_bytes()).hexdigest() for run in runs}
    assert record["data"]["runs"] == {name: {"md5": digest} for name, digest in md5.items()}
    assert record["method"]["parameters"] == {"method": "rrf", "depth": 1000, "tag": "touche-rrf"}
    assert record["implementation"]["executable"]["cmd"].startswith("touche fuse ")
    assert "actor" not in record
    monkeypatch.setenv("TOUCHE_TEAM", "My Team")
    touche("fuse", *runs, "-o", out)
    assert yaml.safe_load((out / "ir-metadata.yml").read_text())["actor"] == {"team": "My Team"}


def test_runs_that_share_no_document_are_doubted(touche: Touche, tmp_path: Path, write: Write) -> None:
    one, other = (write(f"{name}.txt", f"7 Q0 {name} 1 1 t\n7 Q0 z{name} 2 0 t\n") for name in "ab")
    doubt = "no two runs share a document of a topic; check that all runs are of one task"
    assert doubt in touche("fuse", one, other, "-o", tmp_path / "out")[2]
    third = write("c.txt", "7 Q0 za 1 1 t\n")
    assert "warning" not in touche("fuse", one, other, third, "-o", tmp_path / "out")[2]


def test_depth_cuts_after_all_runs_are_fused_and_ties_are_ordered_by_id(
    touche: Touche, tmp_path: Path, runs: list[Path]
) -> None:
    options = ("--method", "combsum", "--depth", 2, "--tag", "mine")
    assert touche("fuse", *runs, "-o", tmp_path / "out", *options)[0] == 0
    # x, y and v have 1 each, because the scores in B are equal.
    assert (tmp_path / "out" / "run.txt").read_text().splitlines()[:3] == [
        "7 PRO y 1 1.0 mine",
        "7 PRO x 2 1.0 mine",
        "8 Q0 z 1 1.0 mine",
    ]


def test_weights_are_applied_and_recorded(touche: Touche, tmp_path: Path, runs: list[Path]) -> None:
    code, _, _ = touche("fuse", *runs, "-o", tmp_path, "--method", "combsum", "--weights", "0.5, 2")
    assert code == 0
    first = (tmp_path / "run.txt").read_text().splitlines()[0].split()
    # The documents of run B are tied, and so have 1 each, twice; y is the last one of run A.
    assert (first[2], first[4]) == ("y", "2.0")
    record = yaml.safe_load((tmp_path / "ir-metadata.yml").read_text())
    assert record["method"]["parameters"]["weights"] == [0.5, 2.0]


def test_k_levels_reciprocal_ranks_and_is_recorded(touche: Touche, tmp_path: Path, runs: list[Path]) -> None:
    assert touche("fuse", *runs, "-o", tmp_path, "--k", 0)[0] == 0
    first = (tmp_path / "run.txt").read_text().splitlines()[0].split()
    assert (first[2], first[4]) == ("y", "1.5")  # 1 / (0 + 2) in run A, 1 / (0 + 1) in run B
    parameters = yaml.safe_load((tmp_path / "ir-metadata.yml").read_text())["method"]["parameters"]
    assert parameters == {"method": "rrf", "depth": 1000, "tag": "touche-rrf", "k": 0}
    fused = touche_library.fuse(runs, k=1)
    assert fused.as_dict()["7"]["y"] == pytest.approx(1 / 3 + 1 / 2)


def test_k_is_refused_for_methods_without_it(touche: Touche, tmp_path: Path, runs: list[Path]) -> None:
    code, _, said = touche("fuse", *runs, "-o", tmp_path, "--method", "combsum", "--k", 10)
    assert (code, said) == (2, "touche: k is a constant of rrf, and combsum has none; omit k\n")
    for k in (-1, 1.5, True, "60", 10**7):
        with pytest.raises(ToucheError, match="k = "):
            touche_library.fuse(runs, k=k)


@pytest.mark.parametrize(
    ("tasks", "name", "doubt"),
    [
        (("spot-check/passages", "spot-check/passages"), "spot-check/passages", ""),
        (("spot-check/passages", "unknown"), "spot-check/passages", ""),
        (
            ("spot-check/passages", "spot-check/pages"),
            "not known",
            "the runs are of spot-check/passages and spot-check/pages; check that all runs are of one task",
        ),
    ],
)
def test_the_task_next_to_the_runs_becomes_that_of_the_fused_run(
    touche: Touche,
    tmp_path: Path,
    write: Write,
    runs: list[Path],
    tasks: tuple[str, str],
    name: str,
    doubt: str,
) -> None:
    for run, task in zip(runs, tasks, strict=True):
        metadata = f"data:\n  test collection:\n    name: {task}\n"
        write(f"{run.parent.name}/ir-metadata.yml", metadata)
    _, _, err = touche("fuse", *runs, "-o", tmp_path / "out")
    assert (doubt in err) if doubt else ("the runs are of" not in err)
    record = yaml.safe_load((tmp_path / "out" / "ir-metadata.yml").read_text())
    assert record["data"]["test collection"]["name"] == name


def test_a_wrong_number_of_weights_is_counted_correctly(
    touche: Touche, tmp_path: Path, runs: list[Path]
) -> None:
    code, _, err = touche("fuse", *runs, "-o", tmp_path / "out", "--weights", "1")
    assert (code, err) == (2, "touche: 1 weight for 2 runs; pass one per run, such as 0.7,0.3\n")
