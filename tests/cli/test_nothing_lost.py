"""A failed command leaves earlier outputs as they were, and no command overwrites an input."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import touche as touche_library
from conftest import ROOT, Touche, Write, left_in
from touche.errors import InputError
from touche.io.writing import together, write_whole

EARLIER = {"run.txt": "of an earlier run", "ir-metadata.yml": "about an earlier run"}
HEAD = "import os, signal\nfrom touche import baseline, scan\n\n\n@baseline\ndef mine(topics, documents):\n"
ONE = "    yield topics[0], [('a', 1.0)]\n"
REST = "    yield from ((topic, []) for topic in topics[1:])\n"
FAULTS = {  # what a baseline does after its first topic, and the exit code
    "    raise ValueError('at the second topic')\n": 1,
    "    yield topics[0], [('b', 1.0)]\n": 2,
    "    os.kill(os.getpid(), signal.SIGKILL)\n": -signal.SIGKILL,
    "    os.kill(os.getpid(), signal.SIGTERM)\n": 143,
}
WRITING = (  # each with the files of an earlier output, in OUT
    "run dirichletlm -i spot-check/passages -o OUT",
    "run dirichletlm -i spot-check/passages --keep-statistics OUT/s.json -o OUT",
    "fuse A/run.txt B/run.txt -o OUT",
    "report A/run.txt B/run.txt --task spot-check/passages -o OUT",
    "sweep bm25 --k1 1,2 --task spot-check/passages -o OUT --overwrite",
)


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """The folder of an earlier run."""
    (tmp_path / "out").mkdir()
    for name, text in EARLIER.items():
        (tmp_path / "out" / name).write_text(text)
    return tmp_path / "out"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def in_process(
    *arguments: str | Path, limit: int | None = None, script: str = "", **variables: str
) -> tuple[int, str]:
    """Returns exit code and standard error of a command whose files may not grow beyond ``limit`` bytes."""

    def prepare() -> None:
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    begin = f"import os, sys\n{script}\nfrom touche.__main__ import main\nmain()"
    # No bytecode, because the limit would also truncate it. git would leave a lock behind.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "GIT_DIR": "/nowhere"} | variables
    done = subprocess.run(
        [sys.executable, "-c", begin, *map(str, arguments)],
        capture_output=True, text=True, preexec_fn=prepare, env=environment,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize(("fault", "code"), FAULTS.items())
def test_a_run_that_fails_or_is_killed_after_its_first_topic_leaves_the_earlier_run(
    write: Write, earlier: Path, fault: str, code: int
) -> None:
    mine = write("my-team/baseline.py", HEAD + ONE + fault + REST).parent
    ended, err = in_process("run", mine, "-i", "spot-check/passages", "-o", earlier)
    assert (ended, contents(earlier)) == (code, {name: text.encode() for name, text in EARLIER.items()}), err


def test_statistics_of_a_run_that_fails_are_not_written(write: Write, earlier: Path) -> None:
    body = "    yield from scan.rank(topics, documents, scan.bm25(1.2, 0.75), analysis='plain')\n"
    mine = write("my-team/baseline.py", HEAD + body.replace("'plain'", "'english'") + "    1 / 0\n").parent
    statistics = write("s.json", "earlier statistics")
    command = ("run", mine, "-i", "spot-check/passages", "-o", earlier, "--keep-statistics", statistics)
    assert in_process(*command)[0] == 1
    assert statistics.read_text() == "earlier statistics" and {*contents(earlier)} == {*EARLIER}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs A and B, their input and statistics, and an earlier output of each command."""
    folder = tmp_path_factory.mktemp("workplace")
    shutil.copytree(ROOT / "corpora" / "spot-check-passages", folder / "in")
    shutil.copy(ROOT / "topics" / "spot-check-passages.xml", folder / "in" / "topics.xml")
    for name, baseline in (("A", "bm25"), ("B", "dirichletlm")):
        for option in ("--keep-statistics", "--statistics"):
            statistics = (option, folder / ("s.json" if name == "A" else "t.json"))
            in_process("run", baseline, "-i", "spot-check/passages", "-o", folder / name, *statistics)
    for number, command in enumerate(WRITING):
        code, err = in_process(*placed(command, folder, f"out-{number}"))
        assert code == 0, err
    return folder


def placed(command: str, folder: Path, out: str) -> list[str]:
    """Returns the words of a command with the paths of its files."""
    names = {"OUT": out} | {name: name for name in ("A", "B", "s.json", "in")}
    words = command.split()
    return [f"{folder / names[head]}{slash}{tail}" if head in names else word
            for word in words for head, slash, tail in [word.partition("/")]]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(WRITING)))
def test_a_full_disk_leaves_the_earlier_output_of_each_command_and_no_new_folder(
    workplace: Path, tmp_path: Path, number: int
) -> None:
    """The limit on file sizes truncates the first file that is larger than it."""
    shutil.copytree(workplace, tmp_path / "work")
    out = tmp_path / "work" / f"out-{number}"
    before = contents(out)
    sizes = sorted(path.stat().st_size for path in out.iterdir() if path.is_file())
    for limit in {200, sizes[-1] - 1}:
        code, err = in_process(*placed(WRITING[number], tmp_path / "work", out.name), limit=limit)
        last = err.splitlines()[-1]
        assert code == 2 and "cannot be written (File too large)" in last and "Traceback" not in err, err
        assert contents(out) == before
    (tmp_path / "work" / "empty").mkdir()
    folders = [path for path in tmp_path.rglob("*") if path.is_dir()]
    for new in ("new/folder", "empty"):
        assert in_process(*placed(WRITING[number], tmp_path / "work", new), limit=200)[0] == 2
        assert [path for path in tmp_path.rglob("*") if path.is_dir()] == folders


@pytest.mark.parametrize(
    ("baseline", "limit", "message"),
    [
        ("elrond", 500, "touche: the index cannot be written ("),
        ("elrond", 20_000, "run.txt: cannot be written"),
        ("bm25", 500, "run.txt: cannot be written"),
    ],
)
def test_a_full_disk_is_one_line_and_no_run(tmp_path: Path, baseline: str, limit: int, message: str) -> None:
    """A limit on file sizes simulates a full disk: for the index, then for the run."""
    (tmp_path / "tmp").mkdir()
    command = ("run", baseline, "-i", "spot-check/arguments", "-o", tmp_path / "out")
    code, err = in_process(*command, limit=limit, TMPDIR=str(tmp_path / "tmp"))
    assert code == 2 and message in err.splitlines()[-1] and "Traceback" not in err
    assert left_in(tmp_path / "tmp") == [] and not (tmp_path / "out").exists()


KILLING = """
renamed = 0
def counting(function):
    def call(*arguments, **options):
        global renamed
        renamed += 1
        if renamed == NUMBER:
            os.kill(os.getpid(), SIGNAL)
        return function(*arguments, **options)
    return call
os.rename, os.replace, os.unlink = map(counting, (os.rename, os.replace, os.unlink))
"""


def states_after_signals(
    command: str, work: Path, number: signal.Signals
) -> Iterator[tuple[dict[str, str], set[str]]]:
    """Yields, for a signal at each step of a command, the state of each file, and the names of all files."""
    out = work / "out"
    for step in range(1, 12):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        for name, text in EARLIER.items():
            (out / name).write_text(text)
        script = KILLING.replace("NUMBER", str(step)).replace("SIGNAL", str(int(number)))
        code, err = in_process(*placed(command, work, "out"), script=script)
        assert code in (0, -number, 128 + number) and "Traceback" not in err, err
        texts = {path.name: path.read_text() for path in out.iterdir()}
        yield (
            {name: "earlier" if texts[name] == EARLIER[name] else "new" for name in EARLIER if name in texts},
            {*texts},
        )
        if code == 0:
            return
    pytest.fail("the command has more than 11 steps")


@pytest.mark.slow
@pytest.mark.parametrize("command", WRITING[1:3])
def test_a_kill_at_any_step_never_pairs_a_run_with_the_metadata_of_another(
    workplace: Path, tmp_path: Path, command: str
) -> None:
    shutil.copytree(workplace, tmp_path / "work")
    states = states_after_signals(command, tmp_path / "work", signal.SIGKILL)
    pairs = {tuple(state.get(name) for name in EARLIER) for state, _ in states}
    assert pairs == {("earlier", "earlier"), ("earlier", None), ("new", None), ("new", "new")}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.nightly)])
def test_a_signal_at_any_step_leaves_a_whole_pair_and_no_hidden_file(
    workplace: Path, tmp_path: Path, number: signal.Signals
) -> None:
    shutil.copytree(workplace, tmp_path / "work")
    for state, names in states_after_signals(WRITING[2], tmp_path / "work", number):
        assert set(state.values()) == {"new"}  # each signal waits for the whole pair
        # A lock that is not removed locks nothing.
        assert {name for name in names if not name.endswith(".lock")} == set(EARLIER)


def test_a_failure_after_the_first_replacement_leaves_no_earlier_metadata(tmp_path: Path) -> None:
    run, metadata, third = (tmp_path / name for name in ("run.txt", "ir-metadata.yml", "third"))
    for path in (run, metadata):
        path.write_text("earlier")
    with pytest.raises(InputError, match="cannot be written"), together(run):
        for path in (run, metadata, third):
            write_whole(path, "new")
        metadata.unlink()
        (metadata / "in the way").mkdir(parents=True)  # a folder that no file replaces
    assert (run.read_text(), third.read_text()) == ("new", "new")


def test_two_processes_on_one_output_leave_the_files_of_one_of_them(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TWO, str(tmp_path)]
    processes = [subprocess.Popen([*command, name]) for name in "abcd"]
    assert [process.wait() for process in processes] == [0] * 4
    assert (tmp_path / "run.txt").read_text() == (tmp_path / "ir-metadata.yml").read_text()
    assert len([*tmp_path.iterdir()]) == 2


TWO = """
import sys
from pathlib import Path
from touche.io.writing import together, write_whole
folder, name = Path(sys.argv[1]), sys.argv[2]
for number in range(200):
    with together(folder / "run.txt"):
        write_whole(folder / "run.txt", f"{name}{number}")
        write_whole(folder / "ir-metadata.yml", f"{name}{number}")
"""


OVERWRITING: dict[str, str] = {  # and the input
    "fuse A/run.txt B/run.txt -o A": "A/run.txt",
    "fuse A/run.txt B/run.txt -o link": "A/ir-metadata.yml",
    "run bm25 -i in -o out --keep-statistics in/topics.xml": "in/topics.xml",
    "run bm25 -i in -o out --keep-statistics in/passages.jsonl": "in/passages.jsonl",
    "run ./my-team -i in -o out --keep-statistics my-team/baseline.py": "my-team/baseline.py",
    "run ./my-team -i in -o out --keep-statistics words.txt --words words.txt": "words.txt",
    "report A/run.txt --qrels q/index.html -o q": "q/index.html",
    "sweep bm25 -i spot-check/passages --k1 1,2 --qrels q/settings.csv -o q --overwrite": "q/settings.csv",
    "regress bm25 --dataset spot-check/passages --format json -o CLONE/baselines/bm25/expected.toml": "",
}


@pytest.mark.parametrize(("command", "file"), OVERWRITING.items())
def test_an_output_that_is_an_input_is_refused(
    workplace: Path, write: Write, touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    command: str, file: str
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    shutil.copytree(workplace, tmp_path, dirs_exist_ok=True)
    write("link/notes.txt", "").with_name("ir-metadata.yml").symlink_to("../A/ir-metadata.yml")
    qrels = (ROOT / "qrels" / "spot-check-passages-relevance.qrels").read_text()
    for name in ("ir-metadata.yml", "index.html", "settings.csv"):
        write(f"q/{name}", qrels)
    write("words.txt", "the")
    head = HEAD.replace("documents)", "documents, *, words: str = '')")
    write("my-team/baseline.py", f"{head}    yield from scan.rank(topics, documents, scan.bm25(1, 1))\n")
    expected = ROOT / "baselines" / "bm25" / "expected.toml"
    target = Path(file) if file else expected
    before = target.read_bytes()
    code, _, err = touche(*(word.replace("CLONE", str(ROOT)) for word in command.split()))
    assert target.read_bytes() == before
    assert code == 2 and err.splitlines()[-1].endswith("which it would overwrite; choose another name"), err
    assert not [*tmp_path.rglob(".*.part")]


def test_a_run_may_be_written_into_its_input_folder_and_again(
    touche: Touche, workplace: Path, tmp_path: Path
) -> None:
    shutil.copytree(workplace / "in", tmp_path / "in")
    for _ in range(2):
        assert touche("run", "bm25", "-i", tmp_path / "in", "-o", tmp_path / "in")[0] == 0


def test_a_program_may_replace_a_run_that_an_earlier_call_has_read(workplace: Path, tmp_path: Path) -> None:
    runs = [workplace / "A" / "run.txt", workplace / "B" / "run.txt"]
    for _ in range(2):
        touche_library.fuse(runs, output=tmp_path / "f")
        touche_library.fuse([tmp_path / "f" / "run.txt", runs[0]], output=tmp_path / "g")
