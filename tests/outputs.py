"""Writes what commands print on pages, and the tables in ``tables.on_pages``.

python tests/outputs.py [PAGE...]    # make outputs; without pages, all that show an output

A page shows an output in ```console, below the command. A line with only three dots stands for any lines; the
lines around it are replaced by the most similar lines of the new output. Commands that need official data or
containers are left out, as in the tests that compare pages with outputs.
"""

import re
import shutil
import sys
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from conftest import ROOT
from pages import PAGES, Step, follow, is_shown, steps, type_in, workspace

sys.path.insert(0, str(ROOT / "docs" / "site"))
import tables

_ANY_LINES = "..."


def main(pages: list[Path]) -> None:
    """Rewrites pages and tables."""
    for page, table in tables.on_pages():
        rewrite(ROOT / page, partial(with_table, table=table))
    shown = [page for page in pages if any(step.shown is not None for step in steps(page))]
    with TemporaryDirectory() as folder:
        demo = workspace(Path(folder, "demo"))
        type_in(demo, "make demo")
        for number, page in enumerate(shown):
            copy = Path(shutil.copytree(demo, Path(folder, str(number))))
            printed: dict[Step, str] = {}
            follow(page, copy, printed=printed)
            for step in steps(page):
                if step.shown is not None and step not in printed:
                    print(f"{page.relative_to(ROOT)}: not run here, so its output may be old: {step.text}")
            rewrite(page, lambda text, printed=printed: with_outputs(text, printed))
            shutil.rmtree(copy)


def rewrite(page: Path, change) -> None:
    """Changes the text of a page, and prints its path if the text differs."""
    before = page.read_text(encoding="utf-8")
    after = change(before)
    if after != before:
        page.write_text(after, encoding="utf-8")
        print(page.relative_to(ROOT))


def with_table(page: str, table: str) -> str:
    """Returns the text of a page with the current version of one of its tables."""
    header = table.partition("\n")[0]
    return re.sub(rf"{re.escape(header)}\n(\|.*\n)*", lambda _: table, page)


def with_outputs(text: str, printed: dict[Step, str]) -> str:
    """Returns the text of a page with the outputs of its commands."""
    for step, output in printed.items():
        if not is_shown(step.shown, output):
            old = f"$ {step.text}\n{step.shown}"
            text = text.replace(old, f"$ {step.text}\n{renewed(step.shown, output)}", 1)
    return text


def renewed(shown: str, output: str) -> str:
    """Returns the lines of a new output that correspond to the shown ones."""
    if _ANY_LINES not in shown.splitlines():
        return output
    rest = output.splitlines()
    lines = []
    for line in shown.splitlines():
        if line != _ANY_LINES and rest:
            ratios = [SequenceMatcher(None, line, other).ratio() for other in rest]
            best = ratios.index(max(ratios))
            line = rest[best]
            rest = rest[best + 1 :]
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main([Path(name).resolve() for name in sys.argv[1:]] or PAGES)
