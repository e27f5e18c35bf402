import csv
from collections.abc import Sequence
from dataclasses import replace
from math import log2
from pathlib import Path

import pytest

from conftest import Touche, Write
from spotcheck import (
    SPOT,
    doubts_of,
    made_up,
    notes_of,
    row_of,
    run_of,
    run_text,
    scored,
    scored_in,
    table_of,
)
from touche import tasks
from touche.evaluation.scoring import Scored
from touche.io.opening import md5
from touche.tasks import Judgments, Task


def notes(scored: Sequence[Scored], task: Task) -> list[str]:
    """Returns notes without the name of the run and the dimension."""
    return [text.partition(": ")[2] for text in notes_of(scored, task)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (run_text(["11", "12"], strangers=1) + run_text(["13", "14"]), []),  # 2 of 20 unjudged
        (
            run_text(strangers=1),
            ["less than 90% of the top 5 is judged: trec_eval counts"],
        ),  # 4 of 20
        (
            run_text() + "99 Q0 a 1 1 t\n",
            ["there are no judgments for topic 99 of the run, so these results do not"],
        ),
        (
            run_text(["11", "12", "13"]),
            ["the run has no results for topic 14, which trec_eval counts as 0 and touche leaves out; "],
        ),
        (
            run_text().replace(" 2 8 t", " 1 8 t"),
            ["ranks occur twice in topics 11, 12, 13, 14; touche"],
        ),
        (
            run_text() + "99 Q0 a 1 1 u\n",
            [
                "the file has 2 tags, the first is 't'; check that the file is one run",
                "there are no",
            ],
        ),
    ],
)
def test_what_puts_a_score_in_doubt_is_a_warning(write: Write, text: str, expected: list[str]) -> None:
    warnings = doubts_of(scored(write("run.txt", text)).scored, SPOT)
    assert len(warnings) == len(expected) and all(map(str.startswith, warnings, expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (run_text(), []),
        (
            run_text(["11", "12", "13"]),
            ["touche is 0.2500 above trec_eval: +0.2500 because topics that the run lacks are left out ({})"],
        ),
    ],
)
def test_where_the_evaluators_differ_it_is_said_why(write: Write, text: str, expected: list[str]) -> None:
    scores = scored(write("run.txt", text))
    assert notes(scores.scored, SPOT) == [note.format("topic 14") for note in expected]
    assert row_of(scores, evaluator="trec_eval").comparable == (not expected)  # with published values


@pytest.mark.parametrize(("holes", "comparable"), [(9, True), (10, False)])
def test_a_tenth_is_not_more_than_a_tenth(
    write: Write, monkeypatch: pytest.MonkeyPatch, holes: int, comparable: bool
) -> None:
    """9 of 18 topics with 1 of 5 unjudged: as a floating-point number the share is above 0.1."""
    topics = [str(number) for number in range(1, 19)]
    task = made_up(write, monkeypatch, topics, relevance="a")
    lists = (f"{topic} a b c d {'x' if number < holes else 'e'}" for number, topic in enumerate(topics))
    scores = table_of([write("run.txt", run_of(*lists))], task)
    is_undoubted = doubts_of(scores.scored, task) == []
    assert is_undoubted == comparable == row_of(scores, evaluator="trec_eval").comparable


def test_the_limit_of_unjudged_results_is_the_least_judged_published_run(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of five results are judged, then one; both are fewer than 90%."""
    task = replace(made_up(write, monkeypatch, ["1"], relevance="a"), least_judged={"Judged@5": 0.4})
    row = replace(tasks.task("touche-2020-task-1").published[0], dimension="relevance", qrels=None)
    task = replace(task, published=(row,))
    for documents, comparable in (("a b v w x", True), ("a u v w x", False)):
        scores = table_of([write("run.txt", run_of(f"1 {documents}"))], task)
        assert row_of(scores, evaluator="trec_eval").comparable == comparable
        text = doubts_of(scores.scored, task)[0]
        assert ("judged, as for the published scores: " in text) == comparable
        less = "judged, but at least 0.4 for the published runs, so the score is not comparable with"
        assert (less in text) != comparable
    (score,) = table_of([write("run.txt", run_of("1 a b v w x"))], task, measure="P@4")
    assert not score.comparable  # no share of Judged@4 is known


@pytest.mark.parametrize(("zeros", "is_reported"), [("", True), ("1 0 b 0\n", False), ("1 0 b -2\n", False)])
def test_judgments_without_grade_0_are_reported_with_the_place_of_the_full_file(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, zeros: str, is_reported: bool
) -> None:
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    run = write("run.txt", run_of("1 a b"))
    qrels = Judgments("beir-webis-touche2020-v2.qrels", frozenset({-2, 0, 1, 2}))
    task = replace(tasks.task("beir-webis-touche2020-v2"), qrels={"relevance": qrels})
    write(f"qrels/{qrels.file}", f"1 0 a 2\n{zeros}")
    warnings = doubts_of(scored_in([run], task), task)
    texts = [text for text in warnings if "lacks the judgments with grade 0" in text]
    assert bool(texts) == is_reported
    remedy = "remove it, and get it with: touche data fetch beir-webis-touche2020-v2 --no-corpora"
    assert all(remedy in text for text in texts)


@pytest.mark.parametrize(("name", "change"), [("RR", -0.5), ("nDCG@5", 1 / log2(3) - 1)])
def test_near_ties_are_told_for_any_measure(
    write: Write, monkeypatch: pytest.MonkeyPatch, name: str, change: float
) -> None:
    """As float32, b with the greater id is first; as double, a is first, so RR falls from 1 to 1/2."""
    task = made_up(write, monkeypatch, topics=("1",), relevance="b")
    path = write("run.txt", "1 Q0 a 1 1.0000000001 t\n1 Q0 b 2 1 t\n")
    warnings = doubts_of(scored_in([path], task, measure=name), task)
    assert warnings[-1].endswith(f"order topic 1 differently ({change:.4f} in {name})")


@pytest.mark.parametrize(
    ("text", "evaluator", "note"),
    [
        ("1 a b", "trec_eval", "highest published; rank 1 of 22; the baseline Swordsman: 0.769"),
        ("1 a x", "trec_eval", "not comparable, so it has no rank"),
        (
            "1 a b",
            "touche",
            "published values are of nDCG@5 by trec_eval; only values of the same measure",
        ),
    ],
)
def test_a_standing_names_its_evaluator_and_its_doubts(
    write: Write, monkeypatch: pytest.MonkeyPatch, text: str, evaluator: str, note: str
) -> None:
    task = tasks.task("touche-2020-task-1-v1")
    write(f"qrels/{task.qrels['relevance-uncorrected'].file}", "1 0 a 5\n1 0 b 1\n25 0 a 3\n")
    path = write("run.txt", run_of(text))
    monkeypatch.setenv("TOUCHE_DATA", str(path.parent))
    monkeypatch.setattr("touche.evaluation.leaderboard.official_md5", lambda path: "")
    (standing,) = notes(scored_in([path], task, [evaluator]), task)
    assert note in standing and standing.startswith("with trec_eval, ") == (evaluator == "trec_eval")


@pytest.mark.parametrize("is_official", [True, False])
def test_a_rank_among_published_scores_needs_the_official_qrels(
    write: Write, monkeypatch: pytest.MonkeyPatch, is_official: bool
) -> None:
    task = tasks.task("touche-2020-task-1-v1")
    file = task.qrels["relevance-uncorrected"].file
    path = write(f"qrels/{file}", "1 0 a 5\n1 0 b 1\n")
    if is_official:
        monkeypatch.setattr(
            "touche.evaluation.leaderboard.official_md5", {f"qrels/{file}": md5(path)}.__getitem__
        )
    monkeypatch.setenv("TOUCHE_DATA", str(path.parents[1]))
    scores = table_of([write("run.txt", run_of("1 a b"))], task)
    warnings = [text for text in doubts_of(scores.scored, task) if "not the publisher's file" in text]
    assert len(warnings) == (not is_official)
    assert {score.comparable for score in scores} == {is_official}
    assert all(
        text.startswith(f"{file} is not") and "10f043e086818f9159ac37a9ebe5ce5d" in text for text in warnings
    )


def test_ranks_are_columns_and_rows_of_agreeing_evaluators_are_printed_once(
    touche: Touche, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By trec_eval, the run is above all 21 published ones; b is judged, so that touche agrees."""
    task = "touche-2020-task-1-v1"
    file = tasks.task(task).qrels["relevance-uncorrected"].file
    qrels = write(f"qrels/{file}", "1 0 a 5\n1 0 b 1\n2 0 a 5\n2 0 b 1\n")
    run = write("run.txt", run_of("1 a b", "2 a b"))
    monkeypatch.setenv("TOUCHE_DATA", str(qrels.parents[1]))
    monkeypatch.setattr("touche.evaluation.leaderboard.official_md5", lambda path: "")
    rows = list(csv.DictReader(touche("evaluate", run, "--task", task, "--format", "csv")[1].splitlines()))
    ranks = [[row[name] for name in ("rank", "rank_low", "rank_high", "group", "rank_note")] for row in rows]
    note = "no values of its topics are published, so there are no groups"
    assert ranks[0] == ["1", "1", "1", "", note] and ranks[1][:4] == [""] * 4
    assert ranks[1][4].startswith("published values are of nDCG@5 by trec_eval; only values")
    _, row, blank, *_ = touche("evaluate", run, "--task", task)[1].splitlines()
    assert (row.split()[2:4], blank) == (["both", "1.000"], "")
    first, *others = touche("evaluate", run, "--task", task, "--per-topic")[1].splitlines()[1:4]
    assert " both " in first and " both " in others[0] and others[1] == ""


@pytest.mark.parametrize(
    ("options", "is_named"),
    [
        (["--measure", "nDCG@5"], True),
        (["--measure", "Bpref"], True),
        (["--measure", "ERR@5"], False),  # our own code computes it
        (["--evaluator", "touche"], False),
    ],
)
def test_a_note_names_topics_on_which_trec_eval_can_crash(
    touche: Touche, write: Write, options: list[str], is_named: bool
) -> None:
    """Topics 2 to 4 have only negative grades, but trec_eval skips topic 4, because the run lacks it."""
    qrels = write("q.qrels", "1 0 a -2\n1 0 b 1\n2 0 a -1\n3 0 a -2\n3 0 b -2\n4 0 a -2\n")
    run = write("run.txt", run_of("1 a b", "2 a b", "3 a b"))
    printed = "".join(map(str, touche("evaluate", run, "--qrels", qrels, *options)))
    note = "all grades are below 0 in topics 2, 3, where trec_eval can crash; we count 0 instead"
    assert printed.count(note) == printed.count("crash") == is_named
