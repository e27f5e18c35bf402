"""What runs the code of a baseline's folder, and what does not."""

from pathlib import Path
from typing import Any

import pytest

import touche as library
from conftest import Touche, Write
from touche.data import places
from touche.runners import container_runs
from touche.runners.limits import SANDBOXES, Limits, RunnerName

SOURCE = """from pathlib import Path
Path("was-run").touch()
import touche

@touche.baseline
def mine(topics, documents, *, low: float = -1.5):
    '''Ranks.

    low: the number.
    '''
    yield topics[0], [("a", low)]
"""
ON_PASSAGES = ("-i", "spot-check/passages", "-o", "out")


@pytest.fixture
def folder(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a baseline that leaves a file when its code runs."""
    write("mine/baseline.py", SOURCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_completion_offers_common_options_and_runs_no_code(
    touche: Touche, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "many").mkdir()
    (folder / "many" / "baseline.py").write_text(SOURCE + "A = 1\n" + "A = A + A\n" * 60)
    for typed in ("./mine", "./many", "bm25"):
        for incomplete, offered in (("--l", ""), ("--k", "--keep-statistics"), ("--time", "--time-limit")):
            monkeypatch.setenv("_TOUCHE_COMPLETE", "bash_complete")
            monkeypatch.setenv("COMP_WORDS", f"touche run {typed} {incomplete}")
            monkeypatch.setenv("COMP_CWORD", "3")
            words = touche()[1].split()
            assert (f"plain,{offered}" in words) if offered else not words
    assert not (folder / "was-run").exists()


def test_help_imports_a_folder_and_shows_its_options(touche: Touche, folder: Path) -> None:
    code, out, _ = touche("run", "./mine", "--help")
    assert code == 0 and "--low FLOAT" in out and "the number." in out
    assert touche("run", "./mine", *ON_PASSAGES, "--low", "x")[2].startswith(
        "touche: Invalid value for '--lo"
    )


@pytest.mark.parametrize(
    "words",
    [
        "--runner docker -- --runner local",
        "--runner docker --team --runner --low 5",
        "--runner=docker --runner local",
        "--team -- --runner docker",
        "--runner Docker",
    ],
)
def test_no_other_word_makes_a_folder_run_here(touche: Touche, folder: Path, words: str) -> None:
    assert touche("run", "./mine", *ON_PASSAGES, *words.split())[0] == 2
    assert not (folder / "was-run").exists()


@pytest.mark.parametrize("runner", SANDBOXES)
def test_an_image_gets_the_options_as_they_were_typed_and_its_folder_does_not_run(
    touche: Touche, folder: Path, monkeypatch: pytest.MonkeyPatch, runner: RunnerName
) -> None:
    jobs = []

    def fake(job: container_runs.Job, limits: Limits, log: Any) -> container_runs.Usage:
        jobs.append((job.baseline, [*job.arguments], limits.seconds))
        return container_runs.Usage(wall=1.0)

    monkeypatch.setattr(container_runs, "RUNNERS", {runner: fake})
    # Also options that the folder does not have, negative numbers, and values equal to today's defaults.
    typed = ["--low", "-1.5", "--flag", "--words=a", "b", "-c", "--pair", "1", "2"]
    arguments = ("--time-limit", "60", *typed, "--tag", "t", "--runner", runner)
    assert touche("run", "./mine", *ON_PASSAGES, *arguments)[0] == 0
    assert touche("run", *arguments, "./mine", *ON_PASSAGES)[0] == 0
    assert jobs == [("./mine", [*typed, "--tag", "t"], 60.0)] * 2
    library.write_run("./mine", "spot-check/passages", "out", options={"low": -1.5}, runner=runner)
    assert jobs[-1][1] == ["--low", "-1.5"]
    arguments = ("run", "./mine", *ON_PASSAGES, "--runner", runner, "--statistics")
    assert touche(*arguments, "none")[0] == 0
    assert jobs[-1][1] == ["--statistics", "none"]
    code, _, err = touche(*arguments, "some.json")
    assert code == 2 and "files of `statistics` and `keep_statistics` have no effect on the runner" in err
    code, out, _ = touche("run", "./mine", "--runner", runner, "--help")
    program = "docker" if runner == "tira" else runner  # tira-run uses Docker
    assert code == 0 and "--time-limit" in out and f"{program} run --rm touche/mine --help" in out
    assert not (folder / "was-run").exists()


@pytest.mark.parametrize("runner", SANDBOXES)
def test_the_team_in_the_environment_reaches_an_image(
    folder: Path, monkeypatch: pytest.MonkeyPatch, runner: RunnerName
) -> None:
    jobs: list[list[str]] = []

    def fake(job: container_runs.Job, limits: Limits, log: Any) -> container_runs.Usage:
        jobs.append([*job.arguments])
        return container_runs.Usage(wall=1.0)

    monkeypatch.setattr(container_runs, "RUNNERS", {runner: fake})
    monkeypatch.setenv("TOUCHE_TEAM", "hosts")
    for team in ("", "mine"):
        library.write_run("./mine", "spot-check/passages", "out", team=team, runner=runner)
    assert jobs == [["--team", "hosts"], ["--team", "mine"]]


@pytest.mark.parametrize("command", ["run", "sweep", "regress"])
def test_the_help_says_where_the_code_of_a_folder_runs(touche: Touche, command: str) -> None:
    help_text = " ".join(touche(command, "--help")[1].split())
    assert "code runs on this machine" in help_text
    assert ("unless --runner names a container program" in help_text) == (command != "sweep")
    assert "only runs in containers" in " ".join(touche("images", "build", "--help")[1].split())


def test_an_image_calls_its_program_by_its_name(
    touche: Touche, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "shipped", lambda: None)
    assert "Usage: baseline [OPTIONS]" in touche("run", "./mine", "--help")[1]
    for words in (["--bogus"], [], ["-i", "spot-check/passages"]):
        assert touche("run", "./mine", *words)[2].endswith(" (see: baseline --help)\n")


def test_the_list_of_baselines_has_the_first_lines_of_their_files(touche: Touche) -> None:
    lines = " ".join(touche("run", "--help")[1].split())
    assert "dph DPH (Amati et al. 2007), parameter-free and the best model in" in lines
