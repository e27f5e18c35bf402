"""A failed run leaves no run, other files stay whole, and no command overwrites an input."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT, Touche, Write, left_in

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
def test_a_run_that_fails_or_is_killed_after_its_first_topic_leaves_no_run(
    write: Write, earlier: Path, fault: str, code: int
) -> None:
    """Not even an earlier one, which would be taken for the run that failed."""
    mine = write("my-team/baseline.py", HEAD + ONE + fault + REST).parent
    ended, err = in_process("run", mine, "-i", "spot-check/passages", "-o", earlier)
    assert (ended, [*earlier.iterdir()]) == (code, []), err


def test_a_broken_collection_leaves_no_run(touche: Touche, write: Write, earlier: Path) -> None:
    topics = write("in/topics.xml", "<topics><topic><number>1</number><title>cat</title></topic></topics>")
    write("in/documents.jsonl", '{"docno": "d1", "text": "a cat"}\n{"docno": "d2"')
    code, _, err = touche("run", "bm25", "-i", topics.parent, "-o", earlier)
    assert code == 2 and "documents.jsonl:2: broken JSON" in err
    assert [*earlier.iterdir()] == []


@pytest.mark.parametrize(
    "arguments",
    [
        "bm26 -i spot-check/passages",
        "bm25 -i spot-check/passage",
        "bm25 -i spot-check/passages --k2 1",
        "bm25 -i spot-check/passages --depth 0",
        "bm25 -i spot-check/passages --statistics none.json",
        "bm25 -i spot-check/passages --runner tira --corpus none",
        "bm25 -i out --keep-statistics out/topics.xml",
    ],
)
def test_refused_arguments_leave_an_earlier_run(
    touche: Touche, write: Write, earlier: Path, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    write("out/topics.xml", "<topics><topic><number>1</number><title>cat</title></topic></topics>")
    write("out/documents.jsonl", '{"docno": "d1", "text": "a cat"}\n')
    before = contents(earlier)
    monkeypatch.chdir(earlier.parent)
    assert touche("run", *arguments.split(), "-o", earlier)[0] == 2
    assert contents(earlier) == before


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
def test_a_full_disk_leaves_no_part_of_a_file(workplace: Path, tmp_path: Path, number: int) -> None:
    """The limit on file sizes truncates the first file that is larger than it."""
    shutil.copytree(workplace, tmp_path / "work")
    out = tmp_path / "work" / f"out-{number}"
    before = contents(out)
    sizes = sorted(path.stat().st_size for path in out.iterdir() if path.is_file())
    for limit in {200, sizes[-1] - 1}:
        code, err = in_process(*placed(WRITING[number], tmp_path / "work", out.name), limit=limit)
        last = err.splitlines()[-1]
        assert code == 2 and "cannot be written (File too large)" in last and "Traceback" not in err, err
        after = contents(out)
        assert not any(name.startswith(".") for name in after) and "run.txt" not in after
        # Those that fit were written again, with the same bytes except for the times in the metadata.
        assert {**before, **after, "ir-metadata.yml": b""} == {**before, "ir-metadata.yml": b""}


@pytest.mark.parametrize(
    ("baseline", "limit", "message"),
    [
        ("elrond", 500, "touche: the index cannot be written ("),
        ("elrond", 20_000, "run.txt: cannot be written"),
        ("bm25", 500, "ir-metadata.yml: cannot be written"),
    ],
)
def test_a_full_disk_is_one_line_and_no_run(tmp_path: Path, baseline: str, limit: int, message: str) -> None:
    """A limit on file sizes simulates a full disk: for the index, then for the run."""
    (tmp_path / "tmp").mkdir()
    command = ("run", baseline, "-i", "spot-check/arguments", "-o", tmp_path / "out")
    code, err = in_process(*command, limit=limit, TMPDIR=str(tmp_path / "tmp"))
    assert code == 2 and message in err.splitlines()[-1] and "Traceback" not in err
    assert left_in(tmp_path / "tmp") == [] and list((tmp_path / "out").glob("*run.txt*")) == []


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
        after_signal = -number if number == signal.SIGKILL else 128 + number
        assert code in (0, after_signal) and "Traceback" not in err, err
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
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_signal_at_any_step_never_pairs_a_run_with_the_metadata_of_another(
    workplace: Path, tmp_path: Path, command: str, number: signal.Signals
) -> None:
    shutil.copytree(workplace, tmp_path / "work")
    pairs = set()
    for state, names in states_after_signals(command, tmp_path / "work", number):
        pairs.add(tuple(state.get(name) for name in EARLIER))
        if number == signal.SIGTERM:
            assert not any(name.startswith(".") for name in names)
    expected = {("earlier", "earlier"), (None, "earlier"), (None, None), (None, "new"), ("new", "new")}
    assert pairs == expected


OVERWRITING: dict[str, str] = {  # and the input
    "fuse A/run.txt B/run.txt -o A": "A/run.txt",
    "fuse A/run.txt B/run.txt -o link": "A/ir-metadata.yml",
    "run bm25 -i in -o out --keep-statistics in/topics.xml": "in/topics.xml",
    "run bm25 -i in -o out --keep-statistics in/passages.jsonl": "in/passages.jsonl",
    "run ./my-team -i in -o out --keep-statistics my-team/baseline.py": "my-team/baseline.py",
    "run bm25 -i in -o out --keep-statistics linked.xml": "in/topics.xml",
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
    Path("linked.xml").symlink_to("in/topics.xml")
    qrels = (ROOT / "qrels" / "spot-check-passages-relevance.qrels").read_text()
    for name in ("index.html", "settings.csv"):
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
