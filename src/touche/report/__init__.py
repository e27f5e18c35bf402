"""The report: runs among all published results of their task, on one page that opens without a network."""

from touche.report.content import Page, Part, part_of
from touche.report.page import write

__all__ = ["Page", "Part", "part_of", "write"]
