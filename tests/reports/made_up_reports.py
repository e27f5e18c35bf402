"""A made-up task and reports on runs of it."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from conftest import Write
from spotcheck import made_up, run_of, scored_in
from touche.evaluation.comparison import find_reference
from touche.reports.page import write
from touche.reports.report_content import task_report
from touche.reports.report_records import Report, TaskReport
from touche.tasks import Corpus, Published, Task


def published(name: str, value: float, **others: Any) -> Published:
    known: dict[str, Any] = {
        "task": "made-up", "dimension": "relevance", "measure": "nDCG@5", "team": name, "run": "", "tag": "",
        "value": value, "low": None, "high": None, "baseline": False, "evaluator": None, "qrels": None,
        "sources": ("table 1",),
    }  # fmt: skip
    return Published(**known | others)


class Reports:
    """Makes tasks, parts of reports and pages in the folder of a test."""

    def __init__(self, folder: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.write = write
        self.monkeypatch = monkeypatch

    def task(self, *rows: Published, topics: str = "1234", quality: str = "", **changes: Any) -> Task:
        """Makes the task with these published results, whose relevant document is always a."""
        others = {"quality": quality} if quality else {}
        task = made_up(self.write, self.monkeypatch, topics, relevance="a", **others)
        task = replace(task, **{"published": rows, "corpora": {"full": Corpus("nowhere")}} | changes)
        self._task = task
        return task

    def part(self, *runs: str, task: Task | None = None, reference: str | None = None) -> TaskReport:
        """Returns the part of a report on runs of a task, by default of the one that was made last."""
        paths = [self.write(f"{number}.txt", text) for number, text in enumerate(runs)]
        task = task or self._task
        scored = scored_in(paths, task)
        path = find_reference(reference, [], [*{each.run.path: each.run for each in scored}.values()])
        return task_report(scored, task, task.id, path)

    def page(self, part: TaskReport, folder: str = "out", title: str = "Title") -> Path:
        """Writes a report; returns its page."""
        return write(Report(title, "touche report", [part]), self.folder / folder)


@pytest.fixture
def reports(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> Reports:
    return Reports(tmp_path, write, monkeypatch)


@pytest.fixture
def part(reports: Reports) -> TaskReport:
    """Two runs of a made-up task with two dimensions; the first wins two of four topics and loses none."""
    rows = (
        published("Zorro", 0.95, low=0.9, high=1.0),
        published("Boots", 0.75, baseline=True, evaluator="trec_eval"),
        published("Other", 0.5, dimension="quality", evaluator="touche"),
    )
    reports.task(*rows, quality="b")
    lists = {"first": ("1 a b", "2 a b", "3 a b", "4 b x"), "second": ("1 b a", "2 b a", "3 a b", "4 b x")}
    return reports.part(*(run_of(*topics, tag=tag) for tag, topics in lists.items()))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes pages without other files, which take most of the time."""
    monkeypatch.setattr(import_module("touche.reports.page"), "_write_plots", lambda *_: {})
