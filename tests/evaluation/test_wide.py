"""Tables with a row for each run: the best values, the marks of tests, and what LaTeX and Markdown need."""

import pytest

import touche as package
from conftest import Write
from spotcheck import run_text
from touche.errors import ToucheError
from touche.evaluation.comparison import Comparison, Comparisons
from touche.evaluation.wide import WideRow, WideScore, WideTable
from touche.tasks.measures import measures_in

TASK = "spot-check/arguments"


@pytest.fixture(scope="module")
def runs() -> list[package.Run]:
    """A good run, the same with its documents in the opposite order, and one that ranks by chance."""
    good = package.run("bm25", TASK)
    bad = package.run_of(
        {t: {d: -s for d, s in scores_of_topic.items()} for t, scores_of_topic in good.as_dict().items()}
    )
    return [good, bad.called("bad_run"), package.run("dph", TASK)]


def test_measures_are_separated_by_commas_outside_of_brackets() -> None:
    assert measures_in("nDCG(gains={1:1,2:3})@5, AP,P(rel=2)@10") == [
        "nDCG(gains={1:1,2:3})@5",
        "AP",
        "P(rel=2)@10",
    ]
    assert measures_in("AP,") == ["AP", ""] and measures_in("a),b") == ["a)", "b"]


def test_a_table_has_the_scores_of_every_measure_and_bold_best_ones(runs: list[package.Run]) -> None:
    table = package.wide(runs, TASK, "trec_eval", measure=["nDCG@5", "AP"])
    assert table.columns == ("nDCG@5", "AP") and [row.run for row in table] == [run.tag for run in runs]
    for measure in table.columns:
        means = [score.mean for score in package.evaluate(runs, TASK, "trec_eval", measure=measure)]
        scores = [row.scores[measure] for row in table]
        assert [score.value for score in scores] == means
        assert [score.best for score in scores] == [round(mean, 3) == round(max(means), 3) for mean in means]
        assert not any(score.marks for score in scores)
    assert table.frame()["AP"].tolist() == means and not table.note


def test_marks_are_the_significant_comparisons(runs: list[package.Run]) -> None:
    compared = package.compare(runs, TASK, measure="nDCG@5,AP", reference="bad_run")
    table = package.wide(runs, TASK, "trec_eval", measure="nDCG@5,AP", reference="bad_run")
    significant = {(pair.run_a, pair.measure) for pair in compared if pair.significant}
    marked = {(row.run, column) for row in table for column, score in row.scores.items() if score.marks}
    assert marked == significant != set() and "bad_run" in table.note
    every_two = package.wide(runs, TASK, "trec_eval", measure="nDCG@5", every_two=True)
    letters = {row.run: row.letter for row in every_two}
    assert list(letters.values()) == ["a", "b", "c"]
    higher = {
        (pair.run_a, pair.run_b) if pair.difference > 0 else (pair.run_b, pair.run_a)
        for pair in package.compare(runs, TASK, measure="nDCG@5")
        if pair.significant
    }
    marks = {(row.run, mark) for row in every_two for mark in row.scores["nDCG@5"].marks}
    assert marks == {(run, letters[other]) for run, other in higher} != set()
    with pytest.raises(ToucheError, match="no run is called 'nobody'"):
        package.wide(runs, TASK, reference="nobody")


def test_columns_name_what_distinguishes_them(write: Write) -> None:
    path = write("run.txt", run_text().replace(" Q0 ", " NO "))
    table = package.wide(path, "spot-check/passages")
    by_one = package.wide(path, "spot-check/passages", "trec_eval")
    assert table.columns[0] == "nDCG@5 relevance (trec_eval)" and "macro F1 stance" in table.columns
    by_trec_eval = [name.removesuffix(" (trec_eval)") for name in table.columns if "(touche)" not in name]
    assert list(by_one.columns) == by_trec_eval


def test_latex_and_markdown_escape_names_and_mark_values() -> None:
    columns = ("nDCG@5", "P(rel=2)_x")
    scores_by_run = {
        "a_b|c&d<b> [e](f) `g`": (WideScore(0.51249, True, ("†",)), WideScore(None, False, ())),
        "e": (WideScore(0.1, False, ()), WideScore(1.0, True, ())),
    }
    rows = [
        WideRow(
            run,
            team="",
            name_in_team=run,
            letter="",
            scores=dict(zip(columns, scores, strict=True)),
            is_tested=True,
        )
        for run, scores in scores_by_run.items()
    ]
    table = WideTable(WideRow, tuple(rows), columns=columns, note="† better")
    assert table.markdown().splitlines() == [
        r"| run | nDCG@5 | P(rel=2)\_x |",
        "| --- | ---: | ---: |",
        r"| a_b\|c\&d\<b> \[e\](f) \`g\` | **0.512**<sup>†</sup> | – |",
        "| e | 0.100 | **1.000** |",
        "",
        "† better",
    ]
    assert [*table[:0].frame().columns] == [*table.frame().columns] == table.names
    latex = table.latex().splitlines()
    assert latex[0] == r"\begin{tabular}{lrr}" and latex[2] == r"run & nDCG@5 & P(rel=2)\_x \\"
    name = r"a\_b\textbar{}c\&d\textless{}b\textgreater{} [e](f) `g`"
    assert latex[4] == rf"{name} & \textbf{{0.512}}$^{{\dagger}}$ & -- \\" and latex[-1] == "% † better"


def test_hundreds_of_runs_have_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than 26 + 26 * 26 runs; without the tests of 250,000 pairs."""
    none = Comparisons(Comparison, ())
    monkeypatch.setattr("touche.evaluation.wide.comparisons", lambda *args, **options: none)
    many = {f"run{number}": {"1": {"a": 1.0}} for number in range(704)}
    table = package.wide(many, qrels={"1": {"a": 1}}, measure="P@1", every_two=True)
    assert [row.letter for row in table][::701] == ["a", "zz"] and table[703].letter == "aab"
    assert table.latex().count(r" \\") == 705
