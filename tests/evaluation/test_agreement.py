import warnings
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau

import touche
from conftest import Touche, Write
from random_examples import given, st
from spotcheck import run_text
from touche import tasks
from touche.errors import ToucheError, ToucheWarning
from touche.evaluation import agreement
from touche.evaluation.agreement import PERSISTENCE, overlap, overlap_of, rbo, tau_union
from touche.evaluation.significance import t_test
from touche.trec.runs import read_run

LISTS = st.lists(st.sampled_from("abcdefghijklmnop"), min_size=2, unique=True)
SCORES = st.integers(0, 16).map(lambda number: number / 16)  # so that sums and means are exact
FOUR = st.integers(2, 9).flatmap(
    lambda topics: st.tuples(*[st.lists(SCORES, min_size=topics, max_size=topics)] * 4)
)


def run(write: Write, name: str, **topics: Sequence[str]) -> Path:
    """Returns topics and their documents, best first; each letter of a word is a document."""
    lines = [
        f"{topic[1:]} Q0 {document} {rank} {100 - rank} {name}\n"
        for topic, documents in topics.items()
        for rank, document in enumerate(documents, 1)
    ]
    return write(f"{name}.txt", "".join(lines))


def repro_eval(module: str) -> Any:
    """Imports repro_eval or a module of it; skips the test if it is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it imports scipy by old names
        reason = "needs repro_eval: pip install repro-eval"
        return pytest.importorskip(f"repro_eval{module}", reason=reason)


def theirs(documents: Sequence[str]) -> dict[str, dict[str, float]]:
    """A run of one topic as repro_eval has it."""
    return {"1": {document: -float(rank) for rank, document in enumerate(documents)}}


def test_figures_by_hand(write: Write) -> None:
    a = run(write, "a", t1="abcdefg", t2="xy", t3="pq")
    b = run(write, "b", t1="bachijg", t2="z", t4="pq")
    (pair,) = overlap([a, b])
    assert (pair.run_a, pair.run_b, pair.topics) == ("a", "b", 4)
    assert pair.overlap_5 == pytest.approx(3 / 5 / 4)
    assert pair.overlap_100 == pytest.approx(4 / 7 / 4)
    # a, b, c, g are ordered b, a, c, g: one of six pairs is swapped.
    assert pair.tau == pytest.approx((5 - 1) / 6) == kendalltau([1, 2, 3, 4], [2, 1, 3, 4]).statistic
    # The rerun's order is 2 1 3 8 9 10 7: 4 of 21 pairs are swapped, 2 and 1, and 7 with three others.
    assert pair.tau_union == pytest.approx((17 - 4) / 21)
    shared = [0 / 1, 2 / 2, 3 / 3, 3 / 4, 3 / 5, 3 / 6, 4 / 7]
    weights = [0.95**depth for depth in range(7)]
    of_topic = sum(map(prod, zip(shared, weights, strict=True))) / sum(weights)
    assert pair.rbo == pytest.approx(of_topic / 4)  # the other topics have no common documents


@given(LISTS, LISTS)
def test_tau_of_the_union_is_that_of_repro_eval_where_ids_are_in_the_order_of_the_union(
    a: Sequence[str], b: Sequence[str]
) -> None:
    ktu = repro_eval(".measure.document_order").KTU
    length = min(len(a), len(b))
    union = dict.fromkeys([*a[:length], *b[:length]])
    names = {document: f"{position:02}" for position, document in enumerate(union)}
    named_a, named_b = ([names[document] for document in ranking[:length]] for ranking in (a, b))
    assert tau_union(a, b) == pytest.approx(ktu(theirs(named_a), theirs(named_b)), abs=1e-12)


@given(LISTS, LISTS)
def test_rank_biased_overlap_is_that_of_repro_eval_down_to_the_longer_list(
    a: Sequence[str], b: Sequence[str]
) -> None:
    persistence = repro_eval("").RBO_P
    their_rbo = repro_eval(".measure.document_order").RBO
    depth = max(len(a), len(b))
    expected = their_rbo(theirs(a), theirs(b), p=persistence, depth=depth, pbar=False, per_topic=True)["1"]
    assert rbo(a, b) == pytest.approx(expected, abs=1e-12) == rbo(b, a)
    assert rbo(a, a) == pytest.approx(1)
    assert persistence == PERSISTENCE


@given(FOUR)
def test_errors_and_effects_are_those_of_repro_eval(four: tuple[list[float], ...]) -> None:
    effects = repro_eval(".measure.overall_effects")
    a, baseline_a, b, baseline_b = four
    as_theirs = [{str(topic): {"m": score} for topic, score in enumerate(values)} for values in four]
    of_a, of_baseline_a, of_b, of_baseline_b = as_theirs
    means = [sum(values) / len(values) for values in four]
    assert agreement.rmse(a, b) == pytest.approx(repro_eval(".measure.effectiveness").RMSE(of_a, of_b)["m"])
    differences = [x - y for x, y in zip(a, b, strict=True)]
    if len(set(differences)) > 1 or not any(differences):
        assert t_test(differences) == pytest.approx(repro_eval(".measure.statistics").ttest(of_a, of_b)["m"])
    if sum(a) == sum(baseline_a):
        assert agreement.effect_ratio(*means) is None
    else:
        expected = effects.ER(of_a, of_baseline_a, of_b, of_baseline_b)["m"]
        assert agreement.effect_ratio(*means) == pytest.approx(expected, abs=1e-12)
    if not (any(baseline_a) and any(baseline_b)):
        assert agreement.delta_ri(*means) is None
    else:
        expected = effects.DRI(of_a, of_baseline_a, of_b, of_baseline_b)["m"]
        assert agreement.delta_ri(*means) == pytest.approx(expected, abs=1e-12)


def test_the_order_is_that_of_scores_and_the_original_comes_first(write: Write) -> None:
    files = write("a.txt", "1 Q0 c 1 1 t\n1 Q0 a 2 3 t\n1 Q0 b 3 2 t\n"), run(write, "b", t1="xab")
    a, b = (read_run(path) for path in files)
    agreement = overlap_of(a, b, ("original", "rerun"))
    assert (agreement.run_a, agreement.run_b) == ("original", "rerun")
    assert agreement.tau == pytest.approx(1)
    assert agreement.tau_union == pytest.approx((1 - 2) / 3)  # 4 1 2; in the other direction it is 1
    assert overlap_of(b, a, ("", "")).tau_union == pytest.approx(1)


def test_the_command_with_scores(write: Write, touche: Touche) -> None:
    """The best run of all topics, of three, of two and of one: means of 1, 3/4, 1/2 and 1/4."""
    four, three, two, one = (
        write(f"{number}.txt", run_text(["11", "12", "13", "14"][:number])) for number in (4, 3, 2, 1)
    )
    of_task = "--task", "spot-check/passages"
    code, out, err = touche("overlap", four, three, *of_task, "--baseline", two, one)
    assert code == 0 and "the run has no results for topic" in err
    order, scores = (part.splitlines()[1:] for part in out.split("\n\n")[:2])
    assert [line.split()[-6:-3] for line in order] == [["4", "0.750", "0.750"]]
    expected = ["relevance", "1.000", "0.750", "0.500", "1.000", "-1.000"]
    assert [line.split()[-6:] for line in scores] == [expected]
    assert out.splitlines()[-1] == "nDCG@5 of trec_eval", "no verdict, because nothing is published"
    assert "ER" not in touche("overlap", four, three, two, *of_task)[1]


def test_a_dataset_of_some_topics_leaves_out_the_others(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = replace(tasks.task("spot-check/passages"), only_topics=("11",))
    monkeypatch.setattr(tasks, "task", lambda _: some)
    runs = [run(write, "a", t11="ab", t12="ab"), run(write, "b", t11="ab", t13="ab")]
    with pytest.warns(ToucheWarning, match="does not have topic"):
        [record] = overlap(runs, "spot-check/passages")
    assert (record.topics, record.overlap_5) == (1, 1.0)


def test_a_task_that_only_judges_stances_has_no_rankings_to_compare(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = tasks.task("spot-check/passages")
    only_stances = replace(task, qrels={"stance": task.qrels["stance"]})
    monkeypatch.setattr(tasks, "task", lambda _: only_stances)
    with pytest.raises(ToucheError, match="judges only stances, and no rankings; omit the task"):
        overlap([run(write, "a", t11="ab"), run(write, "b", t11="ba")], "spot-check/passages")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("a.txt", "at least two runs"),
        ("best.txt --task spot-check/passages", "at least two runs"),
        ("a.txt b.txt", "have no topic in common"),
        ("a.txt a.txt --baseline a.txt a.txt", "pass two runs, two baselines and a task"),
        ("a.txt a.txt a.txt --task spot-check/passages --baseline a.txt a.txt", "pass two runs, two base"),
    ],
)
def test_runs_that_cannot_be_compared(
    write: Write, touche: Touche, monkeypatch: pytest.MonkeyPatch, options: str, problem: str
) -> None:
    run(write, "a", t1="ab")
    run(write, "b", t2="ab")
    monkeypatch.chdir(write("best.txt", run_text()).parent)
    code, _, err = touche("overlap", *options.split())
    assert (code, err.count("\n")) == (2, 1) and problem in err


def test_runs_with_equal_results_are_identical_even_where_nothing_is_published() -> None:
    """Also if no values of topics are published for the task, and if nothing is judged."""
    run = touche.run("bm25", "spot-check/arguments", k1=1.2)
    assert touche.overlap([run, run.called("another tag")], "spot-check/arguments").notes == (
        "All results are equal: identical.",
    )
    other = touche.run("bm25", "spot-check/arguments", k1=1.3)
    assert not touche.overlap([run, other], "spot-check/arguments").notes
