"""Terrier's BM25 over the texts of images' pages: PyTerrier, an image retrieval baseline of 2023."""

from collections import Counter
from math import log2
from typing import Literal

from touche import Documents, Rankings, Topics, baseline, check_range, scan

from . import terrier


@baseline
def bm25_images(
    topics: Topics,
    documents: Documents,
    *,
    k1: float = 1.2,
    b: float = 0.75,
    stance: Literal["PRO", "CON", "both"] = "PRO",
    depth: int = 10,
) -> Rankings:
    """Ranks images with Terrier's BM25 over their pages' texts, using PyTerrier's defaults.

    Terrier's idf is negative for terms in more than half of the images.

    k1: saturation of the term frequency; with a larger k1, repeated terms add more.
    b: influence of the length of an image's texts, from 0 to 1.
    stance: stance of all images; with both, each stance gets the same images.
    depth: number of images per topic and stance.
    """
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)

    def bm25(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        idf = log2((term.documents - term.df + 0.5) / (term.df + 0.5))
        return idf * (k1 + 1) * tf / (tf + k1 * (1 - b + b * length / term.mean_length))

    rankings = scan.rank(
        topics,
        documents,
        bm25,
        analysis="standard",  # without stemming, because the field already contains Terrier's stems
        queries={topic.number: Counter(terrier.terms(topic.title)) for topic in topics},
        fields={"text": terrier.joined_terms},
        length_rounding=scan.exact,
        depth=depth,
    )
    stances = ["PRO", "CON"] if stance == "both" else [stance]
    for topic, hits in rankings:
        for stance_of_hits in stances:
            yield topic, [(image, score, stance_of_hits) for image, score in hits]
