"""The Lucene jar, which lies in pyserini's wheel; to know of it needs no Java."""

from importlib.util import find_spec
from pathlib import Path

from touche.errors import PYSERINI, NotInstalledError

_JAR = "anserini-1.7.1-fatjar.jar"  # this one and no other: scores depend on it


def jar() -> Path:
    """The Lucene jar of the installed pyserini.

    Raises:
        NotInstalledError: if this version of pyserini is not installed; the message gives the command.
    """
    spec = find_spec("pyserini")
    folders = (spec and spec.submodule_search_locations) or ()
    jars = [path for folder in folders for path in Path(folder).glob(f"resources/jars/{_JAR}")]
    if not jars:
        raise NotInstalledError(
            f"the Lucene jar ({_JAR}) is missing; install it with: pip install --no-deps {PYSERINI}"
        )
    return jars[0]
