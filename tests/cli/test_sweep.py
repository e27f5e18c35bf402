import csv
from pathlib import Path
from typing import Any

import pytest

import touche as library
from conftest import Touche, Write
from touche.errors import ToucheError

GRID = ("--k1", "0.5:1.5:0.5", "--b", "0.25,0.75", "--task", "spot-check/arguments")


def test_an_input_directory_needs_a_task_or_judgments(touche: Touche, write: Write, tmp_path: Path) -> None:
    folder = write("input/topics.xml", Path("topics/spot-check-arguments.xml").read_bytes()).parent
    write("input/args-me.json", Path("corpora/spot-check-arguments/args-me.json").read_bytes())
    qrels = Path("qrels/spot-check-arguments-relevance.qrels")
    code, out, _ = touche("sweep", "bm25", "-i", folder, "-o", tmp_path / "out", "--qrels", qrels)
    assert code == 0 and "touche-bm25" in out
    frame = library.sweep("bm25", folder, {}, qrels=qrels).frame()
    assert f" {frame['mean'][0]:.3f}" in out
    with pytest.raises(ToucheError, match="task"):
        library.sweep("bm25", folder, {})


@pytest.mark.parametrize("values", [("--k1", "0.5", "--k1", "0.9,2"), ("--k1", "0.5,0.9", "--k1=2")])
def test_all_values_of_a_repeated_option_count(
    touche: Touche, tmp_path: Path, values: tuple[str, ...]
) -> None:
    arguments = ("--task", "spot-check/arguments", "-o", tmp_path / "out", "--format", "csv")
    code, out, _ = touche("sweep", "bm25", *values, *arguments)
    assert code == 0 and [row["k1"] for row in csv.DictReader(out.splitlines())] == ["0.5", "0.9", "2.0"]


@pytest.mark.parametrize("option", [{"evaluator": "terrier"}, {"cross_validation": "ten-fold"}])
def test_names_that_python_gets_wrong_are_errors_before_the_work(option: dict[str, Any]) -> None:
    with pytest.raises(ToucheError, match=r"two-fold|trec_eval"):
        library.sweep("bm25", "spot-check/arguments", {}, **option)


def test_an_image_is_not_swept(touche: Touche, tmp_path: Path) -> None:
    code, _, err = touche("sweep", "bm25", "--runner", "docker", "-i", "spot-check/arguments", "-o", tmp_path)
    assert code == 2 and "No such option '--runner'" in err


def test_without_matplotlib_only_the_heat_map_is_missing(
    touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    code, out, said = touche("sweep", "bm25", *GRID, "-o", tmp_path / "out")
    assert code == 0 and "no heat map: matplotlib is not installed" in said and " * " in out
    assert [path.name for path in (tmp_path / "out").iterdir() if path.is_file()] == ["settings.csv"]


def test_all_settings_with_the_highest_mean_have_a_star(touche: Touche, tmp_path: Path) -> None:
    """nDCG@5 is the same for every depth from 5 on."""
    arguments = ("-i", "spot-check/arguments", "-o", tmp_path / "out", "--depth", "1,5,10")
    _, out, _ = touche("sweep", "bm25", *arguments)
    assert [line.split()[0] for line in out.splitlines() if " * " in line] == ["5", "10"]
