"""Starts Spark for a run, and stops it afterwards."""

import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from touche.errors import ToucheError
from touche.io.optional import installing
from touche.lab.spark.failing import SparkError, shortened, spark_errors

_JAVA_ERROR = re.compile(
    r"^(?:Exception in thread \S+ |Caused by: )?[\w.]+(?:Exception|Error): (.+)", re.MULTILINE
)
_NO_JAVA = re.compile(r"\S*/bin/java: .*|JAVA_HOME is not set")
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.excludeOnFailure.enabled": "true",  # a worker whose disk is full gets no more tasks
}


@contextmanager
def started(master: str, name: str, settings: Mapping[str, str] | None = None) -> Iterator[Any]:
    """Yields a SparkContext, which is stopped at the end of the block.

    Args:
        master: the address of Spark's master, such as ``local[*]``, ``spark://host:7077`` or ``yarn``.
        name: the run's name in Spark's web interface.
        settings: Spark settings, in addition to those in its own files.

    Raises:
        ToucheError: if PySpark or Java is missing, or Spark fails; then the message names a file with its
            log.
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
    """Saves Spark's output in a file that is kept, and returns its name."""
    output.seek(0)
    with tempfile.NamedTemporaryFile("w", prefix="touche-spark-", suffix=".log", delete=False) as log:
        shutil.copyfileobj(output, log)
    return log.name


def _pyspark() -> Any:
    try:
        with warnings.catch_warnings(action="ignore"):  # about libraries that we don't use
            import pyspark  # optional
    except ImportError:
        raise ToucheError(f"PySpark is not installed; get it with: {installing('spark')}") from None
    return pyspark


def _context(pyspark: Any, conf: Any, output: IO[str]) -> Any:
    """Returns a context whose Java process writes to ``output``, not to standard error."""
    from pyspark.java_gateway import launch_gateway  # optional

    try:
        gateway = launch_gateway(conf, popen_kwargs={"stdout": output, "stderr": output})
        with warnings.catch_warnings(action="ignore"):  # about pandas, which we don't use
            return pyspark.SparkContext(conf=conf, gateway=gateway)
    except Exception as error:
        output.seek(0)
        text = output.read()
        # Java's own message says most. If Java is missing, its launcher writes a line.
        reasons = [*_JAVA_ERROR.findall(text), *_NO_JAVA.findall(text), str(error)]
        remedy = "check --master and Spark's settings; JAVA_HOME or the PATH needs Java 17 or newer"
        raise ToucheError(f"Spark cannot be started ({shortened(reasons[0])}); {remedy}") from error


def _end_java(gateway: Any) -> None:
    """Ends Java, so that a later run in this process can start its own with other settings."""
    from pyspark import SparkContext  # optional

    gateway.shutdown()
    if gateway.proc:  # else another program, such as spark-submit, started Java
        gateway.proc.stdin.close()  # Java ends when its standard input is closed
        gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None
