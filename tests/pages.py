"""Commands, files and Python on the pages of the documentation, in their order."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "RELEASING.md",
    ROOT / "benchmarks" / "RESULTS.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "baselines").glob("*/README.md")),
]

# Beginnings of indented lines that are commands; in ```sh every line is a command.
_PROGRAMS = (
    "touche make tox pip python python3 pytest docker podman git cd source mkdir cp mv rm ls cat head grep "
    "cmp sed echo export hf tira-cli tira-run jupyter pre-commit ruff mypy"
).split()
_COMMAND = re.compile(rf"(?:[A-Z_]+=\S+ )*(?:\S*/)?(?:{'|'.join(_PROGRAMS)})(?: |$)")
_STEP = re.compile(
    r"(?:^`(?P<path>[^`\n]+)`(?P<end>, at its end)?:\n\n)?^```(?P<language>\w*)\n(?P<block>.*?)^```$"
    r"|^    (?P<line>\S(?:[^\n]*\\\n)*[^\n]*)$",
    flags=re.MULTILINE | re.DOTALL,
)

OURS = Path(sys.executable).parent  # the programs of the current environment
_OFFICIAL = ("touche*", "argsme-*", "clueweb*")  # what may lie beside what the project itself ships

# The one table of commands that need something special: why a page's test omits them, and where else they are
# tested. `make outputs` runs those that `is_met` in tests/outputs.py allows. Others are found on the pages.
DONE = "every page begins after it"
CI = "sets up, builds or tests everything: the workflows in .github run it"
CONTAINERS = "needs Docker or Podman: tests/runners runs it"
OFFICIAL = "needs official data: tests/official runs it"
PUBLIC_RUNS = (
    "needs all public runs of a task: tests/official/test_published_cells.py compares those that it finds"
)
PUBLISHERS = "asks servers of others: tests/data and tests/baselines have servers of their own"
TIRA = "needs an account at TIRA; tests/runners has a dry run and tries tira-run"
CLIENT = "takes TIRA's client 17 s: tests/runners/test_tira_dataset.py does it with the same files"
MODEL = "downloads a model: tests/runners builds and runs the image with a small one"
MEASURED = "takes minutes and a quiet machine; tests/project/test_site.py checks the pages"
SPARK = "needs PySpark and Java 17: tests/lab/spark runs it"
PYTERRIER = "needs PyTerrier: tests/baselines/test_pyterrier.py runs the same file"
DENSE = "embeds 10,587 arguments, which is slow: tests/official/test_official_dense.py embeds fewer"
SLURM = "needs Slurm; the page itself tries the same script without it"
SET_UP = "changes the set-up of the one who types it"
PACKAGE = "needs the package index: tests/project/test_package.py installs what is built here"
RELEASED = "needs a released version; tests/runners runs the same images where they were built"
CLUEWEB = "needs pages of ClueWeb12: tests/baselines/test_chatnoir_bm25f.py has pages of its own"
EVIDENCE = "needs the archive of make evidence: tests/project/test_evidence.py evaluates its runs"
ELSEWHERE = {  # by a part of the command; the first match counts
    "^make demo$": DONE,
    "task-2/pages": CLUEWEB,
    "make images$|^make|^tox|^pytest -m|regress --twice$": CI,
    "benchmarks/images.py$": MEASURED,
    "^docker (pull|tag)": RELEASED,
    "nsp|NSP": MODEL,
    "^docker|--runner docker|images (list|build) (./my-team|bm25)|images (digest|verify)": CONTAINERS,
    "--official": PUBLIC_RUNS,
    "^touche evaluate spot-check-": EVIDENCE,
    "--api|original/run.txt|data fetch": PUBLISHERS,
    "--skip-baseline$": CLIENT,
    "^tira-cli": TIRA,
    "^pip install \\.$|^WHEEL_FOR": PACKAGE,
    "^pip|^source|bashrc$": SET_UP,
    "^touche spark": SPARK,
    "/ceph/": SLURM,
    r"\./pipeline|out/pipeline": PYTERRIER,
    " official/dense": DENSE,
    r"\$TOUCHE_DATA| official/|^touche evaluate runs/|^touche run .*-i touche-202[0-3]": OFFICIAL,
}


@dataclass(frozen=True)
class Step:
    """A command, a file or lines of Python on a page.

    Attributes:
        kind: ``command``, ``file`` or ``python``.
        text: the command in one line, the content of the file, or the lines.
        path: the path of the file.
        at_end: whether the text is appended to an existing file.
        shown: the output of a command, in ```console; a line ``...`` replaces any lines. None if the page
            does not have it.
        start: where the output starts in the text of the page.
    """

    kind: str
    text: str
    path: str = ""
    at_end: bool = False
    shown: str | None = None
    start: int = 0


# Commands that only print, or write what no other command on the page reads.
_PRINTS = re.compile(
    r"touche (evaluate|compare|overlap|lint|identify|report|tasks(?! tira)|data list)\b[^>]*$"
)


def steps(page: Path) -> Iterator[Step]:
    """Returns the steps on a page; a block below a line with only a path in backticks is that file."""
    for match in _STEP.finditer(page.read_text(encoding="utf-8")):
        block = match["block"]
        language = match["language"]
        if match["line"] is not None or language == "sh":
            lines = [_typed(line) for line in re.sub(r" *\\\n *", " ", match["line"] or block).splitlines()]
            yield from (
                Step("command", line) for line in lines if (language == "sh" and line) or _COMMAND.match(line)
            )
        elif language == "console":
            for line in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
                yield Step("command", line[1], shown=line[2], start=match.start("block") + line.start(2))
        elif match["path"]:
            yield Step(kind="file", text=block, path=match["path"], at_end=bool(match["end"]))
        elif language == "python":
            yield Step("python", block)


def steps_for_outputs(page: Path) -> list[Step]:
    """Returns the steps on a page that its outputs depend on."""
    needed = list(steps(page))
    while needed and needed[-1].shown is None:
        needed.pop()
    return [step for step in needed if step.shown is not None or not _PRINTS.match(step.text)]


def commands(page: Path) -> list[str]:
    """The commands on a page."""
    return [step.text for step in steps(page) if step.kind == "command"]


def reason(command: str) -> str:
    """Returns why a command is tried elsewhere; empty if it is not."""
    return next((why for pattern, why in ELSEWHERE.items() if re.search(pattern, command)), "")


def workspace(folder: Path) -> Path:
    """Returns a copy of the clone with only the project's own files."""
    for name in ("src", "baselines", "docker", "docs", "tests", "benchmarks", ".github"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("topics", "qrels", "corpora"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*_OFFICIAL, "__pycache__"))
    for path in (path for path in ROOT.iterdir() if path.is_file()):
        shutil.copy2(path, folder)
    (folder / "demo-ready").touch()  # for make
    (folder / "ready").touch()
    return folder


def with_public_runs(folder: Path, data: Path) -> Path:
    """Copies the available official runs to where ``touche data fetch --runs`` puts them in a workspace."""
    shutil.copytree(data / "runs", folder / "runs")
    return folder


def follow(
    page: Path,
    folder: Path,
    but: str = "",
    team: str = "my-team",
    programs: Path = OURS,
    **variables: str,
) -> list[str]:
    """Follows a page, step by step, in a workspace, and compares outputs with those that the page shows.

    Args:
        page: the page.
        folder: the workspace.
        but: a reason; commands that are usually omitted for this reason are tried.
        team: the name that replaces ``my-team``, because a reader may have an image of this name.
        programs: the folder of the environment's programs.
        variables: more variables of the environment.

    Returns:
        The commands that were tried.
    """
    tried = []
    for step, output in try_steps(steps(page), folder, [but], team, programs, **variables):
        assert step.shown is None or is_shown(step.shown, output), f"{step.text}\n{output}"
        tried.append(step.text)
    return tried


def try_steps(
    steps: Iterable[Step],
    folder: Path,
    but: Collection[str] = (),
    team: str = "my-team",
    programs: Path = OURS,
    **variables: str,
) -> Iterator[tuple[Step, str]]:
    """Follows steps in a workspace, and yields each command that was tried with its output.

    Args:
        steps: the steps of a page, in their order.
        folder: the workspace.
        but: reasons; commands that are usually omitted for one of them are tried.
        team: as in ``follow``.
        programs: as in ``follow``.
        variables: as in ``follow``.

    Raises:
        AssertionError: if a command or lines of Python fail.
    """
    for step in steps:
        path, text = (
            text.replace("my-team", team).replace("my_team", team.replace("-", "_"))
            for text in (step.path, step.text)
        )
        if step.kind == "file":
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            with (folder / path).open("a" if step.at_end else "w", encoding="utf-8") as file:
                file.write(text)
        elif step.kind == "command" and text.startswith("export ") and ";" not in text:
            name, _, value = text.removeprefix("export ").partition("=")
            variables |= {name: value.replace("$PWD", str(folder))}
            yield step, ""
        elif step.kind == "command" and reason(step.text) in ("", *but):
            yield step, _type(["sh", "-c", text], text, folder, programs, variables)
        elif step.kind == "python" and "@baseline" not in text and "import pyterrier" not in text:
            _type([str(programs / "python"), "-c", text], text, folder, programs, variables)


def type_in(folder: Path, command: str, **variables: str) -> str:
    """Returns the output of a command in a workspace."""
    return _type(["sh", "-c", command], command, folder, OURS, variables)


def _type(arguments: list[str], what: str, folder: Path, programs: Path, variables: dict[str, str]) -> str:
    ours = {name: value for name, value in os.environ.items() if name != "TOUCHE_DATA"}
    quoted = str(programs).replace(" ", "\\ ")  # for make, and by quotation marks for its shell
    ours |= dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "EMAIL"), "reader@example.org")
    environment = ours | variables | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "src"),
        "MAKEFLAGS": f'BIN="{quoted}" READY=ready DEMO=demo-ready --no-print-directory',
        "COLUMNS": "125",
    }  # fmt: skip
    process = subprocess.run(
        arguments, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.returncode == 0, f"{what}\n{process.stdout}"
    return process.stdout


def is_shown(shown: str, output: str) -> bool:
    """Returns whether a page shows an output, apart from its times and sizes of memory."""
    parts = re.split(r"^\.\.\.\n", _timeless(shown), flags=re.MULTILINE)
    return bool(re.fullmatch("(?:.*\n)*?".join(map(re.escape, parts)), _timeless(output)))


def _timeless(shown: str) -> str:
    """Returns a text with the same times and sizes of memory everywhere, also where columns are aligned."""
    without_widths = re.sub(r" +wall +memory +", " wall memory ", shown)
    return re.sub(r" *\b[\d.,]+ (s|MB)\b *", r" 1 \1 ", without_widths)


def _typed(line: str) -> str:
    """Returns a line without the comment at its end."""
    return re.sub(" {2,}#.*", "", line).strip()
