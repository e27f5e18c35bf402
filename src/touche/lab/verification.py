"""Verifies an image, or the image of a run: rebuilds it from the current source and compares both."""

import json
import logging
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from textwrap import shorten

from touche.baselines.loader import baseline_folder, is_shipped
from touche.data.places import shipped_baselines
from touche.errors import InputError, ToucheError, check_choice
from touche.io.identifiers import as_path, name_or_path
from touche.io.origin import origin
from touche.runners.image_builds import (
    BASES,
    REVISION_LABEL,
    TITLE_LABEL,
    build,
    build_command,
    explain_failure,
    image_name,
    published_image,
    read_labels,
)
from touche.runners.image_content import Content, digest, find_image, read_content
from touche.runners.limits import CONTAINER_PROGRAMS, SANDBOXES, ContainerProgram
from touche.runners.programs import MOST_LINES, Log, check_program, execute, output_of, succeeds
from touche.tira.metadata import METADATA_FILE, origin_of_run
from touche.trec.framed import Record

SAME = "the same"
DIFFERENT = "different"
NOT_COMPARABLE = "not comparable"
# Programs that download files, which may change. Using hashes, pip rejects changed ones.
_UNPINNED = re.compile(r"\b(?:apt(?:-get)?|apk|dnf|curl|wget|git|pip3?)\b(?!.*--require-hashes)", re.DOTALL)
# What builders write before a layer's command; |2 comes before two build arguments.
_SHELL = re.compile(r"^(?:RUN )?(?:\|\d+ .*?)?/bin/sh -c (?:#\(nop\)\s*)?")
_MAX_COMMAND_LENGTH = 60  # characters

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class VerifiedImage(Record):
    """The result of a verification.

    Attributes:
        subject: the image, or the run.
        answer: ``the same``, ``different`` or ``not comparable``.
        reason: why they are not comparable; else empty.
        digest: the image's digest; empty if it was not read.
        rebuilt: the rebuild's digest; empty if they are not comparable.
        difference: the command of the first layer with different content, or the settings that differ; empty
            if the image that made a run is missing.
        unpinned: layers' commands whose input can change while the source stays the same.
    """

    subject: str
    answer: str
    commit: str
    reason: str = ""
    digest: str = ""
    rebuilt: str = ""
    difference: str = ""
    unpinned: Sequence[str] = ()


def verify_image(
    baseline: str = "",
    *,
    against: str = "",
    run: str | PathLike[str] | None = None,
    runner: ContainerProgram = "docker",
    log: Callable[[str], None] = _log.info,
) -> VerifiedImage:
    """Rebuilds a baseline's image from the current source and compares the result with the image.

    Args:
        baseline: a baseline's name or path; you can omit it if you pass a run.
        against: another image to compare with, instead of the local or published one.
        run: a run, to compare with the image that made it.
        runner: the program that stores and builds the images.
        log: receives a line per step.

    Returns:
        A ``VerifiedImage``, whose ``answer`` says whether the image and its rebuild are the same.

    Raises:
        ToucheError: if you pass neither a baseline nor a run, or both a run and ``against``; also if there is
            no such baseline, image or run, or a build fails.

    Examples:
        >>> import touche
        >>> touche.verify_image()
        Traceback (most recent call last):
        touche.errors.ToucheError: neither a baseline nor a run is named; pass one of them
    """
    check_choice("runner", runner, CONTAINER_PROGRAMS)
    if run is not None and against:
        raise ToucheError("an image and a run to compare with exclude each other; omit one of them")
    name = name_or_path("baseline", baseline or "")  # None is accepted too
    if run is not None:
        return verify_run(runner, as_path("run", run), log, baseline=name)
    if not name:
        raise ToucheError("neither a baseline nor a run is named; pass one of them")
    return verify(runner, name, log, against=against)


def verify(program: str, baseline: str, log: Log, *, against: str = "") -> VerifiedImage:
    """Rebuilds a baseline's image without using a cache, and compares it with an existing image.

    By default, that is the local image, else the published one.
    """
    check_program(program)
    folder = baseline_folder(baseline).resolve()
    local = image_name(folder.name)
    if against:
        image = against
    elif find_image(program, local):
        image = local
    else:  # not the local name: pulling it could fetch anyone's image from a registry
        image = published_image(folder.name) if is_shipped(folder) else ""
    if not image:
        command = build_command(program, baseline)
        raise ToucheError(f"{program} has no image {local}; build it with: {command}")
    with _pulled_if_missing(program, image):
        revision = _revision_of_image(program, image, folder.name)
        return _compare(program, baseline, log, kind="image", subject=image, revision=revision, image=image)


def verify_run(program: str, run: Path, log: Log, *, baseline: str = "") -> VerifiedImage:
    """Rebuilds the image that made a run, and compares its digest with the one in the run's metadata."""
    check_program(program)
    metadata = run.with_name(METADATA_FILE)
    if not metadata.is_file():
        raise InputError(metadata, "this file is missing", f"keep it next to {run.name}")
    name, revision, expected_digest = origin_of_run(metadata)
    if not expected_digest:
        remedy = f"pass a run that was made by --runner {' or '.join(SANDBOXES)}"
        raise InputError(metadata, "it names no image", remedy)
    if not baseline and name not in shipped_baselines():
        raise InputError(
            metadata, f"there is no shipped baseline {name!r}", "pass the folder of the baseline"
        )
    folder = baseline_folder(baseline or name).resolve()
    return _compare(
        program,
        baseline or name,
        log,
        kind="run",
        subject=str(run),
        revision=revision,
        image=image_name(folder.name),
        expected_digest=expected_digest,
    )


def _reason_not_comparable(commit: str, revision: str, subject: str) -> str:
    """Returns why a rebuild from ``commit`` can't verify ``subject``, built from ``revision``; else empty."""
    if commit == "unknown":
        return "the commit of the current source is unknown; verify in a clone, or in an unpacked sdist"
    if commit.endswith("-dirty"):
        return "the current source has uncommitted changes; commit or remove them"
    if revision.endswith("-dirty"):
        return f"{subject} was made from uncommitted changes; build it again after a commit"
    if revision == "unknown":
        return f"{subject} was made from an unknown commit; build it again in a clone"
    if revision != commit:
        problem = f"{subject} was made from commit {revision}, but the source is at {commit}"
        return f"{problem}; run: git checkout {revision}"
    return ""


def _revision_of_image(program: str, image: str, name: str) -> str:
    labels = read_labels(program, image)
    if labels.get(TITLE_LABEL) != image_name(name):
        raise ToucheError(f"{image} is not an image of {name}; pass an image of {name} with --against")
    revision = labels.get(REVISION_LABEL, "")
    if revision in ("", "unknown"):
        raise ToucheError(f"{image} names no commit; build it with touche images build, not by hand")
    return revision


@contextmanager
def _pulled_if_missing(program: str, image: str) -> Iterator[None]:
    """Pulls an image that is not local, and removes it at the end."""
    if find_image(program, image):
        yield
        return
    lines = deque[str](maxlen=MOST_LINES)
    status = execute([program, "pull", image], lines.append)
    if status.code:
        reason = explain_failure(lines) or status.last_line
        raise ToucheError(f"{program} has no image {image}, and cannot pull it: {reason}")
    try:
        yield
    finally:
        succeeds(program, "image", "rm", "--force", image)


def _compare(
    program: str,
    baseline: str,
    log: Log,
    *,
    kind: str,
    subject: str,
    revision: str,
    image: str,
    expected_digest: str = "",
) -> VerifiedImage:
    """Compares a rebuild with an image, or with the digest of the image that made a run.

    Args:
        kind: ``image`` or ``run``.
        revision: the commit that the subject was made from, or ``unknown``.
        image: the local image. For a run, it may be missing, or not the image that made the run.
        expected_digest: the digest of the image that made the run; empty when verifying an image.
    """
    commit = origin(baseline_folder(baseline).resolve(), has_run=False)["revision"]
    reason = _reason_not_comparable(commit, revision, f"the {kind} {subject}")
    if reason:
        return VerifiedImage(
            subject=subject, answer=NOT_COMPARABLE, commit=commit, reason=reason, digest=expected_digest
        )
    # If the image that made a run is gone, its files are unknown, so compare digests only.
    has_original = not expected_digest or (
        find_image(program, image) != "" and digest(program, image).digest == expected_digest
    )
    original = read_content(program, image) if has_original else None
    rebuilt, commands_above_base = _rebuild(program, baseline, log)
    original_digest = original.digest if original else expected_digest
    is_different = original_digest != rebuilt.digest
    unpinned = [command for command in commands_above_base if _UNPINNED.search(_SHELL.sub("", command))]
    return VerifiedImage(
        subject=subject,
        answer=DIFFERENT if is_different else SAME,
        commit=commit,
        digest=original_digest,
        rebuilt=rebuilt.digest,
        # Equal contents may distribute their files over layers differently.
        difference=_first_difference(original, rebuilt) if original and is_different else "",
        unpinned=[*map(_short_command, unpinned)],
    )


def _rebuild(program: str, baseline: str, log: Log) -> tuple[Content, Sequence[str]]:
    """Builds an image and its bases without a cache, under temporary names, and removes them.

    Returns:
        The content, and the commands of the layers above the base.
    """
    temporary = f"verify-{os.getpid()}"  # the Dockerfiles label their first stages with it
    prefix = f"touche-{temporary}/"
    options = ["--no-cache", f"--build-arg=TEMPORARY={temporary}"]
    name = baseline_folder(baseline).resolve().name
    try:
        build(program, [baseline], log, prefix=prefix, options=options)
        content = read_content(program, f"{prefix}{name}")
        layers_of_bases = [  # as JSON; empty for a base that was pulled, not rebuilt
            output_of(program, "image", "inspect", "--format", "{{json .RootFS.Layers}}", f"{prefix}{base}")
            for base in BASES
        ]
        # The topmost base includes all layers of the base below it.
        layers_of_base = max(len(json.loads(layers or "[]")) for layers in layers_of_bases)
        return content, content.commands[layers_of_base:]
    finally:
        _remove_images(program, "--format={{.Repository}}:{{.Tag}}", f"--filter=reference={prefix}*")
        # The first stages may leave images without a name.
        _remove_images(program, "--quiet", f"--filter=label=touche.temporary={temporary}")


def _remove_images(program: str, *options: str) -> None:
    images = output_of(program, "images", *options)
    if images:
        succeeds(program, "image", "rm", "--force", *images.split())


def _first_difference(image: Content, rebuilt: Content) -> str:
    """Returns the command of the first layer whose content differs, else the settings that differ."""
    longer = max(image, rebuilt, key=lambda content: len(content.layers))
    for number, command in enumerate(longer.commands):
        # Not the layers themselves: builders differ in which unchanged folders they repeat.
        if image.files(number + 1) != rebuilt.files(number + 1):
            return f"the layer {_short_command(command)}"
    names = dict.fromkeys([*image.settings, *rebuilt.settings])
    differing = [name for name in names if image.settings.get(name) != rebuilt.settings.get(name)]
    return f"the settings {', '.join(differing)}" if differing else ""


def _short_command(command: str) -> str:
    return shorten(_SHELL.sub("", command), _MAX_COMMAND_LENGTH, placeholder=" ...")
