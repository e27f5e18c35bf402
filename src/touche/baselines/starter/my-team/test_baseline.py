"""Tests to run with pytest before you submit to TIRA."""

import subprocess
import sys
from pathlib import Path

import pytest
from touche import Document, Topic, load

FOLDER = Path(__file__).resolve().parent
DOCUMENTS = [
    Document("both", "Cats and dogs are pets."),
    Document("none", "A passage on something else entirely."),
    Document("one", "A passage on cats."),
    Document("other", "Another one, which is on parrots."),
    Document("further", "And a further one, on fish."),
]


def ranked(topic: Topic) -> list[str]:
    """Returns the documents' ids, best first."""
    [(_, hits)] = load(str(FOLDER))([topic], DOCUMENTS)
    return [document for document, *_ in sorted(hits, key=lambda hit: -hit[1])]


def test_the_document_with_the_words_of_the_topic_comes_first() -> None:
    assert ranked(Topic("1", "Cats or dogs?"))[0] == "both"


def test_only_candidates_are_ranked_where_there_are_candidates() -> None:
    assert ranked(Topic("1", "Cats or dogs?", candidates=frozenset({"one", "none"})))[0] == "one"


@pytest.mark.parametrize("dataset", ["spot-check/arguments", "spot-check/passages"])
def test_the_linter_finds_no_error_in_a_run(tmp_path: Path, dataset: str) -> None:
    touche = [sys.executable, "-m", "touche"]
    subprocess.run([*touche, "run", str(FOLDER), "-i", dataset, "-o", str(tmp_path)], check=True)
    subprocess.run([*touche, "lint", str(tmp_path / "run.txt"), "--task", dataset], check=True)
