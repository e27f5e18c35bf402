"""Figures of runs of pairs, by hand."""

import pytest

from identifying import line
from touche.documents.document_records import Argument, Sentence
from touche.errors import ToucheError
from touche.regression import figures


def argument(id: str, *texts: str) -> Argument:
    sentences = [Sentence(f"{id}__PREMISE__{number}", text) for number, text in enumerate(texts, 1)]
    return Argument(id=id, conclusion="", premises=(), stance="PRO", sentences=tuple(sentences))


DOCUMENTS = [argument("a__b", "Cats sleep.", "CATS sleep."), argument("c", "Taxes rise.", "A cat is asleep.")]
SAME = "a__b__PREMISE__1,a__b__PREMISE__2"
OTHER = "a__b__PREMISE__1,c__PREMISE__2"
RUN = [line("1", SAME, 1.0), *(line("1", OTHER, 2.0 + n) for n in range(5)), line("2", OTHER, 1.0)]


def test_pairs_per_topic_are_a_mean_and_those_within_one_argument_a_share() -> None:
    assert figures.pairs_per_topic(RUN, DOCUMENTS) == 3.5
    assert figures.within_one_argument(RUN, DOCUMENTS) == pytest.approx(1 / 7)


def test_coherence_is_that_of_the_five_with_the_highest_scores() -> None:
    """A pair that repeats itself counts 0; it is first in the file, but sixth in its topic."""
    related = figures.coherence(RUN[-1:], DOCUMENTS)
    assert related > 0.3
    assert figures.coherence(RUN, DOCUMENTS) == pytest.approx(related)
    assert figures.coherence([*RUN[:1], *RUN[3:]], DOCUMENTS) == pytest.approx(related * 4 / 5)


def test_what_is_no_pair_or_not_in_the_corpus_is_named() -> None:
    with pytest.raises(ToucheError, match="S1-A1 is not a pair of sentences"):
        figures.within_one_argument([line("1", "S1-A1", 1.0)], DOCUMENTS)
    with pytest.raises(ToucheError, match="sentence d__PREMISE__1 is not in the corpus"):
        figures.coherence([line("1", "a__b__PREMISE__1,d__PREMISE__1", 1.0)], DOCUMENTS)
