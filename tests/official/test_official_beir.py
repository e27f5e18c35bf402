"""Judgments on the page why-bm25-wins.md, whose scripts print its other figures."""

from collections import Counter
from pathlib import Path

from touche.trec.qrels import Qrels, read_qrels

CORRECTED = "touche2020-task1-relevance-args-me-corpus-version-2020-04-01-corrected.qrels"
VERSION_1 = "touche2020-task1-relevance-args-me-corpus-version-1.qrels"


def judged(official: Path, name: str) -> Qrels:
    return read_qrels(official / "qrels" / name)


def test_relevant_documents_of_v2_are_those_of_the_corrected_file_of_the_other_version(
    official: Path,
) -> None:
    beir = judged(official, "beir-webis-touche2020-v2.qrels")
    corrected = judged(official, CORRECTED)
    for topic in beir.keys() | corrected.keys():
        v2, other = (
            Counter((id.split("-")[0].lstrip("S"), label) for id, label in qrels[topic].items() if label > 0)
            for qrels in (beir, corrected)
        )
        assert v2 == other
