import numpy as np
import pytest

from neighbours import neighbour
from random_examples import given, st
from touche.documents.document_records import Argument, Sentence

centrality = neighbour("argsrank", "centrality")


@given(st.integers(2, 12), st.floats(0.05, 0.95), st.randoms(use_true_random=False))
def test_the_walk_stays_where_the_eigenvector_says(size: int, damping: float, random: object) -> None:
    rng = np.random.default_rng(size * 1000 + int(damping * 100))
    vectors = rng.normal(size=(size, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    moves = (1 - damping) * centrality.similarity(vectors) + damping * centrality.teleport(["x"] * size)
    values, columns = np.linalg.eig(moves.T)
    eigenvector = np.real(columns[:, np.argmax(np.real(values))])
    assert moves.sum(axis=1) == pytest.approx(np.ones(size))
    assert centrality.stationary(moves) == pytest.approx(eigenvector / eigenvector.sum(), abs=1e-9)


def test_sentences_that_look_argumentative_are_jumped_to() -> None:
    texts = ["Nice day.", "It is so because of rain.", "We should stay, because it rains and thus is wet."]
    assert [centrality.discourse_markers(text) for text in texts] == [0, 1, 2]
    assert [centrality.has_claim_word(text) for text in texts] == [False, False, True]
    assert centrality.teleport(texts)[0] == pytest.approx([1 / 7, 2 / 7, 4 / 7])
    assert (centrality.teleport(texts) == centrality.teleport(texts)[0]).all()


def test_a_longer_marker_is_one_marker_and_a_part_of_a_word_is_none() -> None:
    assert centrality.discourse_markers("Even  though it hurts, on the other hand it heals.") == 2
    assert centrality.discourse_markers("The butter is stiff.") == 0
    assert not centrality.has_claim_word("Badly goodish.")


def test_damping_is_the_share_of_jumps() -> None:
    """Rows of M for d = 0.9: 0.1 (1, 0.6) / 1.6 + 0.9 (1, 2) / 3 and 0.1 (0.6, 1) / 1.6 + 0.9 (1, 2) / 3."""
    vectors = np.array([[1, 0], [0.6, 0.8]], np.float32)
    texts = ["Nice day.", "It is so because of rain."]
    there = 0.1 * 0.6 / 1.6 + 0.6
    back = 0.1 * 0.6 / 1.6 + 0.3
    expected = [back / (there + back), there / (there + back)]
    assert centrality.centrality(texts, vectors, 0.9) == pytest.approx(expected, abs=1e-6)


def test_the_two_most_central_sentences_are_in_the_order_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {"far": (0.0, 1.0), "mid": (0.8, 0.6), "near": (1.0, 0.0)}

    def embed(texts: list[str]) -> object:
        assert len(texts) == len(set(texts))
        return np.array([vectors[text] for text in texts], np.float32)

    monkeypatch.setattr(centrality.pairs, "embed", embed)
    sentences = tuple(Sentence(text, text) for text in ("far", "near", "NEAR ", "", "mid"))
    assert centrality.most_central(
        [Argument(id="a", conclusion="", premises=(), stance="PRO", sentences=sentences)], 0.1
    ) == {"a": (1, 4)}
