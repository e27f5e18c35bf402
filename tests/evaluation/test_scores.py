from dataclasses import replace
from math import log2

import pytest

from conftest import Write
from spotcheck import SPOT, made_up, run_of, run_text, scored
from touche.errors import ToucheError
from touche.evaluation.notes import notes_of, shared_tags, warnings_of
from touche.evaluation.scores import in_judged_order, score_runs
from touche.evaluation.significance import bootstrap_interval
from touche.formats.runs import RunLine
from touche.tasks import PAIR, Rules


def test_the_best_run_scores_one_in_every_figure(write: Write) -> None:
    run = scored(write("run.txt", run_text()))
    for score in run.scores:
        assert (score.mean, score.low, score.high, score.judged, score.topics) == pytest.approx(
            (1, 1, 1, 1, 4)
        )
        assert (score.tag, score.dimension, score.qrels) == ("t", "relevance", SPOT.qrels["relevance"].file)
    assert warnings_of(run) == notes_of(run) == []


def test_topics_have_scores_and_titles(write: Write) -> None:
    records = scored(write("run.txt", run_text(["11", "12", "13"])), "trec_eval").topic_scores
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
    relevance, quality = score_runs([write("run.txt", run_of(*lines))], task, ["trec_eval"])
    for run, values in ((relevance, [1, SECOND, 1, 0]), (quality, [SECOND, 1, SECOND, 1])):
        (score,) = run.scores
        assert score.mean == pytest.approx(sum(values) / 4)
        assert (score.low, score.high) == pytest.approx(bootstrap_interval(values))
        assert (score.judged, score.topics, score.dimension) == (3.5 / 4, 4, run.dimension)
        assert [each.value for each in run.topic_scores] == pytest.approx(values)
        assert [each.judged for each in run.topic_scores] == [1, 1, 1, 0.5]


def test_topics_are_in_the_order_of_their_numbers(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    task = made_up(write, monkeypatch, topics=("10", "9", "2"), relevance="a")
    (run,) = score_runs([write("run.txt", run_of("2 a b"))], task, ["trec_eval"])
    assert [each.topic for each in run.topic_scores] == ["2", "9", "10"]


def test_no_run_is_an_error() -> None:
    with pytest.raises(ToucheError, match="no run is given"):
        score_runs([], SPOT)


def test_two_runs_with_one_tag_are_told_apart_by_their_paths(write: Write) -> None:
    paths = [write(f"{name}.txt", run_text(tag=name[0])) for name in ("a1", "a2", "b")]
    found = score_runs(paths, SPOT)
    assert [run.name for run in found] == [str(paths[0]), str(paths[1]), "b"]
    assert list(shared_tags(found)) == [
        f"{paths[0]} and {paths[1]} have the same tag, 'a'; they are named by their paths"
    ]


def test_the_same_file_twice_is_refused(write: Write) -> None:
    path = write("run.txt", run_text())
    with pytest.raises(ToucheError, match="a run file is given twice"):
        score_runs([path, path.parent / "." / "run.txt"], SPOT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the run is empty"),
        ("11 Q0 a 1 1 t\n", "not one document .* is judged; check that .*, that the run ranks passages$"),
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
    exact, turned = score_runs([write("run.txt", run_of("1 b,c y,x"))], task, ["trec_eval"], any_order=True)
    assert [run.dimension for run in (exact, turned)] == ["relevance", "relevance, any order"]
    assert [run.scores[0].mean for run in (exact, turned)] == pytest.approx([0, SECOND])
    assert turned.scores[0].qrels == exact.scores[0].qrels


def test_a_run_whose_pairs_all_have_the_other_order_is_scored_too(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = replace(made_up(write, monkeypatch, relevance="a"), rules=Rules(PAIR, ("Q0",)))
    write("qrels/made-up-relevance.qrels", "1 0 x,y 1\n2 0 b,c 1\n")
    path = write("run.txt", run_of("1 y,x"))
    exact, turned = score_runs([path], task, any_order=True)
    assert [(each.evaluator, each.mean, each.judged) for each in exact.scores] == [("trec_eval", 0, 0)]
    assert [(each.evaluator, each.mean) for each in turned.scores] == [("trec_eval", 0.5), ("touche", 1)]
    with pytest.raises(ToucheError, match=r"ranks sentence pairs, and in which order \(--pairs any-order\)$"):
        score_runs([path], task)


def test_a_pair_in_both_orders_counts_once() -> None:
    lines = [RunLine("1", "Q0", document, 1, 1.0, "t") for document in ("y,x", "x,y", "b,a", "c,d")]
    turned = in_judged_order(lines, {"1": {"x,y": 2, "a,b": 1, "d,c": 0, "c,d": 1}, "2": {"b,a": 1}})
    assert [line.document for line in turned] == ["y,x", "x,y", "a,b", "c,d"]


def test_any_order_is_for_pairs_only(write: Write) -> None:
    with pytest.raises(ToucheError, match="does not rank pairs; leave --pairs any-order out"):
        score_runs([write("run.txt", run_text())], SPOT, any_order=True)
