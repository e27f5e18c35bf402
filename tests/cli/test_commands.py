"""The commands: output, files and exit codes."""

import gzip
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest

from conftest import Touche, Write

TOPICS = "<topics><topic><number>1</number><title>Cats or dogs?</title></topic></topics>"
DOCUMENTS = '{"docno": "a", "text": "cats"}\n{"docno": "b", "text": ""}\n'


@pytest.fixture
def collection(write: Write, tmp_path: Path) -> Path:
    """An input directory with one topic and two documents."""
    write("in/topics.xml", TOPICS)
    write("in/documents.jsonl", DOCUMENTS)
    return tmp_path / "in"


@pytest.fixture
def mine(write: Write) -> Callable[..., Path]:
    """Writes a baseline with a body and options, and returns its folder."""

    def write_baseline(body: str, options: str = "") -> Path:
        head = f"from touche import baseline\n@baseline\ndef mine(topics, documents{options}):\n"
        return write("my-team/baseline.py", head + indent(body, "    ")).parent

    return write_baseline


def test_run_writes_run_txt_and_says_what_it_took_and_takes_the_variables_of_tira(
    touche: Touche, collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("inputDataset", str(collection))
    monkeypatch.setenv("outputDir", str(tmp_path / "tira"))
    for out, arguments in (("out", ("-i", collection, "-o", tmp_path / "out")), ("tira", ())):
        code, output, err = touche("run", "bm25", *arguments)
        assert (code, output) == (0, "")
        assert err.splitlines()[0] == "bm25: 1 topics from topics.xml, documents from documents.jsonl"
        (line,) = (tmp_path / out / "run.txt").read_text().splitlines()
        assert line.startswith("1 Q0 a 1 0.") and line.endswith(" touche-bm25")


@pytest.fixture
def workplace(
    collection: Path, write: Write, mine: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The current folder, with inputs of all kinds, and in out/ an earlier run."""
    for name, topics, documents in (
        ("no-topics", "", DOCUMENTS),
        ("no-documents", TOPICS, ""),
        ("broken", TOPICS, DOCUMENTS + "{"),
        ("cut", TOPICS, gzip.compress(DOCUMENTS.encode())[:-9]),
    ):
        for file, content in (("topics.xml", topics), ("documents.jsonl", documents)):
            if content:
                write(f"{name}/{file}", content)
    for file in ("run.txt", "ir-metadata.yml"):
        write(f"out/{file}", "of an earlier run").chmod(0o600)
    write("words.txt", "two words")
    mine("from touche import ToucheError\nyield topics[0], []\nraise ToucheError('late; mend it')")
    monkeypatch.chdir(collection.parent)
    return collection.parent


MISTYPED = {
    "run bm25 -i nowhere -o out": "nowhere: no such directory or dataset",
    "run dirichletlm -i no-topics -o out": "no-topics: no topics in this",
    "run dirichletlm -i no-documents -o out": "no-documents: no documents in this",
    "run bm25 -i broken -o out": "documents.jsonl:3: broken JSON",
    "run bm25 -i cut -o out": "documents.jsonl: the gzip stream is broken",
    "run bm25 -o out": "Missing option '-i'",
    "run bm25 -i": "'-i' requires an argument",
    "run bm25 -i in -o /proc/out": "/proc/out: cannot be created",
    "run bm25 -i in -o out --b 2": "b = 2 is out of range; choose a number from 0 to 1",
    "run bm25 -i in -o out --b x": "'x' is not a valid float",
    "run bm25 -i in -o out --k2 1": "No such option",
    "run bm25 -i in -o out --depth 0": "depth = 0 is out of range",
    "run tfidf -i in -o out --variant x": "'x' is not one of 'terrier', 'classic'",
    "run bm25 -i in -o out --corpus nothing": "ir_datasets has no corpus 'nothing'",
    "run bm25 -i spot-check/arguments -o out --corpus x": "omit --corpus",
    "run bm25 -i '' -o out": "-i or -o is empty",
    "run bm25 -i in -o ''": "-i or -o is empty",
    "run bm25 -i in -o out --team ' '": "--team ' ' is empty",
    "run bm25 -i in -o out --statistics no.json": "no such file; pass a file written by --keep-statistics",
    "run bm25 -i in -o out --statistics out/run.txt": "no statistics",
    "run chatnoir-bm25f -i in -o out --statistics clueweb12-2020 --keep-statistics s": "omit one of them",
    "run bm25 -i in -o out --statistics clueweb12-2020": "clueweb12-2020: no such file",
    "run chatnoir-bm25f -i in -o out --statistics clueweb12-2019": "one of: clueweb12-2020, clueweb12-2021",
    "run rank-bm25 -i in -o out --keep-statistics s": "rank with touche.scan use statistics",
    "run dirichletlm-variants -i in -o out --stop-words words.txt": "words.txt:1: ",
    "run sentence-coherence -i in -o out --coherence nsp": "--model",
    "run bm25 -i in -o out --runner docker --corpus x": "which sees only its input",
    "run bm25 -i in -o out --runner docker --master x": "--master has no effect on the runner docker; omit",
    "evaluate run.txt --task touche-2019": "there is no task 'touche-2019'",
    "evaluate run.txt --task touche-2022": "did you mean touche-2022-task-1?",
    "evaluate nowhere.txt --task spot-check/arguments": "nowhere.txt: cannot be read",
    "evaluate --task spot-check/arguments": "Missing argument 'RUN...'",
    "lint out --task spot-check/arguments": "out: a folder; pass its run, out/run.txt",
}
LATE = {"run ./my-team -i in -o out": "late; "}


@pytest.mark.parametrize("command", [*MISTYPED, *LATE])
def test_mistakes_are_one_line_and_an_earlier_run_outlives_them(
    touche: Touche, workplace: Path, command: str
) -> None:
    code, out, err = touche(*shlex.split(command))
    *_, last = lines = err.splitlines()
    assert (code, out) == (2, "") and len(lines) <= 2  # the used files, then the error
    assert last.startswith("touche: ") and (MISTYPED | LATE)[command] in last
    left = {path.name: path.stat().st_mode & 0o777 for path in (workplace / "out").iterdir()}
    assert left == {"run.txt": 0o600, "ir-metadata.yml": 0o600}


def test_a_folder_of_a_baseline_that_goes_while_it_ranks_loses_no_run(
    touche: Touche, mine: Callable[..., Path], collection: Path, tmp_path: Path
) -> None:
    goes = mine("import shutil\nshutil.rmtree(__file__[:-12])\nyield topics[0], []")
    assert touche("run", goes, "-i", collection, "-o", tmp_path / "out")[0] == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"run.txt", "ir-metadata.yml"}


def test_options_without_an_annotation_take_the_type_of_their_default(
    touche: Touche, mine: Callable[..., Path], collection: Path, tmp_path: Path
) -> None:
    folder = mine('return [(topic, [("a", k + loud)]) for topic in topics]', ", *, k=3, loud=True")
    command = ("run", folder, "-i", collection, "-o", tmp_path / "out")
    assert touche(*command, "--k", "5", "--no-loud")[0] == 0
    assert (tmp_path / "out" / "run.txt").read_text() == "1 Q0 a 1 5.0 touche-my-team-k=5-loud=False\n"
    assert "'x' is not a valid integer" in touche(*command, "--k", "x")[2]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, which only Linux has")
def test_standard_output_that_is_full_is_one_line_and_one_that_is_closed_is_none_to_write_to() -> None:
    for target, code, message in (("> /dev/full", 2, "No space left on device"), (">&-", 0, "")):
        command = ["sh", "-c", f'exec "{sys.executable}" -m touche tasks {target}']
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == code and message in done.stderr
        assert done.stderr.count("\n") == len(message[:1])


def test_what_an_encoding_cannot_say_is_written_out(write: Write) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    lint = ("lint", write("é.txt", "1 Q0\n"), "--task", "spot-check/passages")
    done = subprocess.run(
        [sys.executable, "-m", "touche", *lint], capture_output=True, env=os.environ | ascii_only
    )
    assert b"/\\udcc3\\udca9.txt:1: " in done.stdout and b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ('ulimit -d 300000; exec "$@"', "touche: Java needs more than 307 MB of memory; allow 500 MB"),
        (r'export TMPDIR=$TMPDIR/$(printf "\377"); mkdir "$TMPDIR"; exec "$@"', "Java cannot read the name"),
    ],
)
def test_what_java_cannot_do_is_one_line(tmp_path: Path, script: str, message: str) -> None:
    command = ("run", "elrond", "-i", "spot-check/arguments", "-o", tmp_path / "out")
    run = [sys.executable, "-m", "touche", *command]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(["sh", "-c", script, "sh", *run], capture_output=True, text=True, env=environment)
    assert done.returncode == 2 and message in done.stderr.splitlines()[-1]
    assert done.stderr.count("\n") == 2 and not (tmp_path / "out" / "run.txt").exists()
