from collections import Counter
from dataclasses import replace
from math import log2

import pytest

from conftest import Write
from spotcheck import SPOT, made_up, run_of, run_text, scored
from touche import files, tasks
from touche.errors import ToucheError
from touche.evaluation.comparison import comparisons
from touche.evaluation.notes import notes_of
from touche.evaluation.scores import evaluate, in_judged_order, shared_tags
from touche.evaluation.significance import bootstrap_interval
from touche.formats.runs import RunLine
from touche.tasks import PAIR, Rules, measure_of


def test_the_best_run_scores_one_in_every_figure(write: Write) -> None:
    run = scored(write("run.txt", run_text()))
    for score in run.scores.values():
        assert (score.mean, score.low, score.high, score.judged, score.topics) == pytest.approx(
            (1, 1, 1, 1, 4)
        )
        assert (score.tag, score.dimension, score.qrels) == ("t", "relevance", SPOT.qrels["relevance"].file)
    assert (run.doubts, run.reasons, notes_of([run])) == ([], [], [])


def test_topics_have_scores_and_titles(write: Write) -> None:
    records = (
        scored(write("run.txt", run_text(["11", "12", "13"])), "trec_eval").topic_scores["trec_eval"].values()
    )
    assert [(each.topic, each.value, each.judged) for each in records] == [
        ("11", pytest.approx(1), 1),
        ("12", pytest.approx(1), 1),
        ("13", pytest.approx(1), 1),
        ("14", 0, None),
    ]
    assert all(each.title.endswith("?") for each in records)


SECOND = 1 / log2(3)  # the only relevant document at rank 2


def test_the_figures_of_every_dimension_by_hand(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four topics: the relevant document first, second, first, and not there; x is not judged."""
    task = made_up(write, monkeypatch, relevance="a", quality="b")
    lines = ["1 a b", "2 b a", "3 a b", "4 b x"]
    relevance, quality = evaluate([write("run.txt", run_of(*lines))], task, ["trec_eval"])
    for run, values in ((relevance, [1, SECOND, 1, 0]), (quality, [SECOND, 1, SECOND, 1])):
        (score,) = run.scores.values()
        assert score.mean == pytest.approx(sum(values) / 4)
        assert (score.low, score.high) == pytest.approx(bootstrap_interval(values))
        assert (score.judged, score.topics, score.dimension) == (3.5 / 4, 4, run.dimension)
        assert [each.value for each in run.topic_scores["trec_eval"].values()] == pytest.approx(values)
        assert [each.judged for each in run.topic_scores["trec_eval"].values()] == [1, 1, 1, 0.5]


def test_the_measure_is_that_of_the_task(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The relevant document is at rank 7, behind x that is not judged, and so nowhere by nDCG@5."""
    task = made_up(write, monkeypatch, topics=("1",), relevance="a")
    path = write("run.txt", run_of("1 b c d e x y a x2 x3 x4"))
    for cutoff, value, judged in ((5, 0, 4 / 5), (10, 1 / log2(8), 5 / 10)):
        (run,) = evaluate([path], replace(task, measure=measure_of(f"nDCG@{cutoff}")))
        score = run.scores["trec_eval"]
        assert (score.measure, score.mean, score.judged) == (f"nDCG@{cutoff}", pytest.approx(value), judged)
        assert run.topic_scores["trec_eval"]["1"].judged == judged
        assert f"of the top {cutoff} is unjudged" in run.doubts[0]
    assert run.reasons[0].text == "5 unjudged documents of the top 10 are taken out, not counted as 0"
    difference = 1 / log2(6) - 1 / log2(8)  # at rank 5 once x and y are out
    assert run.reasons[0].change == pytest.approx(difference)


def test_topics_are_in_the_order_of_their_numbers(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    task = made_up(write, monkeypatch, topics=("10", "9", "2"), relevance="a")
    (run,) = evaluate([write("run.txt", run_of("2 a b"))], task, ["trec_eval"])
    assert [each.topic for each in run.topic_scores["trec_eval"].values()] == ["2", "9", "10"]


def test_no_run_is_an_error() -> None:
    with pytest.raises(ToucheError, match="no run is given"):
        evaluate([], SPOT)


def test_two_runs_with_one_tag_are_told_apart_by_their_paths(write: Write) -> None:
    paths = [write(f"{name}.txt", run_text(tag=name[0])) for name in ("a1", "a2", "b")]
    found = evaluate(paths, SPOT)
    assert [run.name for run in found] == [str(paths[0]), str(paths[1]), "b"]
    assert list(shared_tags(found)) == [
        f"{paths[0]} and {paths[1]} have the same tag, 'a'; they are named by their paths"
    ]


def test_the_same_file_twice_is_refused(write: Write) -> None:
    path = write("run.txt", run_text())
    with pytest.raises(ToucheError, match="a run file is given twice"):
        evaluate([path, path.parent / "." / "run.txt"], SPOT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the run is empty"),
        ("1 Q0 a 1 1 t\n", "the run and the qrels have no topic in common; check that --task"),
    ],
)
def test_what_cannot_be_scored_is_an_error_that_names_the_run(write: Write, text: str, message: str) -> None:
    with pytest.raises(ToucheError, match=rf"run\.txt: {message}"):
        scored(write("run.txt", text))


def test_an_unknown_label_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    file = SPOT.qrels["relevance"].file
    write(f"qrels/{file}", "11 0 a 1\n11 0 b 7\n")
    monkeypatch.setenv("TOUCHE_DATA", str(write("run.txt", run_text()).parent))
    with pytest.raises(
        ToucheError, match=rf"{file}:2: label 7 is unknown; the labels of this file are -2, 0, 1, 2"
    ):
        scored(write("run.txt", run_text()))


def test_any_order_counts_a_pair_judged_the_other_way_round_beside_the_exact_score(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = replace(made_up(write, monkeypatch, relevance="a"), rules=Rules(PAIR, ("Q0",)))
    write("qrels/made-up-relevance.qrels", "1 0 x,y 1\n1 0 b,c 0\n")
    exact, turned = evaluate([write("run.txt", run_of("1 b,c y,x"))], task, ["trec_eval"], any_order=True)
    assert [(run.label, run.any_order) for run in (exact, turned)] == [
        ("relevance", False),
        ("relevance, any order", True),
    ]
    assert [run.scores["trec_eval"].mean for run in (exact, turned)] == pytest.approx([0, SECOND])
    assert turned.qrels == exact.qrels


def test_a_run_whose_pairs_all_have_the_other_order_is_scored_too(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = replace(made_up(write, monkeypatch, relevance="a"), rules=Rules(PAIR, ("Q0",)))
    write("qrels/made-up-relevance.qrels", "1 0 x,y 1\n2 0 b,c 1\n")
    path = write("run.txt", run_of("1 y,x"))
    exact, turned = evaluate([path], task, any_order=True)
    assert [(each.mean, each.judged) for each in exact.scores.values()] == [(0, 0), (None, 0)]
    assert [(each.evaluator, each.mean) for each in turned.scores.values()] == [
        ("trec_eval", 0.5),
        ("touche", 1),
    ]


def test_a_pair_in_both_orders_counts_once() -> None:
    lines = [RunLine("1", "Q0", document, 1, 1.0, "t") for document in ("y,x", "x,y", "b,a", "c,d")]
    turned = in_judged_order(lines, {"1": {"x,y": 2, "a,b": 1, "d,c": 0, "c,d": 1}, "2": {"b,a": 1}})
    assert [line.document for line in turned] == ["y,x", "x,y", "a,b", "c,d"]


def test_any_order_is_for_pairs_only(write: Write) -> None:
    with pytest.raises(ToucheError, match="does not rank pairs; leave --pairs any-order out"):
        evaluate([write("run.txt", run_text())], SPOT, any_order=True)


def test_a_run_with_nothing_judged_does_not_cost_the_others(write: Write) -> None:
    paths = [write("good.txt", run_text(tag="good")), write("odd.txt", run_text(tag="odd", strangers=5))]
    good, odd = evaluate(paths, SPOT)
    assert [score.mean for score in good.scores.values()] == pytest.approx([1, 1])
    assert [(score.mean, score.low, score.topics) for score in odd.scores.values()] == [
        (0, 0, 4),
        (None, None, 0),
    ]
    assert "check that --task is the run's task" in odd.doubts[0] and not odd.scores["trec_eval"].comparable
    assert "and has no topic left to average over" in odd.doubts[1]


@pytest.mark.parametrize(
    ("lines", "doubt"),
    [
        ("11 Q0 a 1 2 t\n11 Q0 b 1 1 t\n", "ranks stand twice in topic 11, which touche leaves in the order"),
        ("11 Q0 a 1 2 t\n11 Q0 b 2 1 u\n", "the file has 2 tags, 't' the first; is it one run?"),
    ],
)
def test_what_lint_warns_of_is_a_doubt_here(write: Write, lines: str, doubt: str) -> None:
    assert any(each.startswith(doubt) for each in scored(write("run.txt", lines)).doubts)
    assert not any(each.startswith(doubt[:9]) for each in scored(write("fine.txt", run_text())).doubts)


def test_where_later_versions_of_trec_eval_differ_it_is_said(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """b is above a by less than a float32 can tell, so that a float32 puts it first, by its greater id."""
    task = made_up(write, monkeypatch, ["1", "2"], relevance="a")
    ranked = "1 Q0 a 1 2.00000001 t\n1 Q0 b 2 2 t\n2 Q0 a 1 1 t\n"
    (run,) = evaluate([write("run.txt", ranked)], task, ["trec_eval"])
    assert run.scores["trec_eval"].mean == pytest.approx((SECOND + 1) / 2)
    assert run.doubts == [
        "trec_eval 9.0.8, which is meant here, reads scores as float32; versions since September 2023 read "
        f"double and order topic 1 otherwise ({(1 - SECOND) / 2:+.4f} in nDCG@5)"
    ]
    (run,) = evaluate([write("other.txt", ranked.replace("2.00000001", "2.1"))], task, ["trec_eval"])
    assert run.doubts == []


def test_files_are_read_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs in three dimensions, exact and in any order, and compared: records look nothing up."""
    task = tasks.task("spot-check/pairs")
    paths = [write(f"{tag}.txt", f"1 Q0 a,b 1 1 {tag}\n2 Q0 a,b 1 1 {tag}\n") for tag in "tu"]
    opened: Counter[str] = Counter()
    hook = files.opened
    monkeypatch.setattr(files, "opened", lambda path: opened.update([path.name]) or hook(path))
    found = evaluate(paths, task, any_order=True)
    assert len(found) == 2 * 3 * 2 and notes_of(found) == []
    comparisons([each for each in found if not each.any_order], "trec_eval")
    named = [task.topics, *(each.file for each in task.qrels.values()), "t.txt", "u.txt"]
    assert opened == dict.fromkeys(named, 1)
