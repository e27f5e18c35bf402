from math import log, sqrt

import pytest

from touche import baselines
from touche.data import datasets
from touche.errors import ParameterError
from touche.pairs import coherence
from touche.pairs.pair_ranking import Pair, ScoredSentence, by_dirichletlm


def sentence(text: str, argument: str = "a", stance: str = "PRO") -> ScoredSentence:
    return ScoredSentence(
        id=f"{argument}__PREMISE__1", text=text, argument=argument, stance=stance, index=1, score=1.0
    )


def test_lexical_coherence_is_a_cosine_of_stems() -> None:
    """Two sentences share one stem, whose df is two; the other stems have a df of one."""
    ((score,),) = coherence.stem_cosines([[Pair(sentence("Cats sleep"), sentence("A cat barks"), 0)]])
    shared = log(1 + 2 / 2)
    own = log(1 + 2 / 1)
    assert score == pytest.approx(shared**2 / sqrt((shared**2 + own**2) ** 2), abs=1e-4)


@pytest.mark.parametrize("measure", [coherence.stem_cosines, coherence.embedding_cosines])
def test_what_only_repeats_does_not_read_on(measure: object) -> None:
    same = Pair(sentence("Cats sleep all day."), sentence("Cats sleep all day!"), 0)
    related = Pair(sentence("Cats sleep all day."), sentence("A cat sleeps for sixteen hours."), 0)
    assert callable(measure)
    ((repeated, read_on),) = measure([[same, related]])
    assert repeated == 0 < read_on


def test_the_score_of_a_pair_is_relevance_and_coherence_less_the_penalty() -> None:
    source = datasets.open_dataset("spot-check/pairs")
    baseline = baselines.load("sentence-coherence")
    topics = source.topics[:1]
    options = {"coherence": "lexical", "weight": 0.3, "penalty": 0.2, "depth": 200}
    ((_, hits),) = baseline(topics, source.documents, **options)
    ((_, candidates),) = by_dirichletlm(topics, source.documents, 2000.0, 200)
    (coherences,) = coherence.stem_cosines([candidates])
    best = max(pair.score for pair in candidates)
    expected = {
        pair.id: 0.7 * pair.score / best + 0.3 * value - 0.2 * pair.contradicts_itself
        for pair, value in zip(candidates, coherences, strict=True)
    }
    assert {id: score for id, score, _ in hits} == pytest.approx(expected)
    assert any(pair.contradicts_itself for pair in candidates)


@pytest.mark.parametrize(
    ("name", "model", "words"),
    [("nsp", "", "nsp needs a model; pass the folder"), ("embedding", "x", "takes no model")],
)
def test_a_model_is_for_next_sentences_only(name: str, model: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        coherence.measure_named(name, model)
