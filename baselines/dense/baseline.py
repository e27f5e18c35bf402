"""Dense: ranks documents by the cosine between their embedding and the title's, with all-MiniLM-L6-v2."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from touche import Documents, Rankings, Topics, baseline, check_range, make_folder, pairs, scan

from .embeddings import Embeddings
from .nearest import nearest


@baseline
def dense(
    topics: Topics,
    documents: Documents,
    *,
    candidates: int = 0,
    keep_embeddings: str = "",
    precision: Literal["float32", "float16"] = "float32",
    depth: int = 1000,
) -> Rankings:
    """Ranks documents by the cosine between their embedding and the title's.

    candidates: how many of BM25's best documents to rank per topic; 0 ranks all documents.
    keep_embeddings: a folder to store the documents' embeddings in; later runs read them.
    precision: the number type of the documents' embeddings.
    depth: maximum number of documents per topic.
    """
    check_range("candidates", candidates, 0, 1000)  # their texts are in memory
    folder = Path(keep_embeddings) if keep_embeddings else None
    if folder:
        make_folder(folder)
    if candidates:
        topics, documents = best_of_bm25(topics, documents, candidates)
    encoder = pairs.Encoder()
    titles = encoder.embed([topic.title for topic in topics])
    blocks = Embeddings(encoder, precision, folder).of_documents(documents)
    yield from nearest(topics, titles, blocks, depth)


def best_of_bm25(topics: Topics, documents: Documents, count: int) -> tuple[Topics, Documents]:
    """Returns the topics with BM25's best documents as candidates, and these documents.

    BM25 uses the settings of the baseline bm25.
    """
    ranked = list(scan.rank(topics, documents, scan.bm25(k1=0.9, b=0.4), analysis="english", depth=count))
    restricted = [replace(topic, candidates=frozenset(id for id, _ in hits)) for topic, hits in ranked]
    ids = {id for _, hits in ranked for id, _ in hits}
    return restricted, Documents.of(scan.picked(documents, ids))
