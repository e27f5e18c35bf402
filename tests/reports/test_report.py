"""The report's content and its files; tests/reports/test_browser.py opens it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from math import log2
from pathlib import Path

import pytest
from made_up_reports import Reports, published

import touche as package
from conftest import Touche, Write
from random_examples import given, st
from spotcheck import run_of, run_text
from touche import tasks
from touche.baselines.reruns import published_scores
from touche.documents.document_records import Argument, Document, Sentence
from touche.documents.pages import Page as WebPage
from touche.errors import ToucheError
from touche.evaluation.scores import Score
from touche.io import progress
from touche.reports import plots
from touche.reports.page import write as write_report
from touche.reports.report_content import published_parts
from touche.reports.report_records import Report, TaskReport
from touche.reports.texts import passage, read_texts, title_terms
from touche.tasks import Corpus, Judgments, Published, Rules

pytest_plugins = ["made_up_reports"]
SECOND = 1 / log2(3)  # the only relevant document at rank 2
ALL = ("1 a", "2 a", "3 a", "4 a")


def test_given_runs_stand_among_what_they_may_be_compared_with(part: TaskReport) -> None:
    boards = {
        view.id: [(row.name, row.kind, pytest.approx(row.value)) for row in view.board] for view in part.views
    }
    first = ("first", "given", 3 / 4)
    second = ("second", "given", (2 * SECOND + 1) / 4)
    zorro = ("Zorro", "published", 0.95)
    boots = ("Boots", "baseline", 0.75)
    assert boards["relevance-trec_eval"] == [zorro, first, boots, second]
    assert boards["relevance-touche"] == [zorro, first, second]
    assert [name for name, _, _ in boards["quality-touche"]] == ["second", "first", "Other"]
    assert [name for name, _, _ in boards["quality-trec_eval"]] == ["second", "first"]
    assert part.views[0].id == "relevance-trec_eval"  # the one with the most rows
    first_row = part.views[0].board[0]
    assert first_row.published and first_row.shown is first_row.published.row
    assert (first_row.shown.low, first_row.shown.high, first_row.shown.sources) == (0.9, 1.0, ("table 1",))
    scores = [row.shown for row in part.views[0].board if isinstance(row.shown, Score)]
    assert [score.judged for score in scores] == [7 / 8, 7 / 8]


def test_a_given_run_has_bounds_and_a_published_one_has_none(part: TaskReport) -> None:
    """Grade 1 on rank 2 of the only topic with an unjudged document, x of topic 4, would change its ideal."""
    zorro, first, *_ = part.views[0].board
    assert not isinstance(zorro.shown, Score) and isinstance(first.shown, Score)
    assert first.shown.least == pytest.approx(3 / 4)
    assert first.shown.greatest == pytest.approx((3 + SECOND / (1 + SECOND)) / 4)


def test_topics_documents_depths_and_comparisons(part: TaskReport) -> None:
    view = part.views[0]
    assert [view.spread(topic) for topic in view.topics] == pytest.approx([1 - SECOND, 1 - SECOND, 0, 0])
    (compared,) = view.comparisons
    assert (compared.run_a, compared.won, compared.lost, compared.tied) == ("first", 2, 0, 2)
    appearances = [
        (topic.document, [(p.run, p.rank, p.score) for p in topic.ranks]) for topic in part.topics["2"]
    ]
    assert appearances == [
        ("a", [("first", 1, -1.0), ("second", 2, -2.0)]),
        ("b", [("first", 2, -2.0), ("second", 1, -1.0)]),
    ]
    labels = [(topic.document, topic.labels) for topic in part.topics["4"]]
    assert labels == [("b", {"relevance": 0, "quality": 1}), ("x", {"relevance": None, "quality": None})]
    assert part.missing_texts == "Texts are not shown, because corpora/nowhere is missing."
    assert {topic.why_no_text for topic in part.topics["4"]} == {"corpora/nowhere is missing"}
    means = {
        measure: [evaluation.mean for evaluation in evaluations.values()]
        for measure, evaluations in view.depths.items()
    }
    assert means["nDCG@1"] == pytest.approx([3 / 4, 1 / 4])
    assert means["nDCG@3"] == pytest.approx([3 / 4, (2 * SECOND + 1) / 4])
    assert (part.reference, part.letters) == ("first", {"first": "A", "second": "B"})


def test_places_are_those_of_the_printed_digits(reports: Reports) -> None:
    """0.8155 is printed as 0.815 or 0.816: level with both printed values, though slightly above one."""
    value = (1 + 1 + 1 + SECOND + SECOND) / 5
    reports.task(*(published(name, round(value, 3)) for name in "AB"), published("C", 0.1), topics="12345")
    view = reports.part(run_of("1 a", "2 a", "3 a", "4 b a", "5 b a")).views[0]
    assert [row.number for row in view.board] == [1, 1, 1, 3]  # those of published runs among these


def test_a_given_run_that_is_a_published_one_stands_on_the_board_once(reports: Reports) -> None:
    """Tables print tags without quotes, or a part of them; an equal tag with another value is another run."""
    reports.task(published("Zorro", 1.0, tag="mask"), published("Boots", 0.9, tag="cat", baseline=True))
    runs = run_of(*ALL, tag='"Mask-2021"'), run_of(*ALL[:3], "4 b a", tag="cat")
    part = reports.part(*runs)
    board = [(row.number, row.name, row.published_as) for row in part.views[0].board]
    assert board == [(1, '"Mask-2021"', "Zorro"), (2, "cat", ""), (2, "Boots", "")]
    assert part.reference == "cat"  # the task's baseline by its tag, even if it is not the best
    assert reports.part(*runs, reference='"Mask-2021"').reference == '"Mask-2021"'
    with pytest.raises(ToucheError, match="no run is called 'cta'"):
        reports.part(*runs, reference="cta")


def test_a_run_that_equals_a_published_one_comes_with_the_verdict(
    touche: Touche, official: Path, tmp_path: Path
) -> None:
    """Its topic values are equal in both dimensions, which the report shows one by one."""
    run = official / "runs" / "touche-2022-task-2" / "puss-in-boots-1.run"
    code, out, _ = touche("report", run, "--task", "touche-2022-task-2", "-o", tmp_path / "page")
    page = unescape(Path(out.strip()).read_text(encoding="utf-8"))
    verdict = "BM25-Baseline, published as Puss in Boots (BM25-Baseline): 100 of 100 topic values are equal: "
    assert (
        code == 0 and page.count(f'<p class="note">{verdict}identical. On 50 topics, none of 282 pairs') == 1
    )


def test_a_run_is_the_published_one_by_every_evaluator_if_it_is_by_one(reports: Reports) -> None:
    """The table does not say by which evaluator it is; the run has another value by the other one."""
    unjudged = run_of("1 x a", *ALL[1:], tag="mask")  # 1.0 by touche
    reports.task(published("Zorro", 1.0, tag="mask"), published("Boots", 0.95, tag="cat"))
    boards = {view.evaluator: view.board for view in reports.part(unjudged).views}
    names = {
        evaluator: [(row.name, row.published_as) for row in board] for evaluator, board in boards.items()
    }
    assert names == {
        "touche": [("mask", "Zorro"), ("Boots", "")],
        "trec_eval": [("Boots", ""), ("mask", "Zorro")],
    }
    # Zorro is above Boots; the run has no place, because an eighth of its results is unjudged.
    assert [row.number for row in boards["trec_eval"]] == [2, None]
    zorro = boards["trec_eval"][1].published
    assert zorro and zorro.row.value == 1.0


def test_of_many_runs_the_best_of_each_team_stand_out_and_all_can_be_opened(
    reports: Reports, tmp_path: Path
) -> None:
    note = "These are 90% intervals."
    reports.task(
        *(published("Zorro", 0.9 - n / 100, tag=f"mask{n}", low=0.2, high=1.0) for n in range(30)),
        published("Boots", 0.5, baseline=True, tag="cat", low=0.4, high=0.6, interval_note=note),
        published("Boots", 0.4, baseline=True, tag="api"),
    )
    part = reports.part(run_of(*ALL[:3], "4 b"))
    view = part.views[0]
    expected = [(1, "Zorro"), (16, "t"), (31, "Boots (cat)"), (32, "Boots (api)")]
    assert [(row.number, row.name) for row in view.listed] == expected
    html = reports.page(part).read_text()
    assert len(view.board) == 33 and html.count('class="published other"') == 2 * 29
    assert f"* {note}" in html and "0.400 to 0.600*" in html and "0.200 to 1.000<" in html
    svg = (tmp_path / "out" / "made-up-relevance-trec_eval-intervals.svg").read_text()
    assert svg.count(">Zorro<") == 1 and ">not a 95% interval<" in svg and ">Boots (api)<" in svg


def test_what_is_unjudged_or_missing_is_marked(reports: Reports) -> None:
    reports.task()
    runs = {"whole": ALL, "holes": ("1 a x", *ALL[1:]), "missing": ALL[:3]}
    board = reports.part(*(run_of(*lists, tag=tag) for tag, lists in runs.items())).views[0].board
    marked = {row.name: row.doubtful for row in board}
    assert marked == {"whole": False, "holes": True, "missing": True}


def test_runs_that_evaluate_does_not_rank_have_no_place_and_the_same_mark_in_every_table(
    reports: Reports,
) -> None:
    """With published results. ``holes`` has the highest mean, and an eighth of its results is unjudged."""
    reports.task(published("Zorro", 0.95), published("Boots", 0.5), quality="b")
    lists = {"holes": ("1 a x", *ALL[1:]), "fine": ("1 a b", "2 a b", "3 a b", "4 b a"), "low": ALL[:3]}
    part = reports.part(*(run_of(*topics, tag=tag) for tag, topics in lists.items()))
    for view in part.views:
        places = {name: row.number for name, row in view.run_rows.items()}
        if view.dimension == "relevance":
            assert (places["holes"], places["low"], places["fine"]) == (None, None, 2)
        for row in view.run_rows.values():
            assert row.score and row.score.own_rank.rank in (None, places[row.name])
    assert part.by_mean_rank("trec_eval")[0] == "fine"
    assert part.mean_rank("fine", "trec_eval") == 1 and part.mean_rank("holes", "trec_eval") is None
    assert part.reference == "fine"
    html = reports.page(part).read_text()
    for title in ("Which run is best", "Among the published results", "Topic by topic", "Run against run"):
        section = html.partition(f"<h2>{title}</h2>")[2].partition("</section>")[0]
        for table in re.findall("<table.*?</table>", section, re.DOTALL):
            rows_of_run = [row for row in re.findall("<tr.*?</tr>", table, re.DOTALL) if ">holes<" in row]
            assert all("not comparable" in row for row in rows_of_run), title
        assert "not comparable" in section, title
    svg = (reports.folder / "out" / "made-up-relevance-trec_eval-intervals.svg").read_text()
    assert ">not comparable<" in svg


def test_on_some_topics_a_run_is_only_doubtful_for_what_it_lacks(reports: Reports) -> None:
    reports.task(only_topics=("1", "2", "3", "4"))
    board = reports.part(run_of(*ALL, tag="fine"), run_of("1 a x", *ALL[1:], tag="holes")).views[0].board
    assert {row.name: (row.doubtful, row.number) for row in board} == {"fine": (False, 1), "holes": (True, 1)}


def test_a_pair_of_runs_has_one_difference_over_topics_that_both_have(reports: Reports) -> None:
    """touche leaves out topic 4 of ``missing``, in which the other run gains nothing."""
    reports.task()
    part = reports.part(
        run_of("1 a b", "2 a b", "3 b a", "4 b", tag="whole"), run_of("1 b a", *ALL[1:3], tag="missing")
    )
    view = next(view for view in part.views if view.evaluator == "touche")
    (compared,) = view.comparisons
    assert compared.topics == 3 and view.shared_topics(compared) == "all but 4"
    html = reports.page(part).read_text()
    assert "<small>on 3 topics: all but 4</small>" in html
    depths = re.findall('<tbody class="depths">.*?</tbody>', html, re.DOTALL)
    assert depths and all("<i>" not in table and "--r" not in table for table in depths)


def test_where_the_evaluators_see_other_results_both_are_shown(reports: Reports) -> None:
    reports.task()
    part = reports.part("1 Q0 a 1 1 t\n1 Q0 b 2 1 t\n" + run_of("2 a b"))
    shown = [
        (topic, document.document, [(ranked.rank, ranked.script_rank) for ranked in document.ranks])
        for topic, documents in part.topics.items()
        for document in documents
    ]
    assert shown == [
        ("1", "b", [(1, 2)]),
        ("1", "a", [(2, 1)]),
        ("2", "a", [(1, 1)]),
        ("2", "b", [(2, 2)]),
    ]


def test_texts_of_documents_and_of_sentences() -> None:
    sentences = (Sentence("A__CONC__1", "Cats."), Sentence("A__PREMISE__1", "They purr."))
    argument = Argument("A", "Cats.", ("They purr.",), sentences=sentences)
    collection = [argument, Document("d", "dogs"), WebPage("e", title="Eels", body="swim")]
    premise = ("premise", "They purr.")
    conclusion = ("conclusion", "Cats.")
    assert read_texts({"d", "e", "A", "z", "A__PREMISE__1", "A__CONC__1"}, collection) == {
        "A": [conclusion, premise],
        "A__CONC__1": [conclusion],
        "A__PREMISE__1": [premise],
        "d": [("", "dogs")],
        "e": [("title", "Eels"), ("", "swim")],
    }

    def endless() -> Iterator[Document]:
        while True:
            yield Document("d", "dogs")

    assert read_texts({"d"}, endless()) == {"d": [("", "dogs")]}


def read(text: str, title: str) -> str:
    return "".join(f"[{piece}]" if marked else piece for piece, marked in passage(text, title_terms(title)))


def test_terms_are_marked_by_their_stems_where_most_of_them_are() -> None:
    marked = read("Abortion,  if ABORTED\nlegally, is\ud800legal.", "abortions be legal?")
    assert marked == "[Abortion], if [ABORTED] [legally], is?[legal]."
    text = "cats " + "word " * 500 + "cats dogs dogs " + "word " * 500
    shown = read(text, "cats dogs")
    assert shown.startswith("… word ") and " [cats] [dogs] [dogs] word" in shown and shown.endswith("word …")
    assert len(shown) < 480 and len(read("x" * 2000, "")) == 450 + len(" …")


@given(st.text(max_size=1500), st.text(max_size=30))
def test_what_is_shown_of_a_text_is_a_part_of_it(text: str, title: str) -> None:
    pieces = passage(text, title_terms(title))
    plain = "".join(piece for piece, _ in pieces).removeprefix("… ").removesuffix(" …")
    assert plain in " ".join(text.encode("utf-8", "replace").decode().split())
    assert all(title_terms(piece) <= title_terms(title) for piece, marked in pieces if marked)


def test_the_page_and_its_plots_are_the_same_every_time(
    reports: Reports, part: TaskReport, tmp_path: Path
) -> None:
    contents = []
    for name in ("one", "other"):
        reports.page(part, name)
        contents.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert contents[0] == contents[1] and len(contents[0]) == 1 + 4 * 2  # two formats of each plot


def test_a_strip_has_every_published_run_on_a_scale_that_begins_below_the_worst(reports: Reports) -> None:
    """Those far below all others are named, and do not press the others together."""
    values = [0.9, 0.88, 0.87, 0.86, 0.86, 0.861, 0.8, 0.02]
    reports.task(*(published(f"T{n}", value) for n, value in enumerate(values)))
    strip = reports.part(run_of("1 x", "2 x", "3 x", "4 x")).views[0].strip
    assert strip.scale == (0.8, 0.9) and [row.name for row in strip.below] == ["T7"]
    points = {point.row.name: (point.x, point.level) for point in strip.points}
    assert (points["T0"], points["T7"], points["T6"]) == ((100, 0), (0, 0), (0, 1))
    assert sorted(points[name][1] for name in ("T3", "T4", "T5")) == [0, 1, 2]
    assert strip.median.name in ("T3", "T4") and len(points) == len(values)
    reports.task(published("A", 0.5), published("B", 0.4))
    strip = reports.part(run_of(*ALL)).views[0].strip
    assert strip.scale == (0.4, 0.5) and strip.median.name == "B" and strip.below == []


@pytest.mark.usefixtures("plain")
def test_rows_that_can_be_rerun_have_their_command(reports: Reports) -> None:
    (entry,) = (score for score in published_scores() if score.value == 0.469)
    real = {"task": "touche-2022-task-2", "tag": "BM25-Baseline"}  # which can be rerun
    row = published("Boots", 0.469, baseline=True, evaluator="touche", **real)
    reports.task(row, published("Zorro", 0.5, tag="BM25"))
    part = reports.part(run_of(*ALL))
    (rerun,) = next(view for view in part.views if view.evaluator == "touche").reruns
    assert rerun.published and (rerun.name, rerun.published.tolerance) == ("Boots", entry.tolerance)
    html = reports.page(part).read_text()
    assert "touche run bm25 -i touche-2022-task-2 -o out</code>" in html and part.reruns == ["bm25"]
    assert re.search(r'<span class="tag" title="[^"]+">can be rerun</span>', html)
    assert "That doesn't mean that somebody has rerun it" in html and ">rerun<" not in html


def test_a_dollar_in_a_tag_is_a_dollar_in_plots(part: TaskReport, tmp_path: Path) -> None:
    r"""Matplotlib takes what stands between two for a formula, and \foo for an error in it."""
    rows = [replace(row, name=rf"$\foo${row.name}") for row in part.views[0].listed]
    plots.save(plots.plot_intervals(rows, r"$\bar$"), tmp_path / "plot")
    svg = (tmp_path / "plot.svg").read_text()
    assert all(f">{text}<" in svg for text in (r"$\foo$first", r"$\foo$second", r"$\foo$Zorro", r"$\bar$"))


@pytest.mark.usefixtures("plain")
def test_a_result_without_a_text_says_why(reports: Reports, write: Write) -> None:
    reports.task(corpora={"full": Corpus("few")})
    documents = {"docno": "a", "text": "dogs"}, {"docno": "b", "text": " "}
    write("corpora/few/documents.jsonl", "".join(f"{json.dumps(each)}\n" for each in documents))
    part = reports.part(run_of("1 a b c"))
    reasons = {shown.document: shown.why_no_text for shown in part.topics["1"]}
    assert reasons == {"a": "", "b": "it is empty", "c": "it is not in corpora/few"}
    assert part.missing_texts == "1 of 3 texts are not in corpora/few."
    html = reports.page(part).read_text()
    assert re.findall("No text: (.*?)</p>", html) == ["it is empty.", "it is not in corpora/few."]


HOSTILE = "<script>alert(1)</script><img/src=x>$x^$\"'&amp;"


@pytest.mark.usefixtures("plain")
def test_what_strangers_write_is_text(
    reports: Reports, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In tags, ids of documents, titles, and texts, marked or not; and scripts make no elements of it."""
    reports.task(published(HOSTILE, 0.9, tag=HOSTILE), corpora={"full": Corpus("strange")})
    monkeypatch.setattr("touche.reports.report_content.topic_titles", lambda _: {"1": f"script {HOSTILE}"})
    document = {"docno": "<b>a</b>", "text": f"script {HOSTILE}"}
    write("corpora/strange/documents.jsonl", json.dumps(document) + "\n")
    part = reports.part(*(run_of("1 <b>a</b> a", tag=f"{HOSTILE}{n}") for n in (1, 2)))
    assert part.topics["1"][0].passages
    html = reports.page(replace(part, warnings=[HOSTILE]), title=HOSTILE).read_text()
    assert html.count("<script") == 1 and not re.search("<img|<b>a|innerHTML", html)
    assert "&lt;img/src=x&gt;$x^$" in html and "<mark>script</mark>" in html


def test_one_run_needs_no_comparison(touche: Touche, write: Write, tmp_path: Path) -> None:
    command = ("report", write("run.txt", run_text(["11", "12"])), "--task", "spot-check/passages", "-o")
    assert touche(*command, tmp_path / "out") == (0, f"{tmp_path}/out/index.html\n", "")
    html = (tmp_path / "out" / "index.html").read_text()
    assert "Run against run" not in html and ">spread<" not in html
    assert "the run has no results for topics 13, 14" in html and " ".join(map(str, command[:4])) in html


@pytest.mark.usefixtures("plain")
def test_what_was_re_evaluated_is_said_once_on_pages_about_published_results(tmp_path: Path) -> None:
    """Not on those about a user's runs, which it says nothing about."""
    not_listed, not_public, mixed = (
        tasks.task(f"touche-{task}") for task in ("2020-task-1", "2021-task-2", "2020-task-2")
    )
    sentence = "The teams' runs aren't public, so published values can't be re-evaluated"
    parts = [part for part in published_parts() if part.task in (not_listed, not_public, mixed)]
    checked = {part.dataset: part.checked for part in parts}
    assert checked == {
        not_listed.id: "The teams' runs should be public, in an archive that nobody has listed yet",
        not_public.id: sentence,
        mixed.id: "11 published values re-evaluated from the teams' runs; 1 value without a public run",
    }
    write_report(Report("Title", "touche report", parts, gallery=True), tmp_path / "gallery")
    page = unescape((tmp_path / "gallery" / f"{not_public.id}.html").read_text())
    assert page.count(sentence) == 1 and "run not public" not in page
    [part] = [part for part in parts if part.task == not_public]
    write_report(Report("Title", "touche report", [part]), tmp_path / "own")
    page = unescape((tmp_path / "own" / "index.html").read_text())
    assert not re.search("re-evaluated|runs aren't public", page)


@pytest.mark.usefixtures("plain")
def test_own_judgments_have_no_published_results(touche: Touche, write: Write, tmp_path: Path) -> None:
    """Whose public runs, listed for the task, are no error then."""
    run = write("run.txt", run_of("1 a b", "2 b a"))
    qrels = write("own.qrels", "1 0 a 1\n2 0 a 1\n")
    task = ("--task", "touche-2020-task-2", "--qrels", qrels)
    code, out, err = touche("report", run, *task, "-o", tmp_path / "out")
    assert (code, out, err) == (0, f"{tmp_path}/out/index.html\n", "")
    assert "re-evaluated" not in (tmp_path / "out" / "index.html").read_text()


def test_a_regression_reports_on_every_dataset(touche: Touche, tmp_path: Path) -> None:
    command = ("regress", "bm25", "tfidf", "--dataset", "spot-check/passages", "--report", tmp_path / "out")
    code, out, _ = touche(*command)
    assert code == 0 and out.endswith(f"{tmp_path}/out/index.html\n")
    html = (tmp_path / "out" / "index.html").read_text()
    assert ">7 passed<" in html and ">tfidf --variant classic<" in html
    assert 'href="spot-check--passages.html"' in html and " MB</small>" in html
    runs = {path.name for path in (tmp_path / "out" / "runs" / "spot-check-passages").iterdir()}
    assert runs == {"bm25.txt", "tfidf-variant-classic.txt", "tfidf.txt"}
    page = (tmp_path / "out" / "spot-check--passages.html").read_text()
    assert all(name in page for name in runs)


def test_a_regression_that_fails_has_its_report(touche: Touche, write: Write, tmp_path: Path) -> None:
    """Even if a part of it cannot be made; and it is known beforehand where it goes."""
    method = "@baseline\ndef odd(topics, documents):\n    yield topics[0], [('x', 1.0)]\n"
    baseline = write("odd/baseline.py", f"from touche import baseline\n\n{method}").parent
    write(
        "odd/expected.toml",
        '[[score]]\ndataset = "spot-check/passages"\ndimension = "relevance"\nmeasure = "nDCG@5"\n'
        'evaluator = "trec_eval"\nqrels = "spot-check-passages-relevance.qrels"\n'
        "pinned = 0.5\ntolerance = 0.1\n",
    )
    code, _, _ = touche("regress", baseline, "--report", tmp_path / "out")
    assert code == 1 and ">too low<" in (tmp_path / "out" / "index.html").read_text()
    assert "none of the top 5 is judged" in (tmp_path / "out" / "spot-check--passages.html").read_text()
    _, _, err = touche("regress", baseline, "--report", write("file", "") / "out")
    assert err.startswith(f"touche: {tmp_path}/file/out: cannot be created (Not a directory)")


def test_detected_stances_of_a_published_run_stand_there_once(reports: Reports, write: Write) -> None:
    """The table of stances may print another tag; value and N are enough if only one row has them.

    The run says NO for five documents, as judges do for four: the F1 of NO is 8/9, those of the others are 0.
    """
    task = reports.task(topics="12345")
    labels = [f"{topic} 0 a {'SECOND' if topic == '5' else 'NO'}\n" for topic in "12345"]
    write("qrels/made-up-stance.qrels", "".join(labels))
    row = {"dimension": "stance", "measure": "macro F1", "results": 5}
    rows = [
        published("Boots", 0.222, tag="Always-NO", **row),
        published("Zorro", 0.222, tag="z", **row | {"results": 6}),
    ]
    task = replace(
        task,
        qrels=task.qrels | {"stance": Judgments("made-up-stance.qrels")},
        rules=Rules("document", ("FIRST", "SECOND", "NEUTRAL", "NO")),
    )
    run = run_of(*(f"{topic} a" for topic in "12345"), tag="run").replace("Q0", "NO")

    def board(*rows: Published) -> list[tuple[str, str]]:
        view = reports.part(run, task=replace(task, published=rows)).stance
        assert view is not None
        return [(row.name, row.published_as) for row in view.board]

    assert board(*rows) == [("run", "Boots"), ("Zorro", "")]
    other = published("Other", 0.222, tag="o", **row)
    assert board(*rows, other) == [("run", ""), ("Boots", ""), ("Zorro", ""), ("Other", "")]


def test_a_published_score_of_stances_can_be_rerun() -> None:
    [part] = [part for part in published_parts() if part.dataset == "touche-2022-task-2"]
    assert part.stance is not None
    rerun_rows = [(row.value, row.published.rerun) for row in part.stance.reruns if row.published]
    assert rerun_rows == [(0.158, "touche run bm25 -i touche-2022-task-2 -o out")]


@pytest.mark.usefixtures("plain")
def test_what_is_significant_is_said_of_the_run_beside_it(reports: Reports) -> None:
    reports.task(topics="12345678")
    lists = {"best": ("b a", "a"), "mid&dle": ("b c a", "b a"), "worst": ("b c d e a", "b c d a")}
    runs = [  # no two always as far apart
        run_of(f"1 {odd}", *(f"{topic} {usual}" for topic in "2345678"), tag=tag)
        for tag, (odd, usual) in lists.items()
    ]
    html = reports.page(reports.part(*runs, reference="mid&dle")).read_text()
    marks = re.findall('title="significantly (.*?)"', html)
    assert {*marks} == {
        "above the reference",
        "below the reference",
        "above mid&amp;dle",
        "below mid&amp;dle",
    }


@pytest.mark.parametrize("reference", [None, "mine"])
def test_a_report_corrects_for_the_same_comparisons_as_compare(
    touche: Touche, write: Write, tmp_path: Path, reference: str | None
) -> None:
    """With a reference, only comparisons with it are made, which each find smaller differences."""
    orders = {"mine": "abc", "other": "bac", "third": "cab"}
    runs = [
        write(f"{tag}.txt", run_of(*(f"{topic} {' '.join(order)}" for topic in "123456"), tag=tag))
        for tag, order in orders.items()
    ]
    qrels = write("half.qrels", "".join(f"{t} 0 {'ab'[int(t) % 2]} 1\n{t} 0 c 0\n" for t in "123456"))
    arguments = [*runs, "--qrels", qrels, *(["--reference", reference] if reference else [])]
    _, compared, _ = touche("compare", *arguments)
    touche("report", *arguments, "-o", tmp_path / "report")
    page = (tmp_path / "report" / "index.html").read_text()
    family = "all 2 comparisons of nDCG@5 with mine" if reference else "all 3 comparisons of nDCG@5"
    assert f"after Holm's correction for {family}; " in compared
    assert f"Holm's correction covers {family}, " in compared
    assert f"(paired t-test, p &lt; 0.05 after Holm's correction for {family})" in page


CARD = """
id = "made-up"
title = "Made up"
url = "https://example.org"
topics = "made-up.xml"
{note}
qrels.relevance.file = "made-up-relevance.qrels"
corpora.full.directory = "nowhere"
rules.unit = "document"
"""
TABLE = """
[[published]]
dimension = "relevance"
measure = "nDCG@5"
evaluator = "{evaluator}"
sources = ["table 1"]
runs = [{{ team = "{team}", value = 0.5 }}]
"""


@pytest.mark.parametrize(
    ("published_by", "measure", "evaluator"),
    [
        (["touche", "trec_eval", "touche"], None, "touche"),
        (["touche", "trec_eval", "trec_eval"], None, "trec_eval"),
        (["touche"], "AP", "trec_eval"),  # the only one that has it
        ([None, None], None, "trec_eval"),  # unknown evaluators
        ([], None, "trec_eval"),
    ],
)
def test_compare_and_the_report_start_with_the_evaluator_of_most_published_results(
    reports: Reports, published_by: list[str | None], measure: str | None, evaluator: str
) -> None:
    made = reports.task()
    rows = [TABLE.format(team=team, evaluator=name) for team, name in enumerate(published_by)]
    card = CARD.format(note="" if rows else 'results_note = "none yet"') + "".join(rows)
    reports.write("tasks/made-up.toml", card.replace('evaluator = "None"\n', ""))
    task = tasks.task(made.id)
    runs = [reports.write(f"{tag}.txt", run_of(f"1 {tag} b", "2 b a", tag=tag)) for tag in "ac"]
    compared = package.compare(runs, "made-up", measure=measure)
    assert {row.evaluator for row in compared} == {evaluator}
    if measure is None:
        assert reports.part(run_of("1 a b"), run_of("1 b a"), task=task).views[0].evaluator == evaluator


@pytest.mark.slow
def test_a_report_of_thirty_runs_is_below_500_kb_and_asks_no_other_host(
    touche: Touche, tmp_path: Path
) -> None:
    task = ("--task", "spot-check/arguments")
    code, _, _ = touche("sweep", "bm25", "--k1", "0.4:3.3:0.1", *task, "-o", tmp_path / "sweep")
    runs = list(tmp_path.glob("sweep/*/run.txt"))
    assert code == 0 and len(runs) == 30
    code, _, _ = touche("report", *runs, *task, "-o", tmp_path / "report")
    page = (tmp_path / "report/index.html").read_bytes()
    assert code == 0 and len(page) < 500_000
    assert not re.search(rb"(?:src|srcset)=|url\(|@import|<link(?! rel=.icon. href=.data:)", page)


@pytest.mark.slow
def test_pages_on_all_tasks_show_their_progress_also_in_a_pipe(
    touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.01)
    code, _, err = touche("report", "--all-published", "-o", tmp_path / "out")
    assert code == 0 and re.search(r"^preparing: .*\d+/\d+ ", err, re.MULTILINE)
