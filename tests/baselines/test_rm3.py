from collections import Counter
from dataclasses import replace
from functools import partial
from math import log

import pytest

from oracles.formulas import bm25, lm_dirichlet
from touche import baselines
from touche.documents.document_records import Document
from touche.trec.topics import Topic

DOCUMENTS = [
    Document("d1", "cat cat dog"),
    Document("d2", "cat bird bird bird"),
    Document("d3", "dog"),
    Document("d4", "bird"),
    Document("d5", "fish"),
]
CAT = Topic("1", "cat")


def ranked(**options: object) -> dict[str, float]:
    return dict(next(iter(baselines.load("rm3")([CAT], DOCUMENTS, **options)))[1])


def test_by_hand_with_bm25() -> None:
    """Two documents count by their scores; the two likeliest of their three words remain."""
    gain = partial(bm25, mean=2, df=2, documents=5)
    first = {"d1": gain(2, 3), "d2": gain(1, 4)}
    relevance = {
        "cat": 2 / 3 * first["d1"] + 1 / 4 * first["d2"],
        "dog": 1 / 3 * first["d1"],
        "bird": 3 / 4 * first["d2"],
    }
    assert relevance["dog"] < relevance["bird"] < relevance["cat"]
    weight = relevance["cat"] + relevance["bird"]
    cat = 0.6 + 0.4 * relevance["cat"] / weight
    bird = 0.4 * relevance["bird"] / weight
    expected = {
        "d1": cat * gain(2, 3),
        "d2": cat * gain(1, 4) + bird * gain(3, 4),
        "d4": bird * gain(1, 1),
    }
    assert ranked(model="bm25", words=2, title=0.6) == pytest.approx(expected, rel=1e-6)


def test_the_expanded_query_of_each_topic_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="touche.rm3")
    topics = [CAT, Topic("2", "fish")]
    list(baselines.load("rm3")(topics, DOCUMENTS, feedback=1))
    assert caplog.messages == [
        "topic 1, terms of title and expansion: cat 0.8333, dog 0.1667",  # 0.5 + 0.5 · 2/3, and 0.5 · 1/3
        "topic 2, terms of title and expansion: fish 1.0000",
    ]


def test_by_hand_with_dirichletlm() -> None:
    """With only one document, its own probability has no effect."""
    mu = 2.0
    cat = 0.5 + 0.5 * 2 / 3
    dog = 0.5 / 3

    gain = partial(lm_dirichlet, tokens=10, mu=mu)
    expected = {
        "d1": cat * gain(2, 3, 3) + dog * gain(1, 3, 2),
        "d2": cat * gain(1, 4, 3),
        "d3": dog * gain(1, 1, 2),
    }
    assert ranked(mu=mu, feedback=1) == pytest.approx(expected, rel=1e-6)


def test_a_document_counts_by_the_likelihood_of_the_whole_title() -> None:
    """The formula with smoothed probabilities, including words that a document lacks."""
    own = baselines.load("rm3").method.__globals__
    title = Counter(["cat", "dog", "fish", "fish"])
    mu = 2.0
    of_word = {"cat": 4 / 11, "dog": 3 / 11, "fish": 2 / 11}
    differences = set()
    for document in map(Counter, (["cat", "cat", "dog"], ["cat", "bird", "bird", "bird"])):
        score = sum(
            log(1 + document[word] / (mu * of_word[word])) + log(mu / (mu + document.total()))
            for word in title
            if word in document
        )
        whole = sum(log((document[w] + mu * of_word[w]) / (mu + document.total())) for w in title.elements())
        differences.add(round(own["log_likelihood"](score, title, document, mu) - whole, 9))
    assert len(differences) == 1  # the part that all documents share


@pytest.mark.parametrize("title", ["horse", ""])
def test_a_title_that_finds_nothing_is_left_as_it_is(title: str) -> None:
    assert dict(baselines.load("rm3")([Topic("1", title)], DOCUMENTS)) == {Topic("1", title): []}


def test_candidates_without_a_term_give_no_words_and_are_last() -> None:
    candidates = frozenset({"d1", "d2", "d3", "d5"})
    ((_, hits),) = baselines.load("rm3")([replace(CAT, candidates=candidates)], DOCUMENTS, words=9)
    assert {id for id, _ in hits} == candidates and hits[-1] == ("d5", 0.0)  # "fish" is no likely word
