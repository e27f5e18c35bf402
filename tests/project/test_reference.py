"""The reference: it is current, it is whole, and it is what the library offers."""

import ast
import importlib
import pydoc
import re
import runpy
import subprocess
import sys
from typing import Any

import pytest

import touche
from conftest import ROOT

SCRIPT = runpy.run_path(str(ROOT / "docs" / "reference.py"))
ROOMS = ("touche", "touche.scan", "touche.lucene", "touche.pairs")
CHAPTERS = [(module, names.split()) for module, names in SCRIPT["CHAPTERS"].values()]
ENTRIES = [SCRIPT["entry"](module, name) for module, names in CHAPTERS for name in names]
MEMBERS = [member for each in ENTRIES for member in each.members]


def test_the_page_holds_what_the_script_makes() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert page == SCRIPT["page"](), "make docs writes it again"
    assert max(map(len, page.splitlines())) <= 128


@pytest.mark.parametrize("room", ROOMS)
def test_it_tells_of_all_that_is_offered_and_of_nothing_else(room: str) -> None:
    told = [name for module, names in CHAPTERS if module == room for name in names]
    modules = [each.rpartition(".")[2] for each in ROOMS[1:]] if room == "touche" else []
    assert sorted(told + modules) == sorted(importlib.import_module(room).__all__)


@pytest.mark.parametrize("entry", [*ENTRIES, *MEMBERS], ids=lambda entry: entry.name)
def test_every_parameter_and_every_field_is_told(entry: Any) -> None:
    node, said = entry.node, entry.said
    assert said
    told = re.findall(r"^    (\w+(?:, \w+)*): ", said, flags=re.MULTILINE)
    missing = _named(node) - {name for names in told for name in names.split(", ")}
    assert not missing or "attributes as those of" in said, missing


def _named(node: ast.AST) -> set[str]:
    """The parameters of a function, or the fields of a record."""
    if isinstance(node, ast.FunctionDef):
        given = node.args
        return {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)} - {"self", "cls"}
    body = node.body if isinstance(node, ast.ClassDef) else ()
    return {ast.unparse(each.target) for each in body if isinstance(each, ast.AnnAssign)}


def test_editors_and_help_know_the_same_names_as_the_library() -> None:
    """Editors read the imports for type checkers; each is a name that there is."""
    (seen,) = [each for each in ast.parse(_source()).body if isinstance(each, ast.If)]
    imported = [name.name for each in seen.body if isinstance(each, ast.ImportFrom) for name in each.names]
    assert sorted(imported) == touche.__all__ == dir(touche)
    assert all(getattr(touche, name) is not None for name in touche.__all__)
    assert (ROOT / "src" / "touche" / "py.typed").is_file()
    with pytest.raises(AttributeError, match="has no attribute 'rank'"):
        touche.rank  # noqa: B018


def test_help_begins_with_what_is_offered_and_defines_nothing_else() -> None:
    shown = pydoc.plain(pydoc.render_doc(touche))
    told, _, rest = shown.partition("\nCLASSES\n")
    assert {name for name in touche.__all__ if f"``{name}``" in told} == {*touche.__all__}
    defined = re.findall(r"^    (?:class )?(\w+)(?:\(| = )", rest, flags=re.MULTILINE)
    assert {*defined} == {*touche.__all__} - {"lucene", "pairs", "scan"}


def test_importing_the_library_imports_nothing_of_it() -> None:
    """The command minds signals before it imports what takes time."""
    code = "import sys, touche; print(*(each for each in sys.modules if each[:5] in ('touch', 'numpy')))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["touche"]


def _source() -> str:
    return (ROOT / "src" / "touche" / "__init__.py").read_text(encoding="utf-8")
