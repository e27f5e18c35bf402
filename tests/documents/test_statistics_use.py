"""Statistics are refused for a baseline that does not use them, and an earlier run stays."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Write
from touche import baseline, baselines, scan
from touche.documents.discovery import find
from touche.documents.statistics_files import StatisticsFiles
from touche.errors import ToucheError


@baseline
def reads_nothing(topics: Any, documents: Any) -> Any:
    yield from ((topic, []) for topic in topics)


@baseline
def iterates(topics: Any, documents: Any) -> Any:
    yield from ((topic, [(document.id, 1.0) for document in documents]) for topic in topics)


@baseline
def iterates_and_scans(topics: Any, documents: Any) -> Any:
    assert [document.id for document in documents] == ["d"]
    yield from scan.rank(topics, documents, scan.bm25(1.2, 0.75), analysis="standard")


@pytest.mark.parametrize("ranker", [reads_nothing, iterates, iterates_and_scans])
def test_statistics_need_a_baseline_that_ranks_by_them(write: Write, tmp_path: Path, ranker: Any) -> None:
    write("in/queries.jsonl", '{"qid": 1, "query": "cats"}')
    write("in/documents.jsonl", '{"docno": "d", "text": "cats"}')
    earlier = write("out/run.txt", "earlier")
    statistics = tmp_path / "kept.json"
    source = find(tmp_path / "in")
    counted = replace(source, documents=source.documents.with_statistics(StatisticsFiles(output=statistics)))
    if ranker is iterates_and_scans:
        baselines.run(ranker, counted, tmp_path / "out", {})
        assert statistics.is_file() and earlier.read_text().startswith("1 Q0 d 1 ")
    else:
        with pytest.raises(ToucheError, match=r"rank with touche\.scan"):
            baselines.run(ranker, counted, tmp_path / "out", {})
        assert earlier.read_text() == "earlier" and not statistics.exists()
