"""Reports: runs among the published results of their task, on one self-contained page."""

from touche.report.content import part_of, published_parts
from touche.report.page import write
from touche.report.records import Report, TaskReport

__all__ = ["Report", "TaskReport", "part_of", "published_parts", "write"]
