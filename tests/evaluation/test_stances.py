from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest

import touche as package
from conftest import Touche, Write, write_files
from random_examples import given, st
from spotcheck import notes_of, scored_in, table_of
from touche import tasks
from touche.errors import InputError, MissingDataError, ToucheError
from touche.evaluation.comparison import comparisons
from touche.evaluation.stances import evaluate_stances, stance_difference
from touche.tasks.cards import read_card
from touche.trec.columns import Run
from touche.trec.qrels import Qrels, read_stances
from touche.trec.runs import RunLine, read_run

LABELS = ("FIRST", "SECOND", "NEUTRAL", "NO")
TOY = "spot-check/passages"
OFFICIAL = {  # macro F1 and N of the task page
    "asuna-1": (0.106, 578),
    "captain-levi-5": (0.218, 1822),
    "grimjack-1": (0.207, 1282),
    "katana-3": (0.229, 1027),
    "puss-in-boots-1": (0.158, 1328),
}
STANCES = st.sampled_from(LABELS)
LINES = st.lists(st.tuples(st.integers(1, 4), STANCES, st.sampled_from([*LABELS, "Q0", "no"])), min_size=1)


def made_up(lines: list[tuple[int, str, str]]) -> tuple[Run, Qrels]:
    """A run and its qrels, from lines with a topic, the judged and the detected stance."""
    run = [
        RunLine(topic=str(topic), stance=said, document=f"d{n}", rank=n + 1, score=0.0, tag="tag")
        for n, (topic, _, said) in enumerate(lines)
    ]
    judged: Qrels = {}
    for line, (_, stance, _) in zip(run, lines, strict=True):
        judged.setdefault(line.topic, {})[line.document] = LABELS.index(stance)
    return Run.of(run), judged


def test_by_hand() -> None:
    """FIRST is right once of two; both NO are among three predicted; the others are never right."""
    lines = [(1, "FIRST", "FIRST"), (1, "FIRST", "NO"), (1, "NO", "no"), (2, "NO", "NO"), (2, "SECOND", "Q0")]
    run, judged = made_up(lines)
    unjudged = [
        RunLine(topic=topic, stance="NO", document="unjudged", rank=6, score=0.0, tag="tag")
        for topic in ("2", "3")
    ]
    evaluation = evaluate_stances(Run.of([*run, *unjudged]), judged | {"3": {"other": 0}}, LABELS)
    assert evaluation.results == 5 and evaluation.topics == 2
    assert evaluation.mean == pytest.approx((2 / 3 + 0 + 0 + 4 / 5) / 4)
    first = evaluation.by_class()["FIRST"]
    no = evaluation.by_class()["NO"]
    assert (first.precision, first.recall, first.documents) == (1, 1 / 2, 2)
    assert (no.precision, no.recall, no.documents) == (2 / 3, 1, 2)
    assert evaluation.totals[1] == [0, 0, 0, 0, 1]


@given(LINES)
def test_scores_are_those_of_scikit_learn(lines: list[tuple[int, str, str]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn: pip install scikit-learn")
    evaluation = evaluate_stances(*made_up(lines), LABELS)
    judged = [line[1] for line in lines]
    detected = [line[2].upper() for line in lines]
    expected = metrics.precision_recall_fscore_support(judged, detected, labels=LABELS, zero_division=0)
    classes = evaluation.by_class().values()
    columns = ("precision", "recall", "f1", "documents")
    assert np.allclose([[getattr(scores, name) for scores in classes] for name in columns], expected)
    assert evaluation.mean == pytest.approx(expected[2].mean())
    assert (
        evaluation.totals == metrics.confusion_matrix(judged, detected, labels=[*LABELS, "Q0"])[:-1].tolist()
    )


def test_the_interval_resamples_topics() -> None:
    """One topic is all right and the other all wrong; a quarter of the resamples has only one of them."""
    lines = [(topic, stance, stance if topic == 1 else "Q0") for topic in (1, 2) for stance in LABELS]
    assert evaluate_stances(*made_up(lines), LABELS).interval == (0.0, 1.0)
    assert evaluate_stances(*made_up([line for line in lines if line[0] == 1]), LABELS).interval == (
        None,
        None,
    )


def test_runs_are_compared_on_what_both_have() -> None:
    run, judged = made_up([(topic, stance, stance) for topic in (1, 2) for stance in LABELS])
    wrong = Run.of(
        RunLine(topic=line.topic, stance="Q0", document=line.document, rank=1, score=0.0, tag="other")
        for line in reversed(run[1:])
    )
    right, worse, interval = stance_difference(run, wrong, judged, LABELS)
    assert (right.results, right.mean, worse.mean) == (7, 1.0, 0.0)
    assert interval[0] > 0 and interval[1] == 1.0
    with pytest.raises(ToucheError, match="in both runs"):
        stance_difference(run[:1], wrong, judged, LABELS)


@pytest.mark.parametrize(("line", "problem"), [("1 0 d MAYBE", "MAYBE"), ("1 0 d", "columns")])
def test_a_broken_line_is_named(write: Write, line: str, problem: str) -> None:
    with pytest.raises(InputError, match=f":2: .*{problem}"):
        read_stances(write("stance.qrels", f"1 0 d0 no\n{line}\n"), LABELS)


@pytest.fixture
def runs(tmp_path: Path, touche: Touche) -> list[Path]:
    """Two runs on the toy passages: with NO on each line, and with stances by the lexicon."""
    for name in ("bm25", "stance-lexicon"):
        assert touche("run", name, "-i", TOY, "-o", tmp_path / name)[0] == 0
    return [tmp_path / name / "run.txt" for name in ("bm25", "stance-lexicon")]


def test_stance_is_a_dimension_with_a_measure_of_its_own(runs: list[Path]) -> None:
    table = table_of(runs, tasks.task(TOY), ["trec_eval"])
    scores = {(score.name, score.dimension): score for score in table}
    assert len(scores) == len(table)
    assert {score.measure for score in scores.values()} == {"nDCG@5", "macro F1"}
    no, lexicon = (scores[f"touche-{name}", "stance"] for name in ("bm25", "stance-lexicon"))
    assert no.results == lexicon.results == 111
    assert no.mean is not None and lexicon.mean is not None and lexicon.mean > no.mean
    only = scored_in(runs, tasks.task(TOY), measure="macro F1")
    assert [each.judged.dimension for each in only] == ["stance", "stance"]
    by_ap = scored_in(runs, tasks.task(TOY), measure="AP")
    assert "stance" not in {each.judged.dimension for each in by_ap}


def test_stances_are_compared_without_a_test(runs: list[Path]) -> None:
    task = tasks.task(TOY)
    compared = comparisons(scored_in(runs, task, ["trec_eval"]), task)
    (stance,) = (row for row in compared if row.dimension == "stance")
    assert stance.results == 111 and stance.p_t_test is None and stance.significant is False
    assert not compared.warnings
    assert stance.high is not None and stance.difference == pytest.approx(stance.mean_a - stance.mean_b)
    assert stance.low < stance.difference < stance.high < 0


def test_values_over_other_documents_do_not_compare(runs: list[Path]) -> None:
    shorter = [line for line in read_run(runs[1]) if line.topic != "14"]
    task = replace(tasks.task(TOY), published=tasks.task("touche-2022-task-2").published)
    both = [runs[0], Run.of(shorter, runs[1])]
    notes = notes_of(scored_in(both, task), task)
    assert any("(touche-bm25 111, touche-stance-lexicon" in text for text in notes)
    assert any("compare only equal N" in text for text in notes)


CARD = """
id = "small"
title = "Small"
url = "https://a.example"
topics = "small.xml"
measure = "P@10"
qrels.stance = { file = "s.qrels" }
qrels.relevance = { file = "r.qrels" }
corpora.full = { directory = "small" }
rules = { unit = "document", stances = ["PRO", "CON", "Q0"] }
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new task with a measure of trec_eval only; stances are judged for topic 1."""
    judgments = {"qrels/r.qrels": "1 0 a 1\n2 0 a 1\n", "qrels/s.qrels": "1 0 a PRO\n1 0 b CON\n"}
    folder = write_files(tmp_path / "data", {"tasks/small.toml": CARD, **judgments})
    monkeypatch.setenv("TOUCHE_DATA", str(folder))
    return folder


def test_a_run_without_judged_stances_keeps_its_other_scores(small: Path, write: Write) -> None:
    path = write("run.txt", "2 PRO a 1 1 t\n")
    table = table_of([path], tasks.task("small"))
    scores = {score.dimension: score for score in table}
    assert len(scores) == len(table)
    assert scores["relevance"].mean == 0.05
    assert (scores["stance"].mean, scores["stance"].results, scores["stance"].comparable) == (None, 0, False)


@pytest.mark.usefixtures("small")
def test_rankings_are_compared_by_the_chosen_evaluator_also_if_stances_come_first(write: Write) -> None:
    lines = ("1 PRO a 1 1 {0}\n2 PRO a 1 1 {0}\n", "1 CON b 1 1 {0}\n2 PRO a 1 1 {0}\n")
    runs = [write(f"{tag}.txt", text.format(tag)) for tag, text in zip("ab", lines, strict=True)]
    compared = package.compare(runs, "small", evaluator="trec_eval")
    by_dimension = {comparison.dimension: comparison.evaluator for comparison in compared}
    assert by_dimension == {"relevance": "trec_eval"}  # too few documents have a judged stance


@pytest.mark.parametrize("form", ["file", "frame"])
def test_several_numbers_are_wrong_stances_and_one_number_is_none(
    small: Path, write: Write, touche: Touche, form: str
) -> None:
    path = write("run.txt", "1 0 a 1 2 t\n1 1 b 2 1 t\n")
    if form == "frame":
        package.run_of(path).frame().to_csv(frame := path.with_name("frame.csv"), index=False)
        run = package.run_of(pandas.read_csv(frame))
        assert [line.stance for line in run] == ["0", "1"]
        run.write(path)
    code, out, err = touche("evaluate", path, "--task", "small")
    assert code == 0 and "every stance is" not in out
    assert "2 of 2 labels are not among PRO, CON, and count as wrong" in err
    (finding, other) = package.lint(path, "small")
    assert (finding.code, finding.severity, finding.line, other.line) == ("unknown-stance", "error", 1, 2)
    assert finding.message == "the task does not have the stance '0'" and "PRO or CON" in finding.remedy
    path.write_text("1 0 a 1 2 t\n1 0 b 2 1 t\n")
    assert "every stance is Q0" in touche("evaluate", path, "--task", "small")[1]
    assert not package.run_of(path).has_stances


def test_stances_of_a_run_that_only_ranks_are_not_scored(small: Path, write: Write, touche: Touche) -> None:
    path = write("run.txt", "1 Q0 a 1 1 t\n")
    code, out, err = touche("evaluate", path, "--task", "small")
    assert code == 0 and "labels" not in err and "dimension  macro F1" not in out
    assert "t: every stance is Q0; choose the measure macro F1 to score them" in out
    code, out, err = touche("evaluate", path, "--task", "small", "--measure", "macro F1")
    assert code == 0 and " stance " in out and "1 of 1 labels are not among PRO, CON" in err
    code, out, err = touche("evaluate", path, "--task", "small", "--measure", "P@10")  # the task's own
    assert code == 0 and "every stance" not in out
    one_label = write("labelled.txt", "1 PRO a 1 2 u\n1 Q0 b 2 1 u\n")
    assert " stance " in touche("evaluate", one_label, "--task", "small")[1]


def test_missing_judgments_of_stances_are_a_warning(
    small: Path, write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    (small / "qrels" / "s.qrels").unlink()
    path = write("run.txt", "1 PRO a 1 1 t\n")
    assert [each.judged.dimension for each in scored_in([path], tasks.task("small"))] == ["relevance"]
    assert "qrels/s.qrels is missing" in caplog.text
    with pytest.raises(MissingDataError):
        scored_in([path], tasks.task("small"), measure="macro F1")


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("evaluate RUN --task small --evaluator touche", "use only trec_eval"),
        ("compare RUN OTHER --task small --evaluator touche", "use only trec_eval"),
        ("evaluate RUN --task touche-2022-task-1 --measure macro_F1", "judged stances"),
        ("evaluate RUN --task small --measure macro_F1 --per-topic", "per-topic"),
        ("report RUN --task small --measure macro_F1 -o OUT", "rankings"),
        ("tasks tira small --dimension stance -o OUT", "relevance"),
        ("evaluate RUN --task small --qrels STANCE --measure P@5", "'PRO'"),
        ("evaluate RUN --qrels STANCE", "'PRO'"),
        ("evaluate RUN --qrels STANCE", "macro F1"),
        ("evaluate RUN --qrels STANCE --measure macro_F1", "pass a task"),
    ],
)
def test_what_stances_do_not_have_is_refused(
    small: Path, write: Write, touche: Touche, tmp_path: Path, command: str, word: str
) -> None:
    positions = {
        "RUN": write("run.txt", "1 PRO a 1 2 t\n1 CON b 2 1 t\n"),
        "OTHER": write("other.txt", "1 PRO a 1 2 u\n"),
        "STANCE": small / "qrels" / "s.qrels",
        "OUT": tmp_path / "out",
    }
    words = [positions.get(part, part.replace("_", " ")) for part in command.split()]
    code, _, err = touche(*words)
    assert code == 2 and word in err and "Traceback" not in err


def test_the_linter_takes_labels_in_any_case(write: Write, touche: Touche) -> None:
    assert "unknown-stance" not in touche("lint", write("run.txt", "11 no d 1 1 t\n"), "--task", TOY)[1]
    assert "unknown-stance" in touche("lint", write("run.txt", "11 maybe d 1 1 t\n"), "--task", TOY)[1]


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('"P@10"', '"macro F1"', "macro F1"),
        ('"CON"', '"con"', "upper case"),
        ('["PRO", "CON", "Q0"]', "[]", "rules.stances"),
    ],
)
def test_a_card_is_refused(write: Write, old: str, new: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        read_card(write("small.toml", CARD.replace(old, new)))


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_runs_have_their_published_scores(official: Path, name: str) -> None:
    stances = read_stances(official / "qrels/touche-task2-2022-stance.qrels", LABELS)
    run = read_run(official / "runs/touche-2022-task-2" / f"{name}.run")
    evaluation = evaluate_stances(run, stances, LABELS)
    assert evaluation.mean is not None and (round(evaluation.mean, 3), evaluation.results) == OFFICIAL[name]
