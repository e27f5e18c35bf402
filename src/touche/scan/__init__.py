"""Ranking without an index: the topics are known, so that one reading tells all that their terms need."""

from touche.scan.ranking import rank

__all__ = ["rank"]
