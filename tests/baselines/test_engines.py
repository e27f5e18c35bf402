"""What a baseline computes itself, beside what it has Lucene rank."""

from dataclasses import replace
from typing import Any

import pytest

from conftest import ROOT
from touche import baselines
from touche.errors import ParameterError
from touche.formats.argsme import read_argsme_json
from touche.formats.jsonl import read_passages_jsonl
from touche.formats.topics import Topic, read_topics_xml

SPOT_CHECKS = {
    "arguments": (read_argsme_json, "args-me.json"),
    "passages": (read_passages_jsonl, "passages.jsonl"),
}
EXACT: list[tuple[str, dict[str, Any]]] = [
    ("dirichletlm", {}),
    ("dirichletlm", {"mu": 0.3, "depth": 7}),
    ("bm25", {}),
    ("bm25", {"k1": 0.0}),
    ("bm25", {"k1": 1.7, "b": 1.0, "depth": 7}),
    ("bm25", {"b": 0.0}),
    ("tfidf", {"variant": "classic"}),
    ("tfidf", {"variant": "classic", "depth": 7}),
]
NEAR: list[dict[str, Any]] = [{}, {"k1": 0.9, "b": 0.4}, {"b": 0.0}, {"b": 1.0}, {"k1": 0.0}]


def spot_check(part: str, *, candidates: bool) -> tuple[list[Topic], list[Any]]:
    read, file = SPOT_CHECKS[part]
    topics = read_topics_xml(ROOT / "topics" / f"spot-check-{part}.xml")
    documents = list(read(ROOT / "corpora" / f"spot-check-{part}" / file))
    among = [frozenset(each.id for each in documents[n::5]) for n, _ in enumerate(topics)]
    chosen = [replace(topic, candidates=ids) for topic, ids in zip(topics, among, strict=True)]
    return chosen if candidates else topics, documents


def by_both(
    name: str, part: str, options: dict[str, Any], *, candidates: bool = False
) -> list[list[tuple[Topic, Any]]]:
    topics, documents = spot_check(part, candidates=candidates)
    method = baselines.load(name)
    return [list(method(topics, documents, **options, engine=engine)) for engine in ("scan", "lucene")]


@pytest.mark.parametrize("candidates", [False, True])
@pytest.mark.parametrize("part", SPOT_CHECKS)
@pytest.mark.parametrize(("name", "options"), EXACT)
def test_scores_are_those_of_lucene_to_the_last_bit(
    name: str, options: dict[str, Any], part: str, candidates: bool
) -> None:
    ours, theirs = by_both(name, part, options, candidates=candidates)
    assert ours == theirs and any(hits for _, hits in ours)


@pytest.mark.parametrize("part", SPOT_CHECKS)
@pytest.mark.parametrize("options", NEAR)
def test_terriers_tf_idf_is_that_of_lucene_but_for_the_last_bits(options: dict[str, Any], part: str) -> None:
    """Lucene multiplies and divides by an idf that our formula does without."""
    ours, theirs = by_both("tfidf", part, options)
    for (_, hits), (_, expected) in zip(ours, theirs, strict=True):
        scores, their_scores = dict(hits), dict(expected)
        assert scores == pytest.approx(their_scores, rel=1e-6)
        for (one, _), (other, _) in zip(hits, expected, strict=True):
            assert one == other or their_scores[one] == pytest.approx(their_scores[other], rel=1e-6)
    assert any(hits for _, hits in ours)


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("dirichletlm", {"mu": 0.0}, "mu = 0: give a number from 1e-09 to 1e"),
        ("bm25", {"k1": -1.0}, "k1 = -1: give a number from 0 to 1e"),
        ("bm25", {"b": float("nan")}, "b = nan: give a number from 0 to 1"),
        ("tfidf", {"b": 1.5}, "b = 1.5: give a number from 0 to 1"),
    ],
)
@pytest.mark.parametrize("engine", ["scan", "lucene"])
def test_parameters_without_a_meaning_are_refused_by_both(
    name: str, options: dict[str, Any], told: str, engine: str
) -> None:
    topics, documents = spot_check("passages", candidates=False)
    with pytest.raises(ParameterError, match=told):
        list(baselines.load(name)(topics, documents, **options, engine=engine))
