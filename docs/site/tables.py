"""Tables of baselines for the documentation, from expected.toml, options and measured.toml."""

import ast
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from touche import baselines
from touche.api.reproductions import is_scored_as_published
from touche.errors import ToucheError
from touche.io.grouping import group_by
from touche.regression.expected import PINNED, PUBLISHED, ExpectedScore, read_expected
from touche.tasks import dataset

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "docs" / "site" / "measured.toml"
_REPLICATION = ROOT / "docs" / "explanation" / "replication.md"
_SAMPLE = "/sample"  # the end of the id of a corpus sample
_NOTHING = "–"
_SHOWN_OPTIONS: Sequence[Mapping[str, Any]] = ({}, {"match": "30%"}, {"candidates": 100})


@dataclass(frozen=True)
class Row:
    """The values of a baseline on one task with some options.

    Attributes:
        task: the task, and the version of its corpus.
        options: options that differ from their defaults, as typed.
        published: the published values, such as ``quality 0.476``.
        sample: the values on the corpus sample.
        judged: Judged@5 of these values, each share once.
    """

    task: str = _NOTHING
    options: str = ""
    published: Sequence[str] = ()
    sample: Sequence[str] = ()
    judged: Sequence[str] = ()


def overview() -> str:
    """Returns the table of all baselines, with a row for each task and options that have a value."""
    lines = []
    for name in in_order():
        baseline = f"**[{name}](../../baselines/{name}/README.md)**<br>{about(name)}"
        section = f"[{exactness(name)}](../explanation/replication.md#{anchor(name)})"
        image = _image(name)
        for row in rows(name):
            task = f"{row.task}<br>`{row.options}`" if row.options else row.task
            values = ["<br>".join(cell) or _NOTHING for cell in (row.published, row.sample, row.judged)]
            lines.append([baseline, task, *values, section, image])
            baseline = section = image = ""  # only in the first row of a baseline
    columns = ["baseline", "task", "published", "on a sample", "Judged@5", "exactness", "image"]
    return table(columns, lines)


def summary() -> str:
    """Returns README's table of baselines: a published value, and the most similar one on a sample."""
    lines = []
    for name in in_order():
        entries = [entry for entry in scores(name) if entry.has_task_measure]
        published = next((entry for entry in entries if entry.kind == PUBLISHED), None)
        samples = [entry for entry in entries if _is_sample(entry)]
        if published:
            samples.sort(key=lambda entry: _likeness(entry, published), reverse=True)
        else:
            samples.sort(key=is_scored_as_published, reverse=True)  # as on the home page
        sample = samples[0] if samples else None
        link = f"[{name}](baselines/{name}/README.md)"
        lines.append([link, method(name), _with_task(published), _with_task(sample)])
    return table(["baseline", "method", "published", "on a sample"], lines)


def options_table(name: str) -> str:
    """Returns the table of a baseline's own options."""
    baseline = baselines.load(name)
    lines = [
        [f"`--{key.replace('_', '-')}`", _default(option.default), baseline.option_help.get(key, "")]
        for key, option in baseline.options.items()
    ]
    return table(["option", "default", "meaning"], lines)


def scores_table(name: str) -> str:
    """Returns the table of all scores in a baseline's expected.toml."""
    judged = _measured()["judged"]
    lines = []
    for entry in scores(name, reruns=False):
        options = f"`{' '.join(entry.arguments)}`" if entry.options else ""
        run = f"official run {Path(entry.run).stem}" if entry.run else options
        share = f"{judged[key(entry)]:.2f}" if key(entry) in judged else ""
        measured = [*entry.value_name_and_evaluator, entry.kind, _rounded(entry), share]
        lines.append([f"`{entry.dataset}`", run, *measured, _linked(entry.source)])
    columns = ["dataset", "options or run", "dimension", "evaluator", "kind", "score", "Judged@5", "source"]
    return table(columns, lines)


def rows(name: str) -> list[Row]:
    """Returns a row for each task and options with a published value or one on a sample; at least one row.

    Values are by the measure of the task.
    """
    shown = [
        entry
        for entry in scores(name)
        if entry.has_task_measure and (entry.kind == PUBLISHED or is_shown(entry))
    ]
    by_task = group_by(shown, _task_and_options)
    return [_row(task, options, entries) for (task, options), entries in by_task.items()] or [Row()]


def scores(name: str, reruns: bool = True) -> list[ExpectedScore]:
    """Returns the expected scores of a baseline; with reruns, without the scores of official runs."""
    entries = [entry for entry in read_expected(name) if isinstance(entry, ExpectedScore)]
    return [entry for entry in entries if entry.needs_rerun or not reruns]


def is_shown(entry: ExpectedScore) -> bool:
    """Returns whether it is a value on a corpus sample that the overview shows."""
    return entry.evaluator == "trec_eval" and _is_sample(entry)


def _is_sample(entry: ExpectedScore) -> bool:
    is_chosen = entry.options in _SHOWN_OPTIONS
    return entry.kind == PINNED and entry.dataset.endswith(_SAMPLE) and is_chosen


def in_order() -> list[str]:
    """Returns the baselines, those with published values first."""
    return sorted(baselines.names(), key=lambda name: all(entry.kind != PUBLISHED for entry in scores(name)))


def about(name: str) -> str:
    """Returns the first sentence of a baseline's docstring."""
    tree = ast.parse((ROOT / "baselines" / name / "baseline.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").partition("\n")[0].rstrip(".")


def method(name: str) -> str:
    """Returns the method of a baseline in at most five words, from the title of its README."""
    readme = (ROOT / "baselines" / name / "README.md").read_text(encoding="utf-8")
    return readme.partition("\n")[0].partition(": ")[2]


def exactness(name: str) -> str:
    """Returns how exact a baseline is, in the words of its heading in the page on replication.

    Raises:
        ToucheError: if the page has no section on the baseline.
    """
    return _headings(name)[0]


def anchor(name: str) -> str:
    """Returns the anchor of a baseline's section in the page on replication."""
    return re.sub(r"[^\w -]", "", f"{name}: {exactness(name)}".lower()).replace(" ", "-")


def key(entry: ExpectedScore) -> str:
    """Returns the key of a score in measured.toml."""
    return f"{entry.command} on {entry.dataset}, {entry.dimension}"


def table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown; bars in cells are escaped."""
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (columns, ["---"] * len(columns), *escaped))


def _headings(name: str) -> list[str]:
    headings = re.findall(
        rf"^## {re.escape(name)}: (.+)$", _REPLICATION.read_text(encoding="utf-8"), re.MULTILINE
    )
    if not headings:
        problem = f"{_REPLICATION.relative_to(ROOT)}: no section on {name}"
        raise ToucheError(f"{problem}; write one with the heading '## {name}: HOW EXACT IT IS'")
    return headings


@cache
def _measured() -> Mapping[str, Any]:
    return tomllib.loads(MEASURED.read_text(encoding="utf-8"))


def _linked(source: str) -> str:
    """Makes a link of words that an address in parentheses follows."""
    return re.sub(r"(\w[\w ]*) \((https?://[^)\s]+)\)", r"[\1](\2)", source)


def _default(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"`{text}`" if text else ""


def _task_and_options(entry: ExpectedScore) -> tuple[str, str]:
    """Returns the task and the options as a row shows them, such as ``2020 task 1, version 1``."""
    task = dataset(entry.dataset)[0].id.removeprefix("touche-").replace("-task-", " task ")
    return task.replace("-v1", ", version 1"), " ".join(entry.arguments) if entry.options else ""


def _row(task: str, options: str, entries: Sequence[ExpectedScore]) -> Row:
    published = [entry for entry in entries if entry.kind == PUBLISHED]
    sample = [entry for entry in entries if is_shown(entry)]
    judged = _measured()["judged"]
    shares = dict.fromkeys(f"{judged[key(entry)]:.2f}" for entry in sample if key(entry) in judged)
    return Row(
        task=task,
        options=options,
        published=_values(published),
        sample=_values(sample),
        judged=list(shares),
    )


def _values(entries: Iterable[ExpectedScore]) -> list[str]:
    return [f"{entry.dimension.removeprefix('relevance-')}&nbsp;{_rounded(entry)}" for entry in entries]


def _likeness(entry: ExpectedScore, published: ExpectedScore) -> tuple[bool, bool, bool]:
    """Returns whether two scores have the same dimension, the same task and the same evaluator."""
    is_same_task = _task_and_options(entry)[0] == _task_and_options(published)[0]
    return entry.dimension == published.dimension, is_same_task, entry.evaluator == published.evaluator


def _with_task(entry: ExpectedScore | None) -> str:
    """Returns a value with its task, such as ``0.469 (2022 task 2)``."""
    if entry is None:
        return _NOTHING
    task = _task_and_options(entry)[0].replace("beir-webis-touche2020", "BEIR")
    return f"{_rounded(entry)} ({task})"


def _rounded(entry: ExpectedScore) -> str:
    # A half is rounded up, and not to the side on which its binary form happens to be.
    return f"{float(entry.value) + 1e-9:.3f}"


def _image(name: str) -> str:
    image = _measured()["images"].get(name)
    if image is None:
        return _NOTHING  # measuring needs Docker
    return f"{image['size']}&nbsp;MB<br>{image['seconds']}&nbsp;s"
