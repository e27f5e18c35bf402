"""The functions of the library: each returns what its command prints, for runs in any form."""

import dataclasses
import hashlib
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import touche as package
from conftest import ROOT, Write
from spotcheck import run_text
from touche.errors import ToucheError
from touche.trec.qrels import Qrels

TASK = "spot-check/passages"
pytestmark = pytest.mark.filterwarnings("ignore:.*and count as wrong")  # runs without stances


@pytest.fixture
def runs(write: Write) -> list[Path]:
    return [write("a.txt", run_text(tag="a")), write("b.txt", run_text(["11", "12"], tag="b"))]


def test_a_named_file_is_recorded_as_it_is_and_not_overwritten(runs: list[Path], tmp_path: Path) -> None:
    named = {"mine": runs[0], "theirs": str(runs[1]), "third": package.run_of({"11": {"d1": 1.0}})}
    package.fuse(named, output=tmp_path / "out")
    metadata = (tmp_path / "out" / "ir-metadata.yml").read_text(encoding="utf-8")
    for path in runs:
        assert f"{path.name}:\n      md5: {hashlib.md5(path.read_bytes()).hexdigest()}" in metadata
    third = hashlib.md5(named["third"].called("third").text().encode()).hexdigest()
    assert f"third:\n      md5: {third}" in metadata
    input = runs[0].rename(tmp_path / "run.txt")
    lines = input.read_text(encoding="utf-8")
    with pytest.raises(ToucheError, match="it would overwrite"):
        package.fuse({"mine": input, "theirs": runs[1]}, output=tmp_path)
    assert input.read_text(encoding="utf-8") == lines


def test_topics_without_judgments_do_not_count() -> None:
    run = {topic: {"a": 1.0} for topic in "123"}
    qrels = package.qrels_of({topic: {"a": 1} for topic in "12"})
    scores = package.evaluate(run, qrels=Qrels(qrels | {"3": {}}), measure="P@1")
    assert (scores[0].topics, scores[0].mean) == (2, 1.0)
    with pytest.raises(ToucheError, match="no judgments"):
        package.evaluate(run, qrels=Qrels({"3": {}}), measure="P@1")


def test_a_run_passed_twice_is_refused_and_others_of_its_name_are_numbered(runs: list[Path]) -> None:
    read = package.run_of(runs[0])
    for twice in ([runs[0], str(runs[0])], [read, read]):
        for function in (package.fuse, lambda both: package.evaluate(both, TASK)):
            with pytest.raises(ToucheError, match="passed twice"):
                function(twice)
    for named in ({1: runs[0], "1": runs[1]}, {"a": read, "a ": runs[1]}, {"a": read, "./a": runs[1]}):
        for function in (package.fuse, package.wide):
            with pytest.raises(ToucheError, match=r"^(1|a): passed twice"):
                function(named)
    part = dataclasses.replace(read.take(range(0, len(read), 2)), path=runs[0])
    assert package.overlap([part, runs[0]])[0].rbo == pytest.approx(package.overlap([runs[0], part])[0].rbo)
    assert package.overlap([part, runs[0]])[0].rbo < 0.99
    first, second = (package.fuse(runs, weights=weights) for weights in ([1, 0], [0, 1]))
    assert first.path == second.path
    assert package.overlap([first, second])[0].rbo == pytest.approx(package.overlap(runs)[0].rbo)
    assert len(package.evaluate([first, second], TASK, "trec_eval").frame()["run"].unique()) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: package.fuse([run, run.frame()], tag="my run"), "the tag 'my run'"),
        (lambda run: package.fuse([run, run.frame()], depth="5"), "depth = '5'"),
        (lambda run: package.fuse([run, run.frame()], depth=2.7), "depth = 2.7 is not a whole number"),
        (lambda run: package.fuse([run, run.frame()], depth=True), "depth = True is not a whole number"),
        (lambda run: package.report(run, TASK, output=5), "output = 5; pass a name or a path"),
        (lambda run: package.fuse([run, run.frame()], method=None), "no method None"),
        (lambda run: package.evaluate(package.Run.of([]), TASK), "empty"),
        (lambda run: package.evaluate(run, 5), "no task 5"),
        (lambda run: package.evaluate(run, __file__), "several runs as a list"),
        (lambda run: package.overlap(run), "at least two runs"),
        (lambda run: package.overlap([run, run], TASK, baseline=run), "pass two runs, two baselines"),
        (lambda run: package.fuse([run, run.frame()], weights="0.7,0.3"), "a list of numbers"),
        (lambda run: run.frame("ir_measure"), "'ir_measure'; did you mean ir_measures"),
        (lambda run: package.qrels_of({"1": {"a": 1}}).frame("bogus"), "no set of column names 'bogus'"),
        (lambda run: package.evaluate(run, TASK, measure=""), "measure ''"),
        (lambda run: package.evaluate(run, TASK, measure=["AP", ""]), "measure ''"),
        (lambda run: package.compare([run, run.frame()], TASK, measure=""), "measure ''"),
        (lambda run: package.evaluate(run, TASK, measure="macro F1").per_topic, "no scores of topics"),
        (lambda run: package.evaluate({"mine": run, "theirs": run}, TASK), "passed twice"),
        (lambda run: package.evaluate({"": run}, TASK), "'' is not the name of a run"),
        (lambda run: package.evaluate({}, TASK), "the run is empty"),
        (lambda run: package.evaluate({"1": 0.5}, TASK), "topic '1' has 0.5"),
        (lambda run: package.evaluate({"mine": run, "1": {"a": 0.5}}, TASK), "topic 'a' has 0.5"),
        (lambda run: package.evaluate({"mine": run, "theirs": 5}, TASK), "5 is not a run"),
        (lambda run: package.evaluate(package.evaluate(run, TASK), TASK), "is not a run"),
        (lambda run: package.wide(run, TASK, reference=run, every_two=True), "exclude each other"),
        (lambda run: package.lint(run, TASK, teams="Katana"), "teams = 'Katana'"),
        (lambda run: package.lint(run, TASK, teams=["a", "b"]), "2 teams passed for 1 run"),
        (lambda run: package.lint(run, TASK, teams={"Katana": "x-*"}), "no run matches 'x-"),
        (lambda run: package.sweep("bm25", TASK, {}, measure=""), "measure ''"),
        (lambda run: package.sweep("bm25", TASK, {}, measure="AP,"), "measure ''"),
        (lambda run: package.sweep("bm25", TASK, {}, task=""), "no task ''"),
        (lambda run: package.evaluate(run, TASK, qrels=""), "no such file of qrels"),
        (lambda run: package.wide([run, run.frame()], TASK, reference=""), "no run is called ''"),
        (lambda run: package.run(None, TASK), "baseline = None"),
        (lambda run: package.lint(run, None), "no dataset None"),
        (lambda run: package.report(run, output="out", all_published=True), "allows no runs"),
        (lambda run: package.run("bm25", package.task(TASK)), "dataset = spot-check/passages: Spot"),
        (
            lambda run: package.evaluate(dataclasses.replace(run, scores=run.scores * np.nan), TASK),
            "nan is not",
        ),
    ],
)
def test_what_the_library_cannot_use_is_an_error(runs: list[Path], call: Any, message: str) -> None:
    with pytest.raises(ToucheError, match=message):
        call(package.run_of(runs[0]))


def test_a_task_has_its_data_as_records_and_as_frames() -> None:
    task = package.task(TASK)
    pairs = [[topic.number, topic.title] for topic in task.topics]
    assert task.topics.frame()[["qid", "query"]].values.tolist() == pairs
    assert task.topics[2:4].frame("ir_measures")[["query_id", "text"]].values.tolist() == pairs[2:4]
    with pytest.raises(ToucheError, match="is no set of column names 'qid'"):
        task.topics.frame("qid")
    assert sorted(task.qrels) == sorted(task.card.qrels) and "relevance" in task.qrels
    qrels = task.qrels["relevance"]
    assert len(qrels.frame()) == sum(map(len, qrels.values())) > 0
    documents = [document.id for document in task.documents]
    assert task.documents.frame()["id"].tolist() == documents and len(documents) > 9
    assert package.task("touche-2022-task-1").published.frame().shape[0] == 123
    assert task.qrels.get("relevanc") is None and task.qrels.get("relevance") == qrels
    with pytest.raises(KeyError) as caught:
        task.qrels["relevanc"]
    assert str(caught.value).startswith(f"{TASK} has no dimension 'relevanc'; did you mean relevance")
    with pytest.raises(ToucheError, match="no task 'nothing'"):
        package.task("nothing")


def test_published_results_are_selected_by_the_library() -> None:
    results = package.published("touche-2022-task-2")
    groups = [group for group in results.by_kind.values() for _ in group]
    assert len(groups) == len(results) and [*results.by_kind][-1][0] == "stance"
    assert {row.is_shortlisted for row in results.shortlist} == {True} and len(results.shortlist) < len(
        results
    )
    every = package.published_topics("touche-2021-task-1")
    ours = package.published_topics("touche-2021-task-1", only_baselines=True)
    assert {value.row.baseline for value in every} == {True, False}
    assert {value.row.baseline for value in ours} == {True}
    team = package.published_topics("touche-2021-task-1", team="Elrond")
    assert list(team) == [value for value in every if value.row.team == "Elrond"]
    with pytest.raises(ToucheError, match="'Elron'; did you mean Elrond"):
        package.published_topics("touche-2021-task-1", team="Elron")


def test_a_table_is_a_list_and_only_its_frame_has_columns(runs: list[Path]) -> None:
    table = package.evaluate(runs, TASK, "trec_eval", measure="nDCG@5")
    assert table.frame()["mean"].tolist() == [score.mean for score in table] and table[:1][0] == table[0]
    assert table[np.int64(0)] == table[0] == table[-len(table)]
    part = table[1:]
    assert isinstance(part, package.Table) and [*part] == [*table][1:] and len(part.frame()) == len(table) - 1
    for result, column in ((table, "mean"), (package.run_of(runs[0]), "docno")):
        assert column in result.frame()
        with pytest.raises(TypeError):
            result[column]
        assert not hasattr(result, column) and not hasattr(result, "to_csv")
    findings = package.lint({"mine": {"1": {"no-such-document": 1.0}}}, TASK)
    assert type(findings[:1]) is type(findings) and len(findings[:1]) == 1
    assert table.frame().to_dict("records")[0]["tag"] == "a" and next(iter(table.frame().columns)) == "run"
    assert "<table" in table._repr_html_() and repr(table).startswith("run  dimension  evaluator  nDCG@5")


def test_a_reference_is_a_path_or_an_equal_run_whatever_its_name(
    runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs[0].parent)
    expected = [*package.compare(runs, TASK, reference=runs[1])]
    for path in ("b.txt", "./b.txt", Path("b.txt"), runs[1].parent / "." / "b.txt"):
        assert [*package.compare(runs, TASK, reference=path)] == expected != []
    assert [*package.compare(["a.txt", "./b.txt"], TASK, reference=runs[1])] == expected
    frames = [package.run_of(path).frame() for path in runs]
    named = package.compare({"x": runs[0], "y": frames[1]}, TASK, reference=frames[1].copy())
    assert {(row.run_a, row.run_b) for row in named} == {("x", "y")}


def test_a_reference_in_memory_is_the_run_itself_whatever_its_name() -> None:
    """Unnamed runs are numbered, so that neither their names nor their paths identify them."""
    good, bad = (package.run_of(scores) for scores in ({"11": {"d1": 2.0}}, {"11": {"d2": 1.0}}))
    qrels = {"11": {"d1": 1, "d2": 0}, "12": {"d1": 1}}
    for a, b in ((good, bad), (good.frame(), bad.frame()), (good.as_dict(), bad.as_dict())):
        tables = [package.compare([a, b], qrels=qrels, reference=one, measure="P@1") for one in (a, b)]
        assert [(row.run_a, row.run_b, row.difference) for (row,) in tables] == [
            ("run (2)", "run", -0.5),
            ("run", "run (2)", 0.5),
        ]
        copied = package.compare([a, b], qrels=qrels, reference=package.run_of(b), measure="P@1")
        assert list(copied) == list(tables[1])
        wide = package.wide([a, b], qrels=qrels, reference=b, measure="P@1")
        assert "different from run (2) by" in wide.note
    with pytest.raises(ToucheError, match="none of the runs has the same lines as the reference"):
        package.compare([good, bad], qrels=qrels, reference={"11": {"d3": 1.0}})
    with pytest.raises(ToucheError, match="2 of the runs have the same lines as the reference"):
        package.compare([good, good.as_dict()], qrels=qrels, reference=good.frame())
    with pytest.raises(ToucheError, match="no run is called ''"):
        package.compare([good, bad], qrels=qrels, reference="")


def test_intervals_do_not_depend_on_the_order_of_topics(runs: list[Path], write: Write) -> None:
    read = package.run_of(runs[0])
    qrels = package.task(TASK).qrels["relevance"]
    turned = package.Qrels({topic: qrels[topic] for topic in reversed(qrels)})
    lines = read.take(range(len(read))[::-1])
    assert [*turned] != [*qrels] and next(iter(lines.by_topic)) != next(iter(read.by_topic))
    expected = package.evaluate(read, qrels=qrels, measure="nDCG@5")
    evaluated = package.evaluate(lines, qrels=turned, measure="nDCG@5")
    assert [(score.low, score.high) for score in evaluated] == [(score.low, score.high) for score in expected]
    one = package.Qrels({"11": qrels["11"]})
    assert {score.low for score in package.evaluate(read, qrels=one, measure="nDCG@5")} == {None}


def test_values_over_different_numbers_of_documents_have_no_best_one(runs: list[Path]) -> None:
    scores = package.evaluate(runs, TASK, measure="macro F1")
    assert len({score.results for score in scores}) == 2
    wide = package.wide(runs, TASK, measure="macro F1,nDCG@5")
    of_stances, *others = ([row.scores[column] for row in wide] for column in wide.columns)
    assert not any(score.best for score in of_stances)
    assert others and all(any(score.best for score in scores) for scores in others)


def test_without_pandas_runs_are_evaluated_and_have_no_frame(
    runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = package.run_of(runs[0])
    table = package.evaluate(runs, TASK)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "nDCG@5" in repr(table) and "lines" in repr(run)
    assert [*package.evaluate([run, package.run_of(runs[1])], TASK)] == [*table]
    with pytest.raises(ToucheError, match="pandas is not installed; get it with"):
        run.frame()


def test_a_tilde_is_the_home_folder(runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    home = runs[0].parent
    monkeypatch.setenv("HOME", str(home))
    shutil.copytree(ROOT / "baselines" / "bm25", home / "mine")
    package.task(TASK).qrels["relevance"].write("~/qrels")
    package.run("~/mine", TASK, output="~/out")
    assert package.run_of("~/out/run.txt").as_dict() == package.run("bm25", TASK).as_dict()
    (score,) = package.evaluate("~/a.txt", evaluator="trec_eval", qrels="~/qrels", measure="nDCG@5")
    assert score.mean == package.evaluate(runs[0], TASK, "trec_eval", measure="nDCG@5")[0].mean
    assert package.report("~/a.txt", TASK, output="~/page") == home / "page" / "index.html"
    with pytest.raises(ToucheError, match="passed twice"):
        package.fuse(["~/a.txt", home / "a.txt"])


def test_weights_may_be_an_array(runs: list[Path]) -> None:
    expected = package.fuse(runs, weights=[0.75, 0.25])
    for kind in (np.float64, np.float32):
        assert package.fuse(runs, weights=np.array([0.75, 0.25], kind)) == expected
    for wrong in ([[0.75, 0.25]], [1.0]):
        with pytest.raises(ToucheError, match="1 weight for 2 runs"):
            package.fuse(runs, weights=np.array(wrong))


def test_every_warning_has_the_category_of_the_library(runs: list[Path], write: Write) -> None:
    other = write("c.txt", run_text(["13"], tag="c"))
    for call in (
        lambda: package.fuse([runs[0], other]),
        lambda: package.evaluate(other, TASK),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert caught
        for warning in caught:
            assert (warning.category, warning.filename) == (package.ToucheWarning, __file__)
    script = "import touche\npages = touche.task('spot-check/pages').documents\nprint(len(list(pages)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("<string>:3: ToucheWarning: skipped 2 of 64 pages")  # which is logged
    with warnings.catch_warnings(), pytest.raises(package.ToucheWarning, match="only some of the runs"):
        warnings.simplefilter("error", package.ToucheWarning)
        package.fuse([runs[0], other])


def test_results_have_a_form_for_notebooks(runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = package.sweep("bm25", TASK, {"k1": [0.6, 1.2]})
    wide = package.wide(runs, TASK, every_two=True)
    qrels = package.task(TASK).qrels["relevance"]
    for result in (sweep, qrels, package.run_of(runs[0]), package.published()):
        assert "<table" in result._repr_html_()
    row = dataclasses.replace(wide[0], run="<b>&", letter="")
    odd = dataclasses.replace(wide, records=(row,))
    assert odd._repr_html_().count("<b>") == sum(score.best for score in row.scores.values()) > 0
    assert "<td>&lt;b&gt;&amp;</td>" in odd._repr_html_() and wide._repr_html_().count("<tr>") == 3
    many = package.Qrels({str(topic): qrels["11"] for topic in range(1000)})
    assert len(many._repr_html_()) < 10_000 and len(repr(many)) < 100
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert sweep._repr_html_() is None and qrels._repr_html_() is None


def test_a_report_replaces_no_run_and_a_path_means_the_file_at_it(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("index.html", "b.txt", "c.txt")]
    for path, number in zip(paths, (1, 2, 3), strict=True):
        path.write_text(f"1 Q0 d{number} 1 1.0 tag-{number}\n")
    qrels = {"1": {"d1": 1, "d2": 0, "d3": 0}}
    in_memory = package.run_of(paths[1])
    with pytest.raises(ToucheError, match=r"index\.html: an input of this command"):
        package.report(paths, output=tmp_path, qrels=qrels, reference=in_memory)
    assert paths[0].read_text() == "1 Q0 d1 1 1.0 tag-1\n"
    renamed = {str(paths[1]): paths[0], "second": paths[1]}  # the first is called like the second's file
    wide = package.wide(renamed, qrels=qrels, reference=str(paths[0]))
    assert str(paths[1]) in wide.note
    with pytest.raises(ToucheError, match="weights = 5; pass a list"):
        package.fuse(paths, weights=5)  # type: ignore[arg-type]
