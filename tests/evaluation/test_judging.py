"""What to judge next: gains by hand, the file, and the saving over judging by rank."""

import random
from itertools import combinations
from math import log2
from pathlib import Path

import pytest

import touche as library
from conftest import Touche, Write
from spotcheck import run_of
from touche import tasks
from touche.errors import ToucheError
from touche.evaluation import judging
from touche.evaluation.bounds import judge, mean_bounds
from touche.evaluation.scores import evaluate
from touche.trec.qrels import Qrels, read_qrels

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
    assert touche(*command, tmp_path / "second.txt")[0] == 0
    assert [line.split()[1] for line in (tmp_path / "second.txt").read_text().splitlines()] == ["x"]
    qrels.write_text(QRELS + "1 0 y 1\n1 0 x 0\n")
    code, out, _ = touche(*command, tmp_path / "third.txt", "--evaluator", "touche")
    assert code == 0 and "q: no document among the first 2 is unjudged" in out
    assert (tmp_path / "third.txt").read_text() == ""


def test_bad_input_writes_nothing(touche: Touche, runs: list[Path], write: Write, tmp_path: Path) -> None:
    qrels = write("q.qrels", QRELS)
    command = "evaluate", *runs, "--qrels", qrels
    before = runs[0].read_text()
    for options in (
        ("--to-judge", runs[0]),  # an input
        ("--to-judge", qrels),
        ("--to-judge", tmp_path),
        ("--measure", "AP", "--to-judge", tmp_path / "new.txt"),
        ("--measure", "AP@3", "--to-judge", tmp_path / "new.txt"),
        ("--measure", "nDCG@3,P@3", "--to-judge", tmp_path / "new.txt"),
    ):
        code, _, err = touche(*command, *options)
        assert code == 2 and err.count("\n") == 1
    assert runs[0].read_text() == before and not (tmp_path / "new.txt").exists()
    with pytest.raises(ToucheError, match="one measure"):
        library.to_judge(runs, qrels=qrels, measure="nDCG@3,P@3")  # type: ignore[arg-type]


@pytest.mark.slow
def test_listed_documents_decide_sooner_than_those_by_rank(official: Path, tmp_path: Path) -> None:
    """Of ten pairs of official runs, half of the judgments are removed, and asked for until one is better."""
    generator = random.Random(0)
    task = tasks.task_scored_by("touche-2022-task-2", "nDCG@5")
    paths = sorted((official / "runs" / task.id).glob("*.run"))[:5]
    listed = by_rank = 0
    for pair in combinations(paths, 2):
        a, b = (run for run in evaluate(pair, task) if run.dimension == "relevance")
        qrels = read_qrels(official / "qrels" / a.qrels)
        kept = {
            topic: {id: grade for id, grade in qrels[topic].items() if generator.random() > 0.5}
            for topic in sorted(qrels)
        }
        file = Qrels(kept).write(tmp_path / "fewer.qrels")
        runs = evaluate(pair, tasks.task_scored_by(None, "nDCG@5", file))
        lists = [run.lines.documents_of(run.order("trec_eval"), 5) for run in runs]
        rows = [(row.topic, row.document) for row in judging.to_judge(runs, "trec_eval")]

        def rank(row: tuple[str, str], lists: list[dict[str, list[str]]] = lists) -> tuple[int, int]:
            topic, document = row
            return min(ids[topic].index(document) for ids in lists if document in ids[topic]), int(topic)

        is_better = (a.scores["trec_eval"].mean or 0) > (b.scores["trec_eval"].mean or 0)
        for order in (rows, sorted(rows, key=rank)):
            labels = Qrels({topic: dict(of_topic) for topic, of_topic in kept.items()})
            asked = 0
            while True:
                known = judge(labels, runs[0].measure, [0, 1, 2])
                assert known
                bounds = mean_bounds({t: known.topic(t, lists[0][t], lists[1][t]) for t in labels})
                if bounds.least >= 0 or bounds.greatest <= 0:
                    break
                for topic, document in order[asked : asked + 5]:
                    labels[topic][document] = qrels[topic].get(document, 0)
                asked += 5
            assert (bounds.least >= 0) == is_better
            if order is rows:
                listed += asked
            else:
                by_rank += asked
    assert listed < by_rank
