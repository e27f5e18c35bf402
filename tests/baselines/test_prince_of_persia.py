from dataclasses import replace
from math import log2
from typing import Any

import pytest

from oracles.formulas import dlh, pl2
from touche import baselines
from touche.documents.document_records import Argument
from touche.scan.statistics import Term
from touche.trec.topics import Topic

CAT = Topic("1", "cat")
ARGUMENTS = [
    Argument("both", "cat bird", ("cat cat dog fish",)),
    Argument("premises", "dog", ("cat bird",)),
    Argument("conclusion", "cat mouse", ("dog dog dog",)),
    Argument("neither", "bird bird", ("fish",)),
    Argument("other", "dog", ("fish fish dog",)),
    Argument("more", "bird", ("dog",)),
]
OF_PREMISES = Term(df=2, ttf=3, documents=6, tokens=14)
OF_CONCLUSIONS = Term(df=2, ttf=2, documents=6, tokens=9)


def dirichletlm(tf: float, length: float, term: Term) -> float:
    return log2(1 + tf / (2500 * term.ttf / term.tokens)) + log2(2500 / (2500 + length))


def bm25(tf: float, length: float, term: Term) -> float:
    rarity = log2((term.documents - term.df + 0.5) / (term.df + 0.5))
    return rarity * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * length * term.documents / term.tokens))


@pytest.mark.parametrize(
    ("run", "first", "second", "weight"),
    [
        ("1", dirichletlm, dirichletlm, 0.8),
        ("2", bm25, bm25, 0.8),
        ("3", dlh, pl2, 0.8),
        ("4", dlh, bm25, 0.8),
        ("5", dlh, dlh, 0.9),
    ],
)
def test_the_score_is_a_weighted_sum_of_two_indexes(run: str, first: Any, second: Any, weight: float) -> None:
    scores = dict(next(iter(baselines.load("prince-of-persia")([CAT], ARGUMENTS, run=run)))[1])
    expected = {
        "both": weight * first(2, 4, OF_PREMISES) + (1 - weight) * second(1, 2, OF_CONCLUSIONS),
        "premises": weight * first(1, 2, OF_PREMISES),
        "conclusion": (1 - weight) * second(1, 2, OF_CONCLUSIONS),
    }
    assert scores == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("run", ["1", "2"])
def test_a_common_term_takes_away_from_bm25_and_long_texts_from_dirichletlm(run: str) -> None:
    """Contributions may be negative in Terrier, but not in Lucene."""
    common = [Argument(str(number), "x", ("cat " * (1 + number) + "dog " * 9,)) for number in range(4)]
    scores = dict(next(iter(baselines.load("prince-of-persia")([CAT], common, run=run)))[1])
    assert len(scores) == 4 and min(scores.values()) < 0


@pytest.mark.parametrize("run", [*"12345"])
def test_candidates_without_a_term_are_last_and_the_scores_of_others_are_unchanged(run: str) -> None:
    """A candidate without a term in one index has the score 0 there, as any document, and not a lower one."""
    ids = {argument.id for argument in ARGUMENTS}
    ranker = baselines.load("prince-of-persia")
    ((_, whole),) = ranker([CAT], ARGUMENTS, run=run)
    ((_, hits),) = ranker([replace(CAT, candidates=frozenset(ids))], ARGUMENTS, run=run)
    assert hits[: len(whole)] == whole and {id for id, _ in hits} == ids
    assert max(score for _, score in hits[len(whole) :]) < whole[-1][1]
