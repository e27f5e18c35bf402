import json
from dataclasses import replace
from math import log2
from pathlib import Path

import pytest

import touche as package
from conftest import Touche, Write
from printed import rows_below
from random_examples import given, st
from spotcheck import SPOT, made_up, notes_of, run_of, run_text, scored, scored_in, table_of
from touche import tasks
from touche.errors import ToucheError
from touche.evaluation.scores import evaluate
from touche.evaluation.scoring import in_judged_order, unique_names
from touche.evaluation.significance import bootstrap_interval
from touche.tasks import PAIR, Rules
from touche.trec.columns import Run, RunLine

SECOND = 1 / log2(3)  # the only relevant document at rank 2


def test_the_figures_of_every_dimension_by_hand(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four topics: the relevant document is first, second, first, and missing; x is unjudged."""
    task = made_up(write, monkeypatch, relevance="a", quality="b")
    lines = ["1 a b", "2 b a", "3 a b", "4 b x"]
    scores = table_of([write("run.txt", run_of(*lines))], task, ["trec_eval"])
    expected = {"relevance": [1, SECOND, 1, 0], "quality": [SECOND, 1, SECOND, 1]}
    for score, (dimension, values) in zip(scores, expected.items(), strict=True):
        assert score.mean == pytest.approx(sum(values) / 4)
        assert (score.low, score.high) == pytest.approx(bootstrap_interval(values))
        assert (score.judged, score.topics, score.dimension) == (3.5 / 4, 4, dimension)
        assert (score.tag, score.qrels) == ("t", f"made-up-{dimension}.qrels")
        rows = [row for row in scores.per_topic if row.dimension == dimension]
        assert [row.value for row in rows] == pytest.approx(values)
        assert [row.judged for row in rows] == [1, 1, 1, 0.5]


def test_another_measure_is_followed_by_every_figure(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Average precision by hand: the relevant document is at rank 2, at rank 1, and missing."""
    task = made_up(write, monkeypatch, topics=("1", "2", "3"), relevance="a")
    path = write("run.txt", run_of("1 x a b", "2 a b", "3 x b"))
    scores = table_of([path], task, measure="AP")
    (score,) = scores  # trec_eval only
    assert (score.evaluator, score.measure, score.mean) == ("trec_eval", "AP", 0.5)
    assert (score.low, score.high) == bootstrap_interval([0.5, 1, 0])
    assert score.judged == pytest.approx((2 / 3 + 1 + 1 / 2) / 3)
    assert "less than 90% of the results is judged: " in scores.warnings[0]


def test_judgments_of_ones_own(touche: Touche, write: Write) -> None:
    """Two topics: the first relevant document is at rank 2 and 1; no task is needed."""
    run = write("run.txt", run_of("1 x a", "2 b", tag="mine"))
    qrels = write("my.labels.qrels", "1 0 a 1\n1 0 x 0\n2 0 b 2\n")
    code, out, err = touche("evaluate", run, "--qrels", qrels, "--measure", "RR@10")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    expected = {
        "run": "mine",
        "dimension": "my.labels",
        "evaluator": "trec_eval",
        "RR@10": "0.750",
        "95% interval": "0.500 to 1.000",
        "Judged@10": "1.00",
        "topics": "2",
    }
    [row] = rows_below(out, "table", expected)
    assert row | expected == row
    assert lines[3] == f"my.labels is judged by {qrels}" and lines[4].startswith(
        "RR@10 is scored only by trec_eval"
    )
    (record, *_) = json.loads(touche("evaluate", run, "--qrels", qrels, "--format", "json")[1])
    assert (record["task"], record["qrels"], record["measure"]) == ("", str(qrels), "nDCG@5")


def test_judgments_of_ones_own_for_a_task_stand_beside_no_published_value(
    touche: Touche, write: Write
) -> None:
    """Also if the file has the name of one of the task's dimensions."""
    run = write("run.txt", run_of("1 a"))
    qrels = write("relevance.qrels", "1 0 a 1\n")
    code, out, _ = touche("evaluate", run, "--task", "touche-2022-task-2", "--qrels", qrels)
    assert code == 0 and "is level with" not in out and "between" not in out
    standing = touche("evaluate", run, "--task", "touche-2020-task-1", "--measure", "AP", "--qrels", qrels)[1]
    assert "published" not in standing


def test_topics_are_in_the_order_of_their_numbers(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    task = made_up(write, monkeypatch, topics=("10", "9", "2"), relevance="a")
    scores = table_of([write("run.txt", run_of("2 a b"))], task, ["trec_eval"])
    topics = [(row.topic, row.judged) for row in scores.per_topic]
    assert topics == [("2", 1), ("9", None), ("10", None)]


def test_a_slice_has_only_the_topics_of_its_means() -> None:
    runs = {"x": {"1": {"a": 1.0}}, "y": {"1": {"b": 1.0}, "2": {"a": 1.0}}}
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
    scores = evaluate(runs, qrels=qrels, measure="P@1,AP")
    assert len(scores) == 4 and [row.topics for row in scores] == [2, 2, 2, 2]
    for number, score in enumerate(scores):
        rows = scores[number : number + 1].per_topic
        assert {(row.run, row.measure) for row in rows} == {(score.run, score.measure)}
        assert sum(row.value for row in rows) / 2 == score.mean
    assert len(scores.per_topic) == 8


def test_two_runs_with_one_tag_are_told_apart_by_their_paths(write: Write) -> None:
    paths = [write(f"{name}.txt", run_text(tag=name[0])) for name in ("a1", "a2", "b")]
    scores = table_of(paths, SPOT, measure="nDCG@5")
    names = [score.name for score in scores if score.evaluator == "touche"]
    assert names == [str(paths[0]), str(paths[1]), "b"] and len(scores) == 6
    same = "several runs have the tag or path 'a', so they have other names here"
    assert scores.warnings == (f"{paths[0]}, {paths[1]}, relevance: {same}",)


def test_equal_means_are_printed_alike_and_are_both_the_best() -> None:
    """Three times 3/5 and nine times 1/5 of 16 topics: both means are 0.1125, in other last digits."""
    topics = [str(number) for number in range(16)]
    hits = {"A": [3] * 3 + [0] * 13, "B": [1] * 9 + [0] * 7}
    runs = {
        name: {
            topic: {f"{'r' if rank < number else 'x'}{rank}": -rank for rank in range(5)}
            for topic, number in zip(topics, numbers, strict=True)
        }
        for name, numbers in hits.items()
    }
    qrels = {topic: {f"r{rank}": 1 for rank in range(3)} for topic in topics}
    (a, b) = evaluate(runs, qrels=qrels, measure="P@5")
    assert a.mean == b.mean
    table = package.wide(runs, qrels=qrels, measure="P@5")
    assert [row.scores["P@5"].best for row in table] == [True, True]
    lines = table.markdown().splitlines()[2:]
    assert len({line.split(" | ")[1] for line in lines}) == 1 < len(lines)


@pytest.mark.parametrize("task", ["touche-2022-task-2", "touche-2022-task-2/twenty-topics"])
def test_rows_name_the_task_and_the_dataset(task: str) -> None:
    """A mean of twenty topics isn't one of the task."""
    topics = [*tasks.dataset(task)[0].only_topics[:3], "2", "3", "4"]
    qrels = {topic: {"a": 1, "b": 0} for topic in topics}
    runs = {"x": {topic: {"a": 1.0} for topic in topics}, "y": {topic: {"b": 1.0} for topic in topics}}
    evaluated = evaluate(runs, task, qrels=qrels)
    compared = package.compare(runs, task, qrels=qrels)
    for table in (evaluated, evaluated.per_topic, compared, compared.per_topic):
        assert {(row["task"], row["dataset"]) for row in table.rows} == {("touche-2022-task-2", task)}


@pytest.mark.parametrize(
    ("tags", "names"),
    [
        ({"a": "b", "b": "x", "c": "x"}, ["a", "b", "c"]),  # the first tag is another run's path
        ({"a": "x", "b": "c", "c": "y"}, ["x", "b", "y"]),
        ({"a": "a", "b": "x"}, ["a", "x"]),  # a run's own path
        ({"a": "a", "b": "a"}, ["a", "b"]),
        ({"a": "x\x1b", "b": "x\\x1b"}, ["a", "b"]),  # equal after escaping
        ({"p\x1b": "x", "p\\x1b": "x"}, ["p\\x1b", "p\\x1b (2)"]),
    ],
)
def test_no_two_runs_share_a_name(tags: dict[str, str], names: list[str]) -> None:
    assert [*unique_names({Path(path): tag for path, tag in tags.items()}).values()] == names


@given(st.dictionaries(st.text("ab\x1b\\x1 (2)", min_size=1), st.text("ab\x1b\\x1 (2)"), min_size=2))
def test_names_are_unique_whatever_the_tags_and_paths(tags: dict[str, str]) -> None:
    paths = {Path(path): tag for path, tag in tags.items()}
    names = unique_names(paths)
    assert names.keys() == paths.keys() and len({*names.values()}) == len(paths)


def test_each_run_has_its_own_row_when_a_tag_is_the_path_of_another_run(
    touche: Touche, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B and C share a tag, so B is called B, which is the tag of A."""
    monkeypatch.chdir(write("q.qrels", "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 b 0\n").parent)
    for path, tag, first in (("A", "B", "a"), ("B", "t", "b"), ("C", "t", "a")):
        write(path, run_of(f"1 {first}", f"2 {first}", tag=tag))
    runs = ("A", "B", "C", "--qrels", "q.qrels", "--measure", "P@1")
    _, wide, _ = touche("evaluate", *runs, "--format", "markdown")
    assert [line.split("|")[1:3] for line in wide.splitlines()[2:]] == [
        [" A ", " **1.000** "],
        [" B ", " 0.000 "],
        [" C ", " **1.000** "],
    ]
    _, pairs, _ = touche("compare", *runs)
    assert [line.split()[:2] for line in pairs.splitlines()[1:4]] == [["A", "B"], ["A", "C"], ["B", "C"]]


@pytest.mark.parametrize(
    ("names", "text", "any_order", "message"),
    [
        ([], run_text(), False, "no run is passed"),
        (["run.txt", "./run.txt"], run_text(), False, "passed twice"),
        (["run.txt"], run_text(), True, "does not rank pairs"),
        (["run.txt"], "", False, r"run\.txt: the run is empty"),
        (
            ["run.txt"],
            "1 Q0 a 1 1 t\n",
            False,
            r"run\.txt: no topic of the run, such as 1, is in the qrels",
        ),
    ],
)
def test_runs_that_cannot_be_evaluated(
    write: Write, names: list[str], text: str, any_order: bool, message: str
) -> None:
    folder = write("run.txt", text).parent
    with pytest.raises(ToucheError, match=message):
        scored_in([folder / name for name in names], SPOT, measure="nDCG@5", any_order=any_order)


def test_an_unknown_label_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels = write(f"qrels/{SPOT.qrels['relevance'].file}", "11 0 a 1\n11 0 b 7\n")
    monkeypatch.setenv("TOUCHE_DATA", str(qrels.parents[1]))
    with pytest.raises(ToucheError, match=rf"{qrels.name}:2: grade 7 is unknown .* -2, 0, 1, 2"):
        scored(write("run.txt", run_text()))


def test_a_document_in_the_rankings_of_two_stances_is_refused_where_topics_are_ranked(write: Write) -> None:
    path = write("run.txt", "11 PRO a 1 2 t\n11 CON a 1 2 t\n")
    with pytest.raises(ToucheError, match=r"run.txt:2: document 'a' occurs a second time for topic 11"):
        scored(path)


@pytest.mark.parametrize(("ranked", "exact_mean", "turned_mean"), [("1 b,c y,x", 0, SECOND), ("1 y,x", 0, 1)])
def test_any_order_counts_a_pair_judged_the_other_way_round_beside_the_exact_score(
    write: Write, monkeypatch: pytest.MonkeyPatch, ranked: str, exact_mean: float, turned_mean: float
) -> None:
    row = replace(tasks.task("touche-2020-task-1").published[0], dimension="relevance", qrels=None)
    task = made_up(write, monkeypatch, relevance="a")
    task = replace(task, rules=Rules(PAIR, ("Q0",)), published=(row,))
    write("qrels/made-up-relevance.qrels", "1 0 x,y 1\n1 0 b,c 0\n")
    exact, turned = scored_in([write("run.txt", run_of(ranked))], task, ["trec_eval"], any_order=True)
    assert [(each.label, each.judged.any_order) for each in (exact, turned)] == [
        ("relevance", False),
        ("relevance, any order", True),
    ]
    assert [each.evaluation.mean for each in (exact, turned)] == pytest.approx([exact_mean, turned_mean])
    (note,) = notes_of([turned], task)
    assert "are of nDCG@5 by trec_eval, with pairs in the judged order; only" in note


def test_a_pair_in_both_orders_counts_once() -> None:
    lines = Run.of(
        RunLine(topic="1", stance="Q0", document=document, rank=1, score=1.0, tag="t")
        for document in ("y,x", "x,y", "b,a", "c,d")
    )
    turned = in_judged_order(lines, {"1": {"x,y": 2, "a,b": 1, "d,c": 0, "c,d": 1}, "2": {"b,a": 1}})
    assert [line.document for line in turned] == ["y,x", "x,y", "a,b", "c,d"]


def test_a_run_with_nothing_judged_does_not_cost_the_others(write: Write) -> None:
    paths = [write("good.txt", run_text(tag="good")), write("odd.txt", run_text(tag="odd", strangers=5))]
    scores = table_of(paths, SPOT, measure="nDCG@5")
    good, odd = ([score for score in scores if score.tag == tag] for tag in ("good", "odd"))
    assert [score.mean for score in good] == pytest.approx([1, 1])
    assert [(score.mean, score.low, score.topics) for score in odd] == [(0, 0, 4), (None, None, 0)]
    assert [score.evaluator for score in odd] == ["trec_eval", "touche"] and not odd[0].comparable
    left = [text for text in scores.warnings if "and has no topic left to average over" in text]
    assert [text.partition(",")[0] for text in left] == ["odd"]
