"""Prince of Persia (2020): the weighted sum of scores from two indexes, of premises and of conclusions."""

from math import log2
from typing import Literal

import numpy as np

from touche import Documents, Rankings, Topics, baseline, conclusion_of, premises_of, scan

Hits = list[tuple[str, float]]

FIELDS = {"premises": premises_of, "conclusion": conclusion_of}
RUNS = {  # from the tags of the team's runs: models of premises and conclusions, weight of premises
    "1": ("DirichletLM", "DirichletLM", 0.8),
    "2": ("BM25", "BM25", 0.8),
    "3": ("DLH", "PL2", 0.8),
    "4": ("DLH", "BM25", 0.8),
    "5": ("DLH", "DLH", 0.9),
}
RESULTS = 1000  # how many results of each index count
# Terrier's parameters.
MU = 2500.0
K1 = 1.2
B = 0.75


@baseline
def prince_of_persia(
    topics: Topics, documents: Documents, *, run: Literal["1", "2", "3", "4", "5"] = "1", depth: int = 1000
) -> Rankings:
    """Ranks arguments by a weighted sum of two scores: for their premises and for their conclusion.

    The models are Terrier's. Each field is indexed on its own, and only its first 1,000 results count. The
    team's synonyms and sentiments are left out.

    run: number of the team's run, which decides the models of premises and conclusion: 1 DirichletLM twice,
        2 BM25 twice, 3 DLH and PL2, 4 DLH and BM25, weighted 0.8 and 0.2; 5 DLH twice, weighted 0.9 and 0.1.
    depth: number of arguments per topic.
    """
    model_of_premises, model_of_conclusions, weight = RUNS[run]
    collection = scan.Collection.of(topics, documents, "english", FIELDS)
    by_premises = collection.rank(topics, scoring_by_field("premises", model_of_premises), RESULTS)
    by_conclusions = collection.rank(topics, scoring_by_field("conclusion", model_of_conclusions), RESULTS)
    rankings = (
        (topic, weighted_sum(premises, conclusions, weight)[:depth])
        for (topic, premises), (_, conclusions) in zip(by_premises, by_conclusions, strict=True)
    )
    yield from collection.with_all_candidates(rankings, depth)


def weighted_sum(premises: Hits, conclusions: Hits, weight: float) -> Hits:
    """Adds up two rankings' scores: the premises' times ``weight``, the conclusions' times 1 - ``weight``.

    A document that is missing from one ranking scores 0 there.
    """
    scores = {id: weight * score for id, score in premises}
    for id, score in conclusions:
        scores[id] = scores.get(id, 0.0) + (1 - weight) * score
    return sorted(scores.items(), key=lambda hit: (hit[1], hit[0]), reverse=True)  # ties by descending id


def scoring_by_field(field: str, model: str) -> scan.Scoring:
    """Returns the scoring of a search index with a single field.

    Args:
        field: a key of ``FIELDS``; documents without a title term in this field are omitted.
        model: a key of ``MODELS``.
    """
    boosts = [1.0 if name == field else 0.0 for name in FIELDS]
    field_index = list(FIELDS).index(field)
    return scan.Scoring(MODELS[model], boosts, length_rounding=scan.exact, required={field_index: "any"})


def dirichletlm(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
    """Terrier's DirichletLM. Unlike in Lucene's, terms can lower the score."""
    return np.log2(1 + tf / (MU * term.ttf / term.tokens)) + np.log2(MU / (length + MU))


def bm25(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
    """Terrier's BM25. A term in most documents lowers the score."""
    idf = log2((term.documents - term.df + 0.5) / (term.df + 0.5))
    return idf * (K1 + 1) * tf / (tf + K1 * (1 - B + B * length / term.mean_length))


MODELS: dict[str, scan.Formula] = {
    "DirichletLM": dirichletlm,
    "BM25": bm25,
    "DLH": scan.dlh,
    "PL2": scan.pl2(),
}
