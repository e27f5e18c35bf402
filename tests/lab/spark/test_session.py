"""Spark leaves nothing behind when it stops."""

import pytest

from conftest import Touche, Write
from touche.errors import ToucheError
from touche.lab.spark import started


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("-i s3a://bucket/corpus", "add --runner spark, or pass a folder"),
        ("-i s3a://bucket/corpus --corpus argsme/2020-04-01 --runner spark", "omit --corpus"),
        ("-i spot-check/pages --master yarn", "has no effect on the runner local; omit it, or choose spark"),
    ],
)
def test_options_that_exclude_each_other_are_refused(touche: Touche, options: str, error: str) -> None:
    code, _, said = touche("run", "bm25", "-o", "x", *options.split())
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
