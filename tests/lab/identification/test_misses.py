"""Explanations of scores that are not reproduced."""

from dataclasses import replace

import numpy as np
import pytest

from identifying import PAIR, STANDARD, TEXT, line, sample
from touche.lab.identification.counts import count_terms
from touche.lab.identification.differentiable_models import BM25
from touche.lab.identification.fitting import Fit, Problem
from touche.lab.identification.hypotheses import SUM, Hypothesis
from touche.lab.identification.misses import misses

FILLING = "words of no title that make a text longer " * 6
TEXTS = {
    "same": f"cats and dogs {FILLING}",
    "term": f"cats cats and dogs {FILLING}",
    "longer": f"cats and dogs {FILLING}",
    "swapped": f"cats cats dogs dogs {FILLING}",
    "odd": f"cats {FILLING}",
}


def explained(changes: dict[str, str], by: float = 0.0, fields: tuple[str, ...] = TEXT) -> dict[str, str]:
    """Returns the explanation of scores whose texts differ in the first field, and which were then moved."""
    run = [line("1", id) for id in TEXTS]
    both = [sample(texts, {"1": "Cats, dogs?"}, run) for texts in (TEXTS, changes)]
    original, changed = (count_terms(one)[STANDARD]["text"] for one in both)
    hypothesis = Hypothesis(BM25, STANDARD, fields, SUM if len(fields) > 1 else "", lengths="exact")
    numbers = np.log([0.54, *[0.0033, 900.0, 250.0] * len(fields)])
    moved = Problem(hypothesis, (changed, original)[: len(fields)], both[0].scores)
    problem = Problem(hypothesis, (original, original)[: len(fields)], moved.predicted(numbers) + by)
    fit = Fit(problem, numbers, numbers, np.abs(problem.residuals(numbers)), len(numbers))
    return {miss.document: miss.explained for miss in misses(fit, replace(both[0], slack=np.zeros(5)))}


@pytest.mark.parametrize(
    ("id", "text", "words"),
    [
        ("term", f"cats and dogs {FILLING}", "-1 times 'cats'"),
        ("longer", f"cats and dogs {FILLING} and so on", "+3 tokens"),
        ("swapped", f"cats cats dogs and {FILLING}", "-1 times 'dogs', unchanged length"),
    ],
)
def test_the_smallest_difference_in_text_explains_a_score(id: str, text: str, words: str) -> None:
    assert explained(TEXTS | {id: text}) == {id: words}
    assert explained(TEXTS | {id: text}, fields=PAIR) == {id: f"{words} in premises"}


def test_what_no_text_explains_is_said_and_what_rounding_does_too() -> None:
    assert {*explained(TEXTS, by=50.0).values()} == {"no simple explanation"}
    assert all("rounding" in words for words in explained(TEXTS, by=5e-5).values())
