"""Sentence coherence: DirichletLM's pairs, re-ranked by how coherent their two sentences are."""

from typing import Literal

from touche import Documents, Rankings, Topics, baseline, check_range, pairs, watched


@baseline
def sentence_coherence(
    topics: Topics,
    documents: Documents,
    *,
    coherence: Literal["lexical", "embedding", "nsp"] = "embedding",
    model: str = "",
    weight: float = 0.5,
    penalty: float = 0.5,
    mu: float = 2000.0,
    depth: int = 1000,
) -> Rankings:
    """Re-ranks the pairs of dirichletlm-pairs by a weighted sum of relevance and coherence.

    A pair's score is (1 - weight) relevance + weight coherence, minus the penalty for opposite stances.
    Relevance is the pair's DirichletLM score, divided by the topic's highest score.

    coherence: how to measure coherence: lexical with common stems, embedding with sentence embeddings
        (all-MiniLM-L6-v2), nsp with BERT's next-sentence prediction.
    model: folder of the BERT model, for nsp only.
    weight: weight of coherence, from 0 to 1.
    penalty: penalty for a pair with opposite stances, from 0 to 10.
    mu: DirichletLM's weight of the collection's language model, in tokens.
    depth: number of re-ranked pairs per topic.
    """
    check_range("weight", weight, 0, 1)
    check_range("penalty", penalty, 0, 10)
    measure = pairs.measure_named(coherence, model)
    ranked_pairs = pairs.by_dirichletlm(topics, documents, mu, depth)
    candidates = list(watched(ranked_pairs, "pairing", "topics", len(topics)))
    coherences = measure([ranked for _, ranked in candidates])
    reranked = []
    for (topic, ranked), coherences_of_topic in zip(candidates, coherences, strict=True):
        # Without pairs, or if all scores are 0, division by 1 leaves a relevance of 0.
        highest = max((pair.score for pair in ranked), default=0.0) or 1.0
        scored = []
        for pair, coherence_of_pair in zip(ranked, coherences_of_topic, strict=True):
            score = (1 - weight) * pair.score / highest + weight * coherence_of_pair
            if pair.contradicts_itself:
                score -= penalty
            scored.append(pair.scored(score))
        reranked.append((topic, scored))
    yield from pairs.hits(reranked, depth)
