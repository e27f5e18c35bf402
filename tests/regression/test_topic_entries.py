"""Entries of expected.toml that compare topics: broken ones are refused, and no value has a tolerance."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import touche
from small_clone import expect
from touche.baselines.expected import ExpectedScore, ExpectedTopics, read_expected
from touche.errors import InputError, ToucheError
from touche.evaluation.scoring import ByEvaluator
from touche.regression.comparing import compare
from touche.regression.outcomes import Outcome
from touche.tasks import measure_of
from touche.trec.columns import Run

pytest_plugins = ["small_clone"]
ENTRY = """
[[topics]]
dataset = "touche-2021-task-1/ten-topics"
dimensions = ["relevance", "quality"]
measure = "nDCG@5"
tag = "dirichlet_multi_field"
"""
ENTRY_OF_TWO_RUNS = """
[[topics]]
dataset = "touche-2021-task-2"
dimensions = ["relevance", "quality"]
measure = "nDCG@5"
tag = "JackSparrow__argumentative_bert"
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("dirichlet_multi_field", "dirichlet-multi-field", "has no published values of topics for relevance"),
        ("dirichlet_multi_field", "ER_v1", "topic 100 has no published value of 'ER_v1' for relevance"),
        ("quality", "coherence", "has no published values of topics for coherence"),
        ("ten-topics", "nine-topics", "dataset 'touche-2021-task-1/nine-topics' is not known"),
        ("touche-2021-task-1/ten-topics", "touche-2020-task-1", "no published values of topics"),
        ('["relevance", "quality"]', "[]", "dimensions"),
        (ENTRY, ENTRY_OF_TWO_RUNS, "several published values per topic"),
        ("measure =", "# ", 'measure is missing; add the line: measure = "nDCG@5"'),
        ("nDCG@5", "nDCG@10", "has no published values of topics for relevance, nDCG@10"),
        ("tag =", "tolerance = 0.1\ntag =", "tolerance"),
    ],
)
def test_broken_entries_are_refused_with_their_key(clone: Path, old: str, new: str, problem: str) -> None:
    assert old in ENTRY
    expect(clone, ENTRY.replace(old, new))
    with pytest.raises(InputError, match="topics") as caught:
        read_expected("dirichletlm")
    assert problem in str(caught.value)


def compared(entry: ExpectedTopics, **changed: float | None) -> Outcome:
    """Compares a rerun with the published values, except for those of topics of the first dimension."""
    scored: dict[str, Any] = {}
    for dimension in entry.dimensions:
        values = {
            published.topic: published.value + 0.0004  # rounded away
            for published in touche.published_topics(entry.dataset)
            if (published.row.tag, published.row.dimension) == (entry.tag, dimension)
        }
        for topic, value in changed.items() if dimension == entry.dimensions[0] else ():
            values.pop(topic.lstrip("t"))
            if value is not None:
                values[topic.lstrip("t")] = value
        judged = SimpleNamespace(measure=measure_of(entry.measure))
        evaluation = SimpleNamespace(per_topic=values)
        scored[dimension] = {"touche": SimpleNamespace(evaluation=evaluation, judged=judged)}
    return compare(entry, Run.of([]), scored.__getitem__)


@pytest.fixture
def entry(clone: Path) -> ExpectedTopics:
    expect(clone, ENTRY)
    (only,) = read_expected("dirichletlm")
    assert isinstance(only, ExpectedTopics)
    return only


def test_all_values_of_the_topics_have_to_be_the_published_ones(entry: ExpectedTopics) -> None:
    outcome = compared(entry)
    assert (outcome.verdict, outcome.got) == ("passed", "20 of 20 published topic values")
    assert outcome.topics == entry.topic_values and len(outcome.topic_rows) == 20
    assert outcome.record["topics"][0] == {
        "dimension": "relevance",
        "topic": "51",
        "published": 0.277,
        "rerun": 0.277,
    }


@pytest.mark.parametrize("value", [0.278, 0.276, None])
def test_one_digit_more_in_one_topic_fails(entry: ExpectedTopics, value: float | None) -> None:
    outcome = compared(entry, t51=value)
    assert outcome.is_broken and outcome.got == "19 of 20 published topic values"
    assert outcome.remark == f"relevance of topic 51 is {value} instead of 0.277"
    assert [row["rerun"] for row in outcome.topic_rows if row["rerun"] != row["published"]] == [value]


def test_a_run_that_cannot_be_evaluated_fails(entry: ExpectedTopics) -> None:
    def no_scores(dimension: str) -> ByEvaluator:
        raise ToucheError("no judgments")

    outcome = compare(entry, Run.of([]), no_scores)
    assert (outcome.verdict, outcome.remark) == ("failed", "no judgments")


def test_published_means_of_2020_follow_the_rounding_of_the_table(clone: Path) -> None:
    text = """
[[score]]
dataset = "touche-2020-task-2"
dimension = "relevance"
measure = "nDCG@5"
evaluator = "trec_eval"
qrels = "touche2020-task2-relevance-withbaseline.qrels"
published = 0.404
tolerance = 0.0001
source = "s"
"""
    expect(clone, text)
    (score,) = read_expected("dirichletlm")
    assert isinstance(score, ExpectedScore)
    assert [score.accepts(value) for value in (0.40348, 0.40344, 0.40455)] == [True, False, False]
