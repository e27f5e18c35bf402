"""Ranking without an index: the topics are known, so that one reading tells all that their terms need."""

from touche.scan.counting import Fields
from touche.scan.kernel import Array
from touche.scan.lengths import before_lucene_7, exact
from touche.scan.models import Formula, Weighted, bm25, dirichletlm, dlh, dph, pl2
from touche.scan.ranking import Collection, Queries, Scoring, rank
from touche.scan.reading import picked
from touche.scan.statistics import Statistics, Term
from touche.scan.tokens import terms

__all__ = [
    "Array",
    "Collection",
    "Fields",
    "Formula",
    "Queries",
    "Scoring",
    "Statistics",
    "Term",
    "Weighted",
    "before_lucene_7",
    "bm25",
    "dirichletlm",
    "dlh",
    "dph",
    "exact",
    "picked",
    "pl2",
    "rank",
    "terms",
]
