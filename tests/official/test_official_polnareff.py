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
from touche.identify.fitting import Fit, Problem, fit
from touche.identify.hypotheses import SUM, Hypothesis
from touche.identify.models import LM_DIRICHLET
from touche.identify.parameters import shared_numbers
from touche.identify.samples import read_scores
from touche.lucene.analysis import analyzer_named, tokens

# Whose titles both stop lists leave the same.
TOPICS = [str(number) for number in range(51, 101, 4) if number != 75]
WITHIN = 1e-5 + 0.5e-6  # the files have six decimals


def counted(texts: list[Counter[str]], titles: list[Counter[str]]) -> Counts:
    """What the models see of texts, each with the terms of its topic's title."""
    vocabulary = tuple(dict.fromkeys(term for title in titles for term in title))
    tf, qtf = (np.array([[each[term] for term in vocabulary] for each in some]) for some in (texts, titles))
    cells = rows, terms = np.nonzero(tf * qtf)
    lengths = np.array([text.total() for text in texts], dtype=float)
    return Counts(rows, terms, 1.0 * tf[cells], 1.0 * qtf[cells], lengths, vocabulary).of(
        np.arange(len(texts))
    )


def own() -> dict[str, Any]:
    """What the baseline's file holds."""
    return baselines.load("polnareff").method.__globals__


def posed(official: Path) -> Problem:
    """The scores of the official run, to be met by the baseline's fields and analysis."""
    analyzer, ignored = analyzer_named(own()["ANALYSIS"]), lucene.stop_words("lucene")
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
        for text_of in own()["FIELDS"].values()
    )
    fields, weight = tuple(own()["FIELDS"]), own()["BOOSTS"]["everything"]
    hypothesis = Hypothesis(LM_DIRICHLET, NAMED["standard"], fields, SUM, weight=weight)
    return Problem(hypothesis, counts, np.array([each.score for each in scores]))


@pytest.mark.nightly
def test_the_official_run_by_dirichletlm_is_explained_by_the_baseline(official: Path) -> None:
    problem = posed(official)
    begin = problem.begin()
    for columns in problem.own_columns:  # from a third of the frequencies the fit does not find the way
        begin[columns] += math.log(3)
    numbers = fit(problem, begin=begin)
    errors = np.abs(problem.residuals(numbers))
    assert len(errors) == 1129 and np.median(errors) < 1e-6
    assert np.mean(errors <= WITHIN) == pytest.approx(0.914, abs=0.002)
    (mu,) = (each.value for each in shared_numbers(Fit.of(problem, numbers)) if each.name == "mu")
    assert mu == pytest.approx(own()["MU"], abs=0.001)
