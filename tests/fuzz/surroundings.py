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
SPOT = ["-i", "spot-check/arguments", "-o", "OUT"]
BM25, PAGES = ([*TOUCHE, "run", each] for each in ("bm25", "chatnoir-bm25f"))
RUN = [*BM25, *SPOT]
OWN = [*BM25, "-i", "IN", "-o", "OUT"]
CRAWL = [*PAGES, "-i", "spot-check/pages", "-o", "OUT"]
EVALUATE = [*TOUCHE, "evaluate", "IN/run.txt", "--task", "spot-check/passages"]
REGRESS = [*TOUCHE, "regress", "bm25", "--dataset", "spot-check/passages"]
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
    """

    name: str
    command: Sequence[str]
    before: Callable[[Path], Any] = contextlib.nullcontext
    variables: dict[str, str | None] = field(default_factory=dict)
    folder: str = "x"


@contextlib.contextmanager
def small_disk(name: str, options: str, folder: Path) -> Iterator[None]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder / name], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder / name], check=True)


@contextlib.contextmanager
def _open_to_all(folder: Path) -> Iterator[None]:
    for name in ("out", "tmp"):
        (folder / name).chmod(0o777)
    yield


def _full(name: str) -> Callable[[Path], Any]:
    return lambda folder: small_disk(name, "size=4k", folder)


_C = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
_UNREAD = '"$@" | head -c 0; code=${PIPESTATUS[0]}; exit $((code == 1 ? 0 : code))'  # 1 is that of click
_MAY_READ = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]


def _shell(script: str, command: Sequence[str]) -> list[str]:
    """A command in a shell, where it is ``"$@"``."""
    return ["bash", "-o", "pipefail", "-c", script, "bash", *command]


def trials() -> list[Trial]:
    """Everything but signals."""
    report = [*TOUCHE, "report", "IN/run.txt", "--task", "spot-check/passages", "-o", "OUT"]
    lint = [*TOUCHE, "lint", "IN/run.txt", "--task", "spot-check/passages"]
    tell = [EVALUATE, [*EVALUATE, "--format", "json"], lint, [*TOUCHE, "tasks"], [*TOUCHE, "--help"], OWN]
    return [
        *(Trial("full disk for the output", each, _full("out")) for each in (RUN, report)),
        *(Trial("full disk for TMPDIR", each, _full("tmp")) for each in (RUN, OWN, EVALUATE)),
        *(
            Trial("read-only output", each, lambda folder: small_disk("out", "ro", folder))
            for each in (RUN, report)
        ),
        *(
            Trial(f"{megabytes} MB of memory", _shell(f'ulimit -d {megabytes}000; exec "$@"', each))
            for megabytes in (128, 256, 512)  # with less, numpy cannot be loaded
            for each in (RUN, CRAWL, EVALUATE, lint)
        ),
        *(
            Trial(f"{files} open files", _shell(f'ulimit -n {files}; exec "$@"', each))
            for files in (32, 64)
            for each in (RUN, CRAWL, EVALUATE, report)
        ),
        *(
            Trial("no HOME", each, variables={"HOME": None, "XDG_CACHE_HOME": None})
            for each in (RUN, EVALUATE)
        ),
        *(
            Trial("another user", [*_NOBODY, *_MAY_READ, *each], before)
            for each in (RUN, EVALUATE, report)
            for before in (contextlib.nullcontext, _open_to_all)
        ),
        *(Trial("LANG=C", each, variables=_C, folder=name) for each in tell for name in ("x", "é ü")),
        *(Trial("closed standard output", _shell('exec "$@" 1>&-', each)) for each in tell),
        *(Trial("closed standard error", _shell('exec "$@" 2>&-', each)) for each in tell),
        *(Trial("closed standard input", _shell('exec "$@" 0<&-', each)) for each in tell),
        *(Trial("full standard output", _shell('exec "$@" >/dev/full', each)) for each in tell[:-1]),
        *(Trial("a closed pipe", _shell(_UNREAD, each)) for each in tell),
        *(
            Trial("odd names of folders", each, folder=name)
            for name in ODD_NAMES
            for each in (OWN, *tell[:3])
        ),
        *(Trial("odd names of folders", report, folder=name) for name in ODD_NAMES),
    ]


def tried() -> Iterator[Outcome]:
    """Calls all trials, and sends signals."""
    with ThreadPoolExecutor(PROCESSES) as threads:
        yield from threads.map(_try, trials(), range(1000))


def _try(trial: Trial, number: int) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="touche surroundings ") as above:
        folder = Path(above) / trial.folder
        _write_input(folder)
        try:
            with trial.before(folder):
                return _called(trial, number, folder)
        except subprocess.CalledProcessError as error:
            return Outcome(trial.name, number, "", "skipped", f"{error.cmd[0]} is not allowed here")


def _called(trial: Trial, number: int, folder: Path) -> Outcome:
    process = _start(trial.command, folder, trial.variables)
    try:
        said = process.communicate(timeout=PATIENCE)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        _end_session(process.pid, folder)
        said = process.communicate()[0].decode("utf-8", "replace")
        return Outcome(trial.name, number, _typed(trial.command), f"longer than {PATIENCE} s", said)
    if said.startswith("setpriv: "):
        return Outcome(trial.name, number, "", "skipped", said)
    ended = ending(process.returncode, said, folder / "out" / "run.txt", trial.command)
    if ended in (RESULT, REFUSED):
        ended = _left(process.pid, folder) or ended
    return Outcome(trial.name, number, _typed(trial.command), ended, said)


def _typed(command: Sequence[str]) -> str:
    return " ".join(command[command.index("touche") - 1 :]) if "touche" in command else ""


def _start(command: Sequence[str], folder: Path, variables: dict[str, str | None]) -> subprocess.Popen[bytes]:
    known = {"TMPDIR": f"{folder}/tmp", "XDG_CACHE_HOME": f"{folder}/cache", **variables}
    environment = {name: each for name, each in (os.environ | known).items() if each is not None}
    words = [each.replace("IN/", f"{folder}/in/").replace("OUT", f"{folder}/out") for each in command]
    words = [f"{folder}/in" if each == "IN" else each for each in words]
    return subprocess.Popen(
        words,
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


def _left(session: int, folder: Path) -> str:
    """What a call has left behind, processes or temporary files; or nothing."""
    deadline = time.monotonic() + 3
    while _session(session, folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    if processes := _session(session, folder):
        _end_session(session, folder)
        return f"left {len(processes)} processes"
    files = [*left_in(folder / "tmp"), *_private(folder), *(folder / "out").glob(".*")]
    return f"left {files[0].name}" if files else ""


def _private(folder: Path) -> list[Path]:
    return [*(folder / "cache" / "touche").glob("temporary/*")]


def _session(leader: int, folder: Path) -> list[int]:
    """The processes of a session that are alive, and those of other sessions that know its folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, session, *_ = (each / "stat").read_text().rpartition(")")[2].split()
            known = f"XDG_CACHE_HOME={folder}/".encode() in (each / "environ").read_bytes()
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
        (folder / "in" / "documents.jsonl").write_text("".join(_made_up(random)))
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
    return Outcome(
        f"{sign.name} at a random moment", number, f"{_typed(command)}, {moment:.3f} s", ended, said
    )


def _after(process: subprocess.Popen[bytes], sign: signal.Signals, said: str, folder: Path) -> str:
    if "Traceback" in said or "Exception" in said:
        return "traceback"
    # Python itself is ended by a signal while it starts or ends.
    if process.returncode not in (0, CODES[sign], -sign):
        return f"exit code {process.returncode}"
    run = folder / "out" / "run.txt"
    if run.exists() and ending(0, "", run) != RESULT:
        return "run.txt not whole"
    if sign != signal.SIGKILL:
        return _left(process.pid, folder) or RESULT
    deadline = time.monotonic() + 6
    while (left := _session(process.pid, folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    _end_session(process.pid, folder)
    return f"left {len(left)} processes" if left else RESULT


def _next_run(command: Sequence[str], folder: Path) -> str:
    """Whether the run after one that was killed cleans up."""
    for part in (folder / "out").glob(".*.part"):  # which users remove themselves
        part.unlink()
    if not _private(folder):
        return RESULT
    process = _start(command, folder, {"TMPDIR": None})
    process.communicate(timeout=PATIENCE)
    return _left(process.pid, folder) or RESULT


def _made_up(random: Random) -> Iterator[str]:
    for number in range(60_000):
        yield json.dumps({"docno": f"d{number}", "text": " ".join(random.choices(_WORDS, k=30))}) + "\n"
