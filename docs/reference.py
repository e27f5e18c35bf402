"""The reference of the library, docs/reference/python.md, from the docstrings; it imports none of them.

python docs/reference.py    # writes it
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from textwrap import dedent, fill

ROOT = Path(__file__).parents[1]
GUIDE, SOURCES = ROOT / "docs" / "reference" / "python.md", ROOT / "src"
CHAPTERS = {  # where names are imported from, and the names in the order in which one reads them
    "Baselines": ("touche", "baseline Topics Documents Rankings check_range ToucheError"),
    "Topics and documents": (
        "touche",
        "Topic AnyDocument Document Argument Sentence Page premises_of conclusion_of",
    ),
    "Runs and scores": ("touche", "run evaluate compare published"),
    "Ranking without an index": (
        "touche.scan",
        "rank Array Term Formula Weighted dirichletlm bm25 dph dlh pl2 exact before_lucene_7 Fields Queries "
        "terms picked Collection Scoring Statistics",
    ),
    "Lucene": (
        "touche.lucene",
        "index Index Chain stop_words dirichlet bm25 classic jar PYSERINI",
    ),
    "Pairs of sentences": (
        "touche.pairs",
        "by_dirichletlm hits best_pairs pair_of of_argument Pair ScoredSentence Ranked Arguments embed",
    ),
    "Columns of scores": ("touche.evaluation.scores", "Subject Score TopicScore"),
    "Columns of comparisons": ("touche.evaluation.comparison", "PairOfRuns Comparison TopicDifference"),
    "Columns of published results": ("touche.tasks.records", "Published"),
}
_OPENING = """\
# Reference

All that `import touche` offers to those who write baselines and those who score runs. How it goes together is
told in [Write a baseline](../tutorial/write-a-baseline.md).
Made from the docstrings by `docs/reference.py`, so that `help(touche.scan.rank)` says the same.
"""
_SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises):\n((?:    .*\n|\n)+)", re.MULTILINE)
_ITEM = re.compile(r"^(?=\S)", re.MULTILINE)
_WIDTH, _SHORT = 120, 100  # characters of a line, and of a signature that stands in one

_Definition = ast.FunctionDef | ast.ClassDef | ast.Assign


@dataclass(frozen=True)
class Entry:
    """A name of the library.

    Attributes:
        name: as it is written, such as ``touche.scan.rank``.
        node: what defines it.
        said: its docstring, or the string below it.
    """

    name: str
    node: _Definition
    said: str

    def markdown(self, level: int) -> Iterator[str]:
        """Heading, signature and docstring, and those of what a class has."""
        if not self.said:
            sys.exit(f"error: {self.name} does not say what it is; give it a docstring, or a string below it")
        yield f"{'#' * level} `{self.name}`\n"
        signature = _signature(self.node, self.name).replace("'", '"')  # as elsewhere
        yield f"```py\n{signature}\n```\n"
        yield from _told(self.said)
        for each in self.members:
            yield from each.markdown(level + 1)

    @property
    def members(self) -> Iterator["Entry"]:
        """The public methods and properties of a class."""
        body = self.node.body if isinstance(self.node, ast.ClassDef) else ()
        for each in body:
            if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
                yield Entry(f"{self.name.rpartition('.')[2]}.{each.name}", each, _docstring(each))


def main() -> None:
    """Writes the reference."""
    GUIDE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The reference: a chapter for each part of the library."""
    lines = [_OPENING]
    for heading, (module, names) in CHAPTERS.items():
        lines.append(f"## {heading}\n")
        if module.count(".") == 1:  # a room of its own, which says what it is for
            lines += _told(_docstring(_parsed(module)))
        for name in names.split():
            lines += entry(module, name).markdown(3)
    return "\n".join(lines)


def entry(module: str, name: str, shown: str = "") -> Entry:
    """What a module calls by a name, wherever that is defined."""
    shown, body = shown or f"{module}.{name}", list(_statements(_parsed(module)))
    for node, below in pairwise([*body, ast.Pass()]):
        if isinstance(node, ast.ImportFrom) and name in [each.asname or each.name for each in node.names]:
            return entry(str(node.module), name, shown)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name and not _is_overload(node):
            return Entry(shown, node, _docstring(node))
        if isinstance(node, ast.Assign) and [ast.unparse(each) for each in node.targets] == [name]:
            return Entry(shown, node, _string(below))
    sys.exit(f"error: {module} has no {name}; correct CHAPTERS")


@cache
def _parsed(module: str) -> ast.Module:
    path = SOURCES.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def _statements(module: ast.Module) -> Iterator[ast.stmt]:
    """Those of a module, and those that only type checkers see."""
    for node in module.body:
        yield from node.body if isinstance(node, ast.If) else [node]


def _is_overload(node: ast.FunctionDef | ast.ClassDef) -> bool:
    return "overload" in map(ast.unparse, node.decorator_list)


def _docstring(node: ast.FunctionDef | ast.ClassDef | ast.Module) -> str:
    return ast.get_docstring(node) or ""


def _string(node: ast.stmt) -> str:
    value = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else ""
    return cleandoc(str(value))


def _signature(node: _Definition, name: str) -> str:
    if isinstance(node, ast.Assign):
        return f"{name} = {ast.unparse(node.value)}"
    if isinstance(node, ast.ClassDef):
        fields = [_field(each) for each in node.body if isinstance(each, ast.AnnAssign)]
        return _call(f"class {name}", fields) if fields else f"class {name}"
    returned = f" -> {ast.unparse(node.returns)}".replace("'", "") if node.returns else ""
    if "property" in map(ast.unparse, node.decorator_list):
        return name + returned.replace(" ->", ":")
    return _call(name, [each for each in _parameters(node.args) if each not in ("self", "cls")], returned)


def _field(node: ast.AnnAssign) -> str:
    given, said = node.value, f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"
    if isinstance(given, ast.Call):  # field(), which says more than its default
        given = next((each.value for each in given.keywords if each.arg == "default"), None)
    return f"{said} = {ast.unparse(given)}" if given else said


def _call(name: str, parameters: Sequence[str], returned: str = "") -> str:
    line = f"{name}({', '.join(parameters)}){returned}"
    if len(line) <= _SHORT:
        return line
    return "\n".join([f"{name}(", *(f"    {each}," for each in parameters), f"){returned}"])


def _parameters(given: ast.arguments) -> Iterator[str]:
    """As they stand between the parentheses."""
    plain = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
    for place, (each, default) in enumerate(zip(plain, defaults, strict=True), 1):
        yield _parameter(each, default)
        if place == len(given.posonlyargs):
            yield "/"
    if given.vararg:
        yield f"*{ast.unparse(given.vararg)}"
    elif given.kwonlyargs:
        yield "*"
    for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _parameter(each, default)
    if given.kwarg:
        yield f"**{ast.unparse(given.kwarg)}"


def _parameter(given: ast.arg, default: ast.expr | None) -> str:
    equals = " = " if given.annotation else "="
    return ast.unparse(given) + (f"{equals}{ast.unparse(default)}" if default else "")


def _told(said: str) -> Iterator[str]:
    """A docstring as Markdown: its paragraphs, and a list for each section."""
    text, *sections = _SECTION.split(f"{said}\n")
    yield from _paragraphs(text)
    for heading, content, after in zip(*[iter(sections)] * 3, strict=True):
        yield f"*{heading}*\n"
        if heading in ("Returns", "Yields"):
            yield from _paragraphs(dedent(content))
        else:
            yield "\n".join(map(_item, _ITEM.split(dedent(content).strip())[1:])) + "\n"
        yield from _paragraphs(after)


def _paragraphs(text: str) -> Iterator[str]:
    for each in re.split(r"\n\s*\n", text.strip()):
        if each:
            yield f"{_filled(_escaped(' '.join(each.split())))}\n"


def _item(text: str) -> str:
    names, _, meaning = " ".join(text.split()).partition(": ")
    named = ", ".join(f"`{name}`" for name in names.split(", "))
    return _filled(f"* {named}: {_escaped(meaning)}", "  ")


def _filled(text: str, indent: str = "") -> str:
    return fill(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _escaped(text: str) -> str:
    """Without what Markdown would take for its own, but for code."""
    parts = text.split("``")
    parts[::2] = [re.sub(r"([*<])", r"\\\1", each) for each in parts[::2]]
    return "`".join(parts)


if __name__ == "__main__":
    main()
