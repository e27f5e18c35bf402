"""Runs baselines on this machine, or in a sandbox like TIRA's using Docker, Podman or tira-run."""

import fcntl
import os
import re
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any
from uuid import uuid4

from touche import tasks
from touche.baselines.baseline_files import statistics_named
from touche.baselines.extras import check_extra
from touche.baselines.loader import baseline_folder, parts_in_expected
from touche.data import datasets, places
from touche.errors import InputError, ToucheError
from touche.evaluation.run_format import format_errors
from touche.io.optional import installing
from touche.io.temporary import remove_folder, temporary_folder
from touche.io.writing import whole
from touche.runners.image_builds import check_image, image_name
from touche.runners.image_content import digest
from touche.runners.limits import CONTAINER_PROGRAMS, HERE, TIRA, Limits
from touche.runners.programs import (
    MOST_LINES,
    ExitStatus,
    Log,
    check_exit,
    check_program,
    execute,
    output_of,
    succeeds,
)
from touche.tira.metadata import (
    DATASET_VARIABLE,
    IMAGE_VARIABLE,
    METADATA_FILE,
    name_of_input,
    peak_memory_of_run,
    read_metadata,
)
from touche.tira.outputs import remove_earlier_run
from touche.trec.runs import RUN_FILE
from touche.trec.topics import name_of_topics

# Small ones first.
TOY_PARTS = [f"spot-check/{part}" for part in ("passages", "pairs", "pages", "arguments", "images")]
_SAFE_FOR_SHELL = re.compile(r"[\w.,/=:+-]+", re.ASCII)  # a word that the shell leaves alone
# When tira-run is stopped, its container keeps running. $1 is the output folder, which it mounts.
_REMOVE_BY_VOLUME = 'docker rm --force $(docker ps --all --quiet --filter="volume=$1")'
_TRIAL_SECONDS = 300.0  # for all parts of the toy collection on which a new image is tried
_MAX_INVALID_BYTES = 100_000_000  # a larger file in a wrong format is not kept; it may be sparse
_HIDDEN_PREFIX = ".touche-run-"  # of the folder that a sandbox writes into, in the output directory
INVALID_FILE = f"{RUN_FILE}.invalid"  # name of a run in a wrong format


@dataclass(frozen=True)
class Usage:
    """The resources that a run used.

    Attributes:
        wall: wall time in seconds.
        memory: a local run's peak memory in bytes, for its largest process; None for an image.
        image: the image's content digest; empty for a local run.
    """

    wall: float
    memory: int | None = None
    image: str = ""


@dataclass(frozen=True)
class Job:
    """A baseline to run.

    Attributes:
        baseline: a baseline's name, or the path of its folder.
        arguments: its options, as on the command line.
        input: the id of an available dataset, or an input directory.
    """

    baseline: str
    arguments: Sequence[str]
    input: str
    output: Path

    @property
    def name(self) -> str:
        return baseline_folder(self.baseline).resolve().name


Runner = Callable[[Job, Limits, Log], Usage]


def run_locally(job: Job, limits: Limits, log: Log) -> Usage:
    """Runs a baseline in its own process, without sandbox or limits."""
    check_extra(job.baseline)
    # -P: a module in the working directory must not replace one of Python's.
    command = [sys.executable, "-P", "-m", "touche", "run", job.baseline, *job.arguments]
    command += ["-i", job.input, "-o", str(job.output)]
    began = time.monotonic()
    with temporary_folder("touche-run-") as scratch:
        # With TMPDIR, a killed baseline's temporary files disappear with this folder.
        status = execute(command, log, environment=os.environ | {"TMPDIR": str(scratch)})
    wall = time.monotonic() - began
    check_exit(job.name, status)
    _check_written(job, job.output)
    return Usage(wall=wall, memory=peak_memory_of_run(job.output / METADATA_FILE))


def run_in_container(program: str, job: Job, limits: Limits, log: Log) -> Usage:
    """Runs a baseline's image in a container with no network, no privileges and a read-only root."""
    check_program(program)
    check_image(program, job.baseline)
    _remove_abandoned(program)
    image = digest(program, image_name(job.name)).digest
    with _output_directory(job) as output:
        name = f"touche-{os.getpid()}-{uuid4().hex[:12]}"
        arguments = [
            "--name",
            name,
            f"--label={_owner_label()}",
            *_sandbox(program, limits),
            *_input_and_output(job, output),
            f"--env={IMAGE_VARIABLE}={image}",
            image_name(job.name),
        ]
        arguments += ["-i", "/input", "-o", "/output", *job.arguments, *_statistics_option(job)]
        try:
            wall = _run_container(program, name, arguments, job, limits, log)
            _check_run(job, output)
            return Usage(wall=wall, image=image)
        finally:
            succeeds(*_removal(program, name))  # fails if the container is gone already


def run_in_tira(job: Job, limits: Limits, log: Log) -> Usage:
    """Runs a baseline's image using the unmodified tira-run. Only the time limit applies.

    tira-run uses its own settings and ignores the baseline's exit code.
    """
    folder_of_scripts = Path(sys.executable).parent  # the environment may not be activated
    program = shutil.which("tira-run", path=f"{folder_of_scripts}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        raise ToucheError(f"tira-run is not installed; get it with: {installing('tira')}")
    arguments = [*job.arguments, *_statistics_option(job)]
    unsafe = [option for option in arguments if not _SAFE_FOR_SHELL.fullmatch(option)]
    if unsafe:
        problem = f"tira-run cannot pass {unsafe[0]!r}, because it builds a shell command from the options"
        raise ToucheError(f"{problem}; use only letters, digits and _ . , / = : + -, or another runner")
    check_program("docker")
    check_image("docker", job.baseline)
    _remove_abandoned("docker")
    log("tira-run: privileged, as root, without network, without limits on processors and memory")
    image = digest("docker", image_name(job.name)).digest
    variables = [f"{IMAGE_VARIABLE}={image}"]
    if _SAFE_FOR_SHELL.fullmatch(_name_of_input(job)):
        variables.append(f"{DATASET_VARIABLE}={_name_of_input(job)}")
    baseline_command = "baseline -i $inputDataset -o $outputDir"
    command_in_container = " ".join([*variables, baseline_command, *arguments])
    began = time.monotonic()
    command = [program, "--image", image_name(job.name), "--command", command_in_container]
    with input_directory(job.input) as directory, _output_directory(job) as output:
        try:
            command += ["--input-directory", str(directory), "--output-directory", str(output)]
            paths = _input_paths(job, "/tira-data/input") | {"/tira-data/output": job.output}
            check_exit(job.name, _with_time_limit(command, job, limits, log, paths=paths))
            _check_run(job, output)
        finally:
            succeeds("sh", "-c", _REMOVE_BY_VOLUME, "sh", str(output))
    return Usage(wall=time.monotonic() - began, image=image)


RUNNERS: Mapping[str, Runner] = {
    HERE: run_locally,
    **{program: partial(run_in_container, program) for program in CONTAINER_PROGRAMS},
    TIRA: run_in_tira,
}


def try_image(program: str, baseline: str, log: Log) -> None:
    """Tries an image on the smallest part of the toy collection in expected.toml, or the first that works.

    If that fails, the image is removed. An image can fail although its baseline works on this machine: it
    contains no other baselines, and only the packages that its Dockerfile installs.
    """
    image = image_name(baseline_folder(baseline).resolve().name)
    toy_parts = parts_in_expected(baseline)
    parts = [part for part in TOY_PARTS if part in toy_parts][:1] or TOY_PARTS
    failures: list[ToucheError] = []
    end = time.monotonic() + _TRIAL_SECONDS
    for part in parts:
        log(f"trying {image} on {part}")
        lines = deque[str](maxlen=MOST_LINES)
        try:
            with temporary_folder("touche-run-") as output:
                limits = Limits(seconds=max(end - time.monotonic(), 1.0))
                RUNNERS[program](Job(baseline, (), part, output), limits, lines.append)
            return
        except ToucheError as error:
            failures.append(error)
            for line in lines:
                log(line)
        if time.monotonic() >= end:
            problem = f"it was stopped after {_TRIAL_SECONDS / 60:g} minutes on the toy collection"
            failures = [ToucheError(f"{problem}; make it faster, or look for an endless loop")]
            break
    effect = "so it was removed" if succeeds(program, "image", "rm", image) else "remove it"
    raise ToucheError(f"{image} fails on {parts[0]}, {effect}: {failures[0]}") from failures[0]


def _remove_abandoned(program: str) -> None:
    """Removes this user's containers if their run was killed."""
    label_filter = f"--filter=label={_owner_label()}"
    for name in output_of(program, "ps", "--all", "--format={{.Names}}", label_filter).split():
        pid = name.removeprefix("touche-").partition("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():  # not if someone renamed it
            succeeds(*_removal(program, name))


def _removal(program: str, container: str) -> list[str]:
    return [program, "rm", "--force", "--volumes", container]


def _owner_label() -> str:
    """Returns a label for containers: user, this boot, and process id namespace."""
    machine = uuid4().hex  # random if there is no /proc, so that no later process removes the container
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        machine = f"{boot}-{Path('/proc/self/ns/pid').stat().st_ino}"
    return f"touche.owner={os.getuid()}-{machine}"


def _sandbox(program: str, limits: Limits) -> list[str]:
    is_rootless = program == "podman" and os.getuid() != 0
    user_namespace = ["--userns=keep-id"] if is_rootless else []  # keeps the caller's id inside
    return [
        *user_namespace,
        "--network=none",
        "--read-only",
        "--tmpfs=/tmp",
        "--log-driver=none",  # the engine would keep the whole output; it is passed on anyway
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--security-opt=label=disable",  # SELinux would block the mounted directories
        "--pids-limit=1024",
        f"--user={os.getuid()}:{os.getgid()}",
        f"--cpus={limits.cpus:g}",
        f"--memory={limits.memory}",
        f"--memory-swap={limits.memory}",  # memory plus swap, so no swap
    ]


def _input_and_output(job: Job, output: Path) -> list[str]:
    """Returns the options that mount the output and, read-only, the input.

    A variable passes the collection's name, because in the container its folder is just ``/input``.
    """
    mount_of_output = f"--mount={_bind(output, '/output', shown=job.output)}"
    paths = _input_paths(job, "/input").items()
    mounts = [f"--mount={_bind(path, target)},readonly" for target, path in paths]
    return [mount_of_output, *mounts, f"--env={DATASET_VARIABLE}={_name_of_input(job)}"]


def _name_of_input(job: Job) -> str:
    return job.input if places.is_dataset(job.input) else name_of_input(Path(job.input))


def _input_paths(job: Job, mounted_input: str) -> dict[str, Path]:
    """Returns the input directory, or a dataset's files, by path in the container."""
    if not places.is_dataset(job.input):
        return {mounted_input: Path(job.input)}
    return {f"{mounted_input}/{name}": path for name, path in _files_of_dataset(job.input).items()}


def _bind(path: Path, target: str, shown: Path | None = None) -> str:
    """Returns a --mount option, which unlike --volume allows colons in paths.

    Args:
        shown: the path for error messages, if ``path`` is a temporary one.
    """
    if any(sign in f"{path.resolve()}{target}" for sign in ',"'):
        problem = "Docker and Podman cannot mount a path with a comma or a quote"
        raise InputError(shown or path, problem, "rename it")
    return f"type=bind,source={path.resolve()},target={target}"


def _run_container(
    program: str, name: str, arguments: Sequence[str], job: Job, limits: Limits, log: Log
) -> float:
    """Runs a container until it ends, and returns its wall time in seconds."""
    began = time.monotonic()
    with temporary_folder("touche-run-") as scratch:
        status = _with_time_limit(
            [program, "run", *arguments],
            job,
            limits,
            log,
            folder=str(scratch),
            paths=_input_paths(job, "/input") | {"/output": job.output},
        )
        # Under control groups version 1, when memory runs out, Podman leaves this empty file in its
        # working folder, which is ``scratch``.
        out_of_memory = (scratch / "oom").exists()
    if out_of_memory or output_of(program, "inspect", "--format", "{{.State.OOMKilled}}", name) == "true":
        problem = f"{job.name} was stopped at its memory limit of {limits.memory}"
        raise ToucheError(f"{problem}; raise the limit with --memory")
    check_exit(job.name, status)
    return time.monotonic() - began


def _with_time_limit(
    command: Sequence[str], job: Job, limits: Limits, log: Log, **options: Any
) -> ExitStatus:
    try:
        return execute(command, log, seconds=limits.seconds, **options)
    except TimeoutExpired:
        problem = f"{job.name} was stopped at its time limit of {limits.seconds:g} s"
        raise ToucheError(f"{problem}; raise the limit with --time-limit") from None


def _statistics_option(job: Job) -> list[str]:
    """Returns the option that names the baseline's statistics for a dataset, or an empty list.

    The program in a container needs it, because it sees only a folder, not the dataset.
    """
    is_chosen = "--statistics" in job.arguments  # the user wants the documents' own
    if is_chosen or not places.is_dataset(job.input):
        return []
    task, corpus = tasks.dataset(job.input)
    is_whole = corpus is task.corpora["full"]
    if is_whole or not corpus.statistics:  # ranked using its own statistics
        return []
    file = statistics_named(baseline_folder(job.baseline), corpus.statistics)
    return ["--statistics", corpus.statistics] if file.is_file() else []


def _files_of_dataset(dataset: str) -> dict[str, Path]:
    task, corpus = tasks.dataset(dataset)
    with datasets.explaining_missing_data(dataset):
        topics = places.locate_topics(task, corpus)
        topics_name = name_of_topics(topics)
        files = {topics_name: topics}
        for path in places.locate_corpus(corpus).iterdir():
            # Skip the corpus's own topics, such as topics.xml.gz, which are not the task's.
            if not path.name.startswith(topics_name):
                files[path.name] = path
        return files


@contextmanager
def input_directory(name: str) -> Iterator[Path]:
    """Yields an input directory unchanged, or a temporary one with a dataset's files, linked if possible.

    A dataset's id always means the dataset; write ``./`` before a folder with the same name.
    """
    if Path(name).is_dir() and not places.is_dataset(name):
        yield Path(name)
        return
    with temporary_folder("touche-input-") as folder:
        for file_name, path in _files_of_dataset(name).items():
            if path.is_dir():
                shutil.copytree(path, folder / file_name, copy_function=_link)
            else:
                _link(path, folder / file_name)
        folder.chmod(0o755)  # the container may run as another user
        yield folder


def _link(path: str | Path, link: str | Path) -> None:
    """Makes a hard link, or a copy across file systems."""
    try:
        os.link(Path(path).resolve(), link)  # to the file itself, not a symbolic link
    except OSError:
        shutil.copyfile(path, link)


@contextmanager
def _output_directory(job: Job) -> Iterator[Path]:
    """Yields a hidden folder in the output directory. If all goes well, its run is copied from there.

    Nothing else is copied, because images are untrusted: other files could replace the user's, and links
    could lead to any file on this machine.
    """
    remove_earlier_run(job.output)
    for earlier in job.output.glob(f"{_HIDDEN_PREFIX}*"):
        with suppress(OSError), _locked(earlier):  # not if its run hasn't ended
            remove_folder(earlier)
    with temporary_folder(_HIDDEN_PREFIX, within=job.output.resolve()) as folder, _locked(folder):
        yield folder
        for name in (METADATA_FILE, RUN_FILE):  # in this order: run.txt must not appear without its metadata
            if _is_file(folder / name):
                _copy(folder / name, job.output / name)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Locks a folder until the end of the block, or of this process, even if it is killed.

    Raises OSError if another process has locked it, or it is a link.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _copy(source: Path, target: Path) -> None:
    """Copies a file that an image wrote, so that it gets the mode of the user's own files."""
    try:
        content = source.open("rb")
    except OSError as error:
        remedy = "let the image write files that everyone can read, such as after os.umask(0o022)"
        raise InputError(
            target, f"written by the image so that it cannot be read ({error.strerror})", remedy
        ) from error
    with content, whole(target) as copy:
        shutil.copyfileobj(content, copy)


def _check_written(job: Job, folder: Path) -> None:
    if not _is_file(folder / RUN_FILE):
        raise ToucheError(f"{job.name} ended with exit code 0 without {RUN_FILE}; see its output above")


def _check_run(job: Job, folder: Path) -> None:
    """Checks run.txt, because other people's programs may write anything.

    An invalid run.txt is kept as ``INVALID_FILE`` in the output directory, so that you can look at it.
    """
    with suppress(OSError):  # if the image ran as another user
        folder.chmod(0o700)
        for file in filter(_is_file, (folder / METADATA_FILE, folder / RUN_FILE)):
            file.chmod(0o600)
    _check_written(job, folder)
    metadata = folder / METADATA_FILE
    if _is_file(metadata):
        try:
            read_metadata(metadata)
        except InputError as error:
            remedy = "let the image write YAML of at most 64 KiB"
            raise InputError(
                job.output / METADATA_FILE, f"refused, because the image wrote it: {error.problem}", remedy
            ) from error
    run = folder / RUN_FILE
    try:
        errors = [(error.message, error.remedy, error.line) for error in format_errors(run)]
    except InputError as error:  # in all of the file
        errors = [(error.problem, error.remedy, error.line)]
    if errors:
        problem, remedy, line = errors[0]
        more = f" (the first of {len(errors)} errors)" if len(errors) > 1 else ""
        size = run.stat().st_size
        if size > _MAX_INVALID_BYTES:
            raise ToucheError(
                f"{job.name} wrote a run.txt of {size:,} bytes, which is not kept: {problem}{more}; {remedy}"
            )
        invalid = job.output / INVALID_FILE
        invalid.unlink(missing_ok=True)  # it may be a link
        _copy(run, invalid)
        run.unlink()
        raise InputError(invalid, f"{problem}{more}", remedy, line=line)
