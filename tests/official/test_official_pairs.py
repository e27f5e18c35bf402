"""Pairs of sentences on the sample are as coherent as ever: regress only sees how many there are."""

from collections.abc import Callable
from pathlib import Path

import pytest

from identifying import line
from oracles.pair_coherence import coherence
from touche.data.datasets import open_dataset
from touche.documents.document_records import Argument, Sentence
from touche.trec.runs import read_run

pytest_plugins = ["sample_runs"]


def argument(id: str, *texts: str) -> Argument:
    sentences = [Sentence(f"{id}__PREMISE__{number}", text) for number, text in enumerate(texts, 1)]
    return Argument(id=id, conclusion="", premises=(), stance="PRO", sentences=tuple(sentences))


DOCUMENTS = [argument("a__b", "Cats sleep.", "CATS sleep."), argument("c", "Taxes rise.", "A cat is asleep.")]
SAME = "a__b__PREMISE__1,a__b__PREMISE__2"
OTHER = "a__b__PREMISE__1,c__PREMISE__2"
RUN = [line("1", SAME, 1.0), *(line("1", OTHER, 2.0 + n) for n in range(5)), line("2", OTHER, 1.0)]


def test_coherence_is_that_of_the_five_with_the_highest_scores() -> None:
    """A pair that repeats itself counts 0; it is first in the file, but sixth in its topic."""
    related = coherence(RUN[-1:], DOCUMENTS)
    assert related > 0.3
    assert coherence(RUN, DOCUMENTS) == pytest.approx(related)
    assert coherence([*RUN[:1], *RUN[3:]], DOCUMENTS) == pytest.approx(related * 4 / 5)


@pytest.mark.slow
@pytest.mark.xdist_group("official")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("dirichletlm-pairs", 0.60291),
        pytest.param("sentence-coherence", 0.78668, marks=pytest.mark.nightly),
        pytest.param("argsrank --depth 5", 0.49581, marks=pytest.mark.nightly),
    ],
)
def test_the_first_pairs_of_the_sample_are_as_coherent_as_ever(
    official: Path, measured: Callable[..., Path], command: str, expected: float
) -> None:
    task = "touche-2022-task-1"
    run = read_run(measured(command, task))
    assert coherence(run, open_dataset(f"{task}/sample").documents) == pytest.approx(expected, abs=0.001)
