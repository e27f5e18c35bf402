"""The command in difficult surroundings: signals, disks, memory, descriptors, users, locales, names."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import samples
from inputs import ODD_NAMES
from outcomes import PATIENCE, PROCESSES, REFUSED, RESULT, ROOT, Outcome, ending

from conftest import left_in

BM25, SPOT = "run bm25 -o OUT -i", "--task spot-check/passages"
RUN, OWN = f"{BM25} spot-check/arguments", f"{BM25} IN"
CRAWL = "run chatnoir-bm25f -o OUT -i spot-check/pages"
EVALUATE, LINT, REPORT = f"evaluate RUN {SPOT}", f"lint RUN {SPOT}", f"report RUN {SPOT} -o OUT"
PRINTING = (EVALUATE, f"{EVALUATE} --format json", LINT, "tasks", "--help", OWN)
# Approximate durations in seconds.
KILLED = ((RUN, 1.5), (OWN, 4.0), (CRAWL, 2.5), ("regress bm25 --dataset spot-check/passages", 4.0))
CODES = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}
_WORDS = ("cats", "birds", "leash", "café", "garden", "hunt", "pupils", "uniforms", "nuclear", "vegan")


_PLAIN = 'exec "$@"'
_C = 'LANG=C LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 exec "$@"'
_NOBODY = "exec setpriv --reuid=65534 --regid=65534 --clear-groups"
_NOBODY += ' --inh-caps=+dac_read_search --ambient-caps=+dac_read_search "$@"'
_DISK = 'mount -t tmpfs -o {} tmpfs {}; exec "$@"'
# Names of surroundings, their commands, and a shell script that calls a command as "$@".
_TROUBLES = [
    ("full disk for the output", (RUN, REPORT), _DISK.format("size=4k", "out")),
    ("read-only output", (RUN, REPORT), _DISK.format("ro", "out")),
    ("full disk for TMPDIR", (RUN, OWN, EVALUATE), _DISK.format("size=4k", "tmp")),
    ("no HOME", (RUN, EVALUATE), 'unset HOME XDG_CACHE_HOME; exec "$@"'),
    ("another user", (RUN, EVALUATE, REPORT), _NOBODY),
    ("another user's folders", (RUN, EVALUATE, REPORT), f"chmod 777 out tmp; {_NOBODY}"),
    ("LANG=C", PRINTING, _C),
    *((f"{mb} MB of memory", (RUN, CRAWL, LINT), f'ulimit -d {mb}000; exec "$@"') for mb in (128, 256, 512)),
    *((f"{files} open files", (RUN, CRAWL, REPORT), f'ulimit -n {files}; exec "$@"') for files in (32, 64)),
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
    *(("odd names of folders", each, _PLAIN, name) for name in ODD_NAMES for each in (OWN, LINT, REPORT)),
]


def tried() -> Iterator[Outcome]:
    """Calls every command in its surroundings."""
    with ThreadPoolExecutor(PROCESSES) as threads:
        yield from threads.map(_try, range(len(TRIALS)))


def _try(number: int) -> Outcome:
    trouble, command, script, name = TRIALS[number]
    with tempfile.TemporaryDirectory(prefix="touche surroundings ") as above:
        folder = Path(above) / name
        _write_input(folder)
        process = _start(command, folder, script, TMPDIR=f"{folder}/tmp")
        try:
            said = process.communicate(timeout=PATIENCE)[0].decode("utf-8", "replace")
            ended = ending(process.returncode, said, folder / "out" / "run.txt", command.split())
        except subprocess.TimeoutExpired:
            ended, said = f"longer than {PATIENCE} s", ""
        left = _left(process.pid, folder, 3)
        for disk in filter(os.path.ismount, (folder / "out", folder / "tmp")):
            subprocess.run(["umount", disk], check=True)
        if said.startswith(("setpriv: ", "mount: ")):
            ended, left = "skipped", ""
        return Outcome(trouble, number, command, (ended in (RESULT, REFUSED) and left) or ended, said)


def _start(command: str, folder: Path, script: str = _PLAIN, **variables: str) -> subprocess.Popen[bytes]:
    places = {"IN": f"{folder}/in", "RUN": f"{folder}/in/run.txt", "OUT": f"{folder}/out"}
    words = [places.get(word, word) for word in command.split()]
    python = f"export PYTHONPATH={shlex.quote(str(ROOT / 'src'))}; cd {shlex.quote(str(folder))}; {script}"
    return subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", python, "bash", sys.executable, "-m", "touche", *words],
        env={name: each for name, each in os.environ.items() if name != "TMPDIR"}
        | {"XDG_CACHE_HOME": f"{folder}/cache", **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _write_input(folder: Path) -> None:
    for name in ("in", "out", "tmp"):
        (folder / name).mkdir(parents=True)
    (folder / "in" / "topics.xml").write_bytes(samples.TOPICS)
    (folder / "in" / "documents.jsonl").write_bytes(samples.DOCUMENTS)
    (folder / "in" / "run.txt").write_bytes(samples.RUN)


def _left(session: int, folder: Path, seconds: float, *, files: bool = True) -> str:
    """Returns whether a call has left processes or temporary files; ends these processes."""
    deadline = time.monotonic() + seconds
    while (processes := _session(session, folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    _end_session(session, folder)
    if processes:
        return f"left {len(processes)} processes"
    left = [*left_in(folder / "tmp"), *_private(folder), *(folder / "out").glob(".*.part")] if files else []
    return f"left {left[0].name}" if left else ""


def _private(folder: Path) -> list[Path]:
    return [*(folder / "cache" / "touche").glob("temporary/*")]


def _session(leader: int, folder: Path) -> list[int]:
    """Returns the living processes of a session, and others that use its folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, session, *_ = (each / "stat").read_text().rpartition(")")[2].split()
            known = os.fsencode(f"XDG_CACHE_HOME={folder}/") in (each / "environ").read_bytes()
            if state != "Z" and (int(session) == leader or known):
                found.append(int(each.name))
    return found


def _end_session(leader: int, folder: Path) -> None:
    for each in _session(leader, folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def killed(times: int, seed: int) -> Iterator[Outcome]:
    """Ends runs with each signal at this many random moments."""
    chances = [(sign, number, seed) for number in range(times) for sign in CODES]
    with ThreadPoolExecutor(PROCESSES) as threads:
        yield from threads.map(lambda chance: _kill(*chance), chances)


def _kill(sign: signal.Signals, number: int, seed: int) -> Outcome:
    random, (command, seconds) = Random(f"{seed} {sign} {number}"), KILLED[number % len(KILLED)]
    with tempfile.TemporaryDirectory(prefix="touche killed ") as place:
        folder = Path(place) / "x"
        _write_input(folder)
        if command is OWN:
            texts = (" ".join(random.choices(_WORDS, k=30)) for _ in range(60_000))
            lines = (json.dumps({"docno": f"d{n}", "text": text}) for n, text in enumerate(texts))
            (folder / "in" / "documents.jsonl").write_text("\n".join(lines))
        process = _start(command, folder)
        moment = random.uniform(0, seconds)
        time.sleep(moment)
        process.send_signal(sign)
        try:
            said = process.communicate(timeout=PATIENCE)[0].decode()
        except subprocess.TimeoutExpired:  # a remaining process still has its output open
            said = ""
        ended = _after(process, sign, said, folder)
        if ended == RESULT and sign == signal.SIGKILL:
            ended = _next_run(command, folder)
        return Outcome(f"{sign.name} at a random moment", number, f"{command}, {moment:.3f} s", ended, said)


def _after(process: subprocess.Popen[bytes], sign: signal.Signals, said: str, folder: Path) -> str:
    if "Traceback" in said or "Exception" in said:
        return "traceback"
    # A signal ends Python itself while it starts or ends.
    if process.returncode not in (0, CODES[sign], -sign):
        return f"exit code {process.returncode}"
    run, is_killed = folder / "out" / "run.txt", sign == signal.SIGKILL
    if run.exists() and ending(0, "", run) != RESULT:
        return "run.txt not whole"
    return _left(process.pid, folder, 6 if is_killed else 3, files=not is_killed) or RESULT


def _next_run(command: str, folder: Path) -> str:
    """Lets a new run clean up after a killed one; returns what remains."""
    for part in (folder / "out").glob(".*.part"):  # users remove these themselves
        part.unlink()
    if not _private(folder):
        return RESULT
    process = _start(command, folder)
    process.communicate(timeout=PATIENCE)
    return _left(process.pid, folder, 3) or RESULT
