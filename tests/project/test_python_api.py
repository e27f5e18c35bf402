"""What `import touche` offers: each name is on the page of the Python API, each parameter is documented."""

import ast
import importlib
import pydoc
import re
from functools import cache
from inspect import ismodule

import pytest

pytest.importorskip("griffe", reason="needs Griffe: pip install griffe")
import griffe

import touche
from conftest import ROOT

OFFERED = ("touche", "touche.scan", "touche.lucene", "touche.pairs")
PAGES = [ROOT / "docs" / "reference" / name for name in ("python.md", "engines.md")]
PAGE = "".join(page.read_text(encoding="utf-8") for page in PAGES)
NAMES = [name for name in re.findall(r"^::: (\S+)$", PAGE, re.MULTILINE) if name not in OFFERED]


@cache  # not when the file is imported, because each process of pytest-xdist imports all files
def library() -> griffe.Module:
    loaded = griffe.load("touche", search_paths=[ROOT / "src"], resolve_aliases=True)
    assert isinstance(loaded, griffe.Module)
    return loaded


def test_the_page_of_the_python_api_has_everything_that_is_offered() -> None:
    for package in OFFERED:
        on_page = [name.rpartition(".")[2] for name in NAMES if name.rpartition(".")[0] == package]
        modules = (
            [name_of_package.rpartition(".")[2] for name_of_package in OFFERED[1:]]
            if package == "touche"
            else []
        )
        names = vars(importlib.import_module(package))
        public = [name for name in names if name[0] != "_" and not ismodule(names[name])]
        assert sorted(on_page + modules) == sorted(names.get("__all__", public))


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_and_every_field_is_documented(name: str) -> None:
    entry = library()[name.removeprefix("touche.")]
    members = entry.members.values() if entry.is_class else ()
    for definition in [
        entry,
        *(member for member in members if member.is_function and member.name[0] != "_"),
    ]:
        docstring = definition.docstring.value if definition.docstring else ""
        documented = re.findall(r"^    (\w+(?:, \w+)*): ", docstring, flags=re.MULTILINE)
        missing = _names(definition) - {name for names in documented for name in names.split(", ")}
        assert docstring and (not missing or "attributes as in" in docstring), (definition.path, missing)


def _names(entry: griffe.Object | griffe.Alias) -> set[str]:
    """The parameters of a function, or the fields of a record."""
    if entry.is_function:
        return {parameter.name.lstrip("*") for parameter in entry.parameters} - {"self", "cls"}
    fields = entry.members.values() if entry.is_class else ()
    return {
        field.name
        for field in fields
        if field.is_attribute and field.name[0] != "_" and "property" not in field.labels
    }


def test_editors_and_help_know_the_same_names_as_the_library() -> None:
    """Editors read the imports for type checkers; each is a name that there is."""
    source = (ROOT / "src" / "touche" / "__init__.pyi").read_text(encoding="utf-8")
    imported = [name.name for line in ast.parse(source).body for name in line.names]  # type: ignore[attr-defined]
    assert sorted(imported) == touche.__all__ == dir(touche)
    assert all(getattr(touche, name) is not None for name in touche.__all__)
    assert (ROOT / "src" / "touche" / "py.typed").is_file()
    with pytest.raises(AttributeError, match="attribute rank"):
        touche.rank  # noqa: B018
    assert all(f"``{name}``" in pydoc.plain(pydoc.render_doc(touche)) for name in touche.__all__)
