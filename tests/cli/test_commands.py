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
from touche import tasks
from touche.io.formats import FORMATS_FOR_PAPERS

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
        assert err.splitlines()[0] == "bm25: 1 topic from topics.xml, documents from documents.jsonl"
        (line,) = (tmp_path / out / "run.txt").read_text().splitlines()
        assert line.startswith("1 Q0 a 1 0.") and line.endswith(" touche-bm25")


@pytest.fixture
def workplace(
    collection: Path, write: Write, mine: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The current folder, with inputs and runs of all kinds, and in out/ an earlier run."""
    files = {
        "no-documents/topics.xml": TOPICS,
        "no-topics/documents.jsonl": DOCUMENTS,
        "broken/topics.xml": TOPICS,
        "broken/documents.jsonl": DOCUMENTS + "{",
        "cut/topics.xml": TOPICS,
        "cut/documents.jsonl": gzip.compress(DOCUMENTS.encode())[:-9],
        "words.txt": "two words",
        "a.txt": "7 Q0 x 1 3.0 one\n7 Q0 y 2 2.0 one\n",
        "b.txt": "7 Q0 y 1 0.9 two words\n7 Q0 v 2 0.9 two words\n",
        "twice.txt": "7 Q0 y 1 3 t\n7 Q0 y 2 2 t\n",
        "empty.txt": "",
    }
    for name, content in files.items():
        write(name, content)
    for file in ("run.txt", "ir-metadata.yml"):
        write(f"out/{file}", "of an earlier run").chmod(0o600)
    mine("from touche import ToucheError\nyield topics[0], []\nraise ToucheError('late; mend it')")
    monkeypatch.chdir(collection.parent)
    return collection.parent


ARGUMENTS = "--task spot-check/arguments"
PASSAGES = "-i spot-check/passages"
FUSE = "fuse a.txt b.txt -o new"
SWEEP = f"sweep bm25 -o new {ARGUMENTS}"
SPOT_CHECKS = ", ".join(
    f"spot-check/{part}" for part in ("arguments", "images", "pages", "pairs", "passages")
)
MISTYPED = {
    "evaluat run.txt": "Did you mean 'evaluate'?",
    "--quiet --verbose tasks": "--quiet and --verbose exclude each other; omit",
    "--quiet tasks --verbose": "--quiet and --verbose exclude each other; omit",
    "run bm25 -i nowhere -o out": "nowhere: no such directory or dataset; check the path, or choose",
    "run bm25 -i ./nowhere -o out": f"a dataset that is here: {SPOT_CHECKS}",
    "overlap a.txt b.txt --task nowhere": "there is no task 'nowhere'; choose among ",
    "regress --dataset nowhere": "there is no dataset 'nowhere'; choose a task, which touche tasks lists, or",
    "run dirichletlm -i no-topics -o out": "no-topics: no topics in this",
    "run dirichletlm -i no-documents -o out": "no-documents: no documents in this",
    "run bm25 -o out": "Missing option '-i'",
    "run bm25 -o new": f"Choose among {SPOT_CHECKS}, or name a folder. (see:",
    "run bm25 -i": "'-i' requires an argument",
    "run bm25 -i in -o /proc/out": "/proc/out: cannot be created",
    "run bm25 -i in -o out --b x": "'x' is not a valid float",
    "run bm25 -i in -o out --k2 1": "No such option",
    "run bm25 -i in -o out --depth 0": "depth = 0 is out of range",
    "run tfidf -i in -o out --variant x": "'x' is not one of 'terrier', 'classic'",
    "run bm25 -i spot-check/arguments -o out --corpus x": "omit --corpus",
    "run bm25 -i '' -o out": "-i or -o is empty",
    "run bm25 -i in -o ''": "-i or -o is empty",
    "run bm25 -i in -o out --team ' '": "--team ' ' is empty",
    "run bm25 -i in -o out --tag ''": "--tag '' is empty",
    "run bm25 -i in -o out --tag 'a\n1 Q0 d 1 9 b'": "has white space",
    "run bm25 -i in -o out --statistics no.json": "no such file; pass a file written by --keep-statistics",
    "run bm25 -i in -o out --statistics out/run.txt": "no statistics",
    "run bm25 -i in -o out --keep-statistics out/run.txt": "two outputs have this name",
    "run chatnoir-bm25f -i in -o out --statistics clueweb12-2020 --keep-statistics s": "omit one of them",
    "run bm25 -i in -o out --statistics clueweb12-2020": "clueweb12-2020: no such file",
    "run chatnoir-bm25f -i in -o out --statistics clueweb12-2019": "one of: clueweb12-2020, clueweb12-2021",
    f"run --variant bm25 tfidf {PASSAGES} -o new": "are names of baselines; write the one to run first",
    f"run --depth 3 no-baseline {PASSAGES} -o new": "no baseline is named; name it before its options",
    f"run bm52 {PASSAGES} -o new": "which touche new NAME writes",
    f"run bm52 {PASSAGES} -o new --tag dph": "there is no baseline 'bm52'; did you mean bm25?",
    "run bm25 -i in -o out --runner docker --corpus x": "which sees only its input",
    "run bm25 -i in -o out --cpus 2": "--cpus has no effect on the runner local; omit it",
    "run bm25 -i in -o out --master x": "No such option",
    "spark bm25 -i in -o out --topics x": "in has its own topics; omit --topics",
    "evaluate run.txt": "run.txt: No such file; check the path",
    "evaluate a.txt": f"pass --task with one of {', '.join(tasks.ids())}",
    "evaluate run.txt --taks x": "'--task'",
    "evaluate run.txt --task touche-2019": "there is no task 'touche-2019'",
    "evaluate run.txt --task touche-2022": "did you mean touche-2022-task-1, touche-2022-task-2 or",
    f"evaluate nowhere.txt {ARGUMENTS}": "nowhere.txt: cannot be read",
    f"evaluate {ARGUMENTS}": "Missing argument 'RUN...'",
    f"evaluate a.txt {ARGUMENTS} --per-topic --format latex": f"--reference, {FORMATS_FOR_PAPERS} print",
    f"compare a.txt b.txt {ARGUMENTS} --per-topic --bounds --format html": (
        f"{FORMATS_FOR_PAPERS} print only the means and the t-test; omit --per-topic and --bounds"
    ),
    f"compare a.txt b.txt {ARGUMENTS} --per-topic --published": "omit --per-topic",
    f"compare a.txt b.txt {ARGUMENTS} --all": "add --published",
    f"lint out {ARGUMENTS}": "out: a folder; pass its run, out/run.txt",
    "fuse a.txt -o new": "at least two runs",
    "fuse a.txt b.txt a.txt -o new": "a.txt: passed twice",
    "fuse a.txt twice.txt -o new": "twice.txt:2: document 'y' occurs a second time for topic 7; remove one",
    "fuse a.txt empty.txt -o new": "empty.txt: the run is empty",
    f"{FUSE} --tag ''": "--tag '' is empty, too long",
    f"{FUSE} --team ''": "--team '' is empty",
    f"{FUSE} --weights 1": "1 weight for 2 runs",
    f"{FUSE} --weights -1,1": "weight -1",
    f"{FUSE} --weights nan,1": "'nan,1'",
    f"{FUSE} --weights 1e999,1": "'1e999,1'",
    f"{FUSE} --weights ''": "--weights",
    f"{FUSE} --weights 0,0": "all weights are 0",
    "sweep bm25 -i in -o new": "task",
    "sweep bm25 -o new": "--task",
    f"{SWEEP} --k1 1:2": "k1 = '1:2'",
    f"sweep bm25 -o in {ARGUMENTS}": "in: already exists; choose a new directory, or pass --overwrite",
    f"{SWEEP} --b 0.5,2": "b = 2",
    f"{SWEEP} --stance MAYBE": "stance = 'MAYBE'",
    f"{SWEEP} --evaluator touche --measure AP": "lacks AP",
    "sweep bm25 -o new --task no-task": "no-task",
    f"sweep bm25 -o new --multifield {ARGUMENTS}": "--multifield needs VALUES, such as true,false",
    f"sweep bm25 -o new --k1 {ARGUMENTS}": "--k1 needs VALUES, such as 0.9",
    f"sweep bm25 -o new --stance {ARGUMENTS.replace(' ', '=')}": "--stance needs VALUES, such as NO",
    "report a.txt --measure AP --measure RR -o new": "AP and RR: pass one measure",
    f"report a.txt {ARGUMENTS} -o words.txt/new": "words.txt/new: cannot be created (Not a directory)",
    f"report a.txt a.txt {ARGUMENTS} -o new": "twice",
    "report a.txt --all-published -o new": "--all-published takes no RUNs",
    "tasks --reported": "--reported shows one task; name it",
    "tasks touche-2021-task-2 --reported --per-topic": "omit --all, --per-topic",
    "tasks touche-2021-task-2 --reported --all": "omit --all, --per-topic",
    "regress bm25 --by me": "--record appends; add --record FILE",
    "evaluate a.txt --qrels a --qrels b": "--qrels is passed 2 times; pass it once",
    "run bm25 -i in -o a --output b": "--output is passed 2 times; pass it once",
    "run bm25 -i in -o a --k1 1 --k1 2": "--k1 is passed 2 times; pass it once",
    "overlap a b --baseline c d --baseline e f --task x": "--baseline is passed 2 times",
    "tasks --reproductions --reported": "--reproductions has its own table",
    "tasks --reproductions --team Katana": "--reproductions has its own table",
    "tasks touche-2022-task-2 --team Katan": "no published result of 'Katan'; did you mean Katana?",
    "tasks tira spot-check/passages -o out": "out: the folder is not empty",
    "tasks tira spot-check/passages -o new --dimension relevanc": "did you mean relevance?",
    "tasks tira touche-2021-task-2 -o new": "is missing",
    "tasks tira spot-check/nothing -o new": "there is no task 'spot-check/nothing'",
    "images verify": "neither a baseline nor a run is named; pass one of them",
    "images verify bm25 --against x --run y": "x",
    f"run bm25 {PASSAGES} -o new --runner docker --memory 4gb": "'4gb' is not an amount of memory",
    "regress --runner docker --memory 0g": "'0g' is not an amount of memory",
    f"run bm25 {PASSAGES} -o new --cpus 1": "--cpus has no effect on the runner local",
    "regress --time-limit 1": "--time-limit has no effect on the runner local",
    f"run bm25 {PASSAGES} -o new --runner tira --memory 1g": "--memory has no effect on the runner tira",
    "regress --runner tira --memory 1g": "--memory has no effect on the runner tira",
    f"run bm25 {PASSAGES} -o new --corpus argsme/2020-04-01 --runner docker": "--corpus has no effect on the",
}
# Found when the run has begun, and has removed the earlier one.
LATE = {
    "run bm25 -i broken -o out": "documents.jsonl:3: broken JSON",
    "run bm25 -i cut -o out": "documents.jsonl: the gzip stream is broken",
    "run bm25 -i in -o out --b 2": "b = 2 is out of range; choose a number from 0 to 1",
    "run bm25 -i in -o out --corpus nothing": "ir_datasets has no corpus 'nothing'",
    "run rank-bm25 -i in -o out --keep-statistics s": "rank with touche.scan use statistics",
    "run dirichletlm-variants -i in -o out --stop-words words.txt": "words.txt:1: ",
    "run sentence-coherence -i in -o out --coherence nsp": "--model",
    "run ./my-team -i in -o out": "late; ",
}


@pytest.mark.parametrize("command", [*MISTYPED, *LATE], ids=lambda command: command[:60])
def test_mistakes_are_one_line_and_an_earlier_run_stays_unless_the_run_has_begun(
    touche: Touche, workplace: Path, command: str
) -> None:
    code, out, err = touche(*shlex.split(command))
    *_, last = lines = err.splitlines()
    assert (code, out) == (2, "")
    assert len(lines) <= 2  # the used files, then the error
    assert last.startswith("touche: ")
    assert (MISTYPED | LATE)[command] in last
    left = {path.name: path.stat().st_mode & 0o777 for path in (workplace / "out").iterdir()}
    assert left == ({} if command in LATE else {"run.txt": 0o600, "ir-metadata.yml": 0o600})
    assert not (workplace / "new").exists()


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


def test_tasks_shows_the_runs_of_one_team(touche: Touche) -> None:
    code, out, _ = touche("tasks", "touche-2022-task-2", "--team", "katana")
    rows = [line for line in out.splitlines() if "  Colbert " in line]
    assert code == 0 and len(rows) == 9  # three runs in two rankings and for stances
    assert all("Katana" in row for row in rows) and "Captain Levi" not in out
    code, out, _ = touche("tasks", "--team", "Katana", "--format", "csv")
    tasks = {line.split(",")[0] for line in out.splitlines()[1:]}
    assert code == 0 and tasks == {"touche-2020-task-2", "touche-2021-task-2", "touche-2022-task-2"}
