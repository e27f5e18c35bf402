"""Boards of a task without published results: teams, baselines, and the board as a file."""

import csv
import re
from base64 import b64decode
from html import unescape
from pathlib import Path

import pytest

from conftest import Touche, Write
from spotcheck import run_text

pytest_plugins = ["made_up_reports"]
TASK = "spot-check/passages"
METADATA = "tag: {tag}\nactor: {{team: {team}}}\nmethod: {{name: {method}}}\n"


@pytest.fixture
def runs(write: Write) -> list[Path]:
    """Two runs with one tag in two folders, and one of bm25, as ``touche run all`` writes it."""
    bm25 = write("out/bm25/run.txt", run_text(["11"], tag="touche-bm25"))
    write("out/bm25/ir-metadata.yml", METADATA.format(tag="touche-bm25", team="", method="bm25"))
    return [
        write("teams/Zorro & <i>/a.txt", run_text(["11", "12"], tag="swish")),
        write("teams/Boots/a.txt", run_text(["12"], tag="swish")),
        bm25,
    ]


def board(folder: Path) -> str:
    html = (folder / "index.html").read_text(encoding="utf-8")
    return html.partition('<table class="board">')[2].partition("</table>")[0]


def file(folder: Path, name: str) -> str:
    """Returns the content of a page's first file for download with this name."""
    html = (folder / "index.html").read_text(encoding="utf-8")
    address = re.search(f">{name}<", html) and re.findall(f'href="([^"]*)">{name}<', html)[0]
    return b64decode(unescape(str(address)).partition("base64,")[2]).decode()


@pytest.mark.usefixtures("plain")
def test_a_board_has_teams_tags_marked_baselines_and_a_title(
    touche: Touche, runs: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "board"
    baselines = runs[-1].parents[1]
    options = (
        "--task",
        TASK,
        "--team-per-folder",
        "--baselines",
        baselines,
        "--title",
        "Cats & dogs",
        "-o",
        out,
    )
    assert touche("report", *runs, *options)[0] == 0
    rows = re.findall('<tr class="(.*?)">.*?<th scope="row">(.*?)</th>', board(out), re.DOTALL)
    texts = {re.sub(r"<[^>]*>", "", name): kind for kind, name in rows}
    names = {" ".join(unescape(text).replace("not comparable", "").split()[1:]) for text in texts}
    assert names == {"Zorro & <i> swish", "Boots swish", "bm25 baseline touche-bm25"}
    assert [kind for text, kind in texts.items() if "baseline" in text] == ["given shipped doubtful"]
    assert "<h1>Cats &amp; dogs</h1>" in (out / "index.html").read_text(encoding="utf-8")
    lines = [*csv.DictReader(file(out, "CSV").splitlines())]
    assert {(line["team"], line["run"], line["is_baseline"]) for line in lines} == {
        ("Zorro & <i>", "swish", "False"),
        ("Boots", "swish", "False"),
        ("bm25", "touche-bm25", "True"),
    }
    assert [float(line["value"]) for line in lines] == sorted(
        (float(x["value"]) for x in lines), reverse=True
    )
    latex = file(out, "LaTeX")
    assert "Zorro \\& \\textless{}i\\textgreater{} & swish & " in latex
    assert "bm25 & touche-bm25 (baseline) & " in latex and "\\bottomrule" in latex


def test_runs_with_one_tag_are_told_apart_by_their_teams(
    touche: Touche, write: Write, runs: list[Path]
) -> None:
    tail = ("--task", TASK, "--evaluator", "trec_eval", "--format", "csv")
    _, out, err = touche("evaluate", *runs, *tail, "--team-per-folder")
    rows = [*csv.DictReader(out.splitlines())]
    assert [row["team"] for row in rows] == ["Zorro & <i>", "Boots", "bm25"]
    assert "several runs have the tag" not in err
    _, out, _ = touche("evaluate", *runs, "--task", TASK, "--team-per-folder", "--reference", "Boots (swish)")
    assert "different from Boots (swish)" in out and "Zorro & <i>  swish" in out
    # Without the option, teams come from metadata. Unreadable metadata and control characters do no harm.
    write("teams/Boots/ir-metadata.yml", METADATA.format(tag="other", team='"Pu\\x1bss"', method="bm25"))
    write("teams/Zorro & <i>/ir-metadata.yml", "a: [")
    _, out, _ = touche("evaluate", *runs, *tail)
    assert [row["team"] for row in csv.DictReader(out.splitlines())] == ["", "Pu\\x1bss", ""]
    three = [write(f"three/{team}/run.txt", run_text(["11"], tag="one")) for team in "abc"]
    _, out, err = touche("evaluate", *three, "--task", TASK, "--team-per-folder", "--evaluator", "touche")
    assert [line.split()[:2] for line in out.splitlines()[1:4]] == [["a", "one"], ["b", "one"], ["c", "one"]]


def test_folders_with_one_name_belong_to_the_teams_in_which_their_paths_differ(
    touche: Touche, write: Write
) -> None:
    folders = ["in/x/boots", "in/y/boots", "tira/x/1/output", "tira/x/2/output", "tira/z/1/output", "mine"]
    paths = [write(f"{folder}/run.txt", run_text(["11"], tag=folder[-8:])) for folder in folders]
    tail = ("--task", TASK, "--team-per-folder", "--evaluator", "touche", "--format", "csv")
    _, out, _ = touche("evaluate", *paths, *tail)
    teams = [row["team"] for row in csv.DictReader(out.splitlines())]
    assert teams == ["x", "y", "x", "x", "z", "mine"]
    nested = [write(f"{folder}/run.txt", run_text(["11"], tag="t")) for folder in ("a/out", "a/out/b/out")]
    _, out, _ = touche("evaluate", *nested, *tail)
    assert [row["team"] for row in csv.DictReader(out.splitlines())] == ["out", "b"]


@pytest.mark.usefixtures("plain")
def test_a_team_s_runs_with_one_tag_have_different_names_everywhere(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    paths = [
        write(f"in/{team}/{name}", run_text(["11"], tag="t")) for team in "ab" for name in ("1.txt", "2.txt")
    ]
    out = tmp_path / "board"
    assert touche("report", *paths, "--task", TASK, "--team-per-folder", "-o", out)[0] == 0
    lines = [*csv.DictReader(file(out, "CSV").splitlines())]
    assert len({(line["team"], line["run"]) for line in lines}) == 4
    names = re.findall('<small class="tagged" title="(.*?)">', board(out))
    assert sorted(names) == sorted(map(str, paths))


def test_a_title_is_a_line_above_the_table_and_has_no_place_in_records(
    touche: Touche, runs: list[Path]
) -> None:
    assert touche("evaluate", runs[0], "--task", TASK, "--title", "Cats")[1].splitlines()[0] == "Cats"
    assert touche("evaluate", runs[0], "--task", TASK, "--title", "5%", "--format", "latex")[1][:4] == "% 5%"
    code, _, err = touche("evaluate", runs[0], "--task", TASK, "--title", "Cats", "--format", "csv")
    assert code == 2 and "--title has no place in CSV; omit it" in err


@pytest.mark.usefixtures("plain")
def test_only_what_the_organizer_names_is_a_baseline_whatever_its_metadata_say(
    touche: Touche, runs: list[Path], write: Write, tmp_path: Path
) -> None:
    """A participant's copy of a baseline's tag and metadata neither is marked nor becomes the reference."""
    copy = write("teams/Copy/a.txt", run_text(["11", "12"], tag="touche-bm25"))
    write("teams/Copy/ir-metadata.yml", METADATA.format(tag="touche-bm25", team="Copy", method="bm25"))
    command = ("report", copy, *runs, "--task", TASK, "-o", tmp_path / "out")
    touche(*command)
    assert '<span class="tag">baseline</span>' not in board(tmp_path / "out")
    touche(*command, "--baselines", runs[-1].parent)
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    marked = re.findall('<tr class="([^"]*shipped[^"]*)"', page)
    assert len(marked) == page.count('<table class="board">')
    [reference] = re.findall("<option[^>]* selected>(.*?)</option>", page)
    assert str(runs[-1]) in reference
    code, _, err = touche(*command, "--baselines", tmp_path / "nowhere")
    assert code == 2 and "none of the runs is in " in err
    assert touche("report", "--all-published", "--baselines", tmp_path, "-o", tmp_path / "all")[0] == 2
