"""Spark leaves nothing behind when it stops."""

import shlex

import pytest

from conftest import Touche, Write
from touche.errors import ToucheError
from touche.lab.spark.session import started


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("run bm25 -i s3a://bucket/corpus", "see touche spark --help, or pass a folder"),
        ("run bm25 -i spot-check/pages --runner spark", "'spark' is not one of"),
        ("spark bm25 -i s3a://bucket/corpus --corpus argsme/2020-04-01", "omit --corpus"),
        (
            "spark bm25 -i spot-check/pages --topics t.xml",
            "spot-check/pages has its own topics; omit --topics",
        ),
        ("spark bm25 -i spot-check/pages --runner docker", "No such option '--runner'"),
        ("spark bm25 -i spot-check/pages --cpus 2", "No such option '--cpus'"),
        ("spark bm25 -i spot-check/pages --team ' '", "team"),
    ],
)
def test_options_that_exclude_each_other_are_refused(touche: Touche, arguments: str, error: str) -> None:
    code, _, said = touche(*shlex.split(arguments), "-o", "x")
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
