"""Commands, files and Python on the pages of the documentation, in their order."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
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

# Commands that a page's test omits: the reason, and where else they are tested.
DONE = "every page begins after it"
CI = "sets up, builds or tests everything: the workflows in .github run it"
CONTAINERS = "needs Docker or Podman: tests/runners runs it"
OFFICIAL = "needs official data: tests/official runs it"
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
    "^touche evaluate out/bm25/": CONTAINERS,
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
    r"\$TOUCHE_DATA| official/|--official|^touche evaluate my-run|^touche run .*-i touche-202[0-3]": OFFICIAL,
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
    """

    kind: str
    text: str
    path: str = ""
    at_end: bool = False
    shown: str | None = None


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
            for word in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = word.partition("\n")
                yield Step("command", command, shown=shown)
        elif match["path"]:
            yield Step(kind="file", text=block, path=match["path"], at_end=bool(match["end"]))
        elif language == "python":
            yield Step("python", block)


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


def follow(
    page: Path,
    folder: Path,
    but: str = "",
    team: str = "my-team",
    programs: Path = OURS,
    printed: dict[Step, str] | None = None,
    **variables: str,
) -> list[str]:
    """Follows a page, step by step, in a workspace.

    Args:
        page: the page.
        folder: the workspace.
        but: a reason; commands that are usually omitted for this reason are tried.
        team: the name that replaces ``my-team``, because a reader may have an image of this name.
        programs: the folder of the environment's programs.
        printed: gets what each command with a shown output prints; None compares both.
        variables: more variables of the environment.

    Returns:
        The commands that were tried.
    """
    tried = []
    for step in steps(page):
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
            tried.append(step.text)
        elif step.kind == "command" and reason(step.text) in ("", but):
            output = _type(["sh", "-c", text], text, folder, programs, variables)
            if step.shown is not None and printed is not None:
                printed[step] = output
            else:
                assert step.shown is None or is_shown(step.shown, output), f"{text}\n{output}"
            tried.append(step.text)
        elif step.kind == "python" and "@baseline" not in text:
            _type([str(programs / "python"), "-c", text], text, folder, programs, variables)
    return tried


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
    """Returns whether a page shows an output, apart from its times."""
    parts = re.split(r"^\.\.\.\n", _timeless(shown), flags=re.MULTILINE)
    return bool(re.fullmatch("(?:.*\n)*?".join(map(re.escape, parts)), _timeless(output)))


def _timeless(shown: str) -> str:
    return re.sub(r"\bin [\d.]+ s\b", "in 1 s", shown)


def _typed(line: str) -> str:
    """Returns a line without the comment at its end."""
    return re.sub(" {2,}#.*", "", line).strip()
