"""What would explain scores that are missed."""

from dataclasses import replace

import numpy as np
import pytest

from identifying import STANDARD, TEXT, line, sample
from touche.identify.counts import counts_of
from touche.identify.fitting import Fit, Problem
from touche.identify.hypotheses import Hypothesis
from touche.identify.misses import misses
from touche.identify.models import BM25

FILLING = "words of no title that make a text longer " * 6
TEXTS = {
    "same": f"cats and dogs {FILLING}",
    "term": f"cats cats and dogs {FILLING}",
    "longer": f"cats and dogs {FILLING}",
    "swapped": f"cats cats dogs dogs {FILLING}",
    "odd": f"cats {FILLING}",
}


def explained(changes: dict[str, str], by: float = 0.0) -> dict[str, str]:
    """What is said of scores that were made from changed texts, and then moved."""
    both = [
        sample(texts, {"1": "Cats, dogs?"}, [line("1", id) for id in TEXTS]) for texts in (TEXTS, changes)
    ]
    hypothesis = Hypothesis(BM25, STANDARD, TEXT, lengths="exact")
    given, made = (
        Problem(hypothesis, (dict(counts_of(each))[STANDARD]["text"],), each.scores) for each in both
    )
    numbers = np.log(np.array([0.54, 0.0033, 900.0, 250.0]))
    problem = Problem(hypothesis, given.counts, made.predicted(numbers) + by)
    fit = Fit(problem, numbers, numbers, np.abs(problem.residuals(numbers)))
    return {each.document: each.explained for each in misses(fit, replace(both[0], slack=np.zeros(5)))}


@pytest.mark.parametrize(
    ("id", "text", "words"),
    [
        ("term", f"cats and dogs {FILLING}", "-1 times 'cats'"),
        ("longer", f"cats and dogs {FILLING} and so on", "+3 tokens"),
        ("swapped", f"cats cats dogs and {FILLING}", "-1 times 'dogs', the length as it is"),
    ],
)
def test_the_smallest_difference_in_text_explains_a_score(id: str, text: str, words: str) -> None:
    assert explained(TEXTS | {id: text}) == {id: words}


def test_what_no_text_explains_is_said_and_what_rounding_does_too() -> None:
    assert {*explained(TEXTS, by=50.0).values()} == {"nothing simple"}
    assert all("rounding" in words for words in explained(TEXTS, by=5e-5).values())
