"""The table of all modules in docs/internals.md, from the first line of each one's docstring.

python docs/house.py    # writes it
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
GUIDE, LIBRARY = ROOT / "docs" / "internals.md", ROOT / "src" / "touche"
BEGIN, END = "<!-- house: made by docs/house.py -->\n", "<!-- end of house -->"


def main() -> None:
    """Writes the table where it belongs."""
    text = GUIDE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    GUIDE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")


def table() -> str:
    """The rooms with what each is for, and the modules in them."""
    rows = [f"| {where} | {what} |" for where, what in (*_modules(LIBRARY), *_rooms())]
    return "\n".join(["| where | what is there |", "| --- | --- |", *rows, ""])


def _rooms() -> Iterator[tuple[str, str]]:
    for room in sorted(path.parent for path in LIBRARY.rglob("*/__init__.py")):
        name = f"src/touche/{room.relative_to(LIBRARY)}/"
        yield f"**[{name}](../{name})**", f"**{_purpose(room / '__init__.py')}**"
        yield from _modules(room)


def _modules(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("*.py")):
        if not path.name.startswith("__"):
            yield f"`{path.name}`", _purpose(path)


def _purpose(path: Path) -> str:
    """The first line of a module's docstring."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if not said:
        sys.exit(f"error: {path} does not say what it is for; give it a docstring")
    return re.sub(r"``([^`]*)``", r"`\1`", said.splitlines()[0]).replace("|", "\\|")


if __name__ == "__main__":
    main()
