"""Tests to run with pytest before you submit to TIRA."""

import subprocess
import sys
from pathlib import Path

from touche import Argument, Topic, load

FOLDER = Path(__file__).resolve().parent
LONG = "Cats that are kept indoors live much longer than other cats."
ARGUMENTS = [
    Argument("a1", "Cats stay.", (LONG,), "PRO"),
    Argument("a2", "Dogs bark.", ("Dogs that are kept indoors bark at the neighbours all day.",), "PRO"),
]


def ranked(topic: Topic, **options: float) -> list[str]:
    """Returns the pairs' ids, best first."""
    [(_, hits)] = load(str(FOLDER))([topic], ARGUMENTS, **options)
    return [pair for pair, *_ in sorted(hits, key=lambda hit: -hit[1])]


def test_pairs_with_a_short_sentence_are_last() -> None:
    assert ranked(Topic("1", "Cats indoors?"))[0] == "a1__PREMISE__1,a2__PREMISE__1"
    assert "CONC" in ranked(Topic("1", "Cats indoors?"), shortest=0)[0]


def test_the_linter_finds_no_error_in_a_run(tmp_path: Path) -> None:
    touche = [sys.executable, "-m", "touche"]
    subprocess.run([*touche, "run", str(FOLDER), "-i", "spot-check/pairs", "-o", str(tmp_path)], check=True)
    subprocess.run([*touche, "lint", str(tmp_path / "run.txt"), "--task", "spot-check/pairs"], check=True)
