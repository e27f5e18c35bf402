from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Write
from spotcheck import run_of
from touche.errors import ToucheError
from touche.evaluation.evaluators import trec_eval
from touche.evaluation.fusion import METHODS, fused_run
from touche.tasks import Judgments, Rules, Task
from touche.trec.columns import Run
from touche.trec.qrels import Qrels
from touche.trec.runs import read_run
from touche.tuning.weights import simplex, tuned


def task_of(write: Write, monkeypatch: pytest.MonkeyPatch, relevant: dict[str, str]) -> Task:
    """A task with one relevant document, a or b, for each topic."""
    text = "".join(f"{topic} 0 {id} {int(id == best)}\n" for topic, best in relevant.items() for id in "ab")
    monkeypatch.setenv("TOUCHE_DATA", str(write("qrels/made-up.qrels", text).parents[1]))
    judged = {"relevance": Judgments("made-up.qrels", frozenset({0, 1}))}
    return Task("made-up", "", "", "made-up.xml", judged, {}, Rules("document", ("Q0",)))


TOPICS = [str(number) for number in range(1, 9)]


@pytest.fixture
def runs(write: Write) -> list[Run]:
    """One has a first and b last, the other the reverse, in all topics and in one without judgments."""
    texts = (run_of(*(f"{topic} {order}" for topic in [*TOPICS, "99"])) for order in ("a x b", "b x a"))
    return [read_run(write(f"{number}/run.txt", text)) for number, text in enumerate(texts)]


@given(st.integers(1, 4), st.integers(1, 6))
def test_all_weights_in_equal_steps_are_tried_and_the_most_equal_first(runs: int, steps: int) -> None:
    cells = list(simplex(runs, steps))
    assert len(set(cells)) == len(cells) == comb(steps + runs - 1, runs - 1)
    assert all(sum(cell) == pytest.approx(1) and min(cell) >= 0 for cell in cells)
    spreads = [max(cell) - min(cell) for cell in cells]
    assert spreads == sorted(spreads)


@pytest.mark.parametrize("method", METHODS)
def test_each_topic_is_fused_by_weights_of_others_and_the_run_scores_what_they_say(
    write: Write, monkeypatch: pytest.MonkeyPatch, runs: list[Run], method: str
) -> None:
    # In odd topics a is relevant, in even ones b: each half is tuned on the other, and so is wrong.
    task = task_of(write, monkeypatch, {topic: "ba"[int(topic) % 2] for topic in TOPICS})
    fusion = tuned(runs, METHODS[method], 10, task, "two-fold")
    chosen = {topic: fusion.weights[topic] for topic in TOPICS}
    assert all((one > other) == (int(topic) % 2 == 0) for topic, (one, other) in chosen.items())
    lines = fusion.run
    qrels = {topic: {"a": int(topic) % 2, "b": 1 - int(topic) % 2} for topic in TOPICS}
    values = trec_eval(lines, qrels, task.measure).per_topic
    assert fusion.cross_validation.values == values
    assert {line.document for line in lines if line.rank == 1 and line.topic in ("1", "3")} == {"b"}
    for topic, positions in fusion.run.by_topic.items():
        whole = fused_run(runs, METHODS[method], 10, fusion.weights[topic])
        assert whole.take(whole.by_topic[topic]) == fusion.run.take(positions)


def test_a_topic_has_no_say_in_its_own_weights_and_all_have_one_in_those_of_an_unjudged_topic(
    write: Write, monkeypatch: pytest.MonkeyPatch, runs: list[Run]
) -> None:
    relevant = dict.fromkeys(TOPICS, "a")
    for changed in ("a", "b"):
        task = task_of(write, monkeypatch, relevant | {"5": changed})
        fusion = tuned(runs, METHODS["combsum"], 10, task, "leave-one-topic-out")
        assert fusion.weights["5"][0] > fusion.weights["5"][1]
        assert fusion.cross_validation.values["5"] == pytest.approx(float(changed == "a"), abs=0.5)
    task = task_of(write, monkeypatch, dict.fromkeys(TOPICS, "b"))
    fusion = tuned(runs, METHODS["combsum"], 10, task, "leave-one-topic-out")
    assert fusion.weights["99"][0] < fusion.weights["99"][1] and "99" not in fusion.cross_validation.values


def test_a_run_that_lacks_judged_topics_can_weigh_everything(
    write: Write, monkeypatch: pytest.MonkeyPatch, runs: list[Run]
) -> None:
    only = Run.of(line for line in runs[0] if line.topic == "99")
    task = task_of(write, monkeypatch, dict.fromkeys(TOPICS, "b"))
    fusion = tuned([only, runs[1]], METHODS["rrf"], 10, task, "two-fold")
    assert fusion.cross_validation.mean == 1.0 and fusion.weights["1"] == (0.5, 0.5)


def test_a_topic_that_all_runs_lack_counts_0_as_in_the_score_of_the_fused_run(
    write: Write, monkeypatch: pytest.MonkeyPatch, runs: list[Run]
) -> None:
    relevant = dict.fromkeys(TOPICS, "a") | {"2": "b"}
    task = task_of(write, monkeypatch, relevant)
    some = [Run.of(line for line in run if line.topic in ("1", "2", "3", "99")) for run in runs]
    fusion = tuned(some, METHODS["rrf"], 10, task, "leave-one-topic-out")
    qrels = Qrels({topic: {id: int(id == best) for id in "ab"} for topic, best in relevant.items()})
    assert fusion.cross_validation.values == trec_eval(fusion.run, qrels, task.measure).per_topic
    assert fusion.cross_validation.values["8"] == 0 and len(fusion.cross_validation.values) == len(TOPICS)
    assert fusion.weights.keys() == {"1", "2", "3", "99"}


@pytest.mark.parametrize(
    ("relevant", "times", "problem"),
    [
        (dict.fromkeys(TOPICS, "a"), 3, r"at most 5 runs.*pass weights"),
        ({"1": "a"}, 1, "two topics"),
        (dict.fromkeys(TOPICS, "none"), 1, "check the task"),
    ],
)
def test_what_cannot_be_tuned_is_refused(
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    runs: list[Run],
    relevant: dict[str, str],
    times: int,
    problem: str,
) -> None:
    task = task_of(write, monkeypatch, relevant)
    with pytest.raises(ToucheError, match=problem):
        tuned(runs * times, METHODS["rrf"], 10, task, "two-fold")
