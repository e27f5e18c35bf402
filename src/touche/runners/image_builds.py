"""Baselines' images: names, builds and sizes."""

import json
import logging
import os
import re
import shutil
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import metadata, version
from itertools import combinations
from pathlib import Path
from shlex import quote

from touche.baselines.baseline_files import RUN_FILES, content_digest, files_in
from touche.baselines.loader import baseline_folder, is_shipped
from touche.data.places import shipped_baselines
from touche.errors import InputError, ToucheError
from touche.io.origin import PROJECT, clone, commit_time, origin
from touche.io.progress import bar
from touche.io.temporary import temporary_folder
from touche.runners.image_content import find_image
from touche.runners.programs import (
    MOST_LINES,
    Log,
    check_exit,
    check_program,
    execute,
    output_of,
    succeeds,
)

_FIRST_BASE = "base"  # the other bases build on it
BASES = (_FIRST_BASE, "lucene", "models")  # each has a Dockerfile in docker/
_IMAGE_NAME = re.compile("[a-z0-9]+(?:(?:[._]|-+)[a-z0-9]+)*")  # what Docker and Podman allow
_IMAGE_PREFIX = "touche/"
PYTHON_VARIABLE = "PYTHON_IMAGE"  # replaces the pinned Python image, e.g. in tests
NETWORK_VARIABLE = "BUILD_NETWORK"  # e.g. host, if downloads fail in the engine's own network
TITLE_LABEL = "org.opencontainers.image.title"
REVISION_LABEL = "org.opencontainers.image.revision"
_CONTENT_LABEL = "touche.content"  # digest of the baseline's files
_BASES_LABEL = "touche.bases"  # digest of the clone's files in the bases; empty without a clone
_SYNTAX = re.compile(r"\s*(?:#|//)\s*syntax\s*=", re.IGNORECASE)
_SYNTAX_OF_DOCKER = re.compile(r"\s*#\s*syntax\s*=\s*docker/dockerfile(?::[\w.-]+)?\s*$", re.IGNORECASE)
_ADD = re.compile(
    r"\s*(?:ONBUILD\s+)*ADD(?=[\s\[])(?:\s+--ch(?:own|mod)=[\w:]+)*(?P<sources>.*)$", re.IGNORECASE
)
_LOCAL_FILES = re.compile(r"""[\w\s./*?\[\]",'-]*""")  # no addresses, variables, escapes or here-documents
_REGISTRY_HERE = re.compile(
    r"(?:^\s*(?:ONBUILD\s+)*(?:FROM|ARG)\s(?:.*[\s=\"'])?|from=[\"']?)"
    r"(?:localhost:\d+|(?:0\.0\.0\.0|127\.[\d.]+|\[[\da-f:.]*\])(?::\d+)?)/",
    re.IGNORECASE,
)
_NOT_IN_IMAGES = {"README.md", "expected.toml", "formulas.toml"}  # from a baseline's folder
_NO_IMAGE = "the registry lacks this image; check its name and digest"
_NO_ANSWER = "a server does not answer; check the network, and try again"
_REASONS_BY_PATTERN = {  # by a pattern in a failed build's output
    "do not match the hashes": "a wheel has another hash than its lock; lock it again with: make locks",
    "no space left on device": "the disk is full; make room, such as by removing old images",
    "manifest unknown|manifest for .* not found|: not found$|access denied": _NO_IMAGE,
    "name resolution|new connection|could not resolve": (  # as pip, apt and curl write it
        f"the build cannot download; check the network, or use this machine's: {NETWORK_VARIABLE}=host"
    ),
    "no such host|connection refused|(?:i/o |handshake |Client.)timeout|network is unreachable": _NO_ANSWER,
    "invalid reference format": "this is not a name of an image; check it",
}
_GITHUB = "https://github.com/"
_log = logging.getLogger(__name__)


def image_name(name: str) -> str:
    """Returns a baseline's image, such as ``touche/bm25``."""
    return f"{_IMAGE_PREFIX}{name}"


def published_image(name: str) -> str:
    """Returns a published image's address, such as ``ghcr.io/owner/repository/bm25:0.1.0``.

    A release publishes the package together with its images; hatch_build.py writes the repository's address
    into the package's metadata. Unreleased packages, such as a clone's, get an empty string.
    """
    source = _project_url("Source")
    if not source.startswith(_GITHUB):
        return ""
    return f"ghcr.io/{source.removeprefix(_GITHUB).lower()}/{name}:{version(PROJECT)}"


def _project_url(label: str) -> str:
    """Returns an address from the package's metadata; empty if it is missing."""
    lines = metadata(PROJECT).get_all("Project-URL") or ()  # e.g. ``Source, https://github.com/...``
    urls: dict[str, str] = dict(line.split(", ", 1) for line in lines)
    return urls.get(label, "")


def base_image() -> str:
    """Returns the base image for new baselines: a release's, by digest, or the local one."""
    published = published_image(_FIRST_BASE)
    if _buildable_clone() or not published:
        return image_name(_FIRST_BASE)
    # When TOUCHE_IMAGES lists the images, hatch_build.py writes this address, which ends in a digest.
    _, _, digest = _project_url("Base image").rpartition("@")
    return f"{published}@{digest}" if digest else published


def check_name(folder: Path) -> None:
    """Checks that a folder's name works as an image name and would not replace another image."""
    would_replace_shipped = folder.name in shipped_baselines() and not is_shipped(folder)
    if folder.name in BASES or would_replace_shipped:
        problem = f"its image would replace {image_name(folder.name)}"
        raise InputError(folder, problem, "choose another name")
    if not _IMAGE_NAME.fullmatch(folder.name):
        remedy = "use a-z, 0-9, and single . _ - between them"
        raise InputError(folder, "its name is not valid for an image", remedy)


def build(
    program: str, names: Sequence[str], log: Log, *, prefix: str = _IMAGE_PREFIX, options: Sequence[str] = ()
) -> None:
    """Builds baselines' images, and the base images that they need.

    The same source gives the same image: files get git's modes and the commit's time.

    Args:
        log: receives a line per image, and a failed build's output.
        prefix: prefix of the images' names.
        options: more options for ``docker build`` or ``podman build``.
    """
    check_program(program)
    folders = [*dict.fromkeys(_checked_folder(name) for name in names)]
    for folder, other in combinations(folders, 2):
        if folder.name == other.name:
            problem = f"its image and that of {other} would both be {image_name(folder.name)}"
            raise InputError(folder, problem, "rename one of the folders, or build only one")
    root = _buildable_clone()
    builder = _Builder(program=program, prefix=prefix, options=options, log=log)
    bases = [base for folder in folders for base in _bases(folder, root)]
    for name in dict.fromkeys(bases):
        if root:
            builder.build_base(name, root)
        elif not find_image(program, image_name(name)):
            raise ToucheError(
                f"{program} has no image {image_name(name)}; {_remedy_without_clone(program, name)}"
            )
    for folder in folders:
        builder.build_baseline(folder, root)
    if program == "docker":
        # Docker without BuildKit caches the images of first stages, which carry this label.
        succeeds(
            "docker", "image", "prune", "--force", "--filter=label=touche.temporary", "--filter=until=24h"
        )


@dataclass(frozen=True)
class _Builder:
    """Builds images using one program. Attributes as in ``build``."""

    program: str
    prefix: str
    options: Sequence[str]
    log: Log

    def build_base(self, name: str, root: Path) -> None:
        python_image = os.environ.get(PYTHON_VARIABLE)  # replaces the Dockerfile's
        build_arguments = []
        if name != _FIRST_BASE:
            build_arguments.append(f"--build-arg=BASE={self.prefix}{_FIRST_BASE}")
        elif python_image:
            build_arguments.append(f"--build-arg={PYTHON_VARIABLE}={python_image}")
        with _build_context(root, _files_of_bases(root)) as context:
            file = f"--file={context / 'docker' / name}.Dockerfile"
            self._build(name, context, commit_time(root), [file, *build_arguments])

    def build_baseline(self, folder: Path, root: Path | None) -> None:
        """Builds a baseline's image.

        Args:
            root: the clone that its bases were just built from; None if they were pulled.
        """
        commit_and_repository = origin(folder, has_run=False)
        labels = {
            "org.opencontainers.image.version": version(PROJECT),
            REVISION_LABEL: commit_and_repository["revision"],
            "org.opencontainers.image.source": commit_and_repository["source"],
            "org.opencontainers.image.vendor": PROJECT if is_shipped(folder) else "",
            _CONTENT_LABEL: _digest(folder, _files_sent(folder)),
            _BASES_LABEL: _digest(root, _files_of_bases(root)) if root else "",
        }
        build_arguments = {
            # The Dockerfile turns these into environment variables, for the runs' metadata.
            "REVISION": commit_and_repository["revision"],
            "SOURCE": commit_and_repository["source"],
        }
        bases = _bases(folder, root)
        if bases:
            prefix = self.prefix if root else _IMAGE_PREFIX  # pulled bases keep their usual names
            build_arguments["BASE"] = f"{prefix}{bases[-1]}"  # the last one is its own base
        arguments = [f"--label={name}={value}" for name, value in labels.items()]
        arguments += [f"--build-arg={name}={value}" for name, value in build_arguments.items()]
        with _build_context(folder, _files_sent(folder)) as context:
            self._build(folder.name, context, commit_time(folder), arguments)

    def _build(self, name: str, context: Path, time: int, arguments: Sequence[str]) -> None:
        """Builds an image. Its files and description get the time ``time``, in seconds since 1970."""
        image = f"{self.prefix}{name}"
        self.log(f"building {image}")
        lines = deque[str](maxlen=MOST_LINES)
        command = [self.program, "build", "--force-rm", "--tag", image]
        # In the engine's own network, the default, a Dockerfile's commands can't reach servers on
        # this machine.
        if os.environ.get(NETWORK_VARIABLE):
            command.append(f"--network={os.environ[NETWORK_VARIABLE]}")
        if self.program == "podman":
            command += [f"--timestamp={time}", "--identity-label=false"]  # it would name Podman's version
        command += [*self.options, *arguments, str(context)]
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(time)}  # where BuildKit takes the time from
        earlier_id = find_image(self.program, image)  # empty if there is none
        with bar(f"building {image}", "lines", None) as shown:

            def count(line: str) -> None:
                lines.append(line)
                shown.update(1)

            status = execute(command, count, environment=environment)
        if status.code:
            for line in lines:
                self.log(line)
            reason = explain_failure(lines)
            if name == _FIRST_BASE and reason in (_NO_IMAGE, _NO_ANSWER):
                reason += f", or set {PYTHON_VARIABLE} to a Python image that {self.program} has"
            if reason:
                raise ToucheError(f"building {image}: {reason}; see its output above")
            check_exit(f"building {image}", status)
        if earlier_id:
            name_count = output_of(
                self.program, "image", "inspect", "--format", "{{len .RepoTags}}", earlier_id
            )
            if name_count == "0":  # the new image took its last name
                succeeds(self.program, "image", "rm", earlier_id)  # fails if something needs it


def size(program: str, name: str) -> str:
    """Returns the unpacked size of a baseline's image, such as ``504 MB``; empty if it is not built."""
    check_program(program)
    digits = output_of(program, "image", "inspect", "--format", "{{.Size}}", image_name(name))  # bytes
    return f"{int(digits) / 1e6:.0f} MB" if digits else ""


def explain_failure(lines: Iterable[str]) -> str:
    """Returns reason and remedy for a failed command's output; empty if unknown."""
    output = "\n".join(lines)
    reasons = (
        reason
        for pattern, reason in _REASONS_BY_PATTERN.items()
        if re.search(pattern, output, flags=re.IGNORECASE | re.MULTILINE)
    )
    return next(reasons, "")


def read_labels(program: str, image: str) -> dict[str, str]:
    """Returns a local image's labels."""
    labels = output_of(program, "image", "inspect", "--format", "{{json .Config.Labels}}", image)
    return json.loads(labels) or {}  # null if there are none


def check_image(program: str, baseline: str) -> None:
    """Checks that a baseline's image was built from its folder's current files, not e.g. from another folder.

    In a clone, warns if the bases' files have changed since.
    """
    folder = baseline_folder(baseline).resolve()
    root = _buildable_clone()
    image = image_name(folder.name)
    if is_shipped(folder) and not root:
        how_to_get = _remedy_without_clone(program, folder.name)
    else:
        how_to_get = f"build it with: {build_command(program, baseline)}"
    if not find_image(program, image):
        raise ToucheError(f"{program} has no image {image}; {how_to_get}")
    labels = read_labels(program, image)
    if labels.get(_CONTENT_LABEL) != _digest(folder, _files_sent(folder)):
        raise ToucheError(f"{image} was not built from the current files of {baseline}; {how_to_get}")
    if root and labels.get(_BASES_LABEL) != _digest(root, _files_of_bases(root)):
        _log.warning("%s was built on an older version of touche; %s", image, how_to_get)


def build_command(program: str, baseline: str) -> str:
    """Returns the command that builds a baseline's image, for messages."""
    runner = "" if program == "docker" else f" --runner {program}"  # docker is the default
    return f"touche images build {quote(baseline)}{runner}"


def _buildable_clone() -> Path | None:
    """Returns the clone if it contains the bases' Dockerfiles, else None."""
    root = clone()
    return root if root and (root / "docker").is_dir() else None


def _remedy_without_clone(program: str, name: str) -> str:
    """Tells users without a clone how to get an image."""
    address = published_image(name)
    if not address:
        return "build it in a clone of touche-baselines"
    return f"get it with: {program} pull {address} && {program} tag {address} {image_name(name)}"


def _checked_folder(name: str) -> Path:
    folder = baseline_folder(name).resolve()
    check_name(folder)
    if not (folder / "Dockerfile").is_file():
        remedy = "copy the Dockerfile of bm25, and change the name in it"
        raise InputError(folder, "no Dockerfile in this folder", remedy)
    for file in [folder / "Dockerfile", *folder.glob("*.py")]:
        is_sent = not file.is_symlink() or (
            not file.readlink().is_absolute() and file.resolve().is_relative_to(folder)
        )
        if not is_sent:
            problem = f"a link to {file.readlink()}, and links out of the folder are not sent to the builder"
            raise InputError(file, problem, "copy the file into the folder")
    target = f"/opt/baselines/{folder.name}/"
    text = (folder / "Dockerfile").read_text(encoding="utf-8", errors="replace")
    _check_dockerfile(folder / "Dockerfile", text)
    if target not in text:
        raise InputError(folder / "Dockerfile", f"no COPY into {target}", "add this line")
    return folder


def _check_dockerfile(path: Path, text: str) -> None:
    """Refuses a Dockerfile that makes the engine itself fetch addresses, because it would do so in this
    machine's network.

    The Dockerfile may come from a stranger, and could reach servers that only listen on this machine.
    """
    # Every line counts, alone and joined with the lines that continue it, because builders differ in what
    # they take for a continuation or a here-document. Comments and empty lines may come in between.
    joined = re.sub(r"[\\`][^\S\n]*\n(?:[^\S\n]*(?:#[^\n]*)?\n)*", "", text)
    # BuildKit also finds the syntax in comments after these beginnings, and in JSON.
    if text.lstrip("\ufeff").startswith(("#!", "//", "{")):
        raise InputError(path, "it does not start as a Dockerfile", "start it with a comment, ARG or FROM")
    for line in f"{text}\n{joined}".split("\n"):
        is_remote_syntax = _SYNTAX.match(line) and not _SYNTAX_OF_DOCKER.match(line)
        added = _ADD.match(line)
        if is_remote_syntax:
            problem = f"{line.strip()!r} names a program that would interpret this file"
            raise InputError(path, problem, "remove this line")
        if added and (not _LOCAL_FILES.fullmatch(added["sources"]) or "github.com" in line):
            problem = f"{line.strip()!r}: the engine would fetch addresses in this machine's network"
            raise InputError(path, problem, "use COPY for files, and RUN with curl or git for downloads")
        if _REGISTRY_HERE.search(line):
            problem = f"{line.strip()!r} names a registry on this machine, which the engine would call"
            raise InputError(path, problem, "pull the image first, and name it without the registry")


def _bases(folder: Path, root: Path | None) -> list[str]:
    """Returns the base images in a Dockerfile, e.g. from ``ARG BASE=touche/lucene``.

    In a clone, the first base precedes the others, which build on it.
    """
    text = (folder / "Dockerfile").read_text(encoding="utf-8", errors="replace")
    # In a release, a shipped Dockerfile names a published base by address and digest. A user's
    # Dockerfile may contain the same address, but then the program pulls the base itself.
    address = r"\S*/" if is_shipped(folder) else re.escape(_IMAGE_PREFIX)
    tag_or_digest = r"(?:[:@]\S*)?"
    pattern = rf"^(?:FROM |ARG BASE=){address}({'|'.join(BASES)}){tag_or_digest}(?:\s|$)"
    bases = re.findall(pattern, text, flags=re.MULTILINE)
    if not bases or root is None:
        return bases
    return list(dict.fromkeys([_FIRST_BASE, *bases]))


@contextmanager
def _build_context(folder: Path, files: Iterable[Path]) -> Iterator[Path]:
    """Yields a temporary copy of a folder's files, with modes that don't depend on the user's umask."""
    with temporary_folder("touche-build-") as scratch:
        for file in files:
            copy = scratch / file.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy, follow_symlinks=False)
            if not copy.is_symlink():  # like git, distinguish only whether a file is executable
                copy.chmod(0o755 if file.stat().st_mode & 0o100 else 0o644)
        for path in scratch.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        yield scratch


def _files_of_bases(root: Path) -> Iterator[Path]:
    """Yields the clone's files that the base images need: those that .dockerignore lets through.

    Its first rule ignores everything; each rule with an exclamation mark lets a path through. Compiled files
    are left out, because they depend on the machine.
    """
    ignore_file = root / ".dockerignore"
    yield ignore_file
    for rule in ignore_file.read_text(encoding="utf-8").split():
        if rule.startswith("!"):
            path = root / rule.removeprefix("!")
            files = files_in(path) if path.is_dir() else [path]
            yield from (file for file in files if file.suffix != ".so")


def _files_sent(folder: Path) -> list[Path]:
    """Returns a baseline's files to send to the builder: all except runs, which appear later."""
    return [file for file in files_in(folder) if file.name not in RUN_FILES]


def _digest(folder: Path, files: Iterable[Path]) -> str:
    """Returns a digest of the files that the image contains."""
    return content_digest(
        folder, [file for file in files if str(file.relative_to(folder)) not in _NOT_IN_IMAGES]
    )
