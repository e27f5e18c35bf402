"""Spark leaves nothing behind when it stops."""

import re
from pathlib import Path
from typing import IO, Any
from unittest.mock import MagicMock

import pytest

from conftest import Touche, Write
from touche.cluster import session, started
from touche.cluster.failing import SparkError
from touche.errors import ToucheError


def test_the_log_of_a_spark_that_failed_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="needs PySpark: make .venv/spark")
    context = MagicMock()
    ended = MagicMock()

    def begun(pyspark: Any, conf: Any, said: IO[str]) -> Any:
        context.stop = lambda: print("ERROR no space left", file=said, flush=True)
        return context

    for name, replacement in (("_pyspark", MagicMock()), ("_end", ended)):
        monkeypatch.setattr(session, name, replacement)
    monkeypatch.setattr(session, "_context", begun)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for error in (SparkError("Spark failed"), ToucheError("no documents")):
        with pytest.raises(ToucheError, match=str(error)) as raised, started("local", "tests"):
            raise error
        if log := re.search("Spark failed; see (.*) and docs/how-to/large-collections.md", str(raised.value)):
            assert Path(log[1]).read_text() == "ERROR no space left\n"
    assert log is None and len(list(tmp_path.iterdir())) == 1
    assert ended.call_count == 2


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("-i s3a://bucket/corpus", "add --runner spark, or pass a folder"),
        ("-i s3a://bucket/corpus --corpus argsme/2020-04-01 --runner spark", "omit --corpus"),
        ("--keep-fields s3a://bucket/fields", "s3a://bucket/fields: only Spark opens addresses"),
        ("--keep-fields x --runner spark --resume", "omit --resume or --keep-fields"),
        ("--master yarn", "has no effect on the runner local; omit it, or choose spark"),
    ],
)
def test_options_that_exclude_each_other_are_refused(touche: Touche, options: str, error: str) -> None:
    code, _, said = touche("run", "bm25", "-i", "spot-check/pages", "-o", "x", *options.split())
    assert code == 2 and error in said


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", ["", "#!/bin/sh\necho 'Exception in thread main java.lang.Error: too old' >&2; exit 1\n"]
)
def test_a_java_that_is_missing_or_too_old_is_a_sentence(
    write: Write, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    pytest.importorskip("pyspark", reason="needs PySpark: make .venv/spark")
    java = write("jdk/bin/java" if script else "none", script)
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(java.parents[1] if script else java.parent))
    reason = "too old" if script else "/bin/java: "
    with (
        pytest.raises(ToucheError, match=rf"cannot be started \(.*{reason}.*\); .* Java 17 or newer"),
        started("local", "x"),
    ):
        pass
