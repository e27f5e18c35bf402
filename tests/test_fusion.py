import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touche.formats.runs import RunLine
from touche.fusion import METHODS, fused

IDS = list("abcdef")
SCORES = st.sampled_from([0.0, 1.0, 2.5, -3.0, 1e30, 7.0])  # few, so that there are ties
RUNS = st.lists(
    st.dictionaries(st.tuples(st.sampled_from("12"), st.sampled_from(IDS)), SCORES, min_size=1),
    min_size=2,
    max_size=4,
)


def lines(scores: dict[tuple[str, str], float]) -> list[RunLine]:
    """A run whose ranks are all 1, for scores decide."""
    return [RunLine(topic, "Q0", document, 1, score, "t") for (topic, document), score in scores.items()]


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
    found = dict(fused([ONE, OTHER], METHODS[method]))
    assert list(found) == ["1", "2"]
    assert dict(found["1"]) == pytest.approx(expected, rel=1e-15)
    # The only document of a topic is first and last at once.
    assert found["2"] == [("z", 1 / 61 if method == "rrf" else 1.0)]


def by_table(runs: list[dict[tuple[str, str], float]], topic: str, method: str) -> dict[str, float]:
    """The same, by a table: a row for each run, a column for each document, NaN where there is none."""
    scores = np.array([[run.get((topic, document), np.nan) for document in IDS] for run in runs])
    scores = scores[~np.isnan(scores).all(axis=1)]
    if method == "rrf":
        # What stands above a document: higher scores, and the same ones with a later id.
        later = np.array(IDS)[:, None] > np.array(IDS)[None, :]
        above = (scores[:, :, None] > scores[:, None, :]) | (
            (scores[:, :, None] == scores[:, None, :]) & later[None]
        )
        shares = np.where(np.isnan(scores), np.nan, 1 / (61 + above.sum(axis=1)))
    else:
        lowest, highest = (each(scores, axis=1, keepdims=True) for each in (np.nanmin, np.nanmax))
        with np.errstate(invalid="ignore"):
            shares = np.where(lowest == highest, scores * 0 + 1, (scores - lowest) / (highest - lowest))
    total = np.nansum(shares, axis=0) * ((~np.isnan(shares)).sum(axis=0) if method == "combmnz" else 1)
    has_any = ~np.isnan(shares).all(axis=0)
    return {document: total[at] for at, document in enumerate(IDS) if has_any[at]}


@given(RUNS, st.sampled_from(list(METHODS)), st.randoms(use_true_random=False))
def test_runs_in_any_order_come_to_what_a_table_says(runs, method, random) -> None:  # type: ignore[no-untyped-def]
    found = {topic: dict(hits) for topic, hits in fused(map(lines, runs), METHODS[method])}
    assert found.keys() == {topic for run in runs for topic, _ in run}
    for topic, hits in found.items():
        assert hits == pytest.approx(by_table(runs, topic, method), rel=1e-12)
    random.shuffle(runs)
    again = {topic: dict(hits) for topic, hits in fused(map(lines, runs), METHODS[method])}
    assert again == found and all(map(math.isfinite, (s for hits in found.values() for s in hits.values())))
