"""Computes figures about runs of sentence pairs. They need no qrels, and show whether a baseline's method has
changed.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean

from touche.errors import ToucheError
from touche.trec.columns import RunLine


def pairs_per_topic(run: Sequence[RunLine]) -> float:
    """Returns the mean number of pairs per topic."""
    return len(run) / len({line.topic for line in run})


def within_one_argument(run: Sequence[RunLine]) -> float:
    """Returns the share of pairs in which both sentences are from the same argument."""
    pairs = [sentence_ids(line) for line in run]
    return mean(argument_id(first) == argument_id(second) for first, second in pairs)


MEASURES: Mapping[str, Callable[[Sequence[RunLine]], float]] = {
    "pairs per topic": pairs_per_topic,
    "within one argument": within_one_argument,
}


def sentence_ids(line: RunLine) -> tuple[str, str]:
    """Returns the two sentence ids in a pair's id, such as ``a__PREMISE__1,a__CONC__1``."""
    first, _, second = line.document.partition(",")
    if "__" not in first or "__" not in second:
        raise ToucheError(f"{line.document} is not a pair of sentences")
    return first, second


def argument_id(sentence_id: str) -> str:
    """Returns the id of a sentence's argument; sentence ids look like ``argument__PREMISE__1``."""
    return sentence_id.rpartition("__")[0].rpartition("__")[0]
