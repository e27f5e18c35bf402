"""Rules for the repository as a whole."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from conftest import ROOT
from pages import PAGES, steps
from touche.data.sources import official
from touche.io.optional import PYSERINI
from touche.tasks import datasets, ids


def test_baselines_and_the_starter_import_from_touche_alone_and_nothing_of_each_other() -> None:
    starter = (ROOT / "src/touche/baselines/starter").glob("*/*.py")
    for path in [*(ROOT / "baselines").glob("*/*.py"), *starter]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_relative = isinstance(node, ast.ImportFrom) and node.level == 1
            if isinstance(node, ast.Import | ast.ImportFrom) and not is_relative:
                module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                name = str(module).partition(".")[0]
                assert not str(module).startswith("touche."), (path, module)
                libraries = {"touche", "numpy", "orjson", "rank_bm25", "chatnoir_api", "pytest"}
                assert name in libraries | sys.stdlib_module_names, path


def anchors(page: Path) -> set[str]:
    """Returns the headings of a page as anchors of GitHub."""
    headings = re.findall("^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_files_and_headings_that_the_documentation_names_exist() -> None:
    for page in [*PAGES, ROOT / "corpora" / "README.md", ROOT / "CHANGELOG.md"]:
        text = page.read_text(encoding="utf-8")
        to_be_written = {ROOT / step.path for step in steps(page) if step.kind == "file"}
        for name in re.findall(r"`((?:qrels|topics|corpora|src|tests|docs)/[\w./-]+)`", text):
            assert (ROOT / name).exists() or ROOT / name in to_be_written, f"{page}: {name}"
        for name, anchor in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", text):
            target = page.parent / name if name else page
            known = "." in anchor or not anchor or anchor in anchors(target)  # make site knows those of names
            assert target.exists() and known, f"{page}: {name}#{anchor}"


def test_tasks_that_are_made_up_have_no_id_that_a_real_one_could_get() -> None:
    """Otherwise, the card of that task would break tests and guides. The year 2099 is far enough."""
    for path in [*PAGES, *(ROOT / "tests").rglob("*.py")]:
        named = re.findall(r"\btouche-20[0-8]\d-task-\d+\b", path.read_text(encoding="utf-8"))
        assert {*named} <= {*ids()}, path


def test_workflows_and_issue_forms_are_valid_and_fetch_all_that_needs_no_agreement() -> None:
    for kind, pattern in (("workflows", "workflows/*.yml"), ("issue-forms", "ISSUE_TEMPLATE/[!c]*.yml")):
        files = sorted(map(str, (ROOT / ".github").glob(pattern)))
        checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.github-{kind}"]
        subprocess.run([*checker, *files], check=True)
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "regression.yml").read_text())["jobs"]
    parts = jobs["regression"]["strategy"]["matrix"]["include"]
    listed = [dataset for part in parts for dataset in part["datasets"].split()]
    published = {dataset: official([dataset]) for dataset in datasets() if "/" not in dataset}
    open_tasks = {
        name for name, sources in published.items() if sources and all(source.url for source in sources)
    }
    assert sorted(listed) == sorted(open_tasks)


def test_versions_and_titles_agree_and_versions_are_pinned_in_one_place_each() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    version = project["version"]
    title = citation["title"]
    author = citation["authors"][0]["name"]
    assert citation["version"] == version and f"\n## {version}\n" in (ROOT / "CHANGELOG.md").read_text()
    cited = " ".join((ROOT / "README.md").read_text().replace("\n> ", " ").split())
    assert f"{author}: {title}. Version {version}, {citation['date-released'].year}." in cited
    pins = (ROOT / "constraints.txt").read_text().replace("_", "-").lower().split()
    names = {re.split("[>=]", requirement)[0] for requirement in project["dependencies"]}
    assert names <= {pin.split("==")[0] for pin in pins} and "pyserini" not in str(pins)
    assert (ROOT / "pyserini.txt").read_text().splitlines()[-1] == PYSERINI
