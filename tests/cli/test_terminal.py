"""The command on a terminal: tables, messages, completion and help."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from textwrap import indent

import click
import pytest

from conftest import ROOT, Touche, Write, on_terminal
from touche import Table, cli, tasks
from touche.cli.commands import Command
from touche.cli.output import render
from touche.cli.tasks import check
from touche.errors import NotInstalledError
from touche.io.tables import Column, Sheet

TOPICS = "<topics><topic><number>1</number><title>Cats or unicorns?</title></topic></topics>"
JUDGED = (ROOT / "qrels" / "spot-check-arguments-relevance.qrels").read_text().splitlines()
RUN = "".join(
    f"{topic} Q0 {document} {rank} {-rank} [red]tag[/red]\n"
    for rank, (topic, _, document, _) in enumerate(map(str.split, JUDGED), 1)
)
CODES = re.compile("\x1b\\[[0-9;]*m")


def commands(group: click.Group = cli.cli, path: str = "touche") -> Iterator[tuple[str, click.Command]]:
    """All commands as users type them, including those of the baselines."""
    context = click.Context(group)
    for name in group.list_commands(context):
        try:
            command = group.get_command(context, name)
        except NotInstalledError:  # the options of this baseline are in code that imports an extra
            continue
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


COMMANDS = dict(commands()) | {"touche tasks check": check}


def test_a_table_in_a_pipe_is_plain_and_never_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    columns = [Column("name", itemgetter(0)), Column("value", itemgetter(1)), Column("", itemgetter(2))]
    rows = [("a" * 300, "1.5", ""), ("[b]", "-10", "x")]
    render(Table(tuple, ()), "table", [Sheet(columns, rows, colours={"[b]": "red"})])
    assert capsys.readouterr().out.splitlines() == [
        f"name{' ' * 298}value",
        f"{'a' * 300}    1.5",
        f"[b]{' ' * 299}  -10  x",
    ]


@pytest.mark.parametrize("columns", [40, 70, 200])
def test_no_number_is_broken_or_lost_however_narrow_the_terminal(write: Write, columns: int) -> None:
    command = ("-m", "touche", "evaluate", write("run.txt", RUN), "--task", "spot-check/arguments")
    piped = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True).stdout
    coloured = on_terminal(*command, columns=columns)
    assert "\x1b[1mrun" in coloured and "\n[red]tag[/red] " in coloured  # neither markup nor highlighted
    shown = CODES.sub("", coloured).split("\r\n\r\n")[0]
    numbers = re.compile(r"\d\.\d+")
    assert sorted(numbers.findall(shown)) == sorted(numbers.findall(piped.split("\n\n")[0]))
    assert max(map(len, shown.splitlines())) <= max(columns, 70)
    assert max(map(len, piped.splitlines()[:3])) > 70  # wider than two of the terminals


def test_verdicts_and_severities_have_colours_unless_the_user_wants_none(write: Write) -> None:
    regress = ("-m", "touche", "regress", "bm25", "--dataset", "touche-2022-task-2")
    run = write("run.txt", RUN + "1 Q0 a 2 1 t\n")
    lint = ("-m", "touche", "lint", run, "--task", "spot-check/arguments")
    assert "\x1b[33mmissing" in on_terminal(*regress)
    assert ": \x1b[31merror\x1b[0m: 'a' is not in the corpus" in on_terminal(*lint)
    assert "\x1b[3" not in on_terminal(*regress, NO_COLOR="1") + on_terminal(*lint, NO_COLOR="1")


def test_quiet_leaves_warnings_and_errors(touche: Touche, write: Write, tmp_path: Path) -> None:
    queries = ({"qid": "1", "query": "cats"}, {"qid": "2", "query": "unicorns"})
    write("in/queries.jsonl", "\n".join(map(json.dumps, queries)))
    write("in/documents.jsonl", '{"docno": "a", "text": "cats"}\n')
    run = ("run", "bm25", "-i", tmp_path / "in", "-o", tmp_path / "out")
    warning = "bm25: warning: nothing found for topic 2: unicorns\n"
    assert len(touche(*run)[2].splitlines()) == 3
    assert touche(*run, "--quiet") == touche("--quiet", *run) == touche("run", "--quiet", *run[1:])
    assert touche(*run, "--quiet") == (0, "", warning)
    assert touche(*run, "--quiet", "--depth", "0")[2].startswith("touche: depth = 0 is out of range")
    assert len(touche(*run)[2].splitlines()) == 3  # it does not affect the next call
    evaluate = ("evaluate", tmp_path / "out" / "run.txt", "--qrels", write("q.qrels", "1 0 a 1\n"))
    table = touche(*evaluate)[1]
    assert touche(*evaluate, "--quiet")[1] == table and " – " in table  # one topic has no interval


def test_verbose_tells_where_an_error_came_up(touche: Touche, write: Write, tmp_path: Path) -> None:
    write("in/topics.xml", TOPICS)
    documents = write("in/documents.jsonl", '{"docno": "a", "text": "cats cats"}\n')
    run = ("run", "bm25", "-i", tmp_path / "in", "-o", tmp_path / "out", "--depth", "0")
    failed = touche(*run, "--verbose")[2]
    assert re.search(r"^touche: depth = 0 .*\nTraceback \(most", failed, re.MULTILINE)
    assert "Traceback" not in touche(*run)[2]
    err = touche(*run[:-2], "--verbose")[2]
    assert f"touche: debug: reading {documents}, 36 bytes\n" in err


@pytest.mark.parametrize("typed", COMMANDS)
def test_every_command_takes_quiet_and_verbose_and_has_an_example_that_parses(
    touche: Touche, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    command = COMMANDS[typed]
    called = []
    options = [name for option in command.get_params(click.Context(command)) for name in option.opts]
    assert options.count("--quiet") == options.count("--verbose") == 1
    assert isinstance(command, Command) and command.example.startswith(f"{typed} ")
    example = f"\nExample:\n{indent(command.example, '  ')}\n"
    assert touche(*shlex.split(typed)[1:], "--help")[1].endswith(example)
    monkeypatch.setattr(click.Command, "invoke", lambda self, context: called.append(context.command_path))
    for example in command.example.splitlines():
        assert touche(*shlex.split(example.partition(" >")[0])[1:]) == (0, "", "")
    assert called[-1].startswith(typed)


def test_the_first_steps_work_one_after_the_other_in_an_empty_folder(
    touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = re.findall("^    touche (.*)", touche("--help")[1], re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    assert [touche(*step.split())[0] for step in steps] == [0] * len(steps)


SPOT_CHECKS = [f"spot-check/{part}" for part in ("arguments", "images", "pages", "pairs", "passages")]


COMPLETED = {
    "ev": ["evaluate"],
    "run dirichletlm-": ["dirichletlm-pairs", "dirichletlm-variants"],
    "run bm25 --keep": ["--keep-statistics"],
    "run bm25 --qui": ["--quiet"],
    "run bm25 -i spot": SPOT_CHECKS,
    "run bm25 -i t": [*(dataset for dataset in tasks.datasets() if dataset[0] == "t"), "touche-mine/"],
    "evaluate run.txt --task touche-2022": ["touche-2022-task-1", "touche-2022-task-2", "touche-2022-task-3"],
    "regress bm25 --dataset spot-check/pas": ["spot-check/passages"],
    "data fetch touche-2020-task-1-v": ["touche-2020-task-1-v1"],
    "tasks c": ["check"],
    "tasks check --q": ["--quiet"],
}


@pytest.fixture
def installed(write: Write) -> Path:
    """The folder of a program ``touche``."""
    program = write("bin/touche", f'#!/bin/sh\nexec "{sys.executable}" -m touche "$@"\n')
    program.chmod(0o755)
    return program.parent


@pytest.mark.parametrize("line", COMPLETED)
def test_bash_completes_commands_options_ids_and_folders(installed: Path, line: str) -> None:
    words = ["touche", *line.split(), *([""] if line.endswith(" ") else [])]
    script = f"""
        PATH={shlex.quote(str(installed))}:$PATH
        eval "$(touche completion bash)"
        complete -p touche >/dev/null || exit
        COMP_WORDS=({shlex.join(words)})
        COMP_CWORD={len(words) - 1}
        _touche_completion touche
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    (installed / "touche-mine").mkdir()
    done = subprocess.run(["bash", "-c", script], cwd=installed, capture_output=True, text=True, check=True)
    assert (done.stdout.split(), done.stderr) == (COMPLETED[line], "")


@pytest.mark.parametrize(("shell", "sign"), [("zsh", "#compdef touche"), ("fish", "--command touche")])
def test_zsh_and_fish_have_scripts_that_ask_the_same(
    touche: Touche, monkeypatch: pytest.MonkeyPatch, shell: str, sign: str
) -> None:
    script = touche("completion", shell)[1]
    assert sign in script and f"_TOUCHE_COMPLETE={shell}_complete" in script
    monkeypatch.setenv("_TOUCHE_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", "touche run d")
    monkeypatch.setenv("COMP_CWORD", "2" if shell == "zsh" else "d")
    assert "dirichletlm" in touche()[1]
