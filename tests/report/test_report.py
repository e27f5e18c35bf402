"""The report: what is in it, and how it behaves in a real browser."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright

from conftest import ROOT, Touche, Write
from spotcheck import made_up, run_of, run_text
from touche import tasks
from touche.evaluation.scores import evaluate
from touche.formats.documents import Argument, Document, Sentence
from touche.report import Page
from touche.report import part_of as part_of_evaluated
from touche.report import write as write_page
from touche.report.content import texts_of
from touche.report.records import Part
from touche.tasks import Corpus, Published, Task

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)
SECOND = 1 / log2(3)  # the only relevant document at rank 2


def part_of(paths: list[Path], dataset: str) -> Part:
    return part_of_evaluated(evaluate(paths, tasks.task(dataset)), dataset)


def published(name: str, value: float, **others: Any) -> Published:
    known: dict[str, Any] = {
        "task": "made-up", "dimension": "relevance", "measure": "nDCG@5", "team": name, "run": "", "tag": "",
        "value": value, "low": None, "high": None, "baseline": False, "evaluator": None, "qrels": None,
        "sources": ("table 1",),
    }  # fmt: skip
    return Published(**known | others)


def make_task(
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    rows: Iterable[Published],
    topics: str = "1234",
    **others: str,
) -> Task:
    """A made-up task with these published results, whose relevant document is always a."""
    task = made_up(write, monkeypatch, topics, relevance="a", **others)
    task = replace(task, published=tuple(rows), corpora={"full": Corpus("nowhere")})
    monkeypatch.setattr(tasks, "task", lambda _: task)
    monkeypatch.setattr(tasks, "datasets", dict)
    return task


@pytest.fixture
def part(write: Write, monkeypatch: pytest.MonkeyPatch) -> Part:
    """Two runs of a made-up task with two dimensions: of four topics the first wins two and loses none."""
    rows = (
        published("Zorro", 0.95, low=0.9, high=1.0),
        published("Boots", 0.75, baseline=True, evaluator="trec_eval"),
        published("Other", 0.5, dimension="quality", evaluator="touche"),
    )
    make_task(write, monkeypatch, rows, quality="b")
    first = write("first.txt", run_of("1 a b", "2 a b", "3 a b", "4 b x", tag="first"))
    second = write("second.txt", run_of("1 b a", "2 b a", "3 a b", "4 b x", tag="second"))
    return part_of([first, second], "made-up")


def test_given_runs_stand_among_what_they_may_be_compared_with(part: Part) -> None:
    boards = {
        view.id: [(place.name, place.kind, pytest.approx(place.value)) for place in view.board]
        for view in part.views
    }
    first, second = ("first", "given", 3 / 4), ("second", "given", (2 * SECOND + 1) / 4)
    zorro, boots = ("Zorro", "published", 0.95), ("Boots", "baseline", 0.75)
    assert boards["relevance-trec_eval"] == [zorro, first, boots, second]
    assert boards["relevance-touche"] == [zorro, first, second]
    assert [name for name, _, _ in boards["quality-touche"]] == ["second", "first", "Other"]
    assert [name for name, _, _ in boards["quality-trec_eval"]] == ["second", "first"]
    assert part.views[0].id == "relevance-trec_eval"  # the one with most to compare with
    place = part.views[0].board[0]
    assert (place.low, place.high, place.judged, place.source) == (0.9, 1.0, None, "table 1")
    assert [place.judged for place in part.views[0].board if place.kind == "given"] == [7 / 8, 7 / 8]


def test_places_are_those_of_the_printed_digits(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """0.8155 is 0.815 or 0.816 in print: level with what is printed so, though a little more."""
    value = (1 + 1 + 1 + SECOND + SECOND) / 5
    rows = [published(name, round(value, 3)) for name in ("A", "B")]
    make_task(write, monkeypatch, [*rows, published("C", 0.1)], topics="12345")
    run = write("run.txt", run_of("1 a", "2 a", "3 a", "4 b a", "5 b a"))
    view = part_of([run], "made-up").views[0]
    assert [view.place(place) for place in view.board] == [1, 1, 1, 4]


def test_of_many_runs_the_best_of_each_team_stand_out_and_all_can_be_opened(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    note = "These are 90% intervals."
    rows = [
        *(published("Zorro", 0.9 - n / 100, tag=f"mask{n}", low=0.2, high=1.0) for n in range(30)),
        published("Boots", 0.5, baseline=True, tag="cat", low=0.4, high=0.6, interval_note=note),
        published("Boots", 0.4, baseline=True, tag="api"),
    ]
    make_task(write, monkeypatch, rows)
    part = part_of([write("run.txt", run_of("1 a", "2 a", "3 a", "4 b"))], "made-up")
    view = part.views[0]
    assert len(view.board) == 33
    places = [(view.place(place), place.name, place.tag) for place in view.listed]
    assert places == [
        (1, "Zorro", "mask0"),
        (16, "t", ""),
        (32, "Boots (cat)", "cat"),
        (33, "Boots (api)", "api"),
    ]
    assert view.notes_on_intervals == [note]
    html = write_page(Page("Title", "touche report", [part]), tmp_path / "out").read_text()
    short, _, long = html.partition("<summary>All 33 runs</summary>")
    assert "mask0" in short and "mask1<" not in short and "mask29" in long
    assert f"* {note}" in short and "0.400 to 0.600*" in short and "0.200 to 1.000<" in short
    svg = (tmp_path / "out" / "made-up-relevance-trec_eval-intervals.svg").read_text()
    assert svg.count(">Zorro<") == 1 and ">not a 95% interval<" in svg and ">Boots (api)<" in svg


def test_a_report_names_the_measure_of_its_task(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    task = replace(make_task(write, monkeypatch, []), measure=tasks.measure_of("nDCG@10"))
    monkeypatch.setattr(tasks, "task", lambda _: task)
    part = part_of([write("run.txt", run_of("1 b c d e x y a", "2 a", "3 a", "4 a"))], "made-up")
    assert len(part.topics[0].results["t"]) == 7  # not five
    html = write_page(Page("Title", "touche report", [part]), tmp_path / "out").read_text()
    assert "means of nDCG@10 over topics" in html and "The first 10 results of each topic" in html
    assert "Judged@10" in html and "nDCG@5" not in html and "Judged@5" not in html


def test_what_is_unjudged_or_missing_is_marked(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    make_task(write, monkeypatch, [])
    runs = {
        "whole": run_of("1 a", "2 a", "3 a", "4 a", tag="whole"),
        "holes": run_of("1 a x", "2 a", "3 a", "4 a", tag="holes"),
        "missing": run_of("1 a", "2 a", "3 a", tag="missing"),
    }
    part = part_of([write(f"{name}.txt", text) for name, text in runs.items()], "made-up")
    assert {place.name: place.doubtful for place in part.views[0].board} == {
        "whole": False,
        "holes": True,
        "missing": True,
    }


def test_where_the_evaluators_see_other_results_both_are_shown(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(write, monkeypatch, [])
    ties = "".join(f"1 Q0 {id} {rank} 1 t\n" for rank, id in enumerate("ab", 1))
    part = part_of([write("run.txt", ties + run_of("2 a b"))], "made-up")
    shown = {
        (topic.number, name): [each.document for each in found]
        for topic in part.topics
        for name, found in topic.results.items()
    }
    assert shown == {
        ("1", "t, as trec_eval orders it"): ["b", "a"],
        ("1", "t, as touche orders it"): ["a", "b"],
        ("2", "t"): ["a", "b"],
    }


def test_runs_without_common_topics_do_not_cost_the_report(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(write, monkeypatch, [])
    runs = [write(f"{n}.txt", run_of(f"{n} a b", tag=f"t{n}")) for n in (1, 2)]
    part = part_of(runs, "made-up")
    assert any(
        text.startswith("t1 and t2 are not compared in relevance by touche: ") for text in part.warnings
    )
    assert {view.evaluator: len(view.comparisons) for view in part.views} == {"trec_eval": 1, "touche": 0}


def test_a_part_of_the_corpus_is_said_to_be_one(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    task = make_task(write, monkeypatch, [published("Zorro", 0.9)])
    sample = Corpus("sample")
    monkeypatch.setattr(tasks, "datasets", lambda: {"made-up/sample": (task, sample)})
    monkeypatch.setattr(tasks, "dataset", lambda _: (task, sample))
    run = write("run.txt", run_of("1 a", "2 a", "3 a", "4 a"))
    assert (
        part_of([run], "made-up/sample").warnings[0].startswith("published results are on the whole corpus")
    )
    assert part_of([run], "made-up").warnings == []


def test_topics_and_comparisons(part: Part) -> None:
    view = part.views[0]
    assert (view.runs, view.topics) == (["first", "second"], ["1", "2", "3", "4"])
    assert [view.spread(topic) for topic in view.topics] == pytest.approx([1 - SECOND, 1 - SECOND, 0, 0])
    (compared,) = view.comparisons
    assert (compared.run_a, compared.won, compared.lost, compared.tied) == ("first", 2, 0, 2)
    assert len(view.qrels_md5) == 32 and view.qrels == "made-up-relevance.qrels"


def test_the_first_results_have_ranks_and_labels(part: Part) -> None:
    fourth = part.topics[3].results["first"]
    assert [(each.rank, each.document, each.labels) for each in fourth] == [
        (1, "b", {"relevance": 0, "quality": 1}),
        (2, "x", {"relevance": None, "quality": None}),
    ]
    assert part.missing_texts == "Texts are not shown, as corpora/nowhere is not at hand."


def test_texts_of_documents_and_of_sentences() -> None:
    sentences = (Sentence("A__CONC__1", "Cats."), Sentence("A__PREMISE__1", "They purr."))
    argument = Argument("A", "Cats.", ("They purr.",), sentences=sentences)
    collection = [argument, Document("d", "dogs"), Document("e", "eels")]
    assert texts_of({"d", "A__PREMISE__1"}, collection) == {"d": "dogs", "A__PREMISE__1": "They purr."}
    assert texts_of({"A", "z"}, collection) == {"A": "They purr. Cats."}

    def endless() -> Iterator[Document]:
        while True:
            yield Document("d", "dogs")

    assert texts_of({"d"}, endless()) == {"d": "dogs"}


def test_the_page_and_its_plots_are_the_same_every_time(part: Part, tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_page(Page("Title", "touche report", [part]), tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(files) == 1 + 4 * 2 * 2  # views, plots of each, and formats
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    svg = (tmp_path / "one" / "made-up-relevance-trec_eval-intervals.svg").read_text()
    assert ">Zorro<" in svg and ">first<" in svg


def test_what_strangers_write_is_text(touche: Touche, write: Write, tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>$x^$\"'&amp;"
    run = write("a&b.txt", run_text(tag=hostile) + "11 Q0 <img/onerror=1> 9 0 " + hostile)
    code, out, _ = touche("report", run, "--task", "spot-check/passages", "-o", tmp_path / "out")
    assert (code, out) == (0, f"{tmp_path}/out/index.html\n")
    html = (tmp_path / "out" / "index.html").read_text()
    assert html.count("<script>") == 1 and "<img" not in html and "a&amp;b.txt" in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;$x^$" in html


def test_one_run_needs_no_comparison(touche: Touche, write: Write, tmp_path: Path) -> None:
    run = write("run.txt", run_text(["11", "12"]))
    code, _, err = touche("report", run, "--task", "spot-check/passages", "-o", tmp_path / "out")
    html = (tmp_path / "out" / "index.html").read_text()
    assert (code, err) == (0, "")
    assert "Significance" not in html and "Spread" not in html and not list((tmp_path / "out").glob("*diff*"))
    assert "the run has no results for topics 13, 14" in html
    assert f"touche report {run} --task spot-check/passages" in html


def test_faults_are_one_line(touche: Touche, write: Write, tmp_path: Path) -> None:
    run = write("run.txt", run_text())
    write("file", "")
    command = ("report", run, "--task", "spot-check/passages", "-o")
    code, _, err = touche(*command, tmp_path / "file" / "out")
    assert code == 2 and "cannot be made (Not a directory); choose another directory" in err
    assert "is given twice" in touche(*command[:2], run, *command[2:], tmp_path / "out")[2]
    assert not (tmp_path / "out").exists()


def test_a_regression_reports_on_every_dataset(touche: Touche, tmp_path: Path) -> None:
    code, out, _ = touche(
        "regress", "bm25", "tfidf", "--dataset", "spot-check/passages", "--report", tmp_path / "out"
    )
    assert code == 0 and out.endswith(f"{tmp_path}/out/index.html\n")
    html = (tmp_path / "out" / "index.html").read_text()
    assert ">6 passed<" in html and ">tfidf --variant classic<" in html
    assert (tmp_path / "out" / "usage.png").stat().st_size > 10_000
    runs = tmp_path / "out" / "runs" / "spot-check-passages"
    assert sorted(path.name for path in runs.iterdir()) == [
        "bm25.txt",
        "tfidf-variant-classic.txt",
        "tfidf.txt",
    ]


def test_a_regression_that_fails_has_its_report(
    touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if a part of it cannot be made; and it is known beforehand where it goes."""
    baseline = tmp_path / "odd"
    baseline.mkdir()
    (baseline / "baseline.py").write_text(
        "from touche import baseline\n\n@baseline\ndef odd(topics, documents):\n"
        "    yield topics[0], [('nothing', 1.0)]\n"
    )
    (baseline / "expected.toml").write_text(
        '[[score]]\ndataset = "spot-check/passages"\ndimension = "relevance"\nevaluator = "trec_eval"\n'
        'qrels = "spot-check-passages-relevance.qrels"\npinned = 0.5\ntolerance = 0.1\n'
    )
    code, _, _ = touche("regress", baseline, "--report", tmp_path / "out")
    html = (tmp_path / "out" / "index.html").read_text()
    assert code == 1 and ">too low<" in html and "100.0% of the top 5 is unjudged" in html
    (tmp_path / "file").write_text("")
    _, _, err = touche("regress", baseline, "--report", tmp_path / "file" / "out")
    assert err.startswith(f"touche: {tmp_path}/file/out: cannot be made (Not a directory)")


COLOURS = re.compile(r"--(\w+): (#[0-9a-f]{3,6})")


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_text_can_be_read_on_every_ground() -> None:
    """The contrast that WCAG 2 asks for at level AA, in the light and in the dark."""
    css = (ROOT / "src/touche/report/templates/style.css").read_text()
    for block in re.findall(r":root \{(.*?)\}", css, flags=re.DOTALL)[:2]:
        colours = dict(COLOURS.findall(block))
        for text in ("ink", "quiet", "accent", "good", "bad"):
            for ground in ("paper", "band", "given"):
                dark, light = sorted(luminance(colours[name]) for name in (text, ground))
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


@pytest.fixture
def tab(part: Part, tmp_path: Path) -> Iterator[Tab]:
    """The page in Chromium; at the end nothing was complained of, and nothing fetched."""
    if CHROMIUM is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs Chromium: apt-get install chromium")
    path = write_page(Page("Two runs", "touche report", [part]), tmp_path / "out")
    heard: list[str] = []
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(path.as_uri())
        yield page
        browser.close()
    assert [line for line in heard if line not in (path.as_uri(), "data:,")] == []


def shown(tab: Tab) -> list[str]:
    return [head.inner_text() for head in tab.locator(".view h3").all() if head.is_visible()]


def test_dimension_and_evaluator_are_switched_by_keyboard(tab: Tab) -> None:
    assert shown(tab) == ["Relevance, by trec_eval"]
    tab.get_by_role("radio", name="quality").focus()
    tab.keyboard.press("Space")
    assert shown(tab) == ["Quality, by trec_eval"]
    tab.get_by_role("radio", name="trec_eval").focus()
    tab.keyboard.press("ArrowDown")
    assert shown(tab) == ["Quality, by touche"]


def test_a_table_is_sorted_by_its_heads(tab: Tab) -> None:
    table = tab.locator(".relevance-trec_eval table.topics")
    numbers = table.locator("tbody td:first-child")
    spread = table.get_by_role("button", name="Spread")
    spread.focus()
    tab.keyboard.press("Enter")
    assert numbers.all_inner_texts()[:2] == ["3", "4"]
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    spread.click()
    assert numbers.all_inner_texts()[:2] == ["1", "2"]
    table.get_by_role("button", name="first", exact=True).click()
    assert numbers.all_inner_texts()[0] == "4" and table.locator("th[aria-sort]").count() == 1
    board = tab.locator(".relevance-trec_eval table").first
    for _ in range(2):  # what has no interval stays behind, both ways
        board.get_by_role("button", name="95% interval").click()
        assert board.locator("tbody tr").last.locator("th").inner_text().startswith("Boots")


def test_a_topic_opens_by_link_and_by_keyboard(tab: Tab) -> None:
    link = tab.locator(".relevance-trec_eval table.topics").get_by_role("link", name="2", exact=True)
    link.click()
    tab.locator("#made-up-topic-2 summary").click()  # closed again by hand, and opened by the same link
    assert tab.locator("details[open]").count() == 0
    link.click()
    assert tab.locator("details[open]").evaluate_all("all => all.map(each => each.id)") == ["made-up-topic-2"]
    tab.locator("#made-up-topic-4 summary").focus()
    tab.keyboard.press("Enter")
    opened = tab.locator("#made-up-topic-4").inner_text()
    assert "relevance 0 quality 1" in " ".join(opened.split()) and "relevance unjudged" in opened


def test_it_can_be_read_on_a_phone_in_the_dark_and_on_paper(tab: Tab) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(background) == "rgb(255, 255, 255)"
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate(background) == "rgb(22, 24, 26)"
    inks = "all => all.map(each => getComputedStyle(each).fill)"
    assert set(tab.locator("figure svg text").evaluate_all(inks)) == {"rgb(232, 232, 232)"}
    tab.set_viewport_size({"width": 360, "height": 700})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    tab.locator("details summary").first.click()
    assert tab.evaluate("document.querySelector('.switches').getBoundingClientRect().bottom") < 0
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(background) == "rgb(255, 255, 255)" and shown(tab) == ["Relevance, by trec_eval"]


def test_it_can_be_listened_to(tab: Tab) -> None:
    """What a screen reader goes by: one h1, captions, heads, and words for every plot."""
    assert tab.locator("h1").all_inner_texts() == ["Two runs"]
    visible = [table for table in tab.locator("table").all() if table.is_visible()]
    assert len(visible) == 3 and all(table.locator("caption").inner_text() for table in visible)
    assert tab.locator("thead th:not([scope=col])").count() == 0
    plots = tab.locator("figure [role=img]")
    assert plots.count() == 8 and all(each.get_attribute("aria-label") for each in plots.all())
    assert tab.locator("fieldset legend").all_inner_texts() == ["Dimension", "Evaluator"]
    assert tab.locator("html").get_attribute("lang") == "en"
    ids = tab.locator("[id]").evaluate_all("all => all.map(each => each.id)")
    assert len(ids) == len(set(ids)) > 100
