import json
from pathlib import Path

import pytest
from scipy.stats import kendalltau

from conftest import Touche, Write
from touche.errors import ToucheError
from touche.evaluation.agreement import overlaps


def run(write: Write, name: str, **topics: str) -> Path:
    """A file of topics and their documents, a letter each, best first."""
    lines = [
        f"{topic[1:]} Q0 {document} {rank} {100 - rank} {name}\n"
        for topic, documents in topics.items()
        for rank, document in enumerate(documents, 1)
    ]
    return write(f"{name}.txt", "".join(lines))


def test_figures_by_hand(write: Write) -> None:
    a = run(write, "a", t1="abcdefg", t2="xy", t3="pq")
    b = run(write, "b", t1="bachijg", t2="z", t4="pq")
    (found,) = overlaps([a, b])
    assert (found.run_a, found.run_b, found.topics) == (str(a), str(b), 4)
    assert found.overlap_5 == pytest.approx(3 / 5 / 4)
    assert found.overlap_100 == pytest.approx(4 / 7 / 4)
    # a, b, c, g stand as b, a, c, g: one of six pairs is turned.
    assert found.tau == pytest.approx((5 - 1) / 6) == kendalltau([1, 2, 3, 4], [2, 1, 3, 4]).statistic


def test_a_run_agrees_with_itself_and_not_with_its_reverse(write: Write) -> None:
    a, b, c = run(write, "a", t1="abcdef"), run(write, "b", t1="fedcba"), run(write, "c", t1="xyz")
    same, reverse, other = (next(iter(overlaps([a, each]))) for each in (a, b, c))
    assert (same.overlap_5, same.overlap_100, same.tau) == (1, 1, pytest.approx(1))
    assert (reverse.overlap_5, reverse.overlap_100, reverse.tau) == (0.8, 1, pytest.approx(-1))
    assert (other.overlap_5, other.overlap_100, other.tau) == (0, 0, None)


def test_the_command(write: Write, touche: Touche) -> None:
    a, b, c = (run(write, name, t1=documents) for name, documents in (("a", "ab"), ("b", "ba"), ("c", "xy")))
    code, out, _ = touche("overlap", a, b, c)
    assert code == 0
    assert [line.split()[-4:] for line in out.splitlines()[1:]] == [
        ["1", "1.000", "1.000", "-1.000"],
        ["1", "0.000", "0.000", "–"],
        ["1", "0.000", "0.000", "–"],
    ]
    _, out, _ = touche("overlap", a, b, "--format", "json")
    assert json.loads(out)[0]["tau"] == pytest.approx(-1)


def test_runs_that_cannot_be_compared(write: Write) -> None:
    a = run(write, "a", t1="ab")
    with pytest.raises(ToucheError, match="fewer than two runs; give two at least"):
        list(overlaps([a]))
    with pytest.raises(ToucheError, match="have no topic in common; give runs of one task"):
        list(overlaps([a, run(write, "b", t2="ab")]))
