"""The documentation as a site: built without a warning, a page for each baseline, nothing from elsewhere."""

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

import touche
from conftest import ROOT
from pages import type_in
from touche import baselines
from touche.data.places import shipped_baselines
from touche.tasks import all_tasks

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = ["browsers"]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]
BY_DAY = ((390, "light"), (1400, "dark"))  # each scheme, the narrowest and the widest page
WINDOWS = [  # widths of a phone, a tablet and a desk, in pixels
    pytest.param(width, scheme, marks=() if (width, scheme) in BY_DAY else pytest.mark.nightly)
    for width in (390, 768, 1400)
    for scheme in ("light", "dark")
]
LINK = re.compile(r'<(?:link|script|img|iframe|source)\b[^>]*\b(?:src|href)="?(https?:[^" >]*)')


@pytest.fixture(scope="session")
def site(after_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, whose gallery reports on the runs of the demo."""
    folder = Path(shutil.copytree(after_demo, tmp_path_factory.mktemp("site") / "clone"))
    output = type_in(folder, "make site", TOUCHE_REPOSITORY="https://example.org/o/n")
    assert [line for line in output.splitlines() if "mkdocs build" not in line] == []
    return folder / "build" / "site"


def test_each_baseline_has_a_page_with_its_options_and_scores(site: Path) -> None:
    overview = (site / "reference" / "baselines.html").read_text()
    for name in shipped_baselines():
        page = (site / "reference" / "baselines" / f"{name}.html").read_text()
        assert 'id="options"' in page and 'id="published-and-reproduced-scores"' in page
        assert f'href="baselines/{name}.html"' in overview
        for option in baselines.load(name).options:
            assert f"<code>--{option.replace('_', '-')}</code>" in page
    page = (site / "reference" / "baselines" / "dirichletlm.html").read_text()
    source = "argument-retrieval-for-controversial-questions-results-relevance.html"
    assert re.search(
        rf'<td>published</td> <td>0.626</td> <td></td> <td><a href="https://[^"]*{source}">Task page', page
    )


def test_the_gallery_leads_to_tasks_and_to_the_toy_collection(site: Path) -> None:
    front = (site / "gallery" / "index.html").read_text()
    pages = re.findall(r'<h2><a href="([^"]*)">', front)
    assert re.findall(r'<p><a href="#(touche-20[^"]*|beir-[^"]*)">', front) == [page[:-5] for page in pages]
    assert len(pages) == sum(bool(task.published) for task in all_tasks().values())
    assert {path.name for path in (site / "gallery").glob("*.html")} >= {*pages, "index.html"}
    task = (site / "gallery" / "touche-2022-task-2.html").read_text()
    assert 'href="spot-check--passages.html"' in front and 'href="index.html"' in task
    tabs = re.findall(r'<a href="([^"]*)" class="md-tabs__link"> ([\w-]+) </a>', front)
    assert tabs == re.findall(r'<li><a href="([^"]*)"(?: aria-current="true")?>([\w-]+)</a>', task) != []
    assert ">touche-bm25<" in re.sub(r"\s+", "", (site / "gallery" / "spot-check--passages.html").read_text())


def test_formulas_are_typeset_and_links_lead_to_pages_or_to_the_repository(site: Path) -> None:
    pages = {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*.html")}
    assert "<math " in pages["reference/baselines/dirichletlm.html"]
    assert not [name for name, text in pages.items() if "generated:" in text or "```" in text]
    assert (
        'href="https://example.org/o/n/blob/main/baselines/bm25/expected.toml"'
        in pages["reference/baselines/bm25.html"]
    )
    assert 'href="stance-lexicon.html"' in pages["reference/baselines/bm25.html"]


def test_nothing_comes_from_another_host_and_pages_are_small(site: Path) -> None:
    assert {path.name for path in site.rglob("*.html") if LINK.search(path.read_text())} == set()
    assets = [*site.glob("assets/javascripts/bundle.*.js"), *site.glob("assets/stylesheets/*.css")]
    shared = sum(path.stat().st_size for path in assets)
    heavy = {path.name: path.stat().st_size for path in site.rglob("*.html")}
    assert {name for name, size in heavy.items() if size + shared > 600_000} == set()


def test_search_works_from_disk_and_no_page_is_wider_than_a_phone(site: Path, chromium: "Browser") -> None:
    tab = chromium.new_page(viewport={"width": 390, "height": 800})
    heard: list[str] = []
    tab.on("console", lambda message: heard.append(message.text))
    tab.on("request", lambda request: heard.append(request.url) if "file:" not in request.url[:5] else None)
    for path in [*site.glob("*/*.html"), site / "index.html"]:
        tab.goto(path.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") == 390, path.name
    tab.keyboard.press("s")
    tab.keyboard.type("dirichlet")
    tab.locator(".md-search-result__link").first.wait_for()
    assert "matching documents" in tab.locator(".md-search-result__meta").inner_text()
    assert [line for line in heard if not line.startswith(("data:", "blob:"))] == []


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_a_row_of_the_reproductions_opens_the_commands_that_rerun_it(
    site: Path, chromium: "Browser", width: int, scheme: Literal["light", "dark"]
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto((site / "reference" / "reproductions.html").as_uri())
    row = tab.get_by_role("button", name="bm25 on touche-2022-task-2", exact=True)
    score = "2022 task 2 0.469 relevance, nDCG@5, and 2 more"
    rerun = "✓ 40 of 40 values in 20 topics sample 0.435, judged 0.85"
    assert row.inner_text().split() == [*score.split(), *rerun.split()]
    lightest = {"light": range(128, 256), "dark": range(128)}[scheme]
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert int(re.findall("[0-9]+", background)[0]) in lightest
    row.click()
    commands = tab.locator("#bm25--touche-2022-task-2")
    box = commands.bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= width and box["height"] <= 900
    for number, block in enumerate(commands.locator("code:has-text('touche run')").all()):
        commands.get_by_role("button", name="Copy to clipboard").nth(number).click()
        assert tab.evaluate("navigator.clipboard.readText()") == block.inner_text()
    assert number == 2 and "--task touche-2022-task-2/sample" in block.inner_text()
    commands.get_by_role("button", name="Close").click()
    assert not commands.is_visible()
    context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_reproduced_values_come_first_and_those_that_are_not_published_below(
    site: Path, chromium: "Browser", scripts: bool
) -> None:
    tab = chromium.new_page(viewport={"width": 1400, "height": 900}, java_script_enabled=scripts)
    tab.goto((site / "reference" / "reproductions.html").as_uri())
    buttons = tab.locator(".reproductions button")
    texts = buttons.all_inner_texts()
    labels = buttons.evaluate_all("all => all.map(each => each.ariaLabel)")
    baselines_of_rows = [label.partition(" on ")[0] for label in labels]
    expected = {f"{row.expected.baseline} on {row.dataset}": row.expected for row in touche.reproductions()}
    are_published = [expected[label].published is not None for label in labels]
    assert sorted(labels) == sorted(expected) and are_published == sorted(are_published, reverse=True)
    assert ["0.000" in text for text in texts] == ["*" in text for text in texts]  # with a note
    reproduced = {name for name, text in zip(baselines_of_rows, texts, strict=True) if "✓" in text}
    first = [name in reproduced for name in baselines_of_rows[: sum(are_published)]]
    assert first == sorted(first, reverse=True) and reproduced == {"bm25", "dirichletlm"}
    tab.get_by_label("only published values").check()
    assert tab.locator(".reproductions button:visible").count() == sum(are_published)
    assert "sample" not in tab.locator(".reproductions").inner_text().lower()
    tab.close()


def test_a_scheme_chosen_on_a_task_page_holds_on_the_other_pages(site: Path, chromium: "Browser") -> None:
    context = chromium.new_context(color_scheme="light")
    tab = context.new_page()
    background = "Number(getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0])"
    tab.goto((site / "gallery" / "touche-2022-task-2.html").as_uri())
    assert tab.evaluate(background) == 255
    tab.get_by_role("button", name="Dark or light").click()
    assert tab.evaluate(background) < 50
    tab.get_by_role("navigation", name="Site").get_by_role("link", name="How-to").click()
    tab.wait_for_url("**/how-to/*.html")
    assert tab.evaluate(background) < 50
    tab.locator("form.md-header__option label:visible").click()
    assert tab.evaluate(background) == 255
    tab.goto((site / "gallery" / "touche-2022-task-1.html").as_uri())
    assert tab.evaluate(background) == 255
    context.close()


LAYOUT = (ROOT / "tests" / "reports" / "layout.js").read_text(encoding="utf-8")
AXE = ROOT / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
CONTRAST = """() => axe.run(document, { runOnly: ["color-contrast"] }).then(
    ({ violations }) => violations.flatMap(({ nodes }) => nodes.map(node => `pale: ${node.target}`)))"""


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_nothing_overlaps_is_cut_or_too_pale_on_a_phone_a_tablet_and_a_desk(
    site: Path, chromium: "Browser", width: int, scheme: Literal["light", "dark"]
) -> None:
    tab = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    problems = dict[str, list[str]]()
    for name in (
        "index",
        "gallery/index",
        "gallery/touche-2022-task-2",
        "gallery/spot-check--arguments",  # a report
        "how-to/evaluate",
        "reference/reproductions",
    ):
        tab.goto((site / f"{name}.html").as_uri())
        problems[name] = tab.evaluate(LAYOUT)
        if AXE.exists():  # make axe
            tab.add_script_tag(path=AXE)
            problems[name] += tab.evaluate(CONTRAST)
    tab.close()
    assert {name: found for name, found in problems.items() if found} == {}


def test_every_control_of_a_report_is_reached_by_keyboard_and_shows_its_focus(
    site: Path, chromium: "Browser"
) -> None:
    tab = chromium.new_page(viewport={"width": 1400, "height": 900})
    tab.goto((site / "gallery" / "spot-check--arguments.html").as_uri())
    outlines = []
    for _ in range(40):
        tab.keyboard.press("Tab")
        outlines.append(tab.evaluate("getComputedStyle(document.activeElement).outlineStyle"))
    assert {*outlines} == {"solid"}
    tab.close()
