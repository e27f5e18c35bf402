"""Compares my-method with its formula, computed here document by document."""

from math import log

import pytest

from touche import Document, Topic, load

TEXTS = {"a": "cat dog cat", "b": "dog bird fish dog", "c": "fish"}
TITLE = ("cat", "dog")
DOCUMENTS = [Document(id, text) for id, text in TEXTS.items()]


@pytest.mark.parametrize("weight", [0.1, 0.7])
def test_scores_are_those_of_the_formula(weight: float) -> None:
    [(_, hits)] = load("my-method")([Topic("1", " ".join(TITLE))], DOCUMENTS, weight=weight)
    words = " ".join(TEXTS.values()).split()
    expected = {}
    for id, text in TEXTS.items():
        in_document = text.split()
        if {*TITLE} & {*in_document}:
            shares = [in_document.count(word) / len(in_document) for word in TITLE]
            in_collection = [(words.count(word) + 1) / (len(words) + 1) for word in TITLE]  # as in Lucene
            expected[id] = sum(
                log(1 + weight * share / ((1 - weight) * other))
                for share, other in zip(shares, in_collection, strict=True)
            )
    assert {id: score for id, score, *_ in hits} == pytest.approx(expected, rel=1e-6)
