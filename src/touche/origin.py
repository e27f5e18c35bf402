"""Where code comes from: the clone of this project, and the commit and repository of a folder."""

import re
import subprocess
from pathlib import Path

_PATIENCE = 60  # seconds
_OWN = (".", ":(exclude,glob)**/__pycache__/**")  # what git is asked of the folder


def clone() -> Path | None:
    """The clone that the package was installed from with ``pip install --editable``, else None."""
    source = Path(__file__).parents[1]
    root = source.parent
    is_clone = source.name == "src" and all((root / part).is_dir() for part in ("baselines", "topics"))
    return root if is_clone else None


def origin(folder: Path) -> dict[str, str]:
    """The commit that a folder is at, and where it comes from; ``unknown`` where git knows nothing of it.

    The commit ends in ``-dirty`` if a file of the repository was changed since, or one of the folder is new.
    """
    if _git(folder, "check-ignore", "."):  # such as an environment within somebody's repository
        return {"revision": "unknown", "source": "unknown"}
    commit = _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    if commit and not commit.endswith("-dirty") and _git(folder, "status", "--porcelain", "--", *_OWN):
        commit += "-dirty"
    url = _git(folder, "remote", "get-url", "origin")
    # Neither a path of somebody's machine nor somebody's token.
    source = re.sub("//[^/]*@", "//", url) if url.startswith("https://") else ""
    return {"revision": commit or "unknown", "source": source or "unknown"}


def _git(folder: Path, *arguments: str) -> str:
    """What git answers; nothing where it is missing, knows nothing, or takes more than a minute."""
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        told = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""
