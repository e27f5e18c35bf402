"""The first results with their texts, as TIRA's viewers read them (TIRA's rendering of runs, and DiffIR)."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from touche.evaluation.scores import Evaluated
from touche.io.writing import whole

FILE = ".data-top-10-for-rendering.jsonl.gz"
DEPTH = 10

Rendering = Mapping[str, Mapping[str, object]]


def rendering_of(
    ranked: Iterable[tuple[str, str, str]], run: Evaluated, texts: Mapping[str, str]
) -> Rendering:
    """What a viewer needs beside a run: the topics, the texts, and the labels of one dimension.

    Args:
        ranked: topic, document and run of everything that is among the first results.
        run: one of the runs, whose judgments and titles are taken.
        texts: of documents by id; one that is not known is empty.
    """
    topics: dict[str, dict[str, None]] = {}
    for topic, document, _ in ranked:
        topics.setdefault(topic, {})[document] = None
    documents = {document: None for found in topics.values() for document in found}
    judged = {topic: run.judgments.get(topic, {}) for topic in topics}
    return {
        "queries": {topic: {"qid": topic, "query": run.titles.get(topic, "")} for topic in topics},
        "documents": {each: {"docno": each, "text": texts.get(each, "")} for each in documents},
        "qrels": {
            topic: {each: judged[topic][each] for each in found if each in judged[topic]}
            for topic, found in topics.items()
        },
    }


def write_rendering(rendering: Rendering, folder: Path) -> None:
    """Writes the file under the name that the viewers look for, the same bytes every time.

    Raises:
        InputError: if the folder cannot be written.
    """
    with whole(folder / FILE) as file:
        file.write(gzip.compress(json.dumps(rendering).encode(), mtime=0))
