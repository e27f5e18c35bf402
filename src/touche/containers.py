"""Baselines run by this machine, or in a sandbox like TIRA's: by Docker, Podman or tira-run."""

import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory
from threading import Thread
from uuid import uuid4

from touche import data, tasks
from touche.baselines import folder_of
from touche.engines import ENGINES, Log, answer, check_engine, check_exit, follow, process, succeeds
from touche.errors import InputError, ToucheError
from touche.images import check_image, image_of
from touche.lint import ERROR, lint_format
from touche.metering import metered
from touche.tira import RUN_FILE

_KILLED = 137  # the exit code of a process that the kernel has killed


@dataclass(frozen=True)
class Limits:
    """What a container may use; the defaults are those of TIRA's standard machine.

    Attributes:
        cpus: processors.
        memory: as the engines write it, such as ``4g``; nothing is swapped.
        seconds: of wall time, after which it is killed.
    """

    cpus: float = 1.0
    memory: str = "4g"
    seconds: float = 3600.0


@dataclass(frozen=True)
class Usage:
    """What a run took.

    Attributes:
        wall, cpu: seconds; ``cpu`` is None where it cannot be measured.
        memory: the peak in bytes, without the cache of files; None where it cannot be measured.
    """

    wall: float
    cpu: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Job:
    """A baseline to be run.

    Attributes:
        baseline: its name, or the path of its folder.
        arguments: its options, as on the command line.
        given: an input directory, or the id of a dataset at hand.
        output: the directory for run.txt.
    """

    baseline: str
    arguments: Sequence[str]
    given: str
    output: Path

    @property
    def name(self) -> str:
        """The name of the baseline."""
        return folder_of(self.baseline).resolve().name


Runner = Callable[[Job, Limits, Log], Usage]


def run_locally(job: Job, limits: Limits, log: Log) -> Usage:
    """Runs a baseline in a process of its own, without a sandbox and without limits.

    Raises:
        ToucheError: if it fails, with its exit code and last line; or if its run.txt is invalid.
    """
    command = [sys.executable, "-m", "touche", "run", job.baseline, *job.arguments]
    with TemporaryDirectory(prefix="touche-") as scratch:  # so that nothing is left even if it is killed
        environment = os.environ | {"TMPDIR": scratch}
        started = time.monotonic()
        with process([*command, "-i", job.given, "-o", str(job.output)], environment=environment) as running:
            last = follow(running, log)
            _, status, used = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
    check_exit(job.name, running.returncode, last)
    _check_run(job)
    kilobyte = 1 if sys.platform == "darwin" else 1024
    return Usage(time.monotonic() - started, used.ru_utime + used.ru_stime, used.ru_maxrss * kilobyte)


def run_in(engine: str) -> Runner:
    """The runner of an engine: no network, a read-only root, no privileges, the caller's user id, limits."""

    def run(job: Job, limits: Limits, log: Log) -> Usage:
        check_engine(engine)
        check_image(engine, job.name)
        _check_empty(job.output)
        name = f"touche-{os.getpid()}-{uuid4().hex[:12]}"
        with _input_directory(job.given) as directory:
            command = [engine, "run", "--name", name, *_sandbox(limits), *_mounts(directory, job.output)]
            command += [image_of(job.name), "-i", "/input", "-o", "/output", *job.arguments]
            try:
                return _run_container(engine, name, command, job, limits, log)
            except BaseException:
                (job.output / RUN_FILE).unlink(missing_ok=True)  # a part of a run must not pass for one
                raise
            finally:
                succeeds(engine, "rm", "--force", "--volumes", name)

    return run


def run_in_tira(job: Job, limits: Limits, log: Log) -> Usage:
    """Runs a baseline's image with the unmodified tira-run, which has its own settings and no exit codes.

    Raises:
        ToucheError: if tira-run or the image is missing, or there is no valid run.txt in the end.
    """
    program = shutil.which("tira-run", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        raise ToucheError("tira-run is not installed; get it with: pip install 'touche-baselines[tira]'")
    check_engine("docker")
    check_image("docker", job.name)
    _check_empty(job.output)
    log("tira-run: privileged, as root, without network, without limits on processors, memory and time")
    inside = f"baseline -i $inputDataset -o $outputDir {shlex.join(job.arguments)}"
    started = time.monotonic()
    with _input_directory(job.given) as directory:
        command = [program, "--input-directory", str(directory), "--output-directory", str(job.output)]
        with process([*command, "--image", image_of(job.name), "--command", inside]) as running:
            last = follow(running, log)
            code = running.wait()
    check_exit(job.name, code, last)
    _check_run(job)
    return Usage(time.monotonic() - started)


RUNNERS: Mapping[str, Runner] = {
    "local": run_locally,
    **{engine: run_in(engine) for engine in ENGINES},
    "tira": run_in_tira,
}


def _sandbox(limits: Limits) -> list[str]:
    return [
        "--network=none",
        "--read-only",
        "--tmpfs=/tmp",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--pids-limit=1024",
        f"--user={os.getuid()}:{os.getgid()}",
        f"--cpus={limits.cpus:g}",
        f"--memory={limits.memory}",
        f"--memory-swap={limits.memory}",
    ]


def _mounts(given: Path, output: Path) -> list[str]:
    return [f"--mount={_bind(given, '/input')},readonly", f"--mount={_bind(output, '/output')}"]


def _bind(folder: Path, place: str) -> str:
    """In the notation that, unlike --volume, leaves a colon in a path alone."""
    if {",", '"'} & set(str(folder.resolve())):
        raise InputError(folder, "an engine cannot mount a path with a comma or a quote", "rename the folder")
    return f"type=bind,source={folder.resolve()},target={place}"


def _run_container(
    engine: str, name: str, command: Sequence[str], job: Job, limits: Limits, log: Log
) -> Usage:
    started, last = time.monotonic(), [""]
    with (
        TemporaryDirectory(prefix="touche-") as scratch,  # Podman leaves a file there when memory is exceeded
        process(command, folder=scratch) as running,
        metered(engine, name) as meter,
    ):
        reader = Thread(target=lambda: last.append(follow(running, log)), daemon=True)
        reader.start()
        try:
            code = running.wait(limits.seconds)
        except TimeoutExpired:
            problem = f"{job.name} did not end within {limits.seconds:g} s and was stopped"
            raise ToucheError(f"{problem}; raise the limit with --time-limit") from None
        finally:
            succeeds(engine, "kill", name)
        reader.join()
    usage = Usage(time.monotonic() - started, meter.cpu, meter.memory)
    if code == _KILLED or answer(engine, "inspect", "--format", "{{.State.OOMKilled}}", name) == "true":
        problem = f"{job.name} reached its limit of {limits.memory} of memory and was stopped"
        raise ToucheError(f"{problem}; raise the limit with --memory")
    check_exit(job.name, code, last[-1])
    _check_run(job)
    return usage


@contextmanager
def _input_directory(given: str) -> Iterator[Path]:
    """An input directory as it is, or one made of a dataset's files, linked where the file system lets us."""
    if Path(given).is_dir():
        yield Path(given)
        return
    task, corpus = tasks.dataset(given)
    files = {"topics.xml": data.locate("topics", task.topics)}
    files |= {path.name: path for path in data.locate_corpus(corpus).iterdir() if path.is_file()}
    with TemporaryDirectory(prefix="touche-input-") as folder:
        for name, path in files.items():
            try:
                os.link(path, Path(folder) / name)
            except OSError:
                shutil.copyfile(path, Path(folder) / name)
        Path(folder).chmod(0o755)
        yield Path(folder)


def _check_empty(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
        if any(output.iterdir()):
            raise InputError(output, "the output directory is not empty", "empty it, or choose another")
    except OSError as error:
        raise InputError(output, f"cannot be used ({error.strerror})", "choose another directory") from error


def _check_run(job: Job) -> None:
    """What is not written by this library may not even be a run."""
    run = job.output / RUN_FILE
    if not run.is_file():
        raise ToucheError(f"{job.name} ended with exit code 0 but wrote no {RUN_FILE}; see its log")
    if errors := [each for each in lint_format(run) if each.severity == ERROR]:
        first = errors[0]
        more = f" (the first of {len(errors)} errors)" if len(errors) > 1 else ""
        aside = run.rename(run.with_name(f"{RUN_FILE}.invalid"))
        raise InputError(aside, f"{first.message}{more}", first.remedy, first.line)
