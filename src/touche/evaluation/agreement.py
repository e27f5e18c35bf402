"""How far rankings agree, without judgments: common documents, and the order of these."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan
from pathlib import Path
from statistics import fmean

from touche.errors import ToucheError
from touche.formats.runs import RunLine, in_order_of_score, read_run

NEAR, FAR = 5, 100  # ranks


@dataclass(frozen=True)
class Overlap:
    """What two runs have in common; all figures are means over the topics that one of them has.

    Attributes:
        run_a, run_b: the paths of the run files.
        topics: the number of topics that one of them has.
        overlap_5: the share of the first five results that both have, of the longer list.
        overlap_100: the same of the first hundred.
        tau: Kendall's rank correlation of the documents that both rank; topics with fewer than two of these
            do not count. None if there is no such topic.
    """

    run_a: str
    run_b: str
    topics: int
    overlap_5: float
    overlap_100: float
    tau: float | None


def overlaps(paths: Sequence[Path]) -> Iterator[Overlap]:
    """Every two of several runs.

    Raises:
        ToucheError: if there are fewer than two, one is unusable, or two have no topic in common.
    """
    if len(paths) < 2:
        raise ToucheError("there are fewer than two runs; give two at least")
    runs = [(path, _rankings(read_run(path))) for path in paths]
    for (path_a, a), (path_b, b) in combinations(runs, 2):
        if not a.keys() & b.keys():
            raise ToucheError(f"{path_a} and {path_b} have no topic in common; give runs of one task")
        lists = [(a.get(topic, []), b.get(topic, [])) for topic in a.keys() | b.keys()]
        yield Overlap(str(path_a), str(path_b), len(lists), *_agreement(lists))


def _agreement(lists: Sequence[tuple[list[str], list[str]]]) -> tuple[float, float, float | None]:
    """Overlap near and far and Kendall's tau, as means over topics."""
    near, far = (fmean(_shared(a[:depth], b[:depth]) for a, b in lists) for depth in (NEAR, FAR))
    taus = [tau for a, b in lists if (tau := _tau(a, b)) is not None]
    return near, far, fmean(taus) if taus else None


def _rankings(run: Sequence[RunLine]) -> Mapping[str, list[str]]:
    """The documents of each topic, best first."""
    rankings: dict[str, list[str]] = {}
    for line in in_order_of_score(run):
        rankings.setdefault(line.topic, []).append(line.document)
    return rankings


def _shared(a: Sequence[str], b: Sequence[str]) -> float:
    return len(set(a) & set(b)) / max(len(a), len(b))


def _tau(a: Sequence[str], b: Sequence[str]) -> float | None:
    from scipy.stats import kendalltau  # here, for it takes a second to import

    places = {document: place for place, document in enumerate(b)}
    common = [places[document] for document in a if document in places]
    if len(common) < 2:
        return None
    tau = float(kendalltau(range(len(common)), common).statistic)
    return None if isnan(tau) else tau
