"""A rerun compared with an official run."""

import json
from math import log2
from pathlib import Path

import pytest

from conftest import Touche, Write
from small_clone import expect
from touche.evaluation.agreement import ScoredOverlap
from touche.regression.agreements import agreements
from touche.trec.columns import Run
from touche.trec.runs import RunLine

pytest_plugins = ["small_clone"]

OFFICIAL = """
[[official]]
dataset = "small-arguments"
run = "official.tsv"
"""

STORED = """
[[score]]
dataset = "touche-2020-task-2"
run = "official.run"
dimension = "relevance"
measure = "nDCG@5"
evaluator = "trec_eval"
qrels = "touche2020-task2-relevance-withbaseline.qrels"
published = 0.5
tolerance = 0.001
source = "table 6"
"""


def test_only_what_both_could_find_is_compared(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents outside of the dataset are ignored, and so are extra results of the rerun."""
    topics = "".join(f"<topic><number>{n}</number><title>cats</title></topic>" for n in "12")
    write("topics/touche-2022-task-2.xml", f"<topics>{topics}</topics>")
    passages = "".join(json.dumps({"id": id, "contents": "cats"}) + "\n" for id in "abcd")
    write("corpora/touche-2022-task-2-sample/passages.jsonl", passages)
    path = write("runs/official.tsv", "1 elsewhere 9\n1 a 8\n1 b 7\n2 c 6\n2 elsewhere 5\n")
    rerun = [
        RunLine(topic=topic, stance="Q0", document=document, rank=1, score=-rank, tag="t")
        for topic in "12"
        for rank, document in enumerate("abcd")
    ]
    monkeypatch.setenv("TOUCHE_DATA", str(path.parents[1]))
    (agreement,) = agreements(path, Run.of(rerun), "touche-2022-task-2/sample", ("a", "b"))
    assert not isinstance(agreement, ScoredOverlap)
    assert (agreement.topics, agreement.overlap_5) == (2, 0.5), "a b beside a b, c beside a"
    write("qrels/touche-task2-2022-relevance.qrels", "1 0 b 1\n2 0 c 1\n3 0 a 1\n")
    (agreement,) = agreements(path, Run.of(rerun), "touche-2022-task-2/sample", ("a", "b"))
    assert isinstance(agreement, ScoredOverlap)
    second = 1 / log2(3)
    assert (agreement.mean_a, agreement.mean_b) == pytest.approx(((second + 1) / 2, second / 2))


def test_a_score_of_an_official_run_needs_no_corpus(touche: Touche, clone: Path, write: Write) -> None:
    expect(clone, STORED)
    assert "nothing was checked" in touche("regress")[2]
    write("clone/runs/official.run", "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")
    qrels = write("data/qrels/touche2020-task2-relevance-withbaseline.qrels", "1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHE_DATA", str(qrels.parents[1]))
        code, out, err = touche("regress", "--format", "json", "-o", clone / "r.json")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split()[:2] == ["runs/official.run", "touche-2020-task-2"]
    (record,) = json.loads((clone / "r.json").read_text())
    assert (record["got"], record["judged"], record["agreements"]) == (0.5, 1.0, [])


def test_a_rerun_is_compared_with_the_official_run_that_its_entry_names(touche: Touche, clone: Path) -> None:
    expect(clone, OFFICIAL)
    code, out, _ = touche("regress", "--format", "json", "-o", clone / "r.json")
    assert code == 2 and json.loads((clone / "r.json").read_text())[0]["verdict"] == "missing"
    rows = []
    assert touche("run", "dirichletlm", "-i", "small-arguments", "-o", clone / "out")[0] == 0
    for line in (clone / "out" / "run.txt").read_text().splitlines():
        topic, _, document, _, score, _ = line.split()
        rows.append(f"{topic}\t{document}\t{score}\n")
    (clone / "runs" / "official.tsv").write_text("".join(rows))
    code, out, _ = touche("regress", "--format", "json", "-o", clone / "r.json")
    assert code == 0 and out.splitlines()[1].split()[:4] == [
        "dirichletlm",
        "small-arguments",
        "official",
        "run",
    ]
    assert "expected results: 1 compared" in out
    (record,) = json.loads((clone / "r.json").read_text())
    (relevance,) = record["agreements"]
    assert (relevance["run_a"], relevance["run_b"]) == ("runs/official.tsv", "dirichletlm on small-arguments")
    assert relevance["rbo"] == pytest.approx(1) and relevance["tau_union"] == 1
    before = (clone / "baselines" / "dirichletlm" / "expected.toml").read_bytes()
    assert touche("regress", "--update")[0] == 0, "there is no value to pin"
    assert (clone / "baselines" / "dirichletlm" / "expected.toml").read_bytes() == before
