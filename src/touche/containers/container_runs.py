"""Runs baselines on this machine, or in a sandbox like TIRA's: with Docker, Podman or tira-run."""

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any
from uuid import uuid4

from touche import tasks
from touche.baselines.extras import missing_extra
from touche.baselines.loader import baseline_folder, parts_in_expected
from touche.baselines.local_runs import statistics_named
from touche.containers.image_builds import check_image, image_name
from touche.containers.image_content import digest
from touche.containers.limits import Limits
from touche.containers.programs import Ended, Log, check_exit, check_program, execute, output_of, succeeds
from touche.data import datasets, places
from touche.errors import InputError, NotInstalledError, ToucheError
from touche.io.optional import installing
from touche.io.temporary import temporary_folder
from touche.io.writing import whole
from touche.linting import ERROR, lint_format
from touche.tira.outputs import METADATA_FILE, remove_earlier_run
from touche.tira.provenance import DATASET_VARIABLE, IMAGE_VARIABLE, name_of_input
from touche.trec.runs import RUN_FILE
from touche.trec.topics import name_of_topics

# The parts of the toy collection, small ones first.
TOY_PARTS = [f"spot-check/{part}" for part in ("passages", "pairs", "pages", "arguments", "images")]
_SAFE_FOR_SHELL = re.compile(r"[\w.,/=:+-]+", re.ASCII)  # a word that a shell does not change
# A stopped tira-run leaves its container running. $1 is the output folder, which the container mounts.
_REMOVE_BY_VOLUME = 'docker rm --force $(docker ps --all --quiet --filter="volume=$1")'
# The container of a run: the id and start time of this library's process, then digits that make it unique.
_CONTAINER_NAME = re.compile(r"touche-(?P<identity>(?P<pid>\d+)-\d+)-[0-9a-f]+")
INVALID_FILE = f"{RUN_FILE}.invalid"  # the name of a run that breaks the format
# Linux adds the memory of the process that starts a program to the program's peak, so a small one starts it.
# It ignores SIGTERM, which the whole process group receives, because the program may still clean up.
_STARTER = """
import os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: None)
file, *command = sys.argv[1:]
_, status, used = os.wait4(os.posix_spawn(command[0], command, os.environ), 0)
with open(file, "w") as memory:
    memory.write(str(used.ru_maxrss))
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)  # after a signal, as a shell does
"""
_BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


@dataclass(frozen=True)
class Usage:
    """The resources that a run used.

    Attributes:
        wall: wall time in seconds.
        memory: the peak memory of the largest process of a local run, in bytes; None for an image.
        image: the digest of the content of the image that ran; empty without an image.
    """

    wall: float
    memory: int | None = None
    image: str = ""


@dataclass(frozen=True)
class Job:
    """A baseline to run.

    Attributes:
        baseline: the name of the baseline, or the path of its folder.
        arguments: its options, as on the command line.
        input: the id of an available dataset, or an input directory.
        output: the directory for run.txt.
    """

    baseline: str
    arguments: Sequence[str]
    input: str
    output: Path

    @property
    def name(self) -> str:
        """The name of the baseline."""
        return baseline_folder(self.baseline).resolve().name


Runner = Callable[[Job, Limits, Log], Usage]


def run_locally(job: Job, limits: Limits, log: Log) -> Usage:
    """Runs a baseline in its own process, without a sandbox and without limits.

    Raises:
        NotInstalledError: if the baseline's extra is not installed.
        ToucheError: if the baseline fails, with its exit code and last line, or writes an invalid run.txt.
    """
    extra = missing_extra(job.baseline)
    if extra:
        raise NotInstalledError(f"the extra {extra} is missing; install it with: {installing(extra)}")
    # -P, because a module in the working directory must not replace one of Python's.
    command = [sys.executable, "-P", "-m", "touche", "run", job.baseline, *job.arguments]
    command += ["-i", job.input, "-o", str(job.output)]
    began = time.monotonic()
    with temporary_folder("touche-run-") as scratch:
        peak = scratch / "peak"
        # -I and -S ignore the user's environment and packages, so that Python starts fast.
        starter = [sys.executable, "-ISc", _STARTER, str(peak)]
        # With TMPDIR, even the temporary files of a killed baseline disappear with this folder.
        ended = execute([*starter, *command], log, environment=os.environ | {"TMPDIR": str(scratch)})
        check_exit(job.name, ended)
        memory = int(peak.read_text()) * _BYTES_PER_UNIT
    return Usage(wall=time.monotonic() - began, memory=memory)


def run_in_container(program: str, job: Job, limits: Limits, log: Log) -> Usage:
    """Runs a baseline's image in a container without network and privileges, whose root is read-only.

    Args:
        program: ``docker`` or ``podman``.
        job: the baseline to run.
        limits: the limits of the container.
        log: receives each line of the container.

    Raises:
        ToucheError: if the program or the image is missing, the baseline fails or exceeds a limit, or the run
            leaves no valid run.txt.
    """
    check_program(program)
    check_image(program, job.baseline)
    _remove_abandoned(program)
    image = digest(program, image_name(job.name)).digest
    with _output_directory(job) as output:
        name = f"touche-{_process_identity('self')}-{uuid4().hex[:12]}"
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
            succeeds(*_removal(program, name))  # the container may be gone, which is no error


def run_in_tira(job: Job, limits: Limits, log: Log) -> Usage:
    """Runs a baseline's image with the unmodified tira-run; of the limits, only the time limit applies.

    tira-run has its own settings, and ignores the exit code of the baseline.

    Raises:
        ToucheError: if tira-run or the image is missing, or the run leaves no valid run.txt.
    """
    folder_of_scripts = Path(sys.executable).parent  # of an environment that may not be activated
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
    baseline_command = f"{IMAGE_VARIABLE}={image} baseline -i $inputDataset -o $outputDir"
    command_in_container = " ".join([baseline_command, *arguments])
    began = time.monotonic()
    command = [program, "--image", image_name(job.name), "--command", command_in_container]
    with input_directory(job.input) as directory, _output_directory(job) as output:
        removal = ("sh", "-c", _REMOVE_BY_VOLUME, "sh", str(output))
        try:
            command += ["--input-directory", str(directory), "--output-directory", str(output)]
            paths = _input_paths(job, "/tira-data/input") | {"/tira-data/output": job.output}
            check_exit(job.name, _in_time(command, job, limits, log, if_killed=removal, paths=paths))
            _check_run(job, output)
        finally:
            succeeds(*removal)
    return Usage(wall=time.monotonic() - began, image=image)


RUNNERS: Mapping[str, Runner] = {
    "local": run_locally,
    "docker": partial(run_in_container, "docker"),
    "podman": partial(run_in_container, "podman"),
    "tira": run_in_tira,
}


def try_image(program: str, baseline: str, log: Log) -> None:
    """Runs an image on a part of the toy collection, and removes the image if that fails.

    An image can fail although its baseline works on this machine: an image contains no other baselines, and
    only the packages that its Dockerfile installs.

    Args:
        program: ``docker`` or ``podman``.
        baseline: the name of the baseline, or the path of its folder.
        log: receives a line for each part, and the output of the container if it fails.

    Raises:
        ToucheError: if the image ranks none of the parts that expected.toml names, or of all parts if it
            names none.
    """
    image = image_name(baseline_folder(baseline).resolve().name)
    named = parts_in_expected(baseline)
    parts = [part for part in TOY_PARTS if part in named][:1] or TOY_PARTS
    failures: list[ToucheError] = []
    for part in parts:
        log(f"trying {image} on {part}")
        lines: list[str] = []
        try:
            with temporary_folder("touche-run-") as output:
                RUNNERS[program](Job(baseline, (), part, output), Limits(), lines.append)
            return
        except ToucheError as error:
            failures.append(error)
            for line in lines:
                log(line)
    effect = "so it was removed" if succeeds(program, "image", "rm", image) else "remove it"
    raise ToucheError(f"{image} fails on {parts[0]}, {effect}: {failures[0]}") from failures[0]


def _remove_abandoned(program: str) -> None:
    """Removes containers of this user that are left because their run and its watcher were killed.

    The watcher is the shell that ``execute`` starts to clean up.
    """
    label_filter = f"--filter=label={_owner_label()}"
    for name in output_of(program, "ps", "--all", "--format={{.Names}}", label_filter).split():
        match = _CONTAINER_NAME.fullmatch(name)  # None if someone has renamed it
        if match and _process_identity(match["pid"]) != match["identity"]:  # its process has ended
            succeeds(*_removal(program, name))


def _removal(program: str, container: str) -> list[str]:
    """Returns the command that removes a container, also a running one."""
    return [program, "rm", "--force", "--volumes", container]


def _owner_label() -> str:
    """Returns a label for containers: the user, the boot of the machine, and the namespace of process ids."""
    machine = uuid4().hex  # random without /proc, so that no later process removes the container
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        machine = f"{boot}-{Path('/proc/self/ns/pid').stat().st_ino}"
    return f"touche.owner={os.getuid()}-{machine}"


def _process_identity(pid: str) -> str:
    """Returns the id and start time of a process, because ids are reused.

    The result is empty if the process has ended, and without /proc.
    """
    with suppress(OSError):
        # The fields of proc(5): the id, the program's name in parentheses, the state, and many more.
        id_and_name, _, rest = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")
        fields = rest.split()
        state = fields[0]
        is_zombie = state == "Z"
        if not is_zombie:
            id = id_and_name.split()[0]  # a number, also if pid is "self"
            start_time = fields[19]  # field 22 of proc(5); the state is field 3
            return f"{id}-{start_time}"
    return ""


def _sandbox(program: str, limits: Limits) -> list[str]:
    """Returns the options that restrict a container."""
    is_rootless = program == "podman" and os.getuid() != 0
    user_namespace = ["--userns=keep-id"] if is_rootless else []  # keeps the caller's id inside
    return [
        *user_namespace,
        "--network=none",
        "--read-only",
        "--tmpfs=/tmp",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--security-opt=label=disable",  # SELinux would block the mounted directories
        "--pids-limit=1024",
        f"--user={os.getuid()}:{os.getgid()}",
        f"--cpus={limits.cpus:g}",
        f"--memory={limits.memory}",
        f"--memory-swap={limits.memory}",  # memory and swap together, so that there is no swap
    ]


def _input_and_output(job: Job, output: Path) -> list[str]:
    """Returns the options that mount the output and, read-only, the input: a directory or files of a dataset.

    A variable passes the name of the collection, because its folder in the container is only ``/input``.
    """
    mount_of_output = f"--mount={_bind(output, '/output', shown=job.output)}"
    paths = _input_paths(job, "/input").items()
    mounts = [f"--mount={_bind(path, target)},readonly" for target, path in paths]
    name = job.input if places.is_dataset(job.input) else name_of_input(Path(job.input))
    return [mount_of_output, *mounts, f"--env={DATASET_VARIABLE}={name}"]


def _input_paths(job: Job, mounted_input: str) -> dict[str, Path]:
    """Returns the input directory, or the files of a dataset, by their paths in a container.

    Args:
        job: the job with the input.
        mounted_input: the path of the input directory in the container.
    """
    if not places.is_dataset(job.input):
        return {mounted_input: Path(job.input)}
    return {f"{mounted_input}/{name}": path for name, path in _files_of_dataset(job.input).items()}


def _bind(path: Path, target: str, shown: Path | None = None) -> str:
    """Formats a mount in the notation that allows colons in paths, unlike --volume.

    Args:
        path: the path on this machine.
        target: the path in the container.
        shown: the path in an error, if ``path`` is a temporary one.
    """
    if any(sign in f"{path.resolve()}{target}" for sign in ',"'):
        problem = "Docker and Podman cannot mount a path with a comma or a quote"
        raise InputError(shown or path, problem, "rename it")
    return f"type=bind,source={path.resolve()},target={target}"


def _run_container(
    program: str, name: str, arguments: Sequence[str], job: Job, limits: Limits, log: Log
) -> float:
    """Runs a container until it ends, and returns the seconds it took.

    Args:
        program: ``docker`` or ``podman``.
        name: the name of the container.
        arguments: the arguments of the program's command ``run``.
        job: the baseline to run.
        limits: the limits, for messages; the time limit is applied here.
        log: receives each line of the container.

    Raises:
        ToucheError: if the baseline fails or exceeds a limit.
    """
    began = time.monotonic()
    with temporary_folder("touche-run-") as scratch:
        ended = _in_time(
            [program, "run", *arguments],
            job,
            limits,
            log,
            if_killed=_removal(program, name),
            folder=str(scratch),
            paths=_input_paths(job, "/input") | {"/output": job.output},
        )
        # With control groups of version 1, Podman leaves this empty file in its working folder, which is
        # ``scratch``, if the memory was exceeded.
        out_of_memory = (scratch / "oom").exists()
    if out_of_memory or output_of(program, "inspect", "--format", "{{.State.OOMKilled}}", name) == "true":
        problem = f"{job.name} was stopped at its memory limit of {limits.memory}"
        raise ToucheError(f"{problem}; raise the limit with --memory")
    check_exit(job.name, ended)
    return time.monotonic() - began


def _in_time(command: Sequence[str], job: Job, limits: Limits, log: Log, **options: Any) -> Ended:
    """Runs a command with the time limit; ``options`` are those of ``execute``."""
    try:
        return execute(command, log, seconds=limits.seconds, **options)
    except TimeoutExpired:
        problem = f"{job.name} was stopped at its time limit of {limits.seconds:g} s"
        raise ToucheError(f"{problem}; raise the limit with --time-limit") from None


def _statistics_option(job: Job) -> list[str]:
    """Returns the option that names the baseline's statistics of a dataset, or an empty list.

    The program in a container needs this option, because it sees only a folder, not the dataset.
    """
    if not places.is_dataset(job.input):
        return []
    task, corpus = tasks.dataset(job.input)
    is_whole = corpus is task.corpora["full"]
    if is_whole or not corpus.statistics:  # the corpus is ranked by its own statistics
        return []
    file = statistics_named(baseline_folder(job.baseline), corpus.statistics)
    return ["--statistics", corpus.statistics] if file.is_file() else []


def _files_of_dataset(dataset: str) -> dict[str, Path]:
    """Returns the files and folders of a dataset by their names in an input directory."""
    task, corpus = tasks.dataset(dataset)
    with datasets.naming_size(dataset):
        topics = places.locate_topics(task, corpus)
        topics_name = name_of_topics(topics)
        files = {topics_name: topics}
        for path in places.locate_corpus(corpus).iterdir():
            # The corpus may have topics of its own, such as topics.xml.gz, which are not those of the task.
            if not path.name.startswith(topics_name):
                files[path.name] = path
        return files


@contextmanager
def input_directory(name: str) -> Iterator[Path]:
    """Yields an input directory unchanged, or a temporary one with a dataset's files, linked if possible.

    A name that is the id of a dataset is always the dataset. A folder of that name needs ``./`` before it.
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
        folder.chmod(0o755)  # a container's user may be another one
        yield folder


def _link(path: str | Path, link: str | Path) -> None:
    """Makes a hard link; copies the file if it is in another file system."""
    try:
        os.link(Path(path).resolve(), link)  # to the file itself, if the path is a symbolic link
    except OSError:
        shutil.copyfile(path, link)


@contextmanager
def _output_directory(job: Job) -> Iterator[Path]:
    """Yields an empty hidden folder in the output directory; without an error, its run is copied there.

    An earlier run is removed first. Nothing else leaves the folder, because an image is untrusted: other
    files could replace those of the user, and links could lead to any file of this machine.
    """
    remove_earlier_run(job.output)
    with temporary_folder(".touche-run-", within=job.output.resolve()) as folder:
        yield folder
        for name in (METADATA_FILE, RUN_FILE):  # run.txt comes last, so that it is never without its metadata
            if _is_file(folder / name):
                _copy(folder / name, job.output / name)


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _copy(source: Path, target: Path) -> None:
    """Copies a file that an image wrote; the copy has the mode of the user's own files.

    Raises:
        InputError: if the image wrote a file that this user cannot read.
    """
    try:
        content = source.open("rb")
    except OSError as error:
        remedy = "let the image write files that everyone can read"
        raise InputError(
            target, f"written by the image so that it cannot be read ({error.strerror})", remedy
        ) from error
    with content, whole(target) as copy:
        shutil.copyfileobj(content, copy)


def _check_run(job: Job, folder: Path) -> None:
    """Checks run.txt in a folder, because programs other than this library may write anything.

    Raises:
        ToucheError: if run.txt is missing or invalid. An invalid run.txt becomes ``INVALID_FILE`` in the
            output directory, so that users can read it.
    """
    run = folder / RUN_FILE
    if not _is_file(run):
        raise ToucheError(f"{job.name} ended with exit code 0 without {RUN_FILE}; see its output above")
    errors = [finding for finding in lint_format(run) if finding.severity == ERROR]
    if errors:
        first = errors[0]
        more = f" (the first of {len(errors)} errors)" if len(errors) > 1 else ""
        invalid = job.output / INVALID_FILE
        invalid.unlink(missing_ok=True)  # it may be a link
        _copy(run, invalid)
        run.unlink()
        raise InputError(invalid, f"{first.message}{more}", first.remedy, line=first.line)
