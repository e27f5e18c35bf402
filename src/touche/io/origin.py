"""Where code comes from: the clone of this project, and a folder's commit and repository."""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PROJECT = "touche-baselines"  # the package's name
_GIT_TIMEOUT = 60  # seconds per command
RECORD = "origin.json"  # in an sdist, where git is missing: commit, repository, time, SHA-256 of the files
# git's patterns for a folder's files, except bytecode and environments.
_FILES_OF_FOLDER = (".", ":(exclude,glob)**/__pycache__/**", ":(exclude,glob)**/.venv/**")


def clone() -> Path | None:
    """Returns the clone installed with ``pip install --editable``, or None."""
    source_folder = Path(__file__).parents[2]  # src, for src/touche/io/origin.py
    root = source_folder.parent
    is_clone = source_folder.name == "src" and all((root / part).is_dir() for part in ("baselines", "topics"))
    return root if is_clone else None


def origin(folder: Path, *, has_run: bool) -> dict[str, str]:
    """Returns ``revision`` (the commit) and ``source`` (the repository's URL), or ``unknown``.

    The commit ends in ``-dirty`` if a tracked file has changed, or the folder contains a new file.

    Args:
        has_run: whether the folder's code has run on this machine. If not, nothing may run that the
            repository configures, such as git's filters.
    """
    record = _sdist_record(folder)
    root = clone()
    if record and root:
        revision = record["revision"]
        if not _is_unchanged(record, root, folder):
            revision = f"{revision.removesuffix('-dirty')}-dirty"
        return {"revision": revision, "source": record["source"]}
    # An ignored folder is in no commit, e.g. an environment inside another project's repository.
    if _git(folder, "check-ignore", "."):
        return {"revision": "unknown", "source": "unknown"}
    url = _git(folder, "remote", "get-url", "origin")
    # Keep local paths and access tokens private.
    source = re.sub("//[^/]*@", "//", url) if url.startswith("https://") else "unknown"
    return {"revision": _revision(folder, has_run) or "unknown", "source": source}


def _revision(folder: Path, has_run: bool) -> str:
    """Returns the folder's commit as in ``origin``; empty if git knows none, or can't tell its status."""
    filter_options = [] if has_run else _without_filters(folder)
    if filter_options is None:  # the repository's filters would run
        return ""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return ""
    # With --branch, even a clean status prints a line; only a failure prints none.
    command = [*filter_options, "status", "--porcelain", "--branch", "--ignore-submodules=all"]
    repository_lines = _git(folder, *command, "--untracked-files=no").splitlines()
    folder_lines = _git(folder, *command, "--untracked-files=normal", "--", *_FILES_OF_FOLDER).splitlines()
    if not (repository_lines and folder_lines):
        return ""
    is_dirty = len(repository_lines) > 1 or len(folder_lines) > 1
    return f"{commit}-dirty" if is_dirty else commit


def commit_time(folder: Path) -> int:
    """Returns the commit's time in seconds since 1970; 0 if there is no commit."""
    record = _sdist_record(folder)
    return int(record["time"]) if record else _time_of(folder, "HEAD")


def earlier_commit_time(folder: Path, commit: str) -> int:
    """Returns a commit's time in seconds since 1970; 0 if it isn't in the history of the folder's HEAD.

    Args:
        folder: a folder in a clone.
        commit: the commit's 40 hexadecimal digits.
    """
    is_ancestor = _git(folder, "merge-base", commit, "HEAD") == commit
    return _time_of(folder, commit) if is_ancestor else 0


def _time_of(folder: Path, commit: str) -> int:
    """Returns a commit's time in seconds since 1970; 0 if there is no such commit."""
    # Not ``log``, which runs gpg.program on signed commits if log.showSignature is set.
    time, _, _ = _git(folder, "rev-list", "--timestamp", "--max-count=1", commit).partition(" ")
    return int(time or 0)


def make_record(root: Path, files: Iterable[str]) -> dict[str, Any]:
    """Returns the record that goes into an sdist.

    Args:
        files: paths relative to it.
    """
    digests = {name: _sha256(root / name) for name in sorted(files)}
    return {**origin(root, has_run=True), "time": commit_time(root), "files": digests}


def _sdist_record(folder: Path) -> dict[str, Any]:
    """Returns the record of the unpacked sdist around the folder, or an empty one."""
    root = clone()  # or the unpacked sdist, which has the same folders
    if root is None or not (root / RECORD).is_file() or not folder.resolve().is_relative_to(root):
        return {}
    record: dict[str, Any] = json.loads((root / RECORD).read_text(encoding="utf-8"))
    return record


def _is_unchanged(record: dict[str, Any], root: Path, folder: Path) -> bool:
    """Returns whether the sdist's files are as recorded, and ``folder`` contains no others.

    If the folder is the sdist's root, other files are allowed.
    """
    digests: dict[str, str] = record["files"]
    for name, digest in digests.items():
        if not (root / name).is_file() or _sha256(root / name) != digest:
            return False
    if folder.resolve() == root:  # other files here are e.g. an environment's
        return True
    paths = (path for path in folder.resolve().rglob("*") if path.is_file())
    return all(str(path.relative_to(root)) in digests or "__pycache__" in path.parts for path in paths)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _without_filters(folder: Path) -> list[str] | None:
    """Returns options that keep ``git status`` from running the filters of an untrusted repository.

    The user's own filters, such as Git LFS, still run. Returns None if there is no repository, if no option
    can turn a filter off, or if git is too old to list filters.
    """
    words = _git(folder, "config", "--list", "--name-only", "--show-scope", "-z").split("\0")
    scopes = words[0::2]  # scopes and keys alternate; after the last key comes an empty string
    keys = words[1::2]
    pairs = zip(scopes, keys, strict=False)
    repository_keys = [key for scope, key in pairs if scope in ("local", "worktree")]
    filters = {key.rpartition(".")[0] for key in repository_keys if key.startswith("filter.")}
    has_impossible_name = any("=" in name for name in filters)  # an option's key ends at the first =
    if not repository_keys or has_impossible_name:  # no keys: no repository, or git doesn't know --show-scope
        return None
    options = list[str]()
    for name in sorted(filters):
        options += ["-c", f"{name}.clean=", "-c", f"{name}.process=", "-c", f"{name}.required=false"]
    return options


def _git(folder: Path, *arguments: str) -> str:
    """Returns git's output; empty if git is missing, fails, or takes more than a minute.

    Runs no hooks, monitors or downloads that an untrusted repository configures.
    """
    options = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    command = ["git", *options, "-C", str(folder), *arguments]
    environment = os.environ | {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
    for variable in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # of another repository, inside its hooks
        environment.pop(variable, None)
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environment, timeout=_GIT_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""
