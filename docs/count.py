"""Counts the lines of code of each package, without docstrings, comments and blank lines."""

import ast
from collections import Counter
from io import StringIO
from pathlib import Path
from tokenize import COMMENT, DEDENT, ENCODING, ENDMARKER, INDENT, NEWLINE, NL, generate_tokens

HOUSE = Path(__file__).parents[1]
LIMITS = {"src and baselines": 11_500, "C": 650, "tests, all lines": 14_500}
NO_CODE = {COMMENT, DEDENT, ENCODING, ENDMARKER, INDENT, NEWLINE, NL}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of_code(source: str) -> int:
    """Returns how many lines of Python contain a token other than a comment or a docstring."""
    tokens = [token for token in generate_tokens(StringIO(source).readline) if token.type not in NO_CODE]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    return len(lines - docstring_lines(source))


def docstring_lines(source: str) -> set[int]:
    """Returns the numbers of all lines of docstrings."""
    documented = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
    docstrings = [node.body[0] for node in documented if ast.get_docstring(node) is not None]
    return {line for node in docstrings for line in range(node.lineno, (node.end_lineno or 0) + 1)}


def lines_of_c(source: str) -> int:
    """Returns how many lines of C are neither blank nor a comment."""
    lines = [line.strip() for line in source.splitlines()]
    return sum(line != "" and not line.startswith(("//", "/*", "*")) for line in lines)


def package_of(path: Path) -> str:
    """Returns the first folders of a path, such as ``src/touche/scan`` or ``baselines/bm25``."""
    folders = path.relative_to(HOUSE).parent.parts
    return "/".join(folders[: 3 if folders[0] == "src" else 2])


def main() -> None:
    """Prints the lines of each package, and every sum next to its limit."""
    packages: Counter[str] = Counter()
    for path in [*HOUSE.glob("src/**/*.py"), *HOUSE.glob("baselines/**/*.py")]:
        packages[package_of(path)] += lines_of_code(path.read_text())
    for package, count in packages.most_common():
        print(f"{count:6,}  {package}")
    sums = {
        "src and baselines": packages.total(),
        "C": sum(lines_of_c(path.read_text()) for path in HOUSE.glob("src/**/*.c")),
        "tests, all lines": sum(len(path.read_text().splitlines()) for path in HOUSE.glob("tests/**/*.py")),
    }
    for name, count in sums.items():
        print(f"{count:6,}  {name} (at most {LIMITS[name]:,})")


if __name__ == "__main__":
    main()
