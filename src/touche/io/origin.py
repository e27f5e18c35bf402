"""Origin of code: the clone of this project, and the commit and repository of a folder."""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_PATIENCE = 60  # seconds for one command of git
RECORD = "origin.json"  # in an sdist, which has no git: commit, repository, time, and the files' SHA-256
_OWN = (".", ":(exclude,glob)**/__pycache__/**")  # git's pattern for the folder's files


def clone() -> Path | None:
    """Returns the clone that was installed with ``pip install --editable``, else None."""
    source = Path(__file__).parents[2]
    root = source.parent
    is_clone = source.name == "src" and all((root / part).is_dir() for part in ("baselines", "topics"))
    return root if is_clone else None


def origin(folder: Path) -> dict[str, str]:
    """Returns commit and repository of a folder; values that git does not know are ``unknown``.

    The commit ends in ``-dirty`` if a tracked file has changed, or the folder has a new file.
    """
    record = _sdist_record(folder)
    if record:
        dirty = "" if _is_unchanged(record, folder) else "-dirty"
        return {"revision": f"{record['revision']}{dirty}", "source": record["source"]}
    if _git(folder, "check-ignore", "."):  # such as an environment in another project's repository
        return {"revision": "unknown", "source": "unknown"}
    no_filters = _without_filters(folder)
    commit = _git(folder, "rev-parse", "HEAD") if no_filters is not None else ""
    status = [*(no_filters or ()), "status", "--porcelain", "--ignore-submodules=all"]
    if commit and (_git(folder, *status, "--untracked-files=no") or _git(folder, *status, "--", *_OWN)):
        commit += "-dirty"
    url = _git(folder, "remote", "get-url", "origin")
    # Local paths and access tokens stay private.
    source = re.sub("//[^/]*@", "//", url) if url.startswith("https://") else ""
    return {"revision": commit or "unknown", "source": source or "unknown"}


def commit_time(folder: Path) -> int:
    """Returns the time of a folder's commit in seconds since 1970; 0 if it has none."""
    record = _sdist_record(folder)
    return record["time"] if record else int(_git(folder, "log", "-1", "--format=%ct") or 0)


def make_record(root: Path, files: Iterable[str]) -> dict[str, Any]:
    """Returns the record of an sdist.

    Args:
        root: the clone.
        files: the paths of its files in the clone.
    """
    digests = {name: _sha256(root / name) for name in sorted(files)}
    return {**origin(root), "time": commit_time(root), "files": digests}


def _sdist_record(folder: Path) -> dict[str, Any]:
    """Returns the record of the unpacked sdist that a folder is in; empty if it is in none."""
    root = clone()
    if root is None or not (root / RECORD).is_file() or not folder.resolve().is_relative_to(root):
        return {}
    record: dict[str, Any] = json.loads((root / RECORD).read_text(encoding="utf-8"))
    return record


def _is_unchanged(record: dict[str, Any], folder: Path) -> bool:
    root = clone() or folder
    files = {name: root / name for name in record["files"]}
    if not all(file.is_file() and _sha256(file) == record["files"][name] for name, file in files.items()):
        return False
    if folder.resolve() == root:
        return True
    own = (path for path in folder.resolve().rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return all(str(path.relative_to(root)) in files for path in own)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _without_filters(folder: Path) -> list[str] | None:
    """Returns options that turn off the filters of a repository, which ``git status`` would run.

    The user's own filters, such as those of Git LFS, stay. The result is None if no option can turn a filter
    off, or git is too old to list them.
    """
    listed = _git(folder, "config", "--list", "--name-only", "--show-scope", "-z").split("\0")
    words = iter(listed)  # scopes and keys by turns
    keys = [key for scope, key in zip(words, words, strict=False) if scope in ("local", "worktree")]
    filters = {key.rpartition(".")[0] for key in keys if key.startswith("filter.")}
    if not keys or any("=" in name for name in filters):
        return None
    settings = [
        f"{name}.{key}" for name in sorted(filters) for key in ("clean=", "process=", "required=false")
    ]
    return [word for setting in settings for word in ("-c", setting)]


def _git(folder: Path, *arguments: str) -> str:
    """Returns git's output; empty if git is missing, fails, or takes more than a minute.

    It runs no hook, monitor or download that the configuration of an untrusted repository names.
    """
    options = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    command = ["git", *options, "-C", str(folder), *arguments]
    environment = os.environ | {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
    quiet: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "env": environment}
    try:
        result = subprocess.run(command, timeout=_PATIENCE, **quiet)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""
