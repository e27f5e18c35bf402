"""What to judge next: gains by hand, the file, and the saving over judging by rank."""

from dataclasses import replace
from math import log2
from pathlib import Path

import pytest
from msgspec import structs

import touche as library
from conftest import Touche, Write
from spotcheck import run_of
from touche.errors import ToucheError
from touche.evaluation import scores
from touche.evaluation.judging import to_judge
from touche.tasks import task_scored_by

QRELS = "1 0 a 2\n1 0 b 0\n2 0 a 2\n"


@pytest.fixture
def runs(write: Write) -> list[Path]:
    """Of topic 1, x is on the same rank of both; y is only in one; topic 2 is judged."""
    return [write("a.txt", run_of("1 a x", "2 a", tag="A")), write("b.txt", run_of("1 y x", "2 a", tag="B"))]


def test_gains_by_hand(runs: list[Path], write: Write) -> None:
    """The highest grade of y moves the difference by 2 / (2 + 2 / log2(3)) in one of two topics."""
    qrels = write("q.qrels", QRELS)
    table = library.to_judge(runs, qrels=qrels, measure="nDCG@2")
    assert [(row.topic, row.document, row.runs) for row in table] == [("1", "y", 1), ("1", "x", 2)]
    assert [row.gain for row in table] == pytest.approx([1 / (1 + 1 / log2(3)) / 2, 0])
    [only] = library.to_judge(runs[0], qrels=qrels, measure="nDCG@2")
    assert only.gain == pytest.approx(1 / log2(3) / (1 + 1 / log2(3)) / 2)
    assert [row.gain for row in library.to_judge(runs, qrels=qrels, measure="RR@2")] == [0.5, 0.0]


def test_the_decisive_documents_leave_nothing_to_the_others(runs: list[Path], write: Write) -> None:
    """A has 2 and B 0 in topic 1: with grade 2 of y both have the same, so A stays at least as good."""
    (note,) = library.to_judge(runs, qrels=write("q.qrels", QRELS), measure="nDCG@2").notes
    assert (
        note == "q: 2 documents among the first 2 are unjudged; A stays better than B whatever their grades"
    )
    better = write("c.txt", run_of("1 y z", "2 a", tag="C"))
    (note,) = library.to_judge([runs[0], better], qrels=write("q.qrels", QRELS), measure="nDCG@2").notes
    assert "the first 1 decide: if they are not relevant, A stays better than C" in note


def test_the_command_writes_a_new_file_and_goes_on_with_its_grades(
    touche: Touche, runs: list[Path], write: Write, tmp_path: Path
) -> None:
    qrels = write("q.qrels", QRELS)
    command = "evaluate", *runs, "--qrels", qrels, "--measure", "nDCG@2", "--to-judge"
    code, out, _ = touche(*command, tmp_path / "first.txt")
    first, second = (tmp_path / "first.txt").read_text().splitlines()
    assert code == 0 and first.split()[:3] == ["1", "y", "1"] and second == "1 x 2 0.000000"
    assert out.endswith("A stays better than B whatever their grades\n")
    qrels.write_text(QRELS + "1 0 y 1\n")
    assert touche(*command, tmp_path / "first.txt")[0] == 0
    assert [line.split()[1] for line in (tmp_path / "first.txt").read_text().splitlines()] == ["x"]
    qrels.write_text(QRELS + "1 0 y 1\n1 0 x 0\n")
    code, out, _ = touche(*command, tmp_path / "third.txt", "--evaluator", "touche")
    assert code == 0 and "q: no document among the first 2 is unjudged" in out
    assert (tmp_path / "third.txt").read_text() == ""
    assert touche(*command, tmp_path / "third.txt")[0] == 0


def test_bad_input_writes_nothing(touche: Touche, runs: list[Path], write: Write, tmp_path: Path) -> None:
    qrels = write("q.qrels", QRELS)
    command = "evaluate", *runs, "--qrels", qrels
    before = runs[0].read_text()
    for options in (
        ("--to-judge", runs[0]),  # an input
        ("--to-judge", qrels),
        ("--to-judge", tmp_path),
        ("--to-judge", write("graded.txt", "1 x 2 0.000000 1\n")),
        ("--to-judge", "-"),
        ("--measure", "AP", "--to-judge", tmp_path / "new.txt"),
        ("--measure", "AP@3", "--to-judge", tmp_path / "new.txt"),
        ("--measure", "nDCG@3,P@3", "--to-judge", tmp_path / "new.txt"),
    ):
        code, _, err = touche(*command, *options)
        assert code == 2 and err.count("\n") == 1
    assert (tmp_path / "graded.txt").read_text().endswith(" 1\n")
    assert runs[0].read_text() == before and not (tmp_path / "new.txt").exists()
    with pytest.raises(ToucheError, match="one measure"):
        library.to_judge(runs, qrels=qrels, measure="nDCG@3,P@3")  # type: ignore[arg-type]


def test_without_a_relevant_document_the_grades_of_a_card_suffice(runs: list[Path], write: Write) -> None:
    without_relevant = write("q.qrels", QRELS.replace(" 2\n", " 0\n").replace(" 1\n", " 0\n"))
    with pytest.raises(ToucheError, match="no document is relevant"):
        library.to_judge(runs, qrels=without_relevant, measure="nDCG@2")
    task = task_scored_by(None, "nDCG@2", without_relevant)
    with_grades = {name: structs.replace(file, labels=(0, 1, 2)) for name, file in task.qrels.items()}
    evaluated = scores.evaluate(runs, replace(task, qrels=with_grades), ["trec_eval"])
    assert [row.document for row in to_judge(evaluated, "trec_eval")] == ["y", "x"]
