import json
from dataclasses import replace
from pathlib import Path

import pytest

import touche as package
from conftest import Touche, Write
from spotcheck import BEST, SPOT, made_up, run_of, run_text, scored_in
from touche.errors import ToucheError
from touche.evaluation.comparison import Comparison, comparisons, conclusions
from touche.trec.columns import Run, RunLine
from touche.trec.runs import read_run


@pytest.fixture
def runs(write: Write) -> list[Path]:
    """The best run, one that lacks two topics, and one that lacks another."""
    chosen = {"all": BEST, "two": ["11", "12"], "three": ["12", "13", "14"]}
    return [write(f"{name}.txt", run_text(topics, tag=name)) for name, topics in chosen.items()]


def test_every_two_runs_are_compared(runs: list[Path]) -> None:
    scored = scored_in(runs, SPOT, ["trec_eval"], measure="nDCG@5")
    compared = comparisons(scored, SPOT, randomisation=True)
    names = [("all", "two"), ("all", "three"), ("two", "three")]
    assert [(comparison.run_a, comparison.run_b) for comparison in compared] == names
    outcomes = [(2, 0, 2, 4), (1, 0, 3, 4), (1, 2, 1, 4)]
    assert [
        (comparison.won, comparison.lost, comparison.tied, comparison.topics) for comparison in compared
    ] == outcomes
    assert [comparison.difference for comparison in compared] == pytest.approx([0.5, 0.25, -0.25])
    first = compared[0]
    assert (first.mean_a, first.mean_b, first.low, first.high) == pytest.approx((1, 0.5, 0, 1))
    assert (first.p_randomisation, first.p_randomisation_holm) == (0.5, 1.0)
    assert first.p_t_test == pytest.approx(0.18169, abs=1e-5)  # t = 0.5 / (0.57735 / 2) = 1.7321, 3 degrees
    assert first.p_t_test_holm == pytest.approx(3 * first.p_t_test)
    assert first.effect_size == pytest.approx(0.86603, abs=1e-5)


def test_with_the_organizers_evaluator_only_shared_topics_count(runs: list[Path]) -> None:
    compared = comparisons(scored_in(runs, SPOT, ["touche"], measure="nDCG@5"), SPOT)
    first, other = compared
    assert [(comparison.run_a, comparison.run_b) for comparison in (first, other)] == [
        ("all", "two"),
        ("all", "three"),
    ]
    assert [*compared.warnings] == [
        "two and three are not compared in relevance by touche: 1 topic is scored for both, "
        "but a test needs 2"
    ]
    assert (first.topics, first.tied, first.p_t_test, first.effect_size) == (2, 2, 1.0, 0.0)


def test_the_largest_differences_come_first_with_their_titles(runs: list[Path]) -> None:
    differences = package.compare(runs[1:], SPOT.id).per_topic
    expected = [("11", 1), ("13", -1), ("14", -1), ("12", 0)]
    assert [(difference.topic, round(difference.difference)) for difference in differences] == expected
    assert all(difference.title.endswith("?") for difference in differences)


def test_a_slice_has_only_the_topics_of_its_pairs(runs: list[Path]) -> None:
    compared = package.compare(runs, "spot-check/passages", measure="nDCG@5")
    pairs = [(row.run_a, row.run_b) for row in compared]
    assert [*dict.fromkeys((row.run_a, row.run_b) for row in compared.per_topic)] == pairs
    assert {(row.run_a, row.run_b) for row in compared[1:2].per_topic} == {pairs[1]}
    assert len(compared[:0].per_topic) == 0 and [row.topics for row in compared] == [4, 4, 4]


def test_one_common_topic_is_shown_but_not_tested(touche: Touche, runs: list[Path]) -> None:
    command = "compare", *runs[1:], "--task", "spot-check/passages", "--evaluator", "touche"
    code, out, _ = touche(*command, "--per-topic", "--format", "json")
    assert (code, [row["topic"] for row in json.loads(out)]) == (0, ["12"])
    code, _, err = touche(*command)
    assert code == 2 and "nothing to compare: two and three are not compared" in err
    assert len(package.compare(runs[1:], "spot-check/passages", "touche").per_topic) == 1
    whole = package.compare(runs, "spot-check/passages", "touche")
    assert ("two", "three") in {(row.run_a, row.run_b) for row in whole.per_topic}


def test_a_reference_in_memory_is_found_among_runs_that_are_read_once(
    runs: list[Path], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = package.run_of(runs[0])
    read = []
    monkeypatch.setattr(
        "touche.trec.run_forms.read_run", lambda path, content: read.append(path) or read_run(path, content)
    )
    package.compare(runs, "spot-check/passages", reference=reference)
    assert read == runs
    with pytest.raises(ToucheError, match=r"notes\.txt is not a run"):
        package.compare([*runs, write("notes.txt", "mine\n")], "spot-check/passages", reference=reference)


def test_a_copy_of_an_image_run_is_found_although_its_stances_have_rankings() -> None:
    run = package.run("minsc", "spot-check/images")
    lower = Run.of([replace(line, rank=line.rank - 1) for line in run if line.rank > 1], "lower")
    unknown = RunLine(topic="999", stance="PRO", document="I1", rank=1, score=1, tag=run.tag)
    run = Run.of([*run, unknown])  # a line that the organizers' script skips
    for reference in (run.frame(), Run.of([*run], "copy")):
        compared = package.compare({"mine": run, "lower": lower}, "spot-check/images", reference=reference)
        assert {(row.run_a, row.run_b) for row in compared} == {("lower", "mine")}


def test_one_run_cannot_be_compared(runs: list[Path]) -> None:
    with pytest.raises(ToucheError, match="at least two runs"):
        comparisons(scored_in(runs[:1], SPOT, ["trec_eval"], measure="nDCG@5"), SPOT)


def test_a_task_without_published_topic_values_has_nothing_to_compare(
    touche: Touche, runs: list[Path]
) -> None:
    code, out, err = touche("compare", runs[0], "--task", "spot-check/passages", "--published")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "nothing to compare; pass runs of" in err and "touche-2022-task-2" in err


def test_an_interval_that_ends_at_0_but_for_rounding_does_not_exclude_it() -> None:
    """Both runs have the mean 1/2: differences of 1/3, 1/3 and -2/3 add up to 0 only without rounding."""
    thirds = {"1": (2 / 3, 1 / 3), "2": (1.0, 2 / 3), "3": (1 / 3, 1.0)}
    qrels = {topic: {f"r{number}": 1 for number in range(3)} for topic in thirds}
    runs = {
        name: {
            topic: {
                (f"r{rank}" if rank < round(3 * values[side]) else f"x{rank}"): -rank for rank in range(3)
            }
            for topic, values in thirds.items()
        }
        for side, name in enumerate("ab")
    }
    compared = package.compare(runs, qrels=qrels, measure="P@3")
    (comparison,) = compared
    assert (comparison.difference, comparison.won, comparison.lost) == (0.0, 2, 1)
    assert "a and b have the same mean" in compared.notes[0]
    ends = {comparison.low, comparison.high}
    assert all(end == 0 or abs(end) > 1e-9 for end in ends)
    for low, excludes in ((0.0, False), (1e-4, True)):
        (sentence,) = conclusions([replace(comparison, low=low, high=0.1, difference=0.05, p_t_test=0.04)])
        assert ("the interval excludes 0" in sentence) == excludes


def test_a_reference_at_a_path_is_this_file_and_not_a_run_with_this_tag(
    touche: Touche, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file bm25 has another tag, and the tag of another file is bm25."""
    monkeypatch.chdir(write("q.qrels", "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 b 0\n").parent)
    for path, tag, first in (("y", "bm25", "b"), ("z", "z", "b"), ("bm25", "x", "a")):
        write(path, run_of(f"1 {first}", f"2 {first}", tag=tag))
    runs = ("y", "z", "bm25")
    scoring = ("--qrels", "q.qrels", "--measure", "P@1")
    for reference in ("./bm25", "bm25", "x"):
        _, compared, _ = touche("compare", *runs, *scoring, "--reference", reference, "--format", "json")
        assert [(row["run_a"], row["run_b"], row["mean_b"]) for row in json.loads(compared)] == [
            ("y", "x", 1.0),
            ("z", "x", 1.0),
        ]
        _, wide, _ = touche("evaluate", *runs, *scoring, "--reference", reference)
        assert "significantly different from x" in wide
        code, out, err = touche("report", *runs, *scoring, "--reference", reference, "-o", "page")
        assert code == 0, out + err
        assert "the report's reference, A x (" in Path("page/index.html").read_text()
    write("w", run_of("1 a", "2 a", tag="x"))
    code, _, err = touche("compare", *runs, "w", *scoring, "--reference", "x")
    assert code == 2 and "2 runs have the tag 'x'; pass a path, such as bm25" in err


def test_a_reference_without_stances_is_compared_only_by_its_rankings(write: Write) -> None:
    ranked = run_text(["11", "12"], tag="with").replace(" Q0 ", " NO ")
    runs = [write("with.txt", ranked), write("none.txt", run_text())]
    compared = package.compare(runs, "spot-check/passages", reference=runs[1])
    assert {comparison.dimension for comparison in compared} == {"relevance"}


def test_with_a_reference_each_other_run_is_compared_with_it_and_the_correction_is_for_these(
    touche: Touche, runs: list[Path]
) -> None:
    command = (
        "compare",
        *runs,
        "--task",
        "spot-check/passages",
        "--measure",
        "nDCG@5",
        "--format",
        "json",
        "--reference",
    )
    for reference in ("two", runs[1]):  # tag, path
        rows = json.loads(touche(*command, reference)[1])
        differences = [("all", "two", 0.5), ("three", "two", 0.25)]
        assert [(row["run_a"], row["run_b"], row["difference"]) for row in rows] == differences
        assert rows[0]["p_t_test_holm"] == 2 * rows[0]["p_t_test"]  # the other difference is larger
    topics = json.loads(touche(*command, "two", "--per-topic")[1])
    assert {(row["run_a"], row["run_b"]) for row in topics} == {("all", "two"), ("three", "two")}
    code, _, err = touche(*command, "tow")
    assert code == 2 and "no run is called 'tow'" in err and "two" in err.partition(";")[2]


def test_significance_is_by_the_corrected_t_test_alone(
    touche: Touche, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand, of 8 topics: A is right on all, B on the first two, C on the first alone.

    A - B is 0 twice and 1 six times: t = 0.75 / (0.4629 / sqrt 8) = 4.583 with 7 degrees, p = 0.0025; A - C
    has t = 7 and p = 0.0002. B - C is 1 once: t = 1, p = 0.3506, no finding with any correction.
    """
    numbers = [str(number) for number in range(1, 9)]
    task = made_up(write, monkeypatch, topics=tuple(numbers), relevance="a")
    right = {"A": 8, "B": 2, "C": 1}
    runs = [
        write(f"{tag}.txt", run_of(*(f"{n} {'a' if int(n) <= upto else 'x'}" for n in numbers), tag=tag))
        for tag, upto in right.items()
    ]
    compared = comparisons(scored_in(runs, task, ["trec_eval"]), task)
    assert [comparison.p_t_test for comparison in compared] == pytest.approx(
        [0.0025, 0.0002, 0.3506], abs=5e-5
    )
    assert [comparison.p_t_test_holm for comparison in compared] == pytest.approx(
        [0.0051, 0.0006, 0.3506], abs=5e-5
    )
    assert [comparison.significant for comparison in compared] == [True, True, False]
    assert {comparison.p_randomisation for comparison in compared} == {None}
    command = "compare", *runs, "--qrels", write("relevance.qrels", "".join(f"{n} 0 a 1\n" for n in numbers))
    rows = touche(*command)[1].splitlines()[:4]
    assert "  p t  Holm t    won" in rows[0] and [" * " in row for row in rows] == [
        False,
        True,
        True,
        False,
    ]
    randomised = touche(*command, "--randomisation")[1].splitlines()
    assert "p rand.  Holm rand." in randomised[0] and " 0.0312 " in randomised[1]  # 2 of 64 signs of 6 topics
    assert randomised[6].startswith("* significant: corrected p of")


def test_scores_that_differ_by_rounding_errors_are_ties_everywhere(touche: Touche, write: Write) -> None:
    """AP of A is (1/2 + 2/4 + 3/6) / 3, of B (1/2 + 2/3 + 3/9) / 3: both 1/2, but not in floating point."""
    topics = range(1, 11)
    qrels = write("q.qrels", "".join(f"{topic} 0 {id} 1\n" for topic in topics for id in "abc"))
    rankings = {"A": "u a v b w c x y z", "B": "u a b v w x y z c"}
    runs = [
        write(f"{tag}.txt", run_of(*(f"{topic} {ranking}" for topic in topics), tag=tag))
        for tag, ranking in rankings.items()
    ]
    scoring = {"qrels": qrels, "measure": "AP"}
    (compared,) = package.compare(runs, randomisation=True, **scoring)
    assert (compared.won, compared.lost, compared.tied) == (0, 0, 10)
    assert (compared.difference, compared.p_t_test, compared.p_randomisation) == (0.0, 1.0, 1.0)
    assert not compared.significant and compared.effect_size == 0.0
    assert {row.difference for row in package.compare(runs, **scoring).per_topic} == {0.0}
    assert "†" not in package.wide(runs, reference="A", **scoring).markdown().partition("\n\n")[0]
    out = touche("compare", *runs, "--qrels", qrels, "--measure", "AP")[1]
    assert out.endswith("\nAP, q: A and B have the same mean; all 10 topics are ties\n")


def test_equal_differences_have_no_t_test_and_the_table_says_why(touche: Touche, write: Write) -> None:
    qrels = write("q.qrels", "".join(f"{topic} 0 {id} 1\n" for topic in range(4) for id in "ab"))
    runs = [
        write(f"{tag}.txt", run_of(*(f"{topic} {first}" for topic in range(4)), tag=tag))
        for tag, first in (("A", "x"), ("B", "a"))
    ]
    command = "compare", *runs, "--qrels", qrels, "--measure", "P@1", "--randomisation"
    row, _, *notes = touche(*command)[1].splitlines()[1:]
    assert " -1.000  –    –       –   0.1250 " in row and "*" not in row
    assert "– in d, p t, Holm t: all topics differ by the same amount" in notes
    sentence = (
        "P@1, q: A is 1.000 below B; all topics differ by the same amount, so the paired t-test is undefined"
    )
    assert notes[-1] == sentence
    wide = package.wide(runs, qrels=qrels, measure="P@1", reference="B")
    assert "†" not in wide.markdown().partition("\n\n")[0] and sentence in wide.warnings


NOTHING = "not significant, p 0.6000 after Holm's correction for all 2; the test says nothing about smaller"
NOT_SIGNIFICANT = Comparison(
    run_a="A",
    run_b="B",
    path_a="a.txt",
    path_b="b.txt",
    dataset="made-up",
    task="t",
    dimension="relevance",
    qrels="q",
    measure="nDCG@5",
    evaluator="touche",
    mean_a=0.5,
    mean_b=0.4,
    difference=0.1,
    low=-0.1,
    high=0.3,
    p_t_test=0.3,
    p_t_test_holm=0.6,
    tied=0,
    topics=50,
    family="all 2",
)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, f"A is 0.100 above B; {NOTHING} differences"),
        ({"p_t_test_holm": 0.01, "significant": True}, "B; significant, p 0.0100 after Holm's correction"),
        ({"low": 0.01, "p_t_test": 0.04}, "; the interval excludes 0 because it is not corrected"),
        (
            {"low": 0.01, "p_t_test": 0.06},
            "; the interval excludes 0 because the bootstrap makes it narrower",
        ),
        ({"difference": -0.0004}, f"A is less than 0.001 below B; {NOTHING}"),
        ({"difference": 1e-17}, f"A and B have the same mean; {NOTHING}"),
        ({"results": 90, "p_t_test": None}, "stances have no test, and the 95% interval contains 0"),
    ],
)
def test_a_sentence_says_what_a_comparison_shows(values: dict[str, float | None], sentence: str) -> None:
    other = replace(NOT_SIGNIFICANT, dimension="quality")
    first, second = conclusions([replace(NOT_SIGNIFICANT, **values), other])  # type: ignore[arg-type]
    assert first.startswith("nDCG@5, relevance: A ") and sentence in first
    assert second.startswith(f"nDCG@5, quality: A is 0.100 above B; {NOTHING}")
