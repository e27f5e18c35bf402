"""The command where things go wrong around it: signals, disks, memory, descriptors, users, locales, names."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import samples
from inputs import ODD_NAMES
from outcomes import PATIENCE, PROCESSES, REFUSED, RESULT, ROOT, Outcome, ending

from conftest import left_in

TOUCHE = [sys.executable, "-m", "touche"]
BM25, SPOT = [*TOUCHE, "run", "bm25"], ["--task", "spot-check/passages"]
RUN = [*BM25, "-i", "spot-check/arguments", "-o", "OUT"]
OWN = [*BM25, "-i", "IN", "-o", "OUT"]
CRAWL = [*TOUCHE, "run", "chatnoir-bm25f", "-i", "spot-check/pages", "-o", "OUT"]
EVALUATE, LINT = ([*TOUCHE, name, "IN/run.txt", *SPOT] for name in ("evaluate", "lint"))
REPORT = [*TOUCHE, "report", "IN/run.txt", *SPOT, "-o", "OUT"]
REGRESS = [*TOUCHE, "regress", "bm25", "--dataset", "spot-check/passages"]
PRINTING = (EVALUATE, [*EVALUATE, "--format", "json"], LINT, [*TOUCHE, "tasks"], [*TOUCHE, "--help"], OWN)
KILLED = ((RUN, 1.5), (OWN, 4.0), (CRAWL, 2.5), (REGRESS, 4.0))  # and about how many seconds they take
CODES = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}
_WORDS = ("cats", "birds", "leash", "café", "garden", "hunt", "pupils", "uniforms", "nuclear", "vegan")


@dataclass(frozen=True)
class Trial:
    """A call of the command.

    Attributes:
        name: what goes wrong.
        command: the words, with IN and OUT for folders.
        before: puts things in order in the folder of the call, and afterwards takes them away.
        variables: of the environment; None takes one away.
        folder: the name of the folder that IN and OUT are in.
        script: of a shell, in which the command is ``"$@"``.
    """

    name: str
    command: Sequence[str]
    before: Callable[[Path], Any] = contextlib.nullcontext
    variables: dict[str, str | None] = field(default_factory=dict)
    folder: str = "x"
    script: str = 'exec "$@"'


def _disk(name: str, options: str) -> Callable[[Path], Any]:
    @contextlib.contextmanager
    def mounted(folder: Path) -> Iterator[None]:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder / name], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", folder / name], check=True)

    return mounted


@contextlib.contextmanager
def _open_to_all(folder: Path) -> Iterator[None]:
    for name in ("out", "tmp"):
        (folder / name).chmod(0o777)
    yield


_C = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
_NOBODY = "exec setpriv --reuid=65534 --regid=65534 --clear-groups"
_NOBODY += ' --inh-caps=+dac_read_search --ambient-caps=+dac_read_search "$@"'
_UNREAD = '"$@" | head -c 0; code=${PIPESTATUS[0]}; exit $((code == 1 ? 0 : code))'  # 1 is that of click
_DISKS = {"full disk for the output": "size=4k", "read-only output": "ro"}
_SCRIPTS = {  # in which a command is "$@"
    "closed standard output": 'exec "$@" 1>&-',
    "closed standard error": 'exec "$@" 2>&-',
    "closed standard input": 'exec "$@" 0<&-',
    "full standard output": 'exec "$@" >/dev/full',
    "a closed pipe": _UNREAD,
}
# What goes wrong, the commands, and how.
_TROUBLES: list[tuple[str, Sequence[list[str]], dict[str, Any]]] = [
    *((name, (RUN, REPORT), {"before": _disk("out", options)}) for name, options in _DISKS.items()),
    ("full disk for TMPDIR", (RUN, OWN, EVALUATE), {"before": _disk("tmp", "size=4k")}),
    ("no HOME", (RUN, EVALUATE), {"variables": {"HOME": None, "XDG_CACHE_HOME": None}}),
    ("another user", (RUN, EVALUATE, REPORT), {"script": _NOBODY}),
    ("another user", (RUN, EVALUATE, REPORT), {"script": _NOBODY, "before": _open_to_all}),
    *(("LANG=C", PRINTING, {"variables": _C, "folder": name}) for name in ("x", "é ü")),
    *(
        (f"{size} MB of memory", (RUN, CRAWL, EVALUATE, LINT), {"script": f'ulimit -d {size}000; exec "$@"'})
        for size in (128, 256, 512)  # with less, numpy cannot be loaded
    ),
    *(
        (f"{files} open files", (RUN, CRAWL, EVALUATE, REPORT), {"script": f'ulimit -n {files}; exec "$@"'})
        for files in (32, 64)
    ),
    # What prints nothing does not mind a full standard output.
    *((name, PRINTING[: -1 if "full" in name else None], {"script": _SCRIPTS[name]}) for name in _SCRIPTS),
    *(("odd names of folders", (OWN, *PRINTING[:3], REPORT), {"folder": name}) for name in ODD_NAMES),
]


def tried() -> Iterator[Outcome]:
    """Calls every command in its surroundings."""
    trials = [Trial(name, command, **how) for name, commands, how in _TROUBLES for command in commands]
    with ThreadPoolExecutor(PROCESSES) as threads:
        yield from threads.map(_try, trials, range(len(trials)))


def _try(trial: Trial, number: int) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="touche surroundings ") as above:
        folder = Path(above) / trial.folder
        _write_input(folder)
        try:
            with trial.before(folder):
                ended, said = _called(trial, folder)
        except subprocess.CalledProcessError as error:
            ended, said = "skipped", f"{error.cmd[0]} is not allowed here"
        return Outcome(trial.name, number, _typed(trial.command), ended, said)


def _called(trial: Trial, folder: Path) -> tuple[str, str]:
    words = ["bash", "-o", "pipefail", "-c", trial.script, "bash", *trial.command]
    process = _start(words, folder, trial.variables)
    try:
        said = process.communicate(timeout=PATIENCE)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        _end_session(process.pid, folder)
        return f"longer than {PATIENCE} s", process.communicate()[0].decode("utf-8", "replace")
    if said.startswith("setpriv: "):
        return "skipped", said
    ended = ending(process.returncode, said, folder / "out" / "run.txt", trial.command)
    return (ended in (RESULT, REFUSED) and _left(process.pid, folder)) or ended, said


def _typed(command: Sequence[str]) -> str:
    return " ".join(command[command.index("touche") - 1 :])


def _start(command: Sequence[str], folder: Path, variables: dict[str, str | None]) -> subprocess.Popen[bytes]:
    known = {"TMPDIR": f"{folder}/tmp", "XDG_CACHE_HOME": f"{folder}/cache", **variables}
    environment = {name: each for name, each in (os.environ | known).items() if each is not None}
    places = {"IN": f"{folder}/in", "IN/run.txt": f"{folder}/in/run.txt", "OUT": f"{folder}/out"}
    return subprocess.Popen(
        [places.get(word, word) for word in command],
        env=environment,
        cwd=ROOT,
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


def _left_processes(session: int, folder: Path, seconds: float) -> str:
    """Waits for the processes of a call; ends those that it has left behind then, and says how many."""
    deadline = time.monotonic() + seconds
    while (processes := _session(session, folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    _end_session(session, folder)
    return f"left {len(processes)} processes" if processes else ""


def _left(session: int, folder: Path) -> str:
    """Returns what a call has left behind, processes or temporary files; or nothing."""
    if processes := _left_processes(session, folder, 3):
        return processes
    files = [*left_in(folder / "tmp"), *_private(folder), *(folder / "out").glob(".*.part")]
    return f"left {files[0].name}" if files else ""


def _private(folder: Path) -> list[Path]:
    return [*(folder / "cache" / "touche").glob("temporary/*")]


def _session(leader: int, folder: Path) -> list[int]:
    """Returns the processes of a session that are alive, and those of others that know its folder."""
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
    """Ends runs by each signal at so many random moments."""
    chances = [(sign, number) for number in range(times) for sign in CODES]
    with (
        tempfile.TemporaryDirectory(prefix="touche killed ") as place,
        ThreadPoolExecutor(PROCESSES) as threads,
    ):
        yield from threads.map(lambda chance: _kill(*chance, Path(place), seed), chances)


def _kill(sign: signal.Signals, number: int, place: Path, seed: int) -> Outcome:
    random = Random(f"{seed} {sign} {number}")
    command, seconds = KILLED[number % len(KILLED)]
    folder = place / f"{sign.name}-{number}"
    _write_input(folder)
    if command is OWN:
        texts = (" ".join(random.choices(_WORDS, k=30)) for _ in range(60_000))
        lines = (json.dumps({"docno": f"d{n}", "text": text}) for n, text in enumerate(texts))
        (folder / "in" / "documents.jsonl").write_text("\n".join(lines))
    process = _start(command, folder, {"TMPDIR": None})
    moment = random.uniform(0, seconds)
    time.sleep(moment)
    process.send_signal(sign)
    try:
        said = process.communicate(timeout=PATIENCE)[0].decode()
    except subprocess.TimeoutExpired:  # something that it has left still holds its output
        said = ""
    ended = _after(process, sign, said, folder)
    if ended == RESULT and sign == signal.SIGKILL:
        ended = _next_run(command, folder)
    shutil.rmtree(folder)
    mutations = f"{_typed(command)}, {moment:.3f} s"
    return Outcome(f"{sign.name} at a random moment", number, mutations, ended, said)


def _after(process: subprocess.Popen[bytes], sign: signal.Signals, said: str, folder: Path) -> str:
    if "Traceback" in said or "Exception" in said:
        return "traceback"
    # Python itself is ended by a signal while it starts or ends.
    if process.returncode not in (0, CODES[sign], -sign):
        return f"exit code {process.returncode}"
    run = folder / "out" / "run.txt"
    if run.exists() and ending(0, "", run) != RESULT:
        return "run.txt not whole"
    if sign == signal.SIGKILL:
        return _left_processes(process.pid, folder, 6) or RESULT
    return _left(process.pid, folder) or RESULT


def _next_run(command: Sequence[str], folder: Path) -> str:
    """Has a run after one that was killed clean up; returns what it leaves."""
    for part in (folder / "out").glob(".*.part"):  # which users remove themselves
        part.unlink()
    if not _private(folder):
        return RESULT
    process = _start(command, folder, {"TMPDIR": None})
    process.communicate(timeout=PATIENCE)
    return _left(process.pid, folder) or RESULT
