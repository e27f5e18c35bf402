"""Shared parts of the tests of the regression."""

import shutil
from pathlib import Path

import pytest

from conftest import ROOT, use_clone, write_files
from touche.regression.log import LoggedScore

# Cards of two tasks on the toy collection, whose own cards may change.
CARDS = {
    f"small-{unit}s": f"""
id = "small-{unit}s"
title = "A task of these tests"
url = "https://example.org"
topics = "spot-check-{unit}s.xml"
measure = "nDCG@5"

[qrels.relevance]
file = "spot-check-{unit}s-relevance.qrels"
labels = [-2, 0, 1, 2]

[corpora.full]
directory = "spot-check-{unit}s"

[rules]
unit = "{unit}"
stances = ["Q0"]
"""
    for unit in ("passage", "argument")
}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one baseline, dirichletlm, a folder for official runs, and the cards of two tasks."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "baselines" / "dirichletlm", folder / "baselines" / "dirichletlm")
    for kind in ("topics", "qrels", "corpora"):
        (folder / kind).symlink_to(ROOT / kind)
    (folder / "runs").mkdir()
    write_files(folder / "own" / "tasks", {f"{task}.toml": card for task, card in CARDS.items()})
    monkeypatch.setenv("TOUCHE_DATA", str(folder / "own"))
    use_clone(folder, monkeypatch)
    return folder


def expect(clone: Path, text: str) -> Path:
    """Writes the expected.toml of the clone's baseline."""
    path = clone / "baselines" / "dirichletlm" / "expected.toml"
    path.write_text(text)
    return path


def row(**changes: object) -> LoggedScore:
    """Returns a row of the log of reruns."""
    values = {
        "baseline": "bm25",
        "dataset": "small-passages",
        "dimension": "relevance",
        "evaluator": "trec_eval",
        "kind": "pinned",
        "expected": 0.5,
        "got": 0.5,
        "difference": 0.0,
        "verdict": "passed",
        "version": "0.1.0",
        "date": "2026-01-02",
    }
    return LoggedScore(**values | changes)  # type: ignore[arg-type]
