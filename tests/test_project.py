"""What holds for the repository as a whole."""

import ast
import tomllib

import pytest

from conftest import ROOT
from touche import lucene

# Imports run one way: each module may import those of its own line and of the lines before it.
LAYERS = [
    {"errors"},
    {"files"},
    {"topics", "tasks", "qrels", "runs"},
    {"documents"},
    {"lucene", "tira", "evaluation"},
    {"data"},
    {"baselines"},
    {"cli"},
    {"__main__"},
]


def imported(path: str) -> set[str]:
    """The modules of touche that a source file imports."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "touche":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("layer", range(len(LAYERS)))
def test_imports_run_one_way(layer: int) -> None:
    allowed = set().union(*LAYERS[: layer + 1])
    for module in LAYERS[layer]:
        package = ROOT / "src" / "touche" / module
        paths = sorted(package.glob("*.py")) if package.is_dir() else [package.with_suffix(".py")]
        for path in paths:
            assert imported(str(path.relative_to(ROOT))) <= allowed, path


def test_every_module_has_its_layer() -> None:
    modules = {path.stem for path in (ROOT / "src" / "touche").iterdir() if not path.name.startswith("__")}
    assert modules == set().union(*LAYERS) - {"__main__"}


def test_engines_know_nothing_of_tasks_and_evaluation_nothing_of_engines() -> None:
    for path in (ROOT / "src" / "touche" / "lucene").glob("*.py"):
        assert not imported(str(path.relative_to(ROOT))) & {"tasks", "data", "evaluation", "qrels"}
    assert "lucene" not in imported("src/touche/evaluation.py")


def test_versions_are_pinned_in_one_place_each() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {
        line.split("==")[0].replace("_", "-").lower()
        for line in (ROOT / "constraints.txt").read_text().split()
    }
    names = {requirement.split(">")[0].split("=")[0] for requirement in project["dependencies"]}
    assert names <= pinned
    assert "pyserini" not in names | pinned
    assert (ROOT / "pyserini.txt").read_text().splitlines()[-1] == lucene.PYSERINI
