"""The detectable difference: against statsmodels, by a simulation, and as the commands print it."""

import json

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from conftest import Touche, Write
from spotcheck import run_of
from touche.evaluation.power import detectable_difference

TOPICS = [str(number) for number in range(1, 9)]


@pytest.mark.parametrize("topics", [2, 3, 5, 10, 25, 50, 1000])
def test_the_detectable_difference_is_that_of_statsmodels(topics: int) -> None:
    values = np.random.default_rng(topics).normal(0, 0.3, topics)
    effect = TTestPower().solve_power(nobs=topics, alpha=0.05, power=0.8, alternative="two-sided")
    assert detectable_difference(values.tolist()) == pytest.approx(effect * np.std(values, ddof=1), rel=1e-4)


@pytest.fixture
def command(write: Write) -> list[str]:
    """By hand, of 8 topics: A is right on all, B on the first seven, C on none."""
    right = {"A": 8, "B": 7, "C": 0}
    runs = [
        write(f"{tag}.txt", run_of(*(f"{n} {'a' if int(n) <= upto else 'x'}" for n in TOPICS), tag=tag))
        for tag, upto in right.items()
    ]
    qrels = write("q.qrels", "".join(f"{n} 0 a 1\n" for n in TOPICS))
    return [*map(str, runs), "--qrels", str(qrels)]


def test_compare_says_that_topics_are_too_few(touche: Touche, command: list[str]) -> None:
    """A - B is 1 once: the mean 0.125 is below the detectable difference, which is 1.156 times 0.3536."""
    rows = json.loads(touche("compare", *command, "--format", "json")[1])
    assert rows[0]["detectable"] == pytest.approx(1.15603 * 0.353553, abs=1e-4)
    assert [row["significant"] for row in rows] == [False, True, True] and rows[1]["detectable"] == 0
    out = touche("compare", *command)[1]
    assert "detectable" in out.split("\n")[0] and " 0.409 " in out.splitlines()[1]
    assert out.endswith("not decided by 8 topics: 1 row below detectable, not significant\n")
    assert "not decided" not in touche("compare", command[0], command[2], *command[3:])[1]


def test_evaluate_with_a_reference_says_so_too(touche: Touche, command: list[str]) -> None:
    out = touche("evaluate", *command, "--reference", "A", "--evaluator", "trec_eval")[1]
    assert (
        "B and A, q, nDCG@5 (trec_eval): not decided by 8 topics; differences from 0.409 are detectable"
        in out
    )
    assert "C and A, q, nDCG@5 (trec_eval): differences from 0.000 are detectable" in out
