"""The baseline dense next to sentence-transformers (Reimers and Gurevych 2019), with torch."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from neighbours import neighbour
from touche import baselines
from touche.data.datasets import open_dataset
from touche.pairs.embeddings import model_folder

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("official")]

WITHIN = 1e-5
LARGEST = 1 << 20  # kB

PEAK_MEMORY = """
from pathlib import Path
from touche.__main__ import main
try:
    main()
finally:
    print(Path("/proc/self/status").read_text())
"""


def cosines_by_peer(titles: list[str], texts: list[str]) -> Any:
    """By sentence-transformers: titles x texts."""
    peer = pytest.importorskip("sentence_transformers", reason="pip install sentence-transformers")
    model = peer.SentenceTransformer(str(model_folder()), device="cpu")
    of_titles, of_texts = (
        model.encode(some, normalize_embeddings=True, show_progress_bar=False) for some in (titles, texts)
    )
    return of_titles @ of_texts.T


@pytest.mark.parametrize("name", ["beir-webis-touche2020-v2/sample", "spot-check/arguments"])
@pytest.mark.usefixtures("official")
def test_cosines_and_order_are_those_of_sentence_transformers(name: str) -> None:
    source = open_dataset(name)
    text_of = neighbour("dense", "embeddings").embedded_text
    documents = {document.id: text_of(document) for document in source.documents}
    expected = cosines_by_peer([topic.title for topic in source.topics], list(documents.values()))
    rankings = {
        topic.number: dict(hits) for topic, hits in baselines.load("dense")(source.topics, source.documents)
    }
    for topic, cosines in zip(source.topics, expected.tolist(), strict=True):
        by_peer = dict(zip(documents, cosines, strict=True))
        assert rankings[topic.number] == pytest.approx(by_peer, abs=WITHIN)
        # Documents that the peer has closer together than its last digits tell may be in any order.
        order = [by_peer[id] for id in rankings[topic.number]]
        assert all(one > other - 1e-6 for one, other in pairwise(order))
    assert len(rankings) == len(source.topics) and all(
        len(ranking) == len(documents) for ranking in rankings.values()
    )


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="needs Linux")
@pytest.mark.usefixtures("official")
def test_memory_stays_under_a_gigabyte(tmp_path: Path) -> None:
    arguments = ("run", "dense", "-i", "touche-2020-task-1/sample", "-o", str(tmp_path / "out"))
    stored = ("--keep-embeddings", str(tmp_path / "embeddings"))
    child = subprocess.run(
        [sys.executable, "-c", PEAK_MEMORY, *arguments, *stored], capture_output=True, text=True
    )
    assert child.returncode == 0, child.stderr
    assert (tmp_path / "out" / "run.txt").read_text().count("\n") == 49 * 1000
    peak = re.search(r"VmHWM:\s+(\d+) kB", child.stdout)
    assert peak and int(peak[1]) < LARGEST
