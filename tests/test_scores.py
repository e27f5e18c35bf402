from pathlib import Path

import pytest

from conftest import Write
from spotcheck import SPOT, run_text
from touche import tasks
from touche.errors import ToucheError
from touche.scores import ScoredRun, score_runs, shared_tags


def scored(path: Path, *evaluators: str) -> ScoredRun:
    (only,) = score_runs([path], SPOT, evaluators or ("trec_eval", "touche"))
    return only


def warnings(run: ScoredRun) -> list[str]:
    return [note.text for note in run.warnings]


def notes(run: ScoredRun) -> list[str]:
    return [note.text for note in run.notes]


def test_the_best_run_scores_one_in_every_figure(write: Write) -> None:
    run = scored(write("run.txt", run_text()))
    for score in run.scores:
        assert (score.mean, score.low, score.high, score.judged, score.topics) == pytest.approx(
            (1, 1, 1, 1, 4)
        )
        assert (score.tag, score.dimension, score.qrels) == ("t", "relevance", SPOT.qrels["relevance"].file)
    assert run.warnings == run.notes == []


def test_topics_have_scores_and_titles(write: Write) -> None:
    records = scored(write("run.txt", run_text(["11", "12", "13"])), "trec_eval").topic_scores
    assert [(each.topic, each.value, each.judged) for each in records] == [
        ("11", pytest.approx(1), 1),
        ("12", pytest.approx(1), 1),
        ("13", pytest.approx(1), 1),
        ("14", 0, None),
    ]
    assert all(each.title.endswith("?") for each in records)


def test_more_than_a_tenth_unjudged_is_a_warning(write: Write) -> None:
    few = run_text(["11"], strangers=1) + run_text(["12", "13", "14"])  # 1 of 20
    assert warnings(scored(write("few.txt", few))) == []
    (text,) = warnings(scored(write("many.txt", run_text(strangers=1))))  # 4 of 20
    assert text.startswith("20% of the top 5 is unjudged, so the score is not comparable with published ones")
    assert "too low" in text and "too high" in text


def test_topics_without_judgments_are_named(write: Write) -> None:
    assert warnings(scored(write("run.txt", run_text() + "99 Q0 a 1 1 t\n"))) == [
        "topic 99 of the run have no judgments and are not scored"
    ]


def test_where_the_evaluators_differ_it_is_said_why(write: Write) -> None:
    (text,) = notes(scored(write("run.txt", run_text(strangers=1))))
    assert text.startswith("touche is 0.")
    assert "above trec_eval: +0." in text
    assert (
        "as 4 unjudged documents of the top 5 are taken out, not counted as 0 (topics 11, 12, 13, 14)" in text
    )
    (text,) = notes(scored(write("run.txt", run_text(["11", "12", "13"]))))
    assert (
        text
        == "touche is 0.2500 above trec_eval: +0.2500 as topics that the run lacks are left out (topic 14)"
    )


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
        ("11 Q0 a 1 1 t\n", "not one document of the run is judged; check that --task"),
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


def test_a_standing_names_its_evaluator_and_its_doubts(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    task = tasks.task("touche-2020-task-1-v1")
    write(f"qrels/{task.qrels['relevance-uncorrected'].file}", "1 0 a 5\n1 0 b 1\n25 0 a 3\n")
    monkeypatch.setenv("TOUCHE_DATA", str(write("run.txt", "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n").parent))
    (run,) = score_runs([write("run.txt", "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")], task)
    highest = "above Weiss Schnee 0.804, the highest published; the baseline Swordsman: 0.769"
    assert notes(run) == [f"with trec_eval, 1.000 is {highest}"]
    (run,) = score_runs([write("run.txt", "1 Q0 a 1 2 t\n1 Q0 x 2 1 t\n")], task, ["trec_eval"])
    assert notes(run)[0].endswith("not comparable, see the warning")
    (run,) = score_runs([write("run.txt", "1 Q0 a 1 2 t\n")], task, ["touche"])
    assert notes(run) == ["the published values were computed with trec_eval; evaluate with it to compare"]
