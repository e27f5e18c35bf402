from dataclasses import replace

import pytest

from conftest import Write
from spotcheck import SPOT, made_up, run_of, run_text, scored
from touche import tasks
from touche.evaluation.notes import notes_of, warnings_of
from touche.evaluation.scores import Evaluated, evaluate


def warnings(run: Evaluated) -> list[str]:
    return list(run.doubts)


def notes(run: Evaluated) -> list[str]:
    """Without the name of the run and the dimension."""
    return [text.partition(": ")[2] for text in notes_of([run])]


def test_more_than_a_tenth_unjudged_is_a_warning(write: Write) -> None:
    few = scored(write("few.txt", run_text(["11", "12"], strangers=1) + run_text(["13", "14"])))  # 2 of 20
    assert warnings(few) == [] and all(each.comparable for each in few.scores.values())
    (text,) = warnings(scored(write("many.txt", run_text(strangers=1))))  # 4 of 20
    assert (
        text.startswith("less than 90% of the top 5 is judged: trec_eval counts") and "published" not in text
    )
    assert "too low" in text and "too high" in text


def test_runs_with_the_same_doubt_share_one_warning_that_names_them(write: Write) -> None:
    runs = [write(f"{n}.txt", run_text(strangers=n, tag=f"run-{n}")) for n in range(3)]
    (text,) = warnings_of(evaluate(runs, SPOT))
    assert text.startswith("run-1, run-2, relevance: less than 90% of the top 5 is judged: ")


def test_published_values_are_mentioned_only_where_there_are_some_of_the_measure(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = replace(tasks.task("touche-2020-task-1").published[0], dimension="relevance", qrels=None)
    task = replace(made_up(write, monkeypatch, ["1"], relevance="a"), published=(row,))
    path = write("run.txt", run_of("1 a x"))
    for measure, mentioned in ((task.measure, True), (tasks.measure_of("nDCG@10"), False)):
        (run,) = evaluate([path], replace(task, measure=measure))
        assert ("not comparable with published ones" in run.doubts[0]) == mentioned


def test_topics_without_judgments_are_named(write: Write) -> None:
    assert warnings(scored(write("run.txt", run_text() + "99 Q0 a 1 1 t\n"))) == [
        "there are no judgments for topic 99 of the run, which do not count"
    ]


def test_where_the_evaluators_differ_it_is_said_why(write: Write) -> None:
    (text,) = notes(scored(write("run.txt", run_text(strangers=1))))
    assert text.startswith("touche is 0.")
    assert "above trec_eval: +0." in text
    assert (
        "as 4 unjudged documents of the top 5 are taken out, not counted as 0 (topics 11, 12, 13, 14)" in text
    )
    lacking = scored(write("run.txt", run_text(["11", "12", "13"])))
    assert warnings(lacking) == [
        "the run has no results for topic 14, which trec_eval counts as 0 and touche leaves out; "
        "the score is not comparable"
    ]
    (text,) = notes(lacking)
    assert (
        text
        == "touche is 0.2500 above trec_eval: +0.2500 as topics that the run lacks are left out (topic 14)"
    )


def test_a_tenth_is_not_more_than_a_tenth(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """9 of 18 topics with 1 of 5 unjudged: as a floating-point number the share is above 0.1."""
    topics = [str(number) for number in range(1, 19)]
    task = made_up(write, monkeypatch, topics, relevance="a")
    for holes, expected in ((9, []), (10, ["less than 90%"])):
        lists = (f"{topic} a b c d {'x' if number < holes else 'e'}" for number, topic in enumerate(topics))
        (run,) = evaluate([write("run.txt", run_of(*lists))], task)
        assert [text.partition(" of")[0] for text in warnings(run)] == expected


def test_the_order_in_which_something_is_unjudged_is_named(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = made_up(write, monkeypatch, ["1"], relevance="a")
    for documents, problem in (
        ("abcdevwxyz", "less than 90% of the top 5 in the order of trec_eval is judged: "),
        ("abuvwxyz", "less than 90% of the top 5 is judged: "),
        ("uvwxyz", "nothing of the top 5 is judged: "),
    ):
        ranked = "".join(f"1 Q0 {id} {rank} {rank} t\n" for rank, id in enumerate(documents, 1))
        (run,) = evaluate([write("run.txt", ranked)], task)
        assert warnings(run)[0].startswith(problem)
        assert warnings(run)[0].endswith("run's task") == ("nothing" in problem)


def test_what_touche_leaves_out_is_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    task = made_up(write, monkeypatch, ["1", "2"], relevance="a")
    (run,) = evaluate([write("run.txt", run_of("1 a b", "2 u v w x y a"))], task, ["touche"])
    assert (
        "touche leaves out topic 2: nothing in the top 5 is judged, or nothing known is relevant"
        in warnings(run)
    )


def test_a_standing_names_its_evaluator_and_its_doubts(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    task = tasks.task("touche-2020-task-1-v1")
    write(f"qrels/{task.qrels['relevance-uncorrected'].file}", "1 0 a 5\n1 0 b 1\n25 0 a 3\n")
    monkeypatch.setenv("TOUCHE_DATA", str(write("run.txt", "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n").parent))
    (run,) = evaluate([write("run.txt", "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")], task)
    highest = "above Weiss Schnee 0.804, the highest published; the baseline Swordsman: 0.769"
    assert notes(run) == [f"with trec_eval, 1.000 is {highest}"]
    (run,) = evaluate([write("run.txt", "1 Q0 a 1 2 t\n1 Q0 x 2 1 t\n")], task, ["trec_eval"])
    assert notes(run)[0].endswith("not comparable, see the warning")
    (run,) = evaluate([write("run.txt", "1 Q0 a 1 2 t\n")], task, ["touche"])
    assert notes(run) == ["the published values were computed with trec_eval; evaluate with it to compare"]


def test_a_run_that_lacks_topics_has_no_comparable_standing(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = tasks.task("touche-2020-task-1-v1")
    write(f"qrels/{task.qrels['relevance-uncorrected'].file}", "1 0 a 5\n2 0 b 1\n")
    path = write("run.txt", "1 Q0 a 1 2 t\n")
    monkeypatch.setenv("TOUCHE_DATA", str(path.parent))
    (run,) = evaluate([path], task, ["trec_eval"])
    assert notes(run)[0].endswith("not comparable, see the warning")
