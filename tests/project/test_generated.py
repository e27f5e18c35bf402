"""What `make docs` writes is current and whole: the table, and the reference."""

import ast
import importlib
import os
import pydoc
import re
import runpy
import shutil
import subprocess
import sys
from inspect import ismodule
from pathlib import Path
from typing import Any

import pytest

import touche
from conftest import ROOT
from touche import baselines

REFERENCE = runpy.run_path(str(ROOT / "docs" / "reference.py"))
OFFERED = ("touche", "touche.scan", "touche.lucene", "touche.pairs")
CHAPTERS = [(module, names.split()) for module, names in REFERENCE["CHAPTERS"].values()]
ENTRIES = [REFERENCE["entry"](module, name) for module, names in CHAPTERS for name in names]
MEMBERS = [member for each in ENTRIES for member in each.members]


def test_the_tables_are_current_with_a_row_for_each_baseline(tmp_path: Path) -> None:
    for part in ("baselines", "docs", "topics"):
        shutil.copytree(ROOT / part, tmp_path / part)
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "src").symlink_to(ROOT / "src")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src")}
    subprocess.run([sys.executable, "docs/tables.py"], cwd=tmp_path, env=environment, check=True)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text, "run make docs"
    assert {*baselines.names()} <= {*re.findall(r"^\| \[([\w-]+)\]", text, re.MULTILINE)}
    scores = "dirichletlm: 2021 task 1: relevance&nbsp;0.626, quality&nbsp;0.796".split(": ", 1)
    (row,) = re.findall(rf"^\| \[{scores[0]}\].*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert scores[1] in row


def test_the_reference_is_current_and_tells_of_all_that_is_offered() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    assert page == REFERENCE["page"](), "make docs writes it again"
    assert max(map(len, page.splitlines())) <= 128
    for package in OFFERED:
        told = [name for module, names in CHAPTERS if module == package for name in names]
        modules = [each.rpartition(".")[2] for each in OFFERED[1:]] if package == "touche" else []
        names = vars(importlib.import_module(package))
        public = [name for name in names if name[0] != "_" and not ismodule(names[name])]
        assert sorted(told + modules) == sorted(names.get("__all__", public))


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
    assert all(f"``{name}``" in pydoc.plain(pydoc.render_doc(touche)) for name in touche.__all__)


def test_importing_the_library_imports_nothing_of_it() -> None:
    """The command minds signals before it imports what takes time."""
    code = "import sys, touche; print(*(each for each in sys.modules if each[:5] in ('touch', 'numpy')))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["touche"]
