"""What `make docs` writes is current and whole: tables, the list of modules, and the reference."""

import ast
import importlib
import os
import pydoc
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import touche
from conftest import ROOT, Write
from touche import baselines
from touche.regression.expected import PUBLISHED, read_expected

HOUSE, REFERENCE = (runpy.run_path(str(ROOT / "docs" / f"{name}.py")) for name in ("house", "reference"))
PAGES = ("README.md", "docs/replication.md")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # of git, in every clone
OFFERED = ("touche", "touche.scan", "touche.lucene", "touche.pairs")
CHAPTERS = [(module, names.split()) for module, names in REFERENCE["CHAPTERS"].values()]
ENTRIES = [REFERENCE["entry"](module, name) for module, names in CHAPTERS for name in names]
MEMBERS = [member for each in ENTRIES for member in each.members]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the pages, and of what their tables are made from."""
    for part in ("baselines", "docs", "topics"):
        shutil.copytree(ROOT / part, tmp_path / part)
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "src").symlink_to(ROOT / "src")
    return tmp_path


def made(clone: Path) -> list[list[str]]:
    """The lines of both pages, as the script leaves them."""
    environment = os.environ | {"PYTHONPATH": str(clone / "src")}
    script = [sys.executable, "docs/tables.py"]
    done = subprocess.run(script, capture_output=True, text=True, cwd=clone, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [(clone / page).read_text(encoding="utf-8").splitlines() for page in PAGES]


def cells(line: str) -> list[str]:
    """The cells of a row that begins with a link to a baseline or with nothing; none of another line."""
    unlinked = re.sub(r"\[([\w-]+)\]\S*", r"\1", line)
    return unlinked[2:].removesuffix(" |").split(" | ") if line.startswith(("| [", "|  |")) else []


def test_the_tables_are_current_with_a_row_for_each_baseline_task_and_options(clone: Path) -> None:
    readme, guide = made(clone)
    for page, lines in zip(PAGES, (readme, guide), strict=True):
        assert (ROOT / page).read_text(encoding="utf-8").splitlines() == lines, "run make docs"
    rows = {row[0]: row for row in map(cells, readme) if row and row[0] in baselines.names()}
    assert sorted(rows) == baselines.names()
    assert rows["dirichletlm"][2].split("<br>")[-1] == "2021 task 1: relevance&nbsp;0.626, quality&nbsp;0.796"
    assert rows["sentence-coherence"][2:4] == ["–", "no original exists"]
    name, rows_of = "", dict[str, list[list[str]]]()
    for row in filter(None, map(cells, guide)):
        name = row[0] or name
        rows_of.setdefault(name, []).append(row[1:5])
    assert sorted(rows_of) == baselines.names()
    quality = "relevance&nbsp;0.626<br>quality&nbsp;0.796"
    assert rows_of["dirichletlm"][1:3] == [
        ["2020 task 1, version 1", "uncorrected&nbsp;0.769", "–", "–"],
        ["2021 task 1", quality, "relevance&nbsp;0.253<br>quality&nbsp;0.317", "0.36"],
    ]
    assert rows_of["chatnoir-bm25f"][-1][0] == "2022 task 2<br>`--match 30%`"
    headings = [line[3:].partition(":")[0] for line in guide if line.startswith("## ")]
    assert sorted(headings[:-2]) == baselines.names()


@pytest.mark.slow
def test_another_expected_value_changes_its_row_and_no_other(clone: Path) -> None:
    before = made(clone)
    path = clone / "baselines" / "bm25" / "expected.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("published = 0.469", "published = 0.987"), encoding="utf-8")
    for old, new in zip(before, made(clone), strict=True):
        ((was, becomes),) = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
        assert was.startswith("| [bm25]") and becomes == was.replace("0.469", "0.987")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs git's history")
def test_code_that_changed_since_the_images_were_measured_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    changed_since = runpy.run_path(str(ROOT / "docs" / "tables.py"))["changed_since"]
    assert "baselines/bm25/baseline.py" in changed_since(EMPTY_TREE)
    assert changed_since("0" * 40) == []
    monkeypatch.setenv("PATH", "")
    assert changed_since(EMPTY_TREE) == []


def test_the_guide_tells_how_to_try_every_published_value() -> None:
    guide = (ROOT / "docs" / "replication.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"`touche regress\s+(\S+)\s+--dataset\s+([^`\s]+)`", guide))
    expected = [each for name in baselines.names() for each in read_expected(name)]
    assert shown == {(each.baseline, each.dataset) for each in expected if each.kind == PUBLISHED}


def test_the_list_of_modules_is_current_and_each_says_what_it_is_for(write: Write) -> None:
    table = HOUSE["table"]()
    assert table in (ROOT / "docs" / "internals.md").read_text(encoding="utf-8"), "make docs writes it again"
    modules = [path for path in (ROOT / "src" / "touche").rglob("[!_]*.py") if "my-team" not in path.parts]
    assert len(modules) > 60 and all(f"\n| `{path.name}` | " in table for path in modules)
    with pytest.raises(SystemExit, match=r"mute\.py does not say what it is for"):
        HOUSE["_purpose"](write("mute.py", "x = 1\n"))


def test_the_reference_is_current_and_tells_of_all_that_is_offered() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert page == REFERENCE["page"](), "make docs writes it again"
    assert max(map(len, page.splitlines())) <= 128
    for package in OFFERED:
        told = [name for module, names in CHAPTERS if module == package for name in names]
        modules = [each.rpartition(".")[2] for each in OFFERED[1:]] if package == "touche" else []
        assert sorted(told + modules) == sorted(importlib.import_module(package).__all__)


@pytest.mark.parametrize("entry", [*ENTRIES, *MEMBERS], ids=lambda entry: entry.name)
def test_every_parameter_and_every_field_is_told(entry: Any) -> None:
    node, said = entry.node, entry.said
    assert said
    told = re.findall(r"^    (\w+(?:, \w+)*): ", said, flags=re.MULTILINE)
    missing = _names(node) - {name for names in told for name in names.split(", ")}
    assert not missing or "attributes as those of" in said, missing


def _names(node: ast.AST) -> set[str]:
    """The parameters of a function, or the fields of a record."""
    if isinstance(node, ast.FunctionDef):
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        return {each.arg for each in arguments} - {"self", "cls"}
    body = node.body if isinstance(node, ast.ClassDef) else ()
    return {ast.unparse(each.target) for each in body if isinstance(each, ast.AnnAssign)}


def test_editors_and_help_know_the_same_names_as_the_library() -> None:
    """Editors read the imports for type checkers; each is a name that there is."""
    source = (ROOT / "src" / "touche" / "__init__.py").read_text(encoding="utf-8")
    (seen,) = [each for each in ast.parse(source).body if isinstance(each, ast.If)]
    imported = [name.name for each in seen.body if isinstance(each, ast.ImportFrom) for name in each.names]
    assert sorted(imported) == touche.__all__ == dir(touche)
    assert all(getattr(touche, name) is not None for name in touche.__all__)
    assert (ROOT / "src" / "touche" / "py.typed").is_file()
    with pytest.raises(AttributeError, match="has no attribute 'rank'"):
        touche.rank  # noqa: B018
    told, _, rest = pydoc.plain(pydoc.render_doc(touche)).partition("\nCLASSES\n")
    assert {name for name in touche.__all__ if f"``{name}``" in told} == {*touche.__all__}
    defined = re.findall(r"^    (?:class )?(\w+)(?:\(| = )", rest, flags=re.MULTILINE)
    assert {*defined} == {*touche.__all__} - {"lucene", "pairs", "scan"}


def test_importing_the_library_imports_nothing_of_it() -> None:
    """The command minds signals before it imports what takes time."""
    code = "import sys, touche; print(*(each for each in sys.modules if each[:5] in ('touch', 'numpy')))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["touche"]
