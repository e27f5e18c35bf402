"""Reports in a real browser: switches, sorting and opening, at every width, and without scripts."""

import csv
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs Playwright: pip install playwright")
from made_up_reports import Reports, published
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab

from conftest import Touche, Write
from spotcheck import run_of
from touche import tasks
from touche.reports.report_records import TaskReport

pytest_plugins = ["browsers", "made_up_reports"]
pytestmark = pytest.mark.slow
Browse = Callable[..., Tab]


@pytest.fixture
def browse(chromium: Browser) -> Iterator[Browse]:
    """Opens pages in Chromium; at the end there are no errors and no requests."""
    heard: list[str] = []
    known = ["data:,"]

    def opened(path: Path, scripts: bool = True) -> Tab:
        known.extend(neighbour.as_uri() for neighbour in path.parent.glob("*.html"))
        size = {"width": 1200, "height": 900}
        page = chromium.new_page(viewport=size, java_script_enabled=scripts)
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in chromium.contexts:
        context.close()
    assert [line for line in heard if line not in known] == []


@pytest.fixture
def path(reports: Reports, part: TaskReport, plain: None) -> Path:
    return reports.page(part, title="Two runs")


@pytest.fixture
def tab(path: Path, browse: Browse) -> Tab:
    return browse(path)


def captions(tab: Tab) -> list[str]:
    return [
        caption.inner_text() for caption in tab.locator("table.board caption").all() if caption.is_visible()
    ]


def topics(tab: Tab, at: int = 0) -> list[str]:
    return tab.locator("table.heat").nth(at).locator("tbody:not(.depths) a").all_inner_texts()


def test_dimension_and_evaluator_are_switched_by_keyboard(tab: Tab) -> None:
    assert captions(tab) == ["relevance, trec_eval"]
    tab.get_by_role("radio", name="quality").focus()
    tab.keyboard.press("Space")
    assert captions(tab) == ["quality, trec_eval"]
    tab.get_by_role("radio", name="trec_eval").focus()
    tab.keyboard.press("ArrowDown")
    assert captions(tab) == ["quality, touche"]


def test_tables_are_sorted_by_their_heads_and_all_heat_maps_alike(tab: Tab) -> None:
    heat = tab.locator("table.heat").first
    spread = heat.get_by_role("button", name="spread")
    spread.focus()
    tab.keyboard.press("Enter")
    assert topics(tab) == topics(tab, 3) == ["3", "4", "1", "2"]
    assert heat.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    spread.click()
    assert topics(tab)[:2] == ["1", "2"]
    heat.get_by_role("button", name="first").click()
    assert topics(tab)[0] == topics(tab, 2)[0] == "4" and heat.locator("th[aria-sort]").count() == 1
    board = tab.locator("table.board").first
    for _ in range(2):  # rows without an interval stay last, in both orders
        board.get_by_role("button", name="From").click()
        assert board.locator("tbody tr").last.locator("th").inner_text().startswith("Boots")


def saved(tab: Tab, caption: str, kind: str) -> str:
    """Returns the file that the link below a table saves."""
    table = tab.locator("table:visible").filter(has=tab.locator("caption", has_text=caption)).first
    with tab.expect_download() as download:
        table.locator("xpath=../following-sibling::p[1]").get_by_role("link", name=kind).click()
    return download.value.path().read_text(encoding="utf-8")


def test_every_table_can_be_saved_with_the_figures_that_it_shows(tab: Tab) -> None:
    scores = list(csv.reader(saved(tab, "of each topic", "CSV").splitlines()))
    shown = tab.locator("table.heat").first.locator("tbody:not(.depths) tr").first.locator("td")
    assert [(head[0], head.split()[-1]) for head in scores[0]] == [
        ("T", "Topic"), ("A", "first"), ("B", "second"), ("s", "spread")
    ]  # fmt: skip
    assert [float(value) for value in scores[1][1:]] == [float(text) for text in shown.all_inner_texts()]
    assert all(re.fullmatch(r"[01]\.\d{3}", value) for value in scores[1][1:])
    head, row = list(csv.reader(saved(tab, "With", "CSV").splitlines()))
    assert head[2:4] == ["Difference", "95% interval"] and re.fullmatch(r"[+-][\d.]+ to [+-][\d.]+", row[3])
    lines = saved(tab, "With", "LaTeX").splitlines()
    assert lines[0].startswith(r"\begin{tabular}{ll") and r"95\% interval" in lines[2]
    assert lines[-1] == r"\end{tabular}"
    visible = tab.locator("table:visible").count()
    assert tab.get_by_text("This table as a file").locator("visible=true").count() == visible


def test_a_topic_opens_by_link_by_a_cell_and_by_keyboard(tab: Tab) -> None:
    heat = tab.locator("table.heat").first
    details = tab.locator("details[open]")
    link = heat.get_by_role("link", name="2", exact=True)
    link.click()
    tab.locator("#topic-2 summary").click()  # closed again by hand, and opened by the same link
    assert details.count() == 0
    link.click()
    cell = heat.locator("tbody tr").nth(2).locator("td").first
    cell.hover()
    assert cell.get_attribute("title") == "3\nA: 1.000\n+0.000 from the reference"
    cell.click()
    assert details.evaluate_all("all => all.map(each => each.id)") == ["topic-2", "topic-3"]
    tab.locator("#topic-4 summary").focus()
    tab.keyboard.press("Enter")
    text = " ".join(tab.locator("#topic-4").inner_text().split())
    assert "relevance 0 quality 1" in text and "relevance unjudged" in text


def test_another_reference_and_one_run_beside_it(tab: Tab) -> None:
    heat = tab.locator("table.heat").first
    bar = tab.locator("td.bar:visible").first
    second = heat.locator("tbody tr").first.locator("td").nth(1)
    width = "cell => parseFloat(getComputedStyle(cell, '::after').width) / cell.clientWidth"
    of_board = "cell => getComputedStyle(cell, '::before').width"
    before = bar.evaluate(of_board)
    tab.get_by_label("differences from the reference").check()
    assert bar.evaluate(of_board) == before  # only heat maps differ
    assert second.evaluate(width) == pytest.approx(0.1845, abs=0.02)  # half a cell is one point
    tab.locator("select[name=reference]").select_option("B")
    assert second.evaluate(width) == 0 and tab.locator("b.reference").inner_text() == "B"
    heat.get_by_role("button", name="first").click()  # sorted by differences; topic 3 has none
    assert topics(tab)[0] == "3"
    tab.locator("select[name=beside]").select_option("A")
    items = tab.locator(".topic li").evaluate_all("all => all.map(each => each.dataset.whose)")
    assert items == ["both"] * 8
    tab.locator("select[name=beside]").select_option("B")
    assert heat.locator("th[data-run]:visible").count() == 1


@pytest.mark.usefixtures("plain")
def test_published_runs_are_there_on_request_and_nothing_is_cut_at_any_width(
    reports: Reports, browse: Browse
) -> None:
    """With long names, many runs without blanks, and everything open."""
    tag = "stop-kstem-" * 9
    reports.task(
        *(published("Pippin", 0.9 - n / 100, tag=tag, low=0.1, high=1) for n in range(9)), quality="b"
    )
    tag = "levirank_psuedo_relevance_feedback+voting"
    tab = browse(reports.page(reports.part(*(run_of("1 a b", "2 b a", tag=f"{tag}{n}") for n in range(8)))))
    rows = tab.locator("table.board").first.locator("tbody tr:visible")
    assert rows.count() == 8 + 1
    tab.get_by_label("all 17 runs").first.check()
    assert rows.count() == 8 + 9
    tab.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    cut = "all => all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.innerText)"
    for width, mode in product((1400, 768, 390), ("scores", "differences")):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.locator(f"[value={mode}]").check()
        assert tab.locator(".scroll").evaluate_all(cut) == [], (width, mode)
        assert tab.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.usefixtures("plain")
def test_a_filter_finds_runs_by_words_of_their_names_also_those_that_are_hidden(
    reports: Reports, browse: Browse
) -> None:
    rows = (published("Pippin", 0.9 - n / 100, tag=f"stop-{n}") for n in range(9))
    reports.task(*rows, published("Boots", 0.5, baseline=True), quality="b")
    path = reports.page(reports.part(run_of("1 a b", "2 b a", tag="mine")))
    tab = browse(path)
    shown = tab.locator("table.board").first.locator("tbody tr:visible th")
    tab.get_by_label("only runs with").first.fill("PIPPIN 7")
    assert [text.split()[:2] for text in shown.all_inner_texts()] == [["Pippin", "stop-7"]]
    assert tab.get_by_role("status").first.inner_text() == "1 of 11"
    tab.get_by_label("only runs with").first.fill("nobody")
    assert shown.count() == 0
    tab.get_by_label("only runs with").first.fill("")
    assert shown.count() == 3 and tab.get_by_role("status").first.inner_text() == ""
    for scripts in (True, False):
        tab = browse(path, scripts=scripts)
        assert tab.get_by_label("only runs with").first.is_visible() == scripts
        with tab.expect_download() as download:
            tab.get_by_role("link", name="CSV").first.click()
        assert download.value.suggested_filename == "made-up-relevance-trec_eval.csv"
        for link in tab.get_by_role("navigation", name="Contents").get_by_role("link").all():
            link.click()
            assert tab.locator(f"section{link.get_attribute('href')}").count() == 1


def test_it_can_be_read_on_a_phone_in_the_dark_and_on_paper(tab: Tab) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(background) == "rgb(255, 255, 255)"
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate(background) == "rgb(22, 24, 26)"
    tab.set_viewport_size({"width": 360, "height": 700})
    tab.locator("details.topic summary").first.click()
    assert tab.evaluate("document.querySelector('.switches').getBoundingClientRect().bottom") < 0
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(background) == "rgb(255, 255, 255)" and captions(tab) == ["relevance, trec_eval"]


def test_it_can_be_listened_to(tab: Tab) -> None:
    """For screen readers: one h1, captions, header cells, and words for switches."""
    assert tab.locator("h1").all_inner_texts() == ["Two runs"]
    visible = [table for table in tab.locator("table").all() if table.is_visible()]
    assert len(visible) == 4 and all(table.locator("caption").inner_text() for table in visible)
    assert tab.locator("thead th:not([scope=col])").count() == 0
    assert tab.locator("fieldset legend").all_inner_texts() == ["Dimension", "Evaluator", "Show"]
    assert tab.locator("html").get_attribute("lang") == "en"
    ids = tab.locator("[id]").evaluate_all("all => all.map(each => each.id)")
    assert len(ids) == len(set(ids)) > 4


def test_without_a_script_all_but_choosing_is_there(path: Path, browse: Browse) -> None:
    tab = browse(path, scripts=False)
    assert tab.locator("select:visible").count() == 0
    tab.get_by_label("differences from the reference").check()
    tab.get_by_role("radio", name="quality").check()
    caption = tab.locator("table.heat:visible caption").inner_text()
    assert caption.endswith("of each topic: quality, trec_eval, as differences from A")


def test_the_gallery_has_every_task_and_the_available_runs(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browse: Browse
) -> None:
    task = tasks.task("touche-2022-task-2")
    qrels = "".join(f"{topic} 0 d{n} {n % 3}\n" for topic in (2, 3) for n in range(5))
    for dimension, judgments in task.qrels.items():
        stances = qrels.replace(" 0\n", " NO\n").replace(" 1\n", " FIRST\n").replace(" 2\n", " SECOND\n")
        write(f"data/qrels/{judgments.file}", stances if dimension == "stance" else qrels)
    numbers = (5, 0, 1, 2, 3, 4)  # the first document is unjudged
    lines = "".join(
        f"{topic} Q0 d{number} {rank} {9 - rank} BM25-Baseline\n"
        for topic in (2, 3)
        for rank, number in enumerate(numbers)
    )
    write(f"data/runs/{task.id}/one.run", lines)
    write("data/runs/touche-2021-task-1/other.txt", lines)  # without judgments
    write("data/runs/touche-2020-task-2/README.txt", "no run at all\n")
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path / "data"))
    code, out, _ = touche("report", "--all-published", "-o", tmp_path / "out")
    assert (code, out) == (0, f"{tmp_path}/out/index.html\n")
    tab = browse(tmp_path / "out" / "index.html")
    links = tab.locator(".field h2 a").all_inner_texts()
    assert sorted(links) == [task for task in tasks.ids() if tasks.task(task).published]
    years = [link[7:11] for link in links if link.startswith("touche-")]
    assert years == sorted(years, reverse=True)
    assert all(link.startswith("beir-") for link in links[len(years) :])
    field = tab.locator(".field").filter(has=tab.get_by_role("link", name=task.id))
    assert field.locator("h3").all_inner_texts()[0].split() == ["relevance", "nDCG@5,", "26", "runs"]
    points = field.locator(".line").first.get_by_role("img")
    assert points.count() == 26
    name = "point => getComputedStyle(point, '::after').content"
    points.last.focus()
    assert points.last.evaluate(name) == '"Captain Levi (levirank_dense_initial_retrieval) 0.758"'
    tab.keyboard.press("ArrowLeft")
    assert points.last.evaluate(name) == "none"
    assert points.nth(24).evaluate(name).startswith('"Captain Levi (')
    contents = tab.get_by_role("navigation", name="Tasks")
    contents.get_by_role("link", name="touche-2020-task-1", exact=True).click()
    assert tab.url.endswith("#touche-2020-task-1")
    uncorrected = tab.locator("#touche-2020-task-1").inner_text()
    assert "relevance-uncorrected: The published values were computed with these grades" in uncorrected
    said = field.inner_text()
    assert "Best Captain Levi" in said and "Baseline Puss in Boots 0.469" in said
    assert "Can be rerun by bm25. 1 run available" in said
    tab.locator(".field h2").get_by_role("link", name=task.id).click()
    captions = tab.locator("table.board:visible caption, table.stances:visible caption").all_inner_texts()
    assert [caption.split(",")[0] for caption in captions][:2] == ["relevance", "stance"]
    headers = tab.locator("table.board:visible thead, table.stances:visible thead").all_inner_texts()[:2]
    assert ["Judged@5" in header for header in headers] == [True, False]
    tab.get_by_role("link", name="Published results of Touché").click()
    tab.locator(".field h2").get_by_role("link", name="touche-2021-task-1").click()
    assert "the available runs are omitted: qrels/" in tab.locator(".warning").inner_text()
    assert tab.locator(".board:visible tbody tr:visible").count() == 23
