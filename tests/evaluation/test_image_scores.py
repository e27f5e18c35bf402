"""Image retrieval: judgments with three questions, the organizers' measures, and skipped lines."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import touche as package
from conftest import Touche, Write
from random_examples import given, st
from spotcheck import table_of
from touche.data import judgments
from touche.errors import ToucheError
from touche.tasks import Task
from touche.tasks.cards import read_card
from touche.trec.by_stance import CountedLines, counted, read_script_lines
from touche.trec.columns import Run
from touche.trec.qrels import Qrels, read_answers
from touche.trec.runs import read_run

IMAGES = [f"I{digit * 16}" for digit in "0123456789abcdef"]
A, B, C, D = IMAGES[:4]
STANCES = ["PRO", "CON"]
IDS = "I[0-9a-f]{16}"
TOPICS = ["1", "2"]
RULE = CountedLines(stances=tuple(STANCES), ids=IDS, depth=10, topics=frozenset(TOPICS))
CARD = """
id = "mine"
title = "Images"
url = "https://example.org"
topics = "mine.xml"
measure = "stanceRelevanceP@10"
corpora.full.directory = "mine"
[rules]
unit = "image"
rankings = "topic and stance"
stances = ["PRO", "CON"]
ids = "I[0-9a-f]{16}"
max_results = 10
""" + "".join(
    f'[qrels.{name}]\nfile = "mine.qrels"\nlabels = [0, 1, 2]\nquestion = "{name}"\n'
    for name in ("topicRelevance", "argumentativeness", "stanceRelevance")
)
# B is on topic for neither stance, C is for a stance but off topic, and D has only one of its three lines.
QRELS = f"""\
1 ONTOPIC {A} 1
1 PRO {A} 2
1 CON {A} 0
1 ONTOPIC {B} 1
1 PRO {B} 0
1 CON {B} 0
1 ONTOPIC {C} 0
1 PRO {C} 1
1 CON {C} 1
2 ONTOPIC {A} 1
2 CON {D} 1
"""
RUN = f"""\
1 PRO {A} 1 5 mine
1 PRO {B} 2 4.5 mine
1 PRO {C} 3 4.5 mine
1 CON {A} 1 0.1 mine
"""


@pytest.fixture
def task(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Task:
    """A task with these judgments."""
    write("qrels/mine.qrels", QRELS)
    topics = "".join(f"<topic><number>{number}</number><title>?</title></topic>" for number in "12")
    write("topics/mine.xml", f"<topics>{topics}</topics>")
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    return read_card(write("tasks/mine.toml", CARD))


def values(run: str | Path, write: Write, task: Task) -> list[float | None]:
    path = run if isinstance(run, Path) else write("run.txt", run)
    scores = table_of([path], task)
    assert {score.evaluator for score in scores} == {"touche"}
    return [score.mean for score in scores]


def test_the_measures_by_hand(task: Task, write: Write) -> None:
    """Of four lines three are on topic, two argumentative, one on stance; a short ranking loses."""
    assert values(RUN, write, task) == pytest.approx([3 / 20, 2 / 20, 1 / 20])
    scores = table_of([write("run.txt", RUN)], task)
    assert scores[0].judged == 1
    rows = [row for row in scores.per_topic if row.dimension == "stanceRelevance"]
    assert {row.topic: row.value for row in rows} == pytest.approx({"1 PRO": 0.1, "1 CON": 0.0})
    assert scores.scored[-1].evaluation.per_topic == {"1": 0.05}


def test_the_judgments_of_all_questions_are_read_once(
    task: Task, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = list[str]()

    def read_and_noted(path: Path, *arguments: Any, **options: Any) -> Qrels:
        files.append(path.name)
        return read_answers(path, *arguments, **options)

    monkeypatch.setattr(judgments, "read_answers", read_and_noted)
    assert len(values(RUN, write, task)) == 3
    assert files == ["mine.qrels"]


def test_a_topic_without_lines_is_left_out_and_one_with_only_a_stance_counts(
    task: Task, write: Write
) -> None:
    run = f"{RUN}2 PRO {A} 1 1 mine\n"
    assert values(run, write, task)[0] == pytest.approx((3 / 20 + 1 / 20) / 2)
    incomplete, complete = (table_of([write("run.txt", text)], task)[0] for text in (RUN, run))
    assert (incomplete.comparable, complete.comparable) == (False, True)
    (absent,), (zero,) = (package.evaluate(write("run.txt", text), "mine").warnings for text in (RUN, run))
    assert "topic 2, which touche leaves out" in absent and "topic 2 CON, which touche counts as 0" in zero


def oracle(lines: list[list[str]]) -> list[int]:
    """The numbers of the lines that count, computed independently from the description of the script."""
    numbers = []
    ranks = dict[str, int]()
    scores = dict[str, float]()
    for number, line in enumerate(lines, 1):
        if len(line) != 6 or line[0] not in TOPICS or line[1] not in STANCES:
            continue
        if not re.fullmatch(IDS, line[2]) or line[3] not in map(str, range(1, 11)):
            continue
        key = line[0] + line[1]
        if int(line[3]) <= ranks.get(key, 0):
            continue
        ranks[key] = int(line[3])
        if "e" in line[4] or float(line[4]) > scores.get(key, 1e9):
            continue
        scores[key] = float(line[4])
        numbers.append(number)
    return numbers


CELLS = st.tuples(
    st.sampled_from(["1", "2", "3"]),
    st.sampled_from(["PRO", "CON", "Q0"]),
    st.sampled_from([*IMAGES, "I0", "J" + "0" * 16]),
    st.sampled_from("0 1 2 3 4 10 11 01".split()),
    st.sampled_from("5 4.5 3 -1 2. 1e-05".split()),
    st.sampled_from(["mine", "other", "two words"]),
)


def test_a_run_in_memory_keeps_the_lines_of_its_file(write: Write) -> None:
    run = read_run(write("run.txt", f"\n1 PRO {D} 1 2 mine\n\n1 FIRST I{'0' * 16} 2 1 mine\n"))
    lines, (skipped,) = counted(run, RULE)
    assert lines.line_numbers.tolist() == [2] and str(skipped).startswith(f"{run.path}:4: ")


@given(st.lists(CELLS, max_size=20))
def test_lines_count_as_in_the_script(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, ...]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "random.run"
    path.write_text("".join(" ".join(line) + "\n" for line in cells))
    run = read_script_lines(path)
    lines, skipped = counted(run, RULE)
    assert lines.line_numbers.tolist() == oracle([" ".join(line).split() for line in cells])
    assert len(lines) + len(skipped) + len(run.unread) == len(cells)


@pytest.mark.parametrize("score", ["1e-05", "9"])
def test_a_line_that_is_skipped_for_its_score_takes_its_rank(write: Write, score: str) -> None:
    """The script notes the rank before it looks at the score, so it skips a second line of this rank."""
    path = write("run.txt", f"1 PRO {A} 1 5 mine\n1 PRO {B} 2 {score} mine\n1 PRO {C} 2 4 mine\n")
    lines, skipped = counted(run := read_script_lines(path), RULE)
    assert lines.line_numbers.tolist() == [1]
    assert [error.line for error in (*run.unread, *skipped)] == [2, 3]
    assert "rank 2 comes after rank 2" in str(skipped[-1])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"1 PRO {D} 11 1 mine", "rank 11"),
        (f"1 PRO {D} 3 1 mine", "rank 3 comes after rank 3"),
        (f"1 PRO {D} 4 9 mine", "score 9"),
        (f"1 PRO {D} 4 1e-3 mine", "'1e-3'"),
        (f"1 FIRST {D} 4 1 mine", "'FIRST'"),
        (f"3 PRO {D} 4 1 mine", "'3'"),
        (f"1 PRO {D}00000000 4 1 mine", f"'{D}00000000'"),
        (f"1 PRO {D} 4 1", "5 columns"),
        (f"1 PRO {D} 4 1 of mine", "7 columns"),
    ],
)
def test_a_skipped_line_is_a_warning_and_a_breach_and_does_not_change_the_score(
    task: Task, write: Write, touche: Touche, line: str, reason: str
) -> None:
    second = line.replace(" 4 ", " 5 ")  # its rank is larger, because some skipped lines take theirs
    path = write("run.txt", f"{RUN}{line}\n{second}\n")
    assert values(path, write, task) == pytest.approx([3 / 20, 2 / 20, 1 / 20])
    code, _, err = touche("evaluate", path, "--task", "mine")
    (warning,) = [text for text in err.splitlines() if "skips" in text]
    assert code == 0 and f"2 lines, first {path}:5: " in warning and reason in warning
    code, out, _ = touche("lint", path, "--task", "mine", "--format", "json")
    errors = [finding for finding in json.loads(out) if finding["severity"] == "error"]
    assert code == 1 and errors[0]["line"] == 5 and reason in errors[0]["message"]


@pytest.mark.parametrize(
    ("name", "content", "place", "word"),
    [
        ("run.txt", f"1 Q0 {A} 1 1 mine\n1 Q0 {B} 2 1 mine\n", ":1", "'Q0'"),
        ("run.txt", f"1 FIRST {A} 1 1 mine\n1 NO {B} 2 1 mine\n", ":1", "'FIRST'"),
        ("run.txt", f"1 PRO {A}00000000 1 1 mine\n", ":1", "form"),
        ("run.txt", f"1 PRO {A} 11 1 mine\n", ":1", "11"),
        ("run.txt", f"1 {A} 1 1 mine\n", ":1", "5 columns instead of 6; write: topic stance "),
        ("run.txt", f"{RUN}1 CON {A} 2 0.1 mine\n", ":5", A),
        ("run.txt", f"7 PRO {A} 1 1 mine\n", ":1", "'7'"),
        ("qrels/mine.qrels", QRELS.replace("ONTOPIC", "PRO"), ":2", "two grades"),
        ("qrels/mine.qrels", re.sub(".*ONTOPIC.*\n", "", QRELS), "", "ONTOPIC"),
        ("qrels/mine.qrels", QRELS.replace("PRO", "FIRST"), ":2", "'FIRST'"),
        ("qrels/mine.qrels", f"{QRELS}2 CON {A} 0.5\n", ":12", "'0.5'"),
        ("qrels/mine.qrels", f"{QRELS}2 CON {A} 3\n", ":12", "3"),
        ("qrels/mine.qrels", f"{QRELS}2 CON {A}00000000 1\n", ":12", "form"),
        ("qrels/mine.qrels", f"{QRELS}2 CON {D} 0\n", ":12", D),
        ("qrels/mine.qrels", f"{QRELS}2 0 {D} 0\n", ":12", "'0'"),
    ],
)
def test_an_unusable_run_or_unusable_judgments_give_no_score(
    task: Task, write: Write, touche: Touche, name: str, content: str, place: str, word: str
) -> None:
    run = write("run.txt", RUN)
    path = write(name, content)
    code, out, err = touche("evaluate", run, "--task", "mine")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"touche: {path}{place}: ") and word in err


def test_a_run_in_memory_has_the_same_scores(task: Task, write: Write) -> None:
    path = write("run.txt", RUN)
    run = read_run(path)
    for form in (run, run.frame(), run.frame("ir_measures")):
        table = package.evaluate({"mine": form}, "mine")
        assert [score.mean for score in table] == [score.mean for score in package.evaluate(path, "mine")]
    assert [score.measure for score in table] == [f"{name}P@10" for name in task.qrels]
    (only,) = package.evaluate(path, "mine", measure="argumentativenessP@10")
    assert (only.dimension, only.mean) == ("argumentativeness", 0.1)
    (by_other_qrels,) = package.evaluate(
        path, "mine", measure="stanceRelevanceP@10", qrels=write("other.qrels", QRELS.replace(A, D))
    )
    assert by_other_qrels.mean == 0
    separated_tag = Run.of(replace(line, tag="a\x85b") for line in run)  # not by a line feed
    assert package.evaluate(separated_tag, "mine")[0].mean == table[0].mean


@pytest.mark.parametrize(
    ("measure", "problem"), [("stanceRelevanceP@10", "image retrieval"), ("nDCG@5", "second time")]
)
def test_another_task_has_none_of_these_measures(write: Write, measure: str, problem: str) -> None:
    with pytest.raises(ToucheError, match=problem):
        package.evaluate(write("run.txt", RUN), "spot-check/arguments", measure=measure)


def test_runs_are_compared_by_the_only_evaluator(task: Task, write: Write) -> None:
    other = write("other.txt", f"1 CON {A} 1 1 other\n2 CON {A} 1 1 other\n")
    mine = write("run.txt", f"{RUN}2 PRO {A} 1 1 mine\n")
    comparison = package.compare([mine, other], "mine", measure="topicRelevanceP@10")[0]
    assert (comparison.mean_a, comparison.mean_b, comparison.evaluator) == (0.1, 0.05, "touche")
    overlaps = package.overlap([mine, other], "mine")
    assert [overlap.measure for overlap in overlaps] == [f"{name}P@10" for name in task.qrels]
    assert overlaps[0].mean_a - overlaps[0].mean_b == pytest.approx(0.05)
    row = package.wide([mine, other], "mine")[0]
    assert row.run == "mine" and next(iter(row.scores.values())).value == pytest.approx(0.1)


def test_each_stance_of_a_topic_is_fused_on_its_own(write: Write, tmp_path: Path) -> None:
    """A is first in both rankings of one run, and last for CON in the other."""
    one = write("one.txt", f"1 PRO {A} 1 2 one\n1 PRO {B} 2 1 one\n1 CON {A} 1 2 one\n1 CON {C} 2 1 one\n")
    two = write("two.txt", f"1 PRO {A} 1 2 two\n1 CON {C} 1 3 two\n1 CON {D} 2 2 two\n1 CON {A} 3 1 two\n")
    fused = package.fuse([one, two], "combsum", output=tmp_path / "fused")
    lines = [(line.topic, line.stance, line.document, line.rank) for line in fused]
    assert lines[:2] == [("1", "PRO", A, 1), ("1", "PRO", B, 2)]
    assert {line[2] for line in lines if line[1] == "CON"} == {A, C, D}
    assert read_run(tmp_path / "fused" / "run.txt") == fused
    (overlap,) = package.overlap([one, two])
    assert overlap.topics == 2


def test_ranks_that_do_not_begin_again_do_not_make_rankings_of_stances(write: Write) -> None:
    run = read_run(write("run.txt", f"1 PRO {A} 1 2 mine\n1 CON {B} 2 1 mine\n"))
    assert not run.ranks_stances and read_run(write("both.txt", RUN)).ranks_stances
    with pytest.raises(ToucheError, match="second time"):
        read_run(write("twice.txt", f"1 PRO {A} 1 2 mine\n1 CON {A} 2 1 mine\n"))


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ('rankings = "topic and stance"\n', "", "questions"),
        ('question = "stanceRelevance"\n', "", "questions"),
        ("[0-9a-f]", "[0-9a-f", "regular expression"),
        ('stances = ["PRO", "CON"]\n', "", "stances"),
    ],
)
def test_a_card_with_a_contradiction_is_refused(write: Write, before: str, after: str, word: str) -> None:
    with pytest.raises(ToucheError, match=word):
        read_card(write("mine.toml", CARD.replace(before, after)))


def test_tira_has_no_stances(tmp_path: Path, touche: Touche) -> None:
    code, _, err = touche("tasks", "tira", "spot-check/images", "-o", tmp_path / "new")
    assert code == 2 and "stance" in err and not (tmp_path / "new").exists()
