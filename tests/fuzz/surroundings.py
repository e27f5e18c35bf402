"""The command where things go wrong around it: signals, disks, memory, descriptors, users, locales, names."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import samples
from inputs import ODD_NAMES
from outcomes import PATIENCE, PROCESSES, REFUSED, RESULT, ROOT, Outcome, ending

from conftest import left_in

BM25, SPOT = "run bm25 -o OUT -i", "--task spot-check/passages"
RUN, OWN = f"{BM25} spot-check/arguments", f"{BM25} IN"
CRAWL = "run chatnoir-bm25f -o OUT -i spot-check/pages"
EVALUATE, LINT, REPORT = f"evaluate RUN {SPOT}", f"lint RUN {SPOT}", f"report RUN {SPOT} -o OUT"
PRINTING = (EVALUATE, f"{EVALUATE} --format json", LINT, "tasks", "--help", OWN)
# And about how many seconds they take.
KILLED = ((RUN, 1.5), (OWN, 4.0), (CRAWL, 2.5), ("regress bm25 --dataset spot-check/passages", 4.0))
CODES = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}
_WORDS = ("cats", "birds", "leash", "café", "garden", "hunt", "pupils", "uniforms", "nuclear", "vegan")


@dataclass(frozen=True)
class Trial:
    """A call of the command.

    Attributes:
        name: what goes wrong.
        command: the words, with IN, OUT and RUN for paths.
        before: puts things in order in the folder of the call, and afterwards takes them away.
        variables: of the environment; None takes one away.
        folder: the name of the folder that IN and OUT are in.
        script: of a shell, in which the command is ``"$@"``.
    """

    name: str
    command: str
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


_C: dict[str, str | None] = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
_NOBODY = "exec setpriv --reuid=65534 --regid=65534 --clear-groups"
_NOBODY += ' --inh-caps=+dac_read_search --ambient-caps=+dac_read_search "$@"'
_SCRIPTS = {  # what goes wrong, the commands, and how; what prints nothing does not mind a full output
    "another user": ((RUN, EVALUATE, REPORT), _NOBODY),
    **{f"{mb} MB of memory": ((RUN, CRAWL, LINT), f'ulimit -d {mb}000; exec "$@"') for mb in (128, 256, 512)},
    **{f"{count} open files": ((RUN, CRAWL, REPORT), f'ulimit -n {count}; exec "$@"') for count in (32, 64)},
    "closed standard output": (PRINTING, 'exec "$@" 1>&-'),
    "closed standard error": (PRINTING, 'exec "$@" 2>&-'),
    "closed standard input": (PRINTING, 'exec "$@" 0<&-'),
    "full standard output": (PRINTING[:-1], 'exec "$@" >/dev/full'),
    # Click ends with 1 then.
    "a closed pipe": (PRINTING, '"$@" | head -c 0; code=${PIPESTATUS[0]}; exit $((code == 1 ? 0 : code))'),
}
TRIALS = [
    *(Trial("full disk for the output", each, _disk("out", "size=4k")) for each in (RUN, REPORT)),
    *(Trial("read-only output", each, _disk("out", "ro")) for each in (RUN, REPORT)),
    *(Trial("full disk for TMPDIR", each, _disk("tmp", "size=4k")) for each in (RUN, OWN, EVALUATE)),
    *(Trial("no HOME", each, variables={"HOME": None, "XDG_CACHE_HOME": None}) for each in (RUN, EVALUATE)),
    *(Trial("another user's", each, _open_to_all, script=_NOBODY) for each in (RUN, EVALUATE, REPORT)),
    *(Trial("LANG=C", each, variables=_C, folder=folder) for folder in ("x", "é ü") for each in PRINTING),
    *(Trial(name, each, script=script) for name, (commands, script) in _SCRIPTS.items() for each in commands),
    *(Trial("odd names of folders", each, folder=name) for name in ODD_NAMES for each in (OWN, LINT, REPORT)),
]


def tried() -> Iterator[Outcome]:
    """Calls every command in its surroundings."""
    with ThreadPoolExecutor(PROCESSES) as threads:
        yield from threads.map(_try, TRIALS, range(len(TRIALS)))


def _try(trial: Trial, number: int) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="touche surroundings ") as above:
        folder = Path(above) / trial.folder
        _write_input(folder)
        try:
            with trial.before(folder):
                ended, said = _called(trial, folder)
        except subprocess.CalledProcessError as error:
            ended, said = "skipped", f"{error.cmd[0]} is not allowed here"
        return Outcome(trial.name, number, trial.command, ended, said)


def _called(trial: Trial, folder: Path) -> tuple[str, str]:
    process = _start(trial.command, folder, trial.variables, trial.script)
    try:
        said = process.communicate(timeout=PATIENCE)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        _end_session(process.pid, folder)
        return f"longer than {PATIENCE} s", process.communicate()[0].decode("utf-8", "replace")
    if said.startswith("setpriv: "):
        return "skipped", said
    ended = ending(process.returncode, said, folder / "out" / "run.txt", trial.command.split())
    return (ended in (RESULT, REFUSED) and _left(process.pid, folder, 3)) or ended, said


def _start(
    command: str, folder: Path, variables: dict[str, str | None], script: str = 'exec "$@"'
) -> subprocess.Popen[bytes]:
    known = {"TMPDIR": f"{folder}/tmp", "XDG_CACHE_HOME": f"{folder}/cache", **variables}
    places = {"IN": f"{folder}/in", "RUN": f"{folder}/in/run.txt", "OUT": f"{folder}/out"}
    words = [places.get(word, word) for word in command.split()]
    return subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", script, "bash", sys.executable, "-m", "touche", *words],
        env={name: each for name, each in (os.environ | known).items() if each is not None},
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


def _left(session: int, folder: Path, seconds: float, *, files: bool = True) -> str:
    """Returns what a call has left behind, processes or temporary files; or nothing. Ends the processes."""
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
        return Outcome(f"{sign.name} at a random moment", number, f"{command}, {moment:.3f} s", ended, said)


def _after(process: subprocess.Popen[bytes], sign: signal.Signals, said: str, folder: Path) -> str:
    if "Traceback" in said or "Exception" in said:
        return "traceback"
    # Python itself is ended by a signal while it starts or ends.
    if process.returncode not in (0, CODES[sign], -sign):
        return f"exit code {process.returncode}"
    run, is_killed = folder / "out" / "run.txt", sign == signal.SIGKILL
    if run.exists() and ending(0, "", run) != RESULT:
        return "run.txt not whole"
    return _left(process.pid, folder, 6 if is_killed else 3, files=not is_killed) or RESULT


def _next_run(command: str, folder: Path) -> str:
    """Has a run after one that was killed clean up; returns what it leaves."""
    for part in (folder / "out").glob(".*.part"):  # which users remove themselves
        part.unlink()
    if not _private(folder):
        return RESULT
    process = _start(command, folder, {"TMPDIR": None})
    process.communicate(timeout=PATIENCE)
    return _left(process.pid, folder, 3) or RESULT
