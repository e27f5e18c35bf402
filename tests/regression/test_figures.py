"""Figures of runs of pairs, by hand."""

import pytest

from identifying import line
from touche.errors import ToucheError
from touche.regression import figures

SAME = "a__b__PREMISE__1,a__b__PREMISE__2"
OTHER = "a__b__PREMISE__1,c__PREMISE__2"
RUN = [line("1", SAME, 1.0), *(line("1", OTHER, 2.0 + n) for n in range(5)), line("2", OTHER, 1.0)]


def test_pairs_per_topic_are_a_mean_and_those_within_one_argument_a_share() -> None:
    assert figures.pairs_per_topic(RUN) == 3.5
    assert figures.within_one_argument(RUN) == pytest.approx(1 / 7)


def test_what_is_no_pair_or_not_in_the_corpus_is_named() -> None:
    with pytest.raises(ToucheError, match="S1-A1 is not a pair of sentences"):
        figures.within_one_argument([line("1", "S1-A1", 1.0)])
