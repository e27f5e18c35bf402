"""A task as a dataset for TIRA, tried by TIRA's own client."""

import errno
import importlib.util
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT, Touche, Write
from pages import steps
from touche.documents.discovery import find

# TIRA's client uses one function of the large package datasets: the files of a configuration by split.
DATASETS = """
import glob
import os
from types import SimpleNamespace
from huggingface_hub import DatasetCard

load_dataset = None

def load_dataset_builder(path, name):
    configs = {each["config_name"]: each["data_files"] for each in DatasetCard.load(f"{path}/README.md").data["configs"]}
    (split,) = configs[name]
    found = [file for pattern in split["path"] for file in glob.glob(os.path.abspath(f"{path}/{pattern}"), recursive=True)]
    data_files = {split["split"]: [file for file in found if os.path.isfile(file)]}
    return SimpleNamespace(base_path=path, config=SimpleNamespace(data_files=data_files))
"""  # noqa: E501


def dry_run(folder: Path, write: Write) -> subprocess.CompletedProcess[str]:
    """Uses the package datasets if it is installed, else the replacement above."""
    stand_in = write("packages/datasets.py", DATASETS).parent
    offline = {"HOME": str(stand_in), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TERM": "dumb"}
    packages = {} if importlib.util.find_spec("datasets") else {"PYTHONPATH": str(stand_in)}
    program = str(Path(sys.executable).parent / "tira-cli")
    command = [program, "dataset-submission", "--path", folder, "--task", "touche", "--split", "test"]
    return subprocess.run(
        [*command, "--dry-run", "--skip-baseline"],
        env=os.environ | offline | packages,
        capture_output=True,
        text=True,
    )


@pytest.mark.nightly  # the client takes 17 s to say so
@pytest.mark.parametrize("task", ["spot-check/passages", "cats-2027"])
def test_the_client_of_tira_takes_it(
    touche: Touche, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    for step in steps(ROOT / "docs" / "how-to" / "add-a-task.md"):
        if step.kind == "file" and step.path.startswith("2027/") and not step.at_end:
            write(step.path, step.text)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path / "2027"))
    assert touche("tasks", "tira", task, "-o", tmp_path / "written")[0] == 0
    done = dry_run(tmp_path / "written", write)
    assert done.returncode == 0, done.stdout + done.stderr
    for what in ("configuration of the dataset", "system inputs are", "truth data is"):
        assert what in done.stdout


def test_the_files_are_an_input_and_judgments_without_labels_below_0(touche: Touche, tmp_path: Path) -> None:
    written = tmp_path / "spot-check"
    code, out, err = touche("tasks", "tira", "spot-check/passages", "-o", written)
    assert (code, out) == (0, f"{written}/README.md\n")
    assert err.endswith(f"tira-cli dataset-submission --path {written} --task TASK --split test --dry-run\n")
    _, front, text = (written / "README.md").read_text().split("---\n", 2)
    settings = yaml.safe_load(front)["tira_configs"]
    assert (written / settings["baseline"]["link"]).resolve() == ROOT / "baselines" / "bm25"
    assert settings["evaluator"]["command"].endswith(" --measures nDCG@5 Judged@5")
    assert text.startswith("\n# Spot check: passages for comparative questions\n")
    source = find(written / "inputs")
    assert [topic.number for topic in source.topics] == ["11", "12", "13", "14"]
    assert len(list(source.documents)) == 100
    original = (ROOT / "qrels" / "spot-check-passages-relevance.qrels").read_text()
    assert " -2\n" in original
    assert (written / "truths" / "qrels.txt").read_text() == original.replace(" -2\n", " 0\n")


def test_topics_are_not_written_into_the_folder_of_the_corpus(
    write: Write, touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = write("corpus/topics.xml", "of the corpus")
    write("corpus/folder/topics.xml", "of a folder in it")
    own.parent.chmod(0o555)
    monkeypatch.setattr("touche.runners.tira_dataset.locate_corpus", lambda _: own.parent)
    assert touche("tasks", "tira", "spot-check/passages", "-o", tmp_path / "new")[0] == 0
    assert own.read_text() == "of the corpus"
    inputs = tmp_path / "new" / "inputs"
    assert inputs.stat().st_mode & 0o777 == 0o755
    assert "<number>11</number>" in (inputs / "topics.xml").read_text()
    assert (inputs / "folder" / "topics.xml").read_text() == "of a folder in it"


@pytest.mark.parametrize("name", ["topics.xml", "queries.jsonl", "qrels.txt", "README.md"])
def test_a_dataset_that_cannot_be_written_leaves_nothing(
    touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def full(path: Any, *arguments: Any, **options: Any) -> Any:
        if f".{name}." in str(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return original(path, *arguments, **options)

    original = io.open
    monkeypatch.setattr(io, "open", full)  # which Path.open calls
    code, _, err = touche("tasks", "tira", "spot-check/passages", "-o", tmp_path / "new")
    assert (code, [*tmp_path.iterdir()]) == (2, [])
    assert "No space left on device" in err
