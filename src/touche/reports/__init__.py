"""Reports: runs among the published results of their task, on one self-contained page."""

from touche.reports.content import part_of, published_parts
from touche.reports.page import write
from touche.reports.records import Report, TaskReport

__all__ = ["Report", "TaskReport", "part_of", "published_parts", "write"]
