"""The official runs of polnareff, fitted with the fields and the analysis of the baseline."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.formulas import length_in_one_byte
from reading import read_argsme_json
from touche import baselines, lucene
from touche.identification.counts import NAMED, FieldCounts
from touche.identification.fitting import Problem, describe_fit, fit
from touche.identification.hypotheses import SUM, Hypothesis
from touche.identification.models import LM_DIRICHLET
from touche.identification.parameters import shared_numbers
from touche.identification.samples import read_scores
from touche.lucene.analysis import analyzer_named, tokens
from touche.scan.statistics import Statistics
from touche.trec.topics import read_topics_xml

# Both stop lists change nothing in their titles.
TOPICS = [str(number) for number in range(51, 101, 4) if number != 75]
WITHIN = 1e-5 + 0.5e-6  # the files have six decimals


def counted(texts: list[Counter[str]], titles: list[Counter[str]]) -> FieldCounts:
    """Returns the counts of texts that the models see, with the terms of the topic's title."""
    vocabulary = tuple(dict.fromkeys(term for title in titles for term in title))
    tf, qtf = (
        np.array([[counts_of_text[term] for term in vocabulary] for counts_of_text in some])
        for some in (texts, titles)
    )
    cells = rows, terms = np.nonzero(tf * qtf)
    lengths = np.array([text.total() for text in texts], dtype=float)
    return FieldCounts(
        rows=rows,
        terms=terms,
        tf=1.0 * tf[cells],
        qtf=1.0 * qtf[cells],
        lengths=lengths,
        vocabulary=vocabulary,
        statistics=Statistics(
            documents=len(texts),
            tokens=int(lengths.sum()),
            df=(tf > 0).sum(axis=0),
            ttf=tf.sum(axis=0).astype(np.int64),
        ),
    ).select(np.arange(len(texts)))


def own() -> dict[str, Any]:
    """Returns the module of the baseline."""
    return baselines.load("polnareff").method.__globals__


def posed(official: Path, run: str, topics: list[str]) -> Problem:
    """Returns the scores of an official run for these topics, to be reproduced with the baseline's fields."""
    analyzer = analyzer_named(own()["ANALYSIS"])
    ignored = lucene.stop_words("lucene")
    corpus = official / "corpora" / "argsme-2020-04-01-sample" / "args-me.json.gz"
    documents = {counts_of_text.id: counts_of_text for counts_of_text in read_argsme_json(corpus)}
    titles = {
        counts_of_text.number: Counter(
            term for term in tokens(analyzer, counts_of_text.title) if term not in ignored
        )
        for counts_of_text in read_topics_xml(official / "topics" / "touche-2021-task-1.xml")
    }
    path = official / "runs" / "touche-2021-task-1" / f"jean-pierre-polnareff-{run}.run"
    scores = [
        counts_of_text
        for counts_of_text in read_scores(path)
        if counts_of_text.topic in topics and counts_of_text.document in documents
    ]
    queries = [titles[counts_of_text.topic] for counts_of_text in scores]
    counts = tuple(
        counted(
            [
                Counter(tokens(analyzer, text_of(documents[counts_of_text.document])))
                for counts_of_text in scores
            ],
            queries,
        )
        for text_of in own()["FIELDS"].values()
    )
    fields = tuple(own()["FIELDS"])
    weight = own()["BOOSTS"]["everything"]
    hypothesis = Hypothesis(
        model=LM_DIRICHLET, analysis=NAMED["standard"], fields=fields, combination=SUM, weight=weight
    )
    return Problem(hypothesis, counts, np.array([counts_of_text.score for counts_of_text in scores]))


@pytest.mark.nightly
def test_the_official_run_by_dirichletlm_is_explained_by_the_baseline(official: Path) -> None:
    problem = posed(official, "dirichlet", TOPICS)
    numbers = fit(problem)
    errors = np.abs(problem.residuals(numbers))
    assert len(errors) == 1129 and np.median(errors) < 1e-6
    assert np.mean(errors <= WITHIN) == pytest.approx(0.914, abs=0.002)
    (mu,) = (
        counts_of_text.value
        for counts_of_text in shared_numbers(describe_fit(problem, numbers))
        if counts_of_text.name == "mu"
    )
    assert mu == pytest.approx(own()["MU"], abs=0.001)


def saturations(problem: Problem) -> np.ndarray:
    """Returns qtf tf / (tf + k1 (1 - b + b dl / avgdl)) by score, term and field: BM25 without idf."""
    k1 = own()["K1"]
    b = own()["B"]
    numbers_found = []
    for counts, avgdl in zip(problem.counts, (223.956, 242.687), strict=True):
        of_field = np.zeros((len(counts.lengths), len(counts.vocabulary)))
        lengths = np.array([length_in_one_byte(int(counts_of_text)) for counts_of_text in counts.lengths])[
            counts.rows
        ]
        norm = k1 * (1 - b + b * lengths / avgdl)
        of_field[counts.rows, counts.terms] = counts.qtf * counts.tf / (counts.tf + norm)
        numbers_found.append(of_field)
    return np.hstack(numbers_found)


def weighed(seen: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Returns the errors of a robust least-squares fit, which reduces the weight of large errors."""
    trust = np.ones(len(values))
    for step in range(60):
        weights, *_ = np.linalg.lstsq(seen * trust[:, None], values * trust, rcond=None)
        errors = np.abs(values - seen @ weights)
        trust = 1 / np.sqrt(errors + 0.7**step + 1e-7)
    return errors


@pytest.mark.nightly
def test_the_official_run_by_bm25_is_explained_by_the_baseline(official: Path) -> None:
    """Weights of terms are fitted for each topic; k1, b and the mean lengths are shared."""
    problems = [posed(official, "bm25", [topic]) for topic in TOPICS]
    errors = np.concatenate(
        [weighed(saturations(counts_of_text), counts_of_text.scores) for counts_of_text in problems]
    )
    assert len(errors) == 956 and np.median(errors) < 1e-6
    assert np.mean(errors <= WITHIN) == pytest.approx(0.789, abs=0.005)
