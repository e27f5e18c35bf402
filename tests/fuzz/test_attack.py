"""Bad inputs for every reader and command, signals at random moments, and difficult surroundings.

Each input ends in a result, or in an error of one line. ``make fuzz`` tries more of them than the
nightly tests. An input that fails remains in build/fuzz/.
"""

import faulthandler
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import pytest
from calls import PLAIN, leftovers, private_files, start, write_input
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from inputs import ODD_NAMES, misplace, spoilt
from outcomes import MEMORY, PATIENCE, REFUSED, RESULT, SECONDS, outcome_of_command, outcome_of_reader
from readers import COMMANDS, READERS, Target

from conftest import ROOT

pytestmark = pytest.mark.nightly

SEEDS = st.integers(0, 2**32)
EXAMPLES = settings().max_examples  # of a reader, by the profile; a command takes seconds


def few(part: int) -> settings:
    """Settings for this part of the examples of a reader. A smaller seed is not a simpler input."""
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    return settings(
        max_examples=EXAMPLES // part, phases=phases, suppress_health_check=[HealthCheck.too_slow]
    )


@contextmanager
def spoilt_input(target: Target, seed: str) -> Iterator[tuple[Path, str]]:
    """Yields a folder with a damaged file, and its mutations; removes the folder unless the test fails."""
    random = Random(seed)
    content, mutations = spoilt(target.content, random)
    (ROOT / "build" / "fuzz").mkdir(parents=True, exist_ok=True)
    above = Path(tempfile.mkdtemp(prefix="an input ", dir=ROOT / "build" / "fuzz"))
    folder = above / (random.choice(ODD_NAMES) if random.random() < 0.05 else "in")
    for name, file_content in {**target.others, target.file: content}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file_content)
    if random.random() < 0.03:
        mutations = misplace(path, random)
    yield folder, mutations
    shutil.rmtree(above)


@contextmanager
def limits() -> Iterator[None]:
    """Bounds the memory of this process, and ends it if it hangs, also in compiled code."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, before[1]))
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    begin = time.process_time()
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        resource.setrlimit(resource.RLIMIT_DATA, before)
    assert time.process_time() - begin < SECONDS


@pytest.mark.parametrize("name", READERS)
@few(1)
@given(seed=SEEDS)
def test_a_reader_reads_a_damaged_file_or_refuses_it(name: str, seed: int) -> None:
    target = READERS[name]
    assert not isinstance(target.read, str)
    with spoilt_input(target, f"{name} {seed}") as (folder, mutations):
        with limits():
            outcome = outcome_of_reader(target.read, folder / target.file)
        assert outcome in (RESULT, REFUSED), (mutations, folder)


@pytest.mark.parametrize("name", COMMANDS)
@few(30)
@given(seed=SEEDS)
def test_a_command_answers_a_damaged_file_or_refuses_it(name: str, seed: int) -> None:
    target = COMMANDS[name]
    with spoilt_input(target, f"{name} {seed}") as (folder, mutations):
        above = folder.parent
        (above / "tmp").mkdir()
        paths = {"IN": str(folder), "OUT": str(above / "out")}
        words = [
            word.replace("IN", paths["IN"]).replace("OUT", paths["OUT"]) for word in str(target.read).split()
        ]
        process = subprocess.run(
            ["timeout", "--signal=KILL", str(PATIENCE), sys.executable, "-m", "touche", *words],
            env=os.environ
            | {"TMPDIR": f"{above}/tmp", "TOUCHE_DATA": str(folder), "XDG_CACHE_HOME": f"{above}/cache"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output = process.stdout.decode("utf-8", "surrogateescape")
        outcome = outcome_of_command(process.returncode, output, above / "out" / "run.txt", words)
        assert outcome in (RESULT, REFUSED), (mutations, words, output)
        assert leftovers(-1, above, 0) == [], (mutations, words)


BM25 = "run bm25 -o OUT -i"
SPOT = "--task spot-check/passages"
SHIPPED = f"{BM25} spot-check/arguments"
OWN = f"{BM25} IN"
CRAWL = "run chatnoir-bm25f -o OUT -i spot-check/pages"
EVALUATE = f"evaluate RUN {SPOT}"
LINT = f"lint RUN {SPOT}"
REPORT = f"report RUN {SPOT} -o OUT"
PRINTING = (EVALUATE, f"{EVALUATE} --format json", LINT, "tasks", "--help", OWN)
_C = 'LANG=C LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 exec "$@"'
_NOBODY = "exec setpriv --reuid=65534 --regid=65534 --clear-groups"
_NOBODY += ' --inh-caps=+dac_read_search --ambient-caps=+dac_read_search "$@"'
_DISK = 'mount -t tmpfs -o {} tmpfs {}; exec "$@"'
# Names of surroundings, their commands, and a shell script that calls a command as "$@".
_TROUBLES = [
    ("full disk for the output", (SHIPPED, REPORT), _DISK.format("size=4k", "out")),
    ("read-only output", (SHIPPED, REPORT), _DISK.format("ro", "out")),
    ("full disk for TMPDIR", (SHIPPED, OWN, EVALUATE), _DISK.format("size=4k", "tmp")),
    ("no HOME", (SHIPPED, EVALUATE), 'unset HOME XDG_CACHE_HOME; exec "$@"'),
    ("another user", (SHIPPED, EVALUATE, REPORT), _NOBODY),
    ("another user's folders", (SHIPPED, EVALUATE, REPORT), f"chmod 777 out tmp; {_NOBODY}"),
    ("LANG=C", PRINTING, _C),
    *((f"{mb} MB", (SHIPPED, CRAWL, LINT), f'ulimit -d {mb}000; exec "$@"') for mb in (128, 256, 512)),
    *(
        (f"{files} open files", (SHIPPED, CRAWL, REPORT), f'ulimit -n {files}; exec "$@"')
        for files in (32, 64)
    ),
    ("closed standard output", PRINTING, 'exec "$@" 1>&-'),
    ("closed standard error", PRINTING, 'exec "$@" 2>&-'),
    ("closed standard input", PRINTING, 'exec "$@" 0<&-'),
    ("full standard output", PRINTING[:-1], 'exec "$@" >/dev/full'),  # commands without output do not fail
    # Click then exits with 1.
    ("a closed pipe", PRINTING, '"$@" | head -c 0; code=${PIPESTATUS[0]}; exit $((code == 1 ? 0 : code))'),
]
TRIALS = [
    *((trouble, command, script, "x") for trouble, commands, script in _TROUBLES for command in commands),
    *(("LANG=C", command, _C, "é ü") for command in PRINTING),
    *(
        ("odd names of folders", command, PLAIN, name)
        for name in ODD_NAMES
        for command in (OWN, LINT, REPORT)
    ),
]


@pytest.mark.parametrize(("trouble", "command", "script", "name"), TRIALS)
def test_a_command_works_in_difficult_surroundings_or_fails_with_one_line(
    trouble: str, command: str, script: str, name: str
) -> None:
    with tempfile.TemporaryDirectory(prefix="touche surroundings ") as above:
        folder = Path(above) / name
        write_input(folder)
        process = start(command, folder, script, TMPDIR=f"{folder}/tmp")
        try:
            output = process.communicate(timeout=PATIENCE)[0].decode("utf-8", "replace")
            run = folder / "out" / "run.txt"
            outcome = outcome_of_command(process.returncode, output, run, command.split())
        finally:
            left = leftovers(process.pid, folder, 3)
            for disk in filter(os.path.ismount, (folder / "out", folder / "tmp")):
                subprocess.run(["umount", disk], check=True)
        if output.startswith(("setpriv: ", "mount: ")):
            pytest.skip(f"{trouble}: {output}")
        assert outcome in (RESULT, REFUSED) and left == [], (trouble, output)


# Approximate durations in seconds.
KILLED = {SHIPPED: 1.5, OWN: 4.0, CRAWL: 2.5, "regress bm25 --dataset spot-check/passages": 4.0}
CODES = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}
_WORDS = ("cats", "birds", "leash", "café", "garden", "hunt", "pupils", "uniforms", "nuclear", "vegan")


@pytest.mark.parametrize("command", KILLED)
@pytest.mark.parametrize("sign", CODES, ids=lambda sign: sign.name)
@few(16)
@given(seed=SEEDS)
def test_a_signal_at_a_random_moment_leaves_a_whole_run_or_none(
    sign: signal.Signals, command: str, seed: int
) -> None:
    random = Random(seed)
    with tempfile.TemporaryDirectory(prefix="touche killed ") as above:
        folder = Path(above) / "x"
        write_input(folder)
        if command == OWN:
            texts = (" ".join(random.choices(_WORDS, k=30)) for _ in range(60_000))
            lines = (json.dumps({"docno": f"d{n}", "text": text}) for n, text in enumerate(texts))
            (folder / "in" / "documents.jsonl").write_text("\n".join(lines))
        process = start(command, folder)
        time.sleep(random.uniform(0, KILLED[command]))
        process.send_signal(sign)
        output = ""
        with suppress(subprocess.TimeoutExpired):  # a remaining process still has its output open
            output = process.communicate(timeout=PATIENCE)[0].decode()
        assert "Traceback" not in output and "Exception" not in output, output
        # A signal ends Python itself while it starts or ends.
        assert process.returncode in (0, CODES[sign], -sign), output
        run = folder / "out" / "run.txt"
        assert not run.exists() or outcome_of_command(0, "", run) == RESULT
        is_killed = sign == signal.SIGKILL
        assert leftovers(process.pid, folder, 6 if is_killed else 3, files=not is_killed) == []
        if is_killed and private_files(folder):
            check_next_run(command, folder)


def check_next_run(command: str, folder: Path) -> None:
    """A new run removes the temporary files of a killed one; users remove parts of runs."""
    for part in (folder / "out").glob(".*.part"):
        part.unlink()
    process = start(command, folder)
    process.communicate(timeout=PATIENCE)
    assert leftovers(process.pid, folder, 3) == []
