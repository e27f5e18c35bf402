"""Numbers without a slope, which least squares cannot move, are found by vote."""

import numpy as np
import pytest

from identifying import PAIR, STANDARD, made_counts
from touche.identification import search
from touche.identification.counts import FieldCounts
from touche.identification.fitting import MET, SCALES, Problem, begin_of_maximum
from touche.identification.hypotheses import MAXIMUM, Hypothesis
from touche.identification.models import BM25, LM_DIRICHLET, MODELS
from touche.identification.samples import Array
from touche.identification.search import solve
from touche.identification.votes import voted


def posed(
    model: str, counts: tuple[FieldCounts, FieldCounts], weight: float | None = 1.0
) -> tuple[Problem, Array]:
    """A problem whose scores were computed from these numbers."""
    hypothesis = Hypothesis(model, STANDARD, PAIR, MAXIMUM, "one byte", 0, weight)
    problem = Problem(hypothesis, counts, np.zeros(len(counts[0].lengths)))
    true = problem.begin()
    return Problem(hypothesis, counts, problem.predicted(true)), true


@pytest.mark.parametrize("model", [*MODELS])
@pytest.mark.parametrize("weight", [1.0, None])
def test_numbers_that_are_far_off_are_found_again(model: str, weight: float | None) -> None:
    problem, true = posed(model, (made_counts(1, 200), made_counts(2, 200)), weight)
    for at, off in ((0, 9.0), (1, -4.0), (1, 9.0)):
        wrong = true.copy()
        wrong[problem.own_columns[at].start + 1] += off
        found = voted(problem, wrong)
        assert np.mean(problem.errors(wrong) > MET) > 0.01
        assert np.all(problem.errors(found) <= MET)


def test_a_maximum_is_fitted_though_the_second_field_wins_only_where_the_first_is_low(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It starts with separately fitted fields; otherwise some processors do not reproduce a rerun."""
    begun = list[Problem]()

    def begin(problem: Problem) -> Array:
        begun.append(problem)
        return begin_of_maximum(problem)

    monkeypatch.setattr(search, "begin_of_maximum", begin)
    problem, true = posed(LM_DIRICHLET, (made_counts(2, 200), made_counts(3, 200)))
    first, second = problem.own_columns
    true[first], true[second] = [1.0, 0.0, -1.0], [2.5, 2.0, 1.5]
    problem = Problem(problem.hypothesis, problem.counts, problem.predicted(true))
    assert np.mean(problem.errors(problem.begin()) <= MET) < 0.5 and solve(problem, SCALES, True).share() == 1
    assert begun


def tall(*terms: tuple[int, ...]) -> FieldCounts:
    """Documents of 100 tokens with these terms, once each."""
    rows = [row for row, of_row in enumerate(terms) for _ in of_row]
    flat = [term for of_row in terms for term in of_row]
    ones = np.ones(len(flat))
    names = tuple(f"t{each}" for each in range(max(flat) + 1))
    return FieldCounts(np.array(rows), np.array(flat), ones, ones, np.full(len(terms), 100.0), names)


@pytest.mark.parametrize("model", [LM_DIRICHLET, BM25])
def test_two_wrong_numbers_that_meet_a_majority_together_give_way_to_a_document_that_they_miss(
    model: str,
) -> None:
    """Two documents have both terms, and one document has only the first."""
    problem, _ = posed(model, (tall((0, 1), (0, 1), (0,)), tall((0,), (0,), (0,))))
    true, own = problem.begin(), problem.own_columns[0].start
    true[own : own + 2], true[problem.own_columns[1]] = (1.0, 0.5), (0.2 if model == BM25 else 5.0)
    problem = Problem(problem.hypothesis, problem.counts, problem.predicted(true))
    wrong = true.copy()
    ratio = 1 + np.exp(-true[own : own + 2])  # tf / (mu P) of each term, and 1
    wrong[own : own + 2] = (0.5, 1.0) if model == BM25 else -np.log(ratio[::-1] - 1)
    assert list(problem.errors(wrong) <= MET) == [True, True, False]
    assert np.all(problem.errors(voted(problem, wrong)) <= MET)


def test_a_vote_meets_no_fewer_scores_where_no_number_meets_them() -> None:
    problem, true = posed(LM_DIRICHLET, (made_counts(1, 60), made_counts(2, 60)))
    scores = problem.scores.copy()
    scores[::2] += np.random.default_rng(3).uniform(0.5, 1.0, 30)
    odd = Problem(problem.hypothesis, problem.counts, scores)
    assert np.mean(odd.errors(voted(odd, true)) <= MET) >= 0.5
