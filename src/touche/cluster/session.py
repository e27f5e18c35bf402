"""Spark, started for one run and stopped with it."""

import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from touche.cluster.failing import SparkError, sentences, shortened
from touche.errors import ToucheError, installing

_REASON = re.compile(
    r"^(?:Exception in thread \S+ |Caused by: )?[\w.]+(?:Exception|Error): (.+)", re.MULTILINE
)
_NO_JAVA = re.compile(r"\S*/bin/java: .*|JAVA_HOME is not set")
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.excludeOnFailure.enabled": "true",  # a worker whose disk is full is not asked again and again
}


@contextmanager
def started(master: str, name: str, settings: Mapping[str, str] | None = None) -> Iterator[Any]:
    """A SparkContext, stopped with the block.

    Args:
        master: where Spark runs, such as ``local[*]``, ``spark://host:7077`` or ``yarn``.
        name: of the run, for Spark's own pages.
        settings: of Spark; those in its own files hold as well.

    Raises:
        ToucheError: if PySpark or Java are missing, Spark cannot be started, or it has failed; then the
            error says where its log is.
    """
    pyspark = _pyspark()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = pyspark.SparkConf().setMaster(master).setAppName(f"touche {name}")
    conf.setAll({**_SETTINGS, **(settings or {})}.items())
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        context = _context(pyspark, conf, said)
        try:
            try:
                with sentences():
                    yield context
            finally:
                context.stop()
                _end(context._gateway)
        except SparkError as error:
            raise ToucheError(
                f"{error}; see {_log_of(said)} and docs/how-to/large-collections.md, and repair it"
            ) from error


def _log_of(said: IO[str]) -> str:
    """A file with what Spark has said, which stays."""
    said.seek(0)
    with tempfile.NamedTemporaryFile("w", prefix="touche-spark-", suffix=".log", delete=False) as log:
        shutil.copyfileobj(said, log)
    return log.name


def _pyspark() -> Any:
    try:
        with warnings.catch_warnings(action="ignore"):  # it looks for libraries that are not used here
            import pyspark
    except ImportError:
        raise ToucheError(f"PySpark is not installed; get it with: {installing('spark')}") from None
    return pyspark


def _context(pyspark: Any, conf: Any, said: IO[str]) -> Any:
    """A context whose Java says nothing on standard error."""
    from pyspark.java_gateway import launch_gateway

    try:
        gateway = launch_gateway(conf, {"stdout": said, "stderr": said})
        with warnings.catch_warnings(action="ignore"):  # of a version of pandas, which is not used here
            return pyspark.SparkContext(conf=conf, gateway=gateway)
    except Exception as error:  # Java is missing, has died, or says what it does not like
        said.seek(0)
        text = said.read()
        reason = shortened((_REASON.findall(text) or _NO_JAVA.findall(text) or [str(error)])[0])
        remedy = "check --master, its settings, and that JAVA_HOME or the PATH has Java 17 or newer"
        raise ToucheError(f"Spark cannot be started ({reason}); {remedy}") from error


def _end(gateway: Any) -> None:
    """Ends Java, so that another run in this process starts its own."""
    from pyspark import SparkContext

    gateway.shutdown()
    if process := getattr(gateway, "proc", None):
        process.stdin.close()
        process.wait()
    SparkContext._gateway = SparkContext._jvm = None
