"""What is left of Spark when it is stopped."""

import re
from pathlib import Path
from typing import IO, Any
from unittest.mock import MagicMock

import pytest

from touche.cluster import session, started
from touche.cluster.failing import SparkError
from touche.errors import ToucheError


def test_the_log_of_a_spark_that_failed_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="needs PySpark: make .venv/spark")
    context, ended = MagicMock(), MagicMock()

    def begun(pyspark: Any, conf: Any, said: IO[str]) -> Any:
        context.stop = lambda: print("ERROR no space left", file=said, flush=True)
        return context

    for name, made in (("_pyspark", MagicMock()), ("check_java", MagicMock()), ("_end", ended)):
        monkeypatch.setattr(session, name, made)
    monkeypatch.setattr(session, "_context", begun)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for error in (SparkError("Spark failed"), ToucheError("no documents")):
        with pytest.raises(ToucheError, match=str(error)) as raised, started("local", "tests"):
            raise error
        if log := re.search("Spark failed; see (.*), and repair it", str(raised.value)):
            assert Path(log[1]).read_text() == "ERROR no space left\n"
    assert log is None and len(list(tmp_path.iterdir())) == 1
    assert ended.call_count == 2
