"""Judgments and lengths on the page why-bm25-wins.md; skipped where TOUCHE_DATA is not set."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from touche.data.places import open_dataset
from touche.formats.documents import premises_of
from touche.formats.qrels import Qrels, read_qrels
from touche.formats.runs import by_topic, in_order_of_score, read_run

CORRECTED = "touche2020-task1-relevance-args-me-corpus-version-2020-04-01-corrected.qrels"
VERSION_1 = "touche2020-task1-relevance-args-me-corpus-version-1.qrels"


def judged(official: Path, name: str) -> Qrels:
    return read_qrels(official / "qrels" / name)


def test_relevant_documents_of_v2_are_those_of_the_corrected_file_of_the_other_version(
    official: Path,
) -> None:
    beir, corrected = judged(official, "beir-webis-touche2020-v2.qrels"), judged(official, CORRECTED)
    for topic in beir.keys() | corrected.keys():
        v2, other = (
            Counter((id.split("-")[0].lstrip("S"), label) for id, label in qrels[topic].items() if label > 0)
            for qrels in (beir, corrected)
        )
        assert v2 == other


@pytest.mark.parametrize(
    ("run", "counts"), [("bm25-multifield", (163, 198, 100)), ("splade-v2", (126, 109, 221))]
)
def test_first_results_that_v2_and_the_file_for_version_1_call_good(
    official: Path, run: str, counts: tuple[int, int, int]
) -> None:
    beir, version_1 = (judged(official, name) for name in ("beir-webis-touche2020-v2.qrels", VERSION_1))
    lines = read_run(official / "runs" / "beir-webis-touche2020" / f"{run}.run.gz")
    first = [line for topic in by_topic(in_order_of_score(lines)).values() for line in topic[:10]]
    labels = [
        (beir[line.topic].get(line.document, 0), version_1[line.topic].get(line.document)) for line in first
    ]
    relevant = sum(v2 > 0 for v2, _ in labels)
    missing = sum(v2 == 0 and (v1 or 0) >= 3 for v2, v1 in labels)
    unjudged = sum(v2 == 0 and v1 is None for v2, v1 in labels)
    assert (relevant, missing, unjudged) == counts and len(labels) == 490


def test_short_arguments_are_spam_and_long_ones_are_relevant(official: Path) -> None:
    corrected, bounds = judged(official, CORRECTED), (0, 20, 50, 100, 200, 400, 800, 10**9)
    documents = open_dataset("touche-2020-task-1/sample").documents
    words = {each.id: len(premises_of(each).split()) for each in documents}
    judgments = [
        (words[id], label) for labels in corrected.values() for id, label in labels.items() if id in words
    ]
    table = []
    for least, most in pairwise(bounds):
        labels = [label for length, label in judgments if least <= length < most]
        shares = (sum(label > 0 for label in labels), sum(label == -2 for label in labels))
        table.append((len(labels), *(round(100 * share / len(labels)) for share in shares)))
    assert table == [
        (70, 16, 81),
        (83, 31, 53),
        (85, 56, 25),
        (90, 70, 4),
        (83, 73, 4),
        (102, 76, 0),
        (261, 82, 0),
    ]
