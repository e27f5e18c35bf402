"""What would explain scores that are missed."""

from dataclasses import replace

import numpy as np
import pytest

from identifying import STANDARD, TEXT, line, sample
from touche.identify.counts import counts_of
from touche.identify.fitting import Fit, Problem
from touche.identify.hypotheses import Hypothesis
from touche.identify.models import BM25
from touche.identify.worst import Miss, worst

FILLING = "words of no title that make a text longer " * 6
TEXTS = {
    "same": f"cats and dogs {FILLING}",
    "term": f"cats cats and dogs {FILLING}",
    "longer": f"cats and dogs {FILLING}",
    "swapped": f"cats cats dogs dogs {FILLING}",
    "odd": f"cats {FILLING}",
}


def missed(changes: dict[str, str], by: float = 0.0) -> dict[str, Miss]:
    """What is said of scores that were made from changed texts, and then moved."""
    given = sample(TEXTS, {"1": "Cats, dogs?"}, [line("1", id) for id in TEXTS])
    given = replace(given, slack=np.zeros(len(TEXTS)))
    made = sample(TEXTS | changes, {"1": "Cats, dogs?"}, [line("1", id) for id in TEXTS])
    hypothesis = Hypothesis(BM25, STANDARD, TEXT, lengths="exact")
    fields = [dict(counts_of(each))[STANDARD]["text"] for each in (given, made)]
    numbers = np.log(np.array([0.54, 0.0033, 900.0, 250.0]))
    there, other = (Problem(hypothesis, (each,), given.scores) for each in fields)
    scores = other.predicted(numbers) + by
    problem = Problem(hypothesis, there.counts, scores)
    fit = Fit(hypothesis, numbers, numbers, np.abs(problem.residuals(numbers)))
    return {each.document: each for each in worst(problem, fit, given)}


def test_documents_that_are_met_are_not_named() -> None:
    assert missed({}) == {}


@pytest.mark.parametrize(
    ("id", "text", "explained"),
    [
        ("term", f"cats and dogs {FILLING}", "-1 times 'cats'"),
        ("longer", f"cats and dogs {FILLING} and so on", "+3 tokens"),
        ("swapped", f"cats cats dogs and {FILLING}", "-1 times 'dogs', the length as it is"),
    ],
)
def test_the_smallest_difference_in_text_explains_a_score(id: str, text: str, explained: str) -> None:
    found = missed({id: text})
    assert found.keys() == {id} and found[id].explained == explained


def test_what_no_text_explains_is_said_and_what_rounding_does_too() -> None:
    assert {each.explained for each in missed({}, by=50.0).values()} == {"nothing simple"}
    assert all("rounding" in each.explained for each in missed({}, by=5e-5).values())
