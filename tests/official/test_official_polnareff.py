"""The official run of polnareff, taken apart by the fields and the analysis of the baseline."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from touche import baselines, lucene
from touche.formats.argsme import read_argsme_json
from touche.formats.topics import read_topics_xml
from touche.identify.counts import NAMED, Counts
from touche.identify.fitting import Problem, fit
from touche.identify.hypotheses import SUM, Hypothesis
from touche.identify.models import LM_DIRICHLET
from touche.identify.numbers import shared_numbers
from touche.identify.samples import read_scores
from touche.lucene.analysis import analyzer_named, tokens

TOPICS = [str(number) for number in range(53, 101, 4)]  # whose titles both stop lists leave the same


def counted(texts: list[Counter[str]], titles: list[Counter[str]]) -> Counts:
    """What the models see of texts, each with the terms of its topic's title."""
    found = [
        (row, term, tf, title[term])
        for row, (text, title) in enumerate(zip(texts, titles, strict=True))
        for term, tf in text.items()
        if term in title
    ]
    places = {term: place for place, term in enumerate(dict.fromkeys(each[1] for each in found))}
    rows, terms = (
        np.array(each) for each in zip(*((row, places[term]) for row, term, *_ in found), strict=True)
    )
    tf, qtf = (np.array(each, dtype=float) for each in zip(*(each[2:] for each in found), strict=True))
    lengths = np.array([text.total() for text in texts], dtype=float)
    return Counts(rows, terms, tf, qtf, lengths, tuple(places))


def posed(official: Path) -> Problem:
    """The scores of the official run for these topics, to be met by the baseline's formula."""
    own: dict[str, Any] = baselines.load("polnareff").method.__globals__
    analyzer, ignored = analyzer_named(own["ANALYSIS"]), lucene.stop_words("lucene")
    corpus = official / "corpora" / "argsme-2020-04-01-sample" / "args-me.json.gz"
    documents = {each.id: each for each in read_argsme_json(corpus)}
    titles = {
        each.number: Counter(term for term in tokens(analyzer, each.title) if term not in ignored)
        for each in read_topics_xml(official / "topics" / "touche-2021-task-1.xml")
    }
    path = official / "runs" / "touche-2021-task-1" / "jean-pierre-polnareff-dirichlet.run"
    scores = [each for each in read_scores(path) if each.topic in TOPICS and each.document in documents]
    asked = [titles[each.topic] for each in scores]
    counts = tuple(
        counted([Counter(tokens(analyzer, text_of(documents[each.document]))) for each in scores], asked)
        for text_of in own["FIELDS"].values()
    )
    hypothesis = Hypothesis(
        LM_DIRICHLET, NAMED["standard"], tuple(own["FIELDS"]), SUM, weight=own["BOOSTS"]["everything"]
    )
    return Problem(hypothesis, counts, np.array([each.value for each in scores]))


@pytest.mark.nightly
def test_the_official_run_is_explained_by_the_baseline(official: Path) -> None:
    problem = posed(official)
    begin = problem.begin()
    for own in problem.own_columns:  # from a third of the frequencies the fit does not find the way
        begin[own] += math.log(3)
    numbers = fit(problem, begin=begin)
    errors = np.abs(problem.residuals(numbers))
    within = 1e-5 + 0.5e-6  # the file has six decimals
    assert len(errors) == 924 and np.median(errors) < 1e-6
    assert np.mean(errors <= within) == pytest.approx(0.721, abs=0.002)
    (mu,) = (each.value for each in shared_numbers(problem, numbers) if each.name == "mu")
    assert mu == pytest.approx(1800, abs=0.01)
