import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from random_examples import given, st
from touche.errors import ParameterError
from touche.evaluation import fusion
from touche.evaluation.fusion import METHODS, fused_run
from touche.tira.outputs import write_run
from touche.trec.columns import Run, RunLine
from touche.trec.runs import read_run

IDS = list("abcdef")
SCORES = st.sampled_from([0.0, 1.0, 2.5, -3.0, 1e30, 7.0])  # few, so that there are ties
RUNS = st.lists(
    st.dictionaries(st.tuples(st.sampled_from("12"), st.sampled_from(IDS)), SCORES, min_size=1),
    min_size=2,
    max_size=4,
)


def lines(scores: dict[tuple[str, str], float]) -> Run:
    """A run whose ranks are all 1, for scores decide."""
    return Run.of(
        RunLine(topic, "Q0", document, 1, score, "t") for (topic, document), score in scores.items()
    )


def fused(
    runs: Sequence[Run], method: fusion.Method, weights: Sequence[float] | None = None
) -> dict[str, dict[str, float]]:
    factors = weights or [1.0] * len(runs)
    weighing = [run for run, factor in zip(runs, factors, strict=True) if factor]  # as in fused_run
    factors = [factor for factor in factors if factor]
    topics = dict.fromkeys(topic for run in weighing for topic in run.by_score)
    by_topic = {topic: fusion.fused_topic(topic, weighing, method, factors) for topic in topics}
    return {
        topic: dict(zip(fused.documents.tolist(), fused.scores.tolist(), strict=True))
        for topic, fused in by_topic.items()
    }


ONE = lines({("1", "a"): 9.0, ("1", "b"): 5.0, ("1", "c"): 1.0})
OTHER = lines({("2", "z"): 4.0, ("1", "d"): 0.8, ("1", "b"): 0.2})


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("rrf", {"a": 1 / 61, "b": 1 / 62 + 1 / 62, "c": 1 / 63, "d": 1 / 61}),
        ("combsum", {"a": 1, "b": 0.5 + 0, "c": 0, "d": 1}),
        ("combmnz", {"a": 1, "b": 2 * (0.5 + 0), "c": 0, "d": 1}),
    ],
)
def test_two_runs_come_to_what_is_computed_by_hand(method: str, expected: dict[str, float]) -> None:
    scores = fused([ONE, OTHER], METHODS[method])
    assert list(scores) == ["1", "2"]
    assert scores["1"] == pytest.approx(expected, rel=1e-15)
    # The only document of a topic is first and last at once.
    assert scores["2"] == {"z": 1 / 61 if method == "rrf" else 1.0}


def by_table(
    runs: list[dict[tuple[str, str], float]], topic: str, method: str, weights: list[float]
) -> dict[str, float]:
    """The same, by a table: a row for each run, a column for each document, NaN where there is none."""
    scores = np.array([[run.get((topic, document), np.nan) for document in IDS] for run in runs])
    factors = np.array(weights)
    used = ~np.isnan(scores).all(axis=1) & (factors > 0)
    scores = scores[used]
    factors = factors[used]
    if method in ("rrf", "rbc"):
        # What stands above a document: higher scores, and the same ones with a later id.
        later = np.array(IDS)[:, None] > np.array(IDS)[None, :]
        above = (scores[:, :, None] > scores[:, None, :]) | (
            (scores[:, :, None] == scores[:, None, :]) & later[None]
        )
        ranks = above.sum(axis=1)  # from 0
        shares = np.where(
            np.isnan(scores), np.nan, 1 / (61 + ranks) if method == "rrf" else 0.05 * 0.95**ranks
        )
    else:
        lowest, highest = (function(scores, axis=1, keepdims=True) for function in (np.nanmin, np.nanmax))
        mean, deviation = (function(scores, axis=1, keepdims=True) for function in (np.nanmean, np.nanstd))
        with np.errstate(invalid="ignore", divide="ignore"):
            if method == "z-score":
                shares = np.where(lowest == highest, scores * 0, (scores - mean) / deviation)
            else:
                shares = np.where(lowest == highest, scores * 0 + 1, (scores - lowest) / (highest - lowest))
    total = np.nansum(factors[:, None] * shares, axis=0)
    total *= (~np.isnan(shares)).sum(axis=0) if method == "combmnz" else 1
    has_any = ~np.isnan(shares).all(axis=0)
    return {document: total[at] for at, document in enumerate(IDS) if has_any[at]}


WEIGHTS = st.none() | st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=4, max_size=4)


@given(RUNS, st.sampled_from(list(METHODS)), WEIGHTS, st.randoms(use_true_random=False))
def test_runs_in_any_order_come_to_what_a_table_says(runs, method, weights, random) -> None:  # type: ignore[no-untyped-def]
    weights = weights and weights[: len(runs)]
    factors = weights or [1.0] * len(runs)
    scores = fused([*map(lines, runs)], METHODS[method], weights)
    assert scores.keys() == {
        topic for run, factor in zip(runs, factors, strict=True) if factor for topic, _ in run
    }
    for topic, hits in scores.items():
        assert hits == pytest.approx(by_table(runs, topic, method, factors), rel=1e-12, abs=1e-15)
        assert all(map(math.isfinite, hits.values()))
    if any(factors):
        ranked = {
            (line.topic, line.document)
            for line in fused_run([*map(lines, runs)], METHODS[method], 10, weights)
        }
        assert ranked == {(topic, document) for topic, hits in scores.items() for document in hits}
    order = random.sample(range(len(runs)), len(runs))
    reordered = weights and [weights[number] for number in order]
    assert fused([lines(runs[number]) for number in order], METHODS[method], reordered) == scores


@pytest.mark.parametrize("scores", [[0.1, 0.1, 0.1], [1e300, 1e300], [7.0]])
def test_scores_that_do_not_differ_have_no_deviation(scores: list[float]) -> None:
    """The mean of three times 0.1 is another number than 0.1."""
    run = lines({("1", id): score for id, score in zip("abc", scores, strict=False)})
    assert {*fused([run, run], METHODS["z-score"])["1"].values()} == {0.0}
    assert {*fused([run, run], METHODS["combsum"])["1"].values()} == {2.0}


def test_a_rank_a_thousand_down_still_counts_as_float32() -> None:
    run = lines({("1", f"{rank:04}"): -float(rank) for rank in range(1000)})
    scores = fused([run], METHODS["rbc"])["1"]
    assert np.float32(scores["0998"]) > np.float32(scores["0999"]) > 0


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        ([1.0], "1 weight for 2 runs"),
        ([1.0, 1.0, 1.0], "3 weights for 2 runs"),
        ([1.0, -0.5], "weight -0.5"),
        ([math.nan, 1.0], "weight nan"),
        ([1.0, math.inf], "weight inf"),
        ([0.0, 0.0], "all weights are 0"),
        (["0.7", "0.3"], "weight '0.7'"),
        ([1e308, 1e308], "weight 1e.308"),
        ([1e-320, 1.0], "weight 1e-320"),
    ],
)
def test_weights_that_weigh_nothing_are_refused(weights: list[float], problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        fused_run([ONE, OTHER], METHODS["rrf"], 10, weights)


@pytest.mark.parametrize("method", METHODS)
def test_sums_of_three_runs_are_rounded_once(method: str) -> None:
    """0.1 + 0.2 + 0.3 depends on the order of the sum, and so would the digits of a fused run."""
    shares = [(0.1, 1e16), (0.2, 1.0), (0.3, -1e16)]
    runs = [lines({("1", "a"): a, ("1", "b"): b}) for a, b in shares]
    summing = replace(METHODS[method], shares=lambda scores: scores)
    times = 3 if method == "combmnz" else 1
    for order in permutations(runs):
        assert fused(order, summing) == {"1": {"a": times * 0.6, "b": times * 1.0}}


def test_a_fused_run_has_the_digits_of_its_file(tmp_path: Path) -> None:
    """Scores of any size, whose digits as float32 differ from those as float."""
    scores = [3.0, 1 / 3, 2e-5, 1e-30, -1 / 7, -2.5e6]
    one = lines({("1", id): score for id, score in zip(IDS, scores, strict=True)})
    for weight in (1.0, 1e-6, 1e6):
        run = fused_run([one, OTHER], METHODS["z-score"], 5, [weight, 0.3], "mine")
        write_run(tmp_path, run, "")
        expected = [str(np.float32(score)) for score in run.scores]
        assert [line.split()[4] for line in (tmp_path / "run.txt").read_text().splitlines()] == expected
        assert read_run(tmp_path / "run.txt") == run


@pytest.mark.parametrize(("weights", "stance"), [([1.0, 1.0], "PRO"), ([0.0, 1.0], "CON")])
def test_a_stance_is_that_of_the_first_run_with_the_document_and_a_weight(
    weights: list[float], stance: str
) -> None:
    one = Run.of([RunLine("1", "PRO", "a", 1, 2.0, "t")])
    other = Run.of([RunLine("1", "CON", "a", 1, 2.0, "t"), RunLine("1", "CON", "b", 2, 1.0, "t")])
    run = fused_run([one, other], METHODS["rrf"], 10, weights)
    assert [(line.document, line.stance) for line in run] == [("a", stance), ("b", "CON")]
