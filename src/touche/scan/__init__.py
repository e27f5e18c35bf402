"""Ranking without an index: the topics are known, so that one reading tells all that their terms need."""

from touche.scan.kernel import Array
from touche.scan.ranking import rank
from touche.scan.statistics import Term

__all__ = ["Array", "Term", "rank"]
