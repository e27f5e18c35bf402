"""BM25 (Robertson et al. 1994) with English stems: Puss in Boots of 2022; for images, also Terrier's."""

from collections import Counter
from functools import partial
from typing import Literal

from touche import Documents, Rankings, Topics, baseline, check_range, conclusion_of, premises_of, scan

from . import terrier

TITLE_AND_TEXT = {"text": premises_of, "title": conclusion_of}


@baseline
def bm25(
    topics: Topics,
    documents: Documents,
    *,
    k1: float = 0.9,
    b: float = 0.4,
    multifield: bool = False,
    engine: Literal["lucene", "terrier"] = "lucene",
    stance: Literal["FIRST", "SECOND", "NEUTRAL", "NO", "PRO", "CON", "both"] = "NO",
    depth: int = 1000,
) -> Rankings:
    """Ranks documents with BM25 for the topic's title, using Anserini's defaults.

    k1: saturation of the term frequency; with a larger k1, repeated terms add more.
    b: influence of the document's length, from 0 to 1.
    multifield: score title and text (conclusion and premises) as two fields of equal weight.
    engine: whose formula and terms to use. Terrier removes more stop words. Its idf is negative for terms in
        more than half of the documents.
    stance: stance of all documents. For images, use PRO, CON, or both (a ranking for each stance). For topics
        that compare two objects, use FIRST, SECOND, NEUTRAL or NO.
    depth: number of documents per topic.
    """
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)
    fields = TITLE_AND_TEXT if multifield else scan.ONE_FIELD
    # For images, there is a ranking for each stance.
    image_stances = {"PRO": ["PRO"], "CON": ["CON"], "both": ["PRO", "CON"]}.get(stance)
    if engine == "lucene":
        rankings = scan.rank(
            topics, documents, scan.bm25(k1, b), analysis="english", fields=fields, depth=depth
        )
    else:
        rankings = scan.rank(
            topics,
            documents,
            terrier.bm25(k1, b),
            analysis="standard",  # without stemming, because the fields already contain Terrier's stems
            queries={topic.number: Counter(terrier.terms(topic.title)) for topic in topics},
            fields={name: partial(terrier.joined_terms, field) for name, field in fields.items()},
            depth=depth,
            length_rounding=scan.exact,
        )
    for topic, hits in rankings:
        if image_stances:
            for image_stance in image_stances:
                yield topic, [(document, score, image_stance) for document, score in hits]
        elif topic.objects:  # a topic that compares objects, where each document gets a stance
            yield topic, [(document, score, stance) for document, score in hits]
        else:
            yield topic, hits
