"""BM25 (Robertson et al. 1994) with English stems and Anserini's defaults."""

from typing import Literal

from touche import Documents, Rankings, Topics, baseline, check_range, conclusion_of, premises_of, scan

TITLE_AND_TEXT = {"text": premises_of, "title": conclusion_of}


@baseline
def bm25(
    topics: Topics,
    documents: Documents,
    *,
    k1: float = 0.9,
    b: float = 0.4,
    multifield: bool = False,
    stance: Literal["FIRST", "SECOND", "NEUTRAL", "NO"] = "NO",
    depth: int = 1000,
) -> Rankings:
    """Ranks documents with BM25 for the topic's title, using Anserini's defaults.

    k1: saturation of the term frequency; with a larger k1, repeated terms add more.
    b: influence of the document's length, from 0 to 1.
    multifield: score title and text (conclusion and premises) as two fields of equal weight.
    stance: stance of all documents, for topics that compare two objects.
    depth: number of documents per topic.
    """
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)
    fields = TITLE_AND_TEXT if multifield else scan.ONE_FIELD
    rankings = scan.rank(topics, documents, scan.bm25(k1, b), analysis="english", fields=fields, depth=depth)
    for topic, hits in rankings:
        if topic.objects:
            yield topic, [(document, score, stance) for document, score in hits]
        else:
            yield topic, hits
