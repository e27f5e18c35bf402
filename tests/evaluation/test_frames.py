from pathlib import Path
from typing import Any

import pytest

import touche as package
from conftest import Touche, Write
from spotcheck import run_text

TASK = "spot-check/passages"
pytestmark = pytest.mark.filterwarnings("ignore:.*and count as wrong")  # runs without stances


def test_what_puts_a_score_in_doubt_is_a_warning(write: Write) -> None:
    path = write("run.txt", run_text(strangers=2))
    with pytest.warns(UserWarning, match="t, relevance: less than 90% of the top 5 is judged"):
        scores = package.evaluate(str(path), TASK, "trec_eval", measure="nDCG@5")
    assert [score.evaluator for score in scores] == ["trec_eval"]


def test_a_baseline_runs_into_a_frame_that_is_its_run(touche: Touche, tmp_path: Path) -> None:
    touche("run", "bm25", "-i", TASK, "-o", tmp_path, "--k1", "1.2", "--depth", "7")
    frame = package.run("bm25", TASK, k1=1.2, depth=7).frame()
    lines = [line.split() for line in (tmp_path / "run.txt").read_text().splitlines()]
    assert list(frame.columns) == ["qid", "docno", "rank", "score", "stance"]
    assert frame.values.tolist() == [
        [topic, document, int(rank) - 1, float(score), stance]
        for topic, stance, document, rank, score, _ in lines
    ]
    assert frame.attrs == {"tag": lines[0][-1]} and frame["rank"].min() == 0  # PyTerrier's format


def test_a_function_runs_on_a_folder_and_says_what_it_did_not_find(write: Write) -> None:
    @package.baseline
    def mine(topics: Any, documents: Any, *, weight: float = 1.0) -> package.Rankings:
        yield topics[0], [(document.id, weight * len(document.text)) for document in documents]

    write("in/queries.jsonl", '{"qid": "1", "query": "a"}\n{"qid": "2", "query": "b"}\n')
    documents = '{"docno": "d1", "text": "a"}\n{"docno": "d2", "text": "aa"}\n'
    folder = write("in/documents.jsonl", documents).parent
    with pytest.warns(UserWarning, match="mine: nothing found for topic 2: b"):
        frame = package.run(mine, folder, weight=2).frame()
    assert frame.values.tolist() == [["1", "d2", 0, 4.0], ["1", "d1", 1, 2.0]]
