"""A new baseline folder: the files of ``my-team/``, under the name that it is to have."""

import builtins
import re
from keyword import kwlist
from pathlib import Path
from tempfile import TemporaryDirectory

from touche.errors import InputError

_EXAMPLE = "my-team"  # and my_team in Python; it stands in the files wherever the name belongs
_BASE = "touche/base"
_FILES = (
    "baseline.py",
    "Dockerfile",
    "README.md",
    "expected.toml",
    "test_baseline.py",
    "ruff.toml",
    ".github/workflows/check.yml",
)
_TAKEN = {"baseline", "re", "words_of", *dir(builtins), *kwlist}  # what baseline.py uses itself


def write_baseline(folder: Path, base: str = _BASE) -> None:
    """Writes a new baseline, whole or not at all; its folder's name is that of its image and function, too.

    Args:
        folder: where it is to be.
        base: the image that its own is built from.

    Raises:
        InputError: if the function cannot have the name, the folder is not empty, or cannot be written.
    """
    target = folder.resolve()
    function = re.sub(r"\W", "_", target.name)
    if not function.isidentifier() or function in _TAKEN:
        problem = f"its function in Python cannot be called {function}"
        raise InputError(folder, problem, "choose another name, which begins with a letter")
    if not target.parent.is_dir():
        raise InputError(folder, f"there is no folder {folder.parent}", "make it first")
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError(folder, "there is something already", "choose another name, or remove it")
    try:
        _write(target, function, base)
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise InputError(folder, problem, "choose another place") from error


def _write(target: Path, function: str, base: str) -> None:
    """Beside its place first, so that nothing is left behind where the disk is full."""
    with TemporaryDirectory(prefix=".touche-new-", dir=target.parent) as scratch:
        for name in _FILES:
            text = (Path(__file__).parent / _EXAMPLE / name).read_text(encoding="utf-8")
            path = Path(scratch) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = text.replace(f"FROM {_BASE}\n", f"FROM {base}\n")
            named = text.replace(_EXAMPLE, target.name).replace(_EXAMPLE.replace("-", "_"), function)
            path.write_text(named, encoding="utf-8")
        target.mkdir(exist_ok=True)
        for path in Path(scratch).iterdir():
            path.rename(target / path.name)
