"""Origin of code: the clone of this project, and the commit and repository of a folder."""

import re
import subprocess
from pathlib import Path

_PATIENCE = 60  # seconds for one command of git
_OWN = (".", ":(exclude,glob)**/__pycache__/**")  # git's pattern for the folder's files


def clone() -> Path | None:
    """Returns the clone that was installed with ``pip install --editable``, else None."""
    source = Path(__file__).parents[1]
    root = source.parent
    is_clone = source.name == "src" and all((root / part).is_dir() for part in ("baselines", "topics"))
    return root if is_clone else None


def origin(folder: Path) -> dict[str, str]:
    """Returns commit and repository of a folder; values that git does not know are ``unknown``.

    The commit ends in ``-dirty`` if a tracked file has changed, or the folder has a new file.
    """
    if _git(folder, "check-ignore", "."):  # such as an environment in another project's repository
        return {"revision": "unknown", "source": "unknown"}
    commit = _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    if commit and not commit.endswith("-dirty") and _git(folder, "status", "--porcelain", "--", *_OWN):
        commit += "-dirty"
    url = _git(folder, "remote", "get-url", "origin")
    # Local paths and access tokens stay private.
    source = re.sub("//[^/]*@", "//", url) if url.startswith("https://") else ""
    return {"revision": commit or "unknown", "source": source or "unknown"}


def _git(folder: Path, *arguments: str) -> str:
    """Returns git's output; empty if git is missing, fails, or takes more than a minute."""
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""
