"""BM25 (Robertson et al. 1994) over English stems: Puss in Boots of 2022; also Terrier's, for images."""

from math import log2
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
    idf: Literal["lucene", "terrier"] = "lucene",
    stance: Literal["FIRST", "SECOND", "NEUTRAL", "NO", "PRO", "CON", "both"] = "NO",
    depth: int = 1000,
) -> Rankings:
    """Ranks documents by BM25 for the topic's title, with the defaults of Anserini.

    k1: saturation of the term frequency; with a larger k1, repeated terms add more.
    b: influence of the document's length, from 0 to 1.
    multifield: score title and text (conclusion and premises) as two fields of equal weight.
    idf: of Lucene, which is always positive; or of Terrier, with its exact lengths.
    stance: stance of all documents. Images have PRO, CON or both, each in a ranking of its own. The others
        are for topics with compared objects.
    depth: number of documents per topic.
    """
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)
    fields = TITLE_AND_TEXT if multifield else scan.ONE_FIELD
    model = scan.bm25(k1, b) if idf == "lucene" else terrier(k1, b)
    lengths = scan.one_byte if idf == "lucene" else scan.exact
    of_images = {"PRO": ["PRO"], "CON": ["CON"], "both": ["PRO", "CON"]}.get(stance)
    for topic, hits in scan.rank(
        topics, documents, model, analysis="english", fields=fields, depth=depth, kept_of_lengths=lengths
    ):
        for name in of_images or ([stance] if topic.objects else []):
            yield topic, [(*hit, name) for hit in hits]
        if not (of_images or topic.objects):
            yield topic, hits


def terrier(k1: float, b: float) -> scan.Formula:
    """Terrier's BM25, in which a term of most documents has a negative contribution."""

    def formula(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        idf = log2((term.documents - term.df + 0.5) / (term.df + 0.5))
        score: scan.Array = idf * (k1 + 1) * tf / (tf + k1 * (1 - b + b * length / term.mean_length))
        return score

    return formula
