"""The starter kit. What it does as an image is in tests/runners/test_runs_of_images.py."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Touche, Write
from touche.baselines.starter import write_baseline
from touche.data import places
from touche.io import origin

FILES = [
    ".github/workflows/check.yml",
    ".gitignore",
    "Dockerfile",
    "README.md",
    "baseline.py",
    "expected.toml",
    "ruff.toml",
    "test_baseline.py",
]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder outside of the clone, to work in."""
    folder = tmp_path / "a place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def commands_in(text: str) -> list[str]:
    return re.findall("^    (touche .*|pytest .*|docker .*)$", text, flags=re.MULTILINE)


def test_the_folder_has_its_name_in_every_place(workplace: Path, touche: Touche) -> None:
    assert touche("new", "our-team.2")[0] == 0
    files = [path for path in (workplace / "our-team.2").rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(workplace / "our-team.2")) for path in files) == FILES
    texts = "".join(path.read_text() for path in files)
    assert "my-team" not in texts and "my_team" not in texts
    assert "\ndef our_team_2(\n" in texts and "COPY *.py /opt/baselines/our-team.2/\n" in texts
    assert [path.name for path in workplace.iterdir()] == ["our-team.2"]


@pytest.mark.parametrize(("part", "passed"), [("arguments", 4), ("passages", 4), ("pairs", 2)])
def test_the_commands_that_it_prints_and_those_of_its_readme_work(
    workplace: Path, touche: Touche, part: str, passed: int
) -> None:
    _, out, _ = touche("new", "our-team", "--part", part)
    assert {*re.findall(r"spot-check/\w+", out)} == {f"spot-check/{part}"}
    commands = commands_in((workplace / "our-team" / "README.md").read_text())
    assert set(commands_in(out)) < set(commands) and len(commands_in(out)) == 7
    script = "\n".join(command for command in commands if not re.search("docker|images", command))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path}
    done = subprocess.run(["sh", "-exc", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (script.count("\n"), done.stderr.count("+ ")) == (6, 7)
    assert f" {passed} passed" in done.stdout and "1 run: 0 errors, 0 warnings" in done.stdout
    assert "moved" not in done.stderr  # expected.toml has the measured scores


def test_in_an_image_the_spot_checks_are_missing_and_every_command_says_so(
    workplace: Path, touche: Touche, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "__file__", str(workplace / "lib" / "data" / "places.py"))
    monkeypatch.setattr(origin, "__file__", str(workplace / "lib" / "io" / "origin.py"))
    places.shipped.cache_clear()
    touche("new", "us")
    assert (workplace / "us" / "Dockerfile").read_text().count("ARG BASE=touche/base\nFROM $BASE\n") == 1
    write("a place/in/queries.jsonl", '{"qid": "1", "query": "Cats?"}')
    write("a place/in/documents.jsonl", '{"docno": "a", "text": "cats"}\n{"docno": "b", "text": "dogs"}')
    assert touche("run", "./us", "-i", "in", "-o", "out/us")[0] == 0
    assert Path("out/us/run.txt").read_text() == "1 Q0 a 1 0.3648143 touche-us\n"
    spot_check = "spot-check/arguments"
    for command in (f"run ./us -i {spot_check} -o out", f"evaluate out/us/run.txt --task {spot_check}"):
        code, _, err = touche(*command.split())
        assert (code, err.count("\n")) == (2, 1)
        assert "images do not contain the toy collection; a clone of touche-baselines and" in err


REFUSED = {
    "Our_Team": "its name is not valid for an image",
    "a--b-": "its name is not valid for an image",
    "bm25": "would replace touche/bm25",
    "base": "would replace touche/base",
    "2022": "2022 is not a valid name",
    "lambda": "lambda is not a valid name",
    "scan": "scan is not a valid name",
    "premises-of": "premises_of is not a valid name",
    "pairs": "pairs is not a valid name",
    "any": "any is not a valid name",
    "nowhere/us": "the folder nowhere does not exist",
    "file/us": "the folder file does not exist",
    "file": "this path exists already",
    "full": "this path exists already",
    "/proc/us": "/proc/us: cannot be written (",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_one_sentence_and_nothing_is_left(
    workplace: Path, touche: Touche, write: Write, name: str
) -> None:
    write("a place/file", "")
    write("a place/full/notes.txt", "")
    code, out, err = touche("new", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert (name in err or name == "/proc/us") and REFUSED[name] in err
    assert sorted(path.name for path in workplace.iterdir()) == ["file", "full"]
    assert [path.name for path in (workplace / "full").iterdir()] == ["notes.txt"]


def test_a_folder_that_cannot_be_finished_is_no_baseline(
    workplace: Path, touche: Touche, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *args: object, **options: object) -> None:
        if path.name == "expected.toml":
            raise OSError(28, "No space left on device")
        path.touch()

    monkeypatch.setattr(Path, "write_text", full)
    code, _, err = touche("new", "us")
    assert code == 2 and err.startswith("touche: us: cannot be written (No space left on device); ")
    assert not (workplace / "us" / "baseline.py").exists()


@pytest.mark.parametrize("team", ["Our Team", 'a "b" $HOME \\', "webis"])
def test_the_dockerfile_names_the_team(workplace: Path, touche: Touche, team: str) -> None:
    """How Docker reads the quoted value: tests/runners/test_code_submissions.py."""
    assert touche("new", "us", "--team", team)[0] == 0
    (value,) = re.findall("^ARG TEAM=(.*)$", Path("us/Dockerfile").read_text(), flags=re.MULTILINE)
    unquoted = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
    assert unquoted == team and not re.search(r'(?<!\\)[$"]', value[1:-1])


@pytest.mark.parametrize("team", [" ", "a\nRUN b"])
def test_a_team_without_a_name_is_refused(workplace: Path, touche: Touche, team: str) -> None:
    code, _, err = touche("new", "us", "--team", team)
    assert (code, err.count("\n")) == (2, 1) and "is blank or not printable" in err
    assert not list(workplace.iterdir())


def test_its_workflow_is_valid(workplace: Path, touche: Touche) -> None:
    touche("new", "our-team")
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    subprocess.run([*checker, "our-team/.github/workflows/check.yml"], check=True)


def test_it_writes_the_baseline_bm25(workplace: Path) -> None:
    write_baseline(Path("us"))
    expected = (ROOT / "baselines" / "bm25" / "baseline.py").read_text()
    assert Path("us", "baseline.py").read_text() == expected.replace("def bm25(", "def us(")


@pytest.fixture
def our_clone(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with only the toy collection."""
    for name in ("topics", "qrels", "corpora"):
        (workplace / name).symlink_to(ROOT / name)
    for name in ("baselines", "src", "tests/baselines"):
        (workplace / name).mkdir(parents=True)
    monkeypatch.setattr(origin, "__file__", str(workplace / "src" / "touche" / "io" / "origin.py"))
    places.shipped.cache_clear()
    return workplace


def test_in_the_folder_of_the_clones_baselines_it_has_their_form_and_passes(
    our_clone: Path, touche: Touche
) -> None:
    code, out, _ = touche("new", "baselines/our-method")
    files = {path.name: path.read_text() for path in (our_clone / "baselines" / "our-method").iterdir()}
    test = our_clone / "tests" / "baselines" / "test_our_method.py"
    assert (code, sorted(files)) == (0, ["Dockerfile", "README.md", "baseline.py", "expected.toml"])
    assert "tests/baselines/test_our_method.py" in out
    assert not re.search("my.method", "".join([out, test.read_text(), *files.values()]))
    assert "ARG TEAM=touche-baselines\n" in files["Dockerfile"]
    for weight in (0.1, 0.7):
        runpy.run_path(str(test))["test_scores_are_those_of_the_formula"](weight)
    # The reruns are processes of their own, which do not know this clone.
    code, out, _ = touche("regress", "./baselines/our-method")
    assert code == 0 and re.search(r"expected results: \d+ passed\n", out)  # each pinned value was measured


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--part", "pairs"], "omit --team and --part"),
        (["--team", "Us"], "omit --team and --part"),
        ([], "test_our_method.py: this file exists already"),
    ],
)
def test_in_the_clone_it_overwrites_no_test_and_needs_no_team(
    our_clone: Path, touche: Touche, write: Write, options: list[str], problem: str
) -> None:
    (our_clone / "tests" / "baselines" / "test_our_method.py").touch()
    code, _, err = touche("new", "baselines/our-method", *options)
    assert (code, err.count("\n")) == (2, 1) and problem in err
    assert not list((our_clone / "baselines").iterdir())


def test_outside_of_the_clones_baselines_it_is_a_participants_folder(our_clone: Path, touche: Touche) -> None:
    assert touche("new", "our-method")[0] == 0
    assert (our_clone / "our-method" / "test_baseline.py").exists()
