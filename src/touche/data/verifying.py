"""Compares official files with the checksums that the publishers state."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from touche.data.publishers import RUNS, Source
from touche.data.sources import find_source
from touche.io.opening import md5, open_binary

# Values of ``Status.word``.
NOT_IN_MIRROR = "not in the mirror"
MISSING = "missing"
DIFFERS = "differs"
NOT_PUBLISHED = "not published"


@dataclass(frozen=True)
class Status:
    """What happened to a file when it was fetched or verified.

    Attributes:
        path: its path below the data folder, such as ``qrels/touche-task2-2022-quality.qrels``.
        word: the result, such as ``fetched`` or ``differs``.
        remark: an explanation; may be empty.
        problem: why the file couldn't be fetched and what to do about it; empty if there was no problem.
    """

    path: str
    word: str
    remark: str = ""
    problem: str = ""


def verify(source: Source, folder: Path | None = None) -> Status:
    """Compares a file with the publisher's md5. The file is searched in this folder, or, if none is passed,
    in the data folders.
    """
    path = find_source(source, folder)
    if path is None:
        return Status(source.path, MISSING)
    if source.kind != RUNS and (source.member or source.dataset or not source.md5):
        return Status(source.path, "not verified", why_not_verified(source))
    problem = difference(source, path)
    if problem:
        return Status(source.path, DIFFERS, problem)
    return Status(source.path, "verified", f"md5 {source.md5}" if source.md5 else "")


def difference(source: Source, path: Path) -> str:
    """Returns a sentence that says that a file's checksum isn't the published one; empty if it is. For runs,
    the unpacked file's checksum is compared.
    """
    name = "md5"
    expected = source.md5 or source.unpacked_md5
    if source.kind != RUNS:
        digest = md5(path)
    else:
        with open_binary(path) as file:
            content = file.read()
        digest = hashlib.md5(content).hexdigest()
        if not expected:
            name = "git blob id"
            expected = source.git_blob
            digest = git_blob_id(content)
    return "" if digest == expected else f"its {name} is {digest} instead of {expected}"


def git_blob_id(content: bytes) -> str:
    """Returns the id that git gives a file's content; git hashes the size, too."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def why_not_verified(source: Source) -> str:
    """Returns why a file can't be compared with the publisher's md5."""
    if source.dataset:
        return "made from a published file"
    if source.member:
        return "only the md5 of its archive is published"
    return "no md5 is published"
