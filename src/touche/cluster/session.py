"""Starts Spark for one run, and stops it with the run."""

import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from touche.cluster.failing import SparkError, shortened, spark_errors
from touche.errors import ToucheError
from touche.io.optional import installing

_JAVA_ERROR = re.compile(
    r"^(?:Exception in thread \S+ |Caused by: )?[\w.]+(?:Exception|Error): (.+)", re.MULTILINE
)
_NO_JAVA = re.compile(r"\S*/bin/java: .*|JAVA_HOME is not set")
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.excludeOnFailure.enabled": "true",  # a worker with a full disk gets no more tasks
}


@contextmanager
def started(master: str, name: str, settings: Mapping[str, str] | None = None) -> Iterator[Any]:
    """Yields a SparkContext, which is stopped at the end of the block.

    Args:
        master: the address of Spark's master, such as ``local[*]``, ``spark://host:7077`` or ``yarn``.
        name: the name of the run on Spark's pages.
        settings: settings of Spark, added to those in its own files.

    Raises:
        ToucheError: if PySpark or Java is missing, or Spark fails. If it fails in the block, the message
            names a file with Spark's log.
    """
    pyspark = _pyspark()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run the same Python
    conf = pyspark.SparkConf().setMaster(master).setAppName(f"touche {name}")
    conf.setAll({**_SETTINGS, **(settings or {})}.items())
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        context = _context(pyspark, conf, output)
        # The inner block ends Java, which completes the log; then the outer one saves the log.
        try:
            try:
                with spark_errors():
                    yield context
            finally:
                context.stop()
                _end_java(context._gateway)
        except SparkError as error:
            raise ToucheError(
                f"{error}; see {_save_log(output)} and docs/how-to/large-collections.md"
            ) from error


def _save_log(output: IO[str]) -> str:
    """Saves Spark's output in a file that stays, and returns its name."""
    output.seek(0)
    with tempfile.NamedTemporaryFile("w", prefix="touche-spark-", suffix=".log", delete=False) as log:
        shutil.copyfileobj(output, log)
    return log.name


def _pyspark() -> Any:
    """Returns the module of PySpark.

    Raises:
        ToucheError: if it is not installed.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # warnings about libraries that are not used here
            import pyspark  # optional
    except ImportError:
        raise ToucheError(f"PySpark is not installed; get it with: {installing('spark')}") from None
    return pyspark


def _context(pyspark: Any, conf: Any, output: IO[str]) -> Any:
    """Returns a context whose Java process writes to a file, not to standard error.

    Raises:
        ToucheError: if Java is missing, dies, or refuses a setting.
    """
    from pyspark.java_gateway import launch_gateway  # optional

    try:
        gateway = launch_gateway(conf, popen_kwargs={"stdout": output, "stderr": output})
        with warnings.catch_warnings(action="ignore"):  # warnings about pandas, which is not used here
            return pyspark.SparkContext(conf=conf, gateway=gateway)
    except Exception as error:
        output.seek(0)
        text = output.read()
        # Java's own message says most; without Java there is a line of its launcher.
        reasons = [*_JAVA_ERROR.findall(text), *_NO_JAVA.findall(text), str(error)]
        remedy = "check --master and Spark's settings; JAVA_HOME or the PATH needs Java 17 or newer"
        raise ToucheError(f"Spark cannot be started ({shortened(reasons[0])}); {remedy}") from error


def _end_java(gateway: Any) -> None:
    """Ends Java, so that a later run in this process starts its own with other settings."""
    from pyspark import SparkContext  # optional

    gateway.shutdown()
    if gateway.proc:  # else another program, such as spark-submit, has started Java
        gateway.proc.stdin.close()  # Java ends when its standard input is closed
        gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None
