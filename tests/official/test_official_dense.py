"""The baseline dense next to sentence-transformers (Reimers and Gurevych 2019), with torch."""

from itertools import pairwise
from typing import Any

import pytest

from neighbours import neighbour
from touche import baselines
from touche.data.places import open_dataset
from touche.pairs.embeddings import _folder

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("official")]

WITHIN = 1e-5


def cosines_by_peer(titles: list[str], texts: list[str]) -> Any:
    """By sentence-transformers: titles x texts."""
    peer = pytest.importorskip("sentence_transformers", reason="pip install sentence-transformers")
    model = peer.SentenceTransformer(str(_folder()), device="cpu")
    of_titles, of_texts = (
        model.encode(some, normalize_embeddings=True, show_progress_bar=False) for some in (titles, texts)
    )
    return of_titles @ of_texts.T


@pytest.mark.parametrize("name", ["beir-webis-touche2020-v2/sample", "spot-check/arguments"])
@pytest.mark.usefixtures("official")
def test_cosines_and_order_are_those_of_sentence_transformers(name: str) -> None:
    given, text_of = open_dataset(name), neighbour("dense", "embeddings").text_of
    documents = {each.id: text_of(each) for each in given.documents}
    expected = cosines_by_peer([topic.title for topic in given.topics], list(documents.values()))
    rankings = {
        topic.number: dict(hits) for topic, hits in baselines.load("dense")(given.topics, given.documents)
    }
    for topic, cosines in zip(given.topics, expected.tolist(), strict=True):
        by_peer = dict(zip(documents, cosines, strict=True))
        assert rankings[topic.number] == pytest.approx(by_peer, abs=WITHIN)
        # Documents that the peer has closer together than its last digits tell may be in any order.
        order = [by_peer[id] for id in rankings[topic.number]]
        assert all(one > other - 1e-6 for one, other in pairwise(order))
    assert len(rankings) == len(given.topics) and all(
        len(each) == len(documents) for each in rankings.values()
    )
