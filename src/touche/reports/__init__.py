"""Reports: runs among the published results of their task, on one self-contained page."""

from touche.reports.page import PAGE_FILE, report, write
from touche.reports.report_content import published_parts, task_report
from touche.reports.report_records import Report, TaskReport

__all__ = ["PAGE_FILE", "Report", "TaskReport", "published_parts", "report", "task_report", "write"]
