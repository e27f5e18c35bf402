"""Tables of baselines for the documentation.

Values come from ``touche.reproductions`` and expected.toml, times and sizes of images from measured.toml.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from inspect import getdoc, isfunction
from pathlib import Path
from typing import Any

import touche
from touche import baselines
from touche.baselines.expected import ExpectedScore, read_expected
from touche.data.places import shipped_baselines
from touche.documents.discovery import FORMATS
from touche.errors import ToucheError
from touche.io.grouping import group_by
from touche.regression.log import LOG_FILE, read_log
from touche.regression.reproductions import Reproduction
from touche.tasks import all_tasks, public_runs
from touche.tasks.own_measures import OWN_MEASURES

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "docs" / "site" / "measured.toml"
_NOTHING = "–"
RERUN_OF_TOPICS = "with word frequencies fitted to the official run's scores, ranking part of the corpus"
"""How published values of single topics were rerun, in the same words on all pages."""


def on_pages() -> list[tuple[str, str]]:
    """Returns pages with a table that they contain; ``make outputs`` writes them."""
    return [
        ("README.md", checks()),
        ("docs/reference/baselines.md", overview()),
        ("docs/how-to/evaluate.md", own_measures()),
        ("docs/reference/files.md", documents()),
        ("docs/reference/python.md", functions()),
    ]


def checks() -> str:
    """Returns README's table of what was checked, how, and with which result."""
    verdicts = [check.verdict for task in all_tasks().values() for check in public_runs.checks(task).values()]
    equal = verdicts.count(public_runs.EVALUATED)
    evaluated = equal + verdicts.count(public_runs.DIFFERENT)
    return table(
        ["what", "how", "result"],
        [
            [
                "published values of single topics",
                f"rerun by `make reproduce` {RERUN_OF_TOPICS}",
                "[identical](docs/explanation/same-system.md): 20 of 20 in ten topics of 2021, where "
                "0.009% of pairs of different teams' runs would pass; after "
                "`touche data fetch touche-2022-task-2/twenty-topics` (286 MB), 40 of 40 in twenty of 2022. "
                "This tests the formula and the analysis, not the fitted frequencies",
            ],
            [
                "[public runs](docs/how-to/official-data.md#public-runs)",
                "evaluated by `touche regress --official` after `touche data fetch --runs`",
                f"{evaluated} of {len(verdicts)} published values checked: {equal} equal, "
                f"{evaluated - equal} different",
            ],
            [
                "container images",
                "built again from the same commit",
                "[equal](docs/how-to/verify-an-image.md) to the last byte",
            ],
            [
                "scores on whole corpora",
                "not rerun, because we don't have the corpora",
                "[report a rerun](docs/how-to/report-a-rerun.md) if you do",
            ],
        ],
    )


def documents() -> str:
    """Returns the table of formats of documents, in the order in which a folder is searched for them."""
    corpus = ["`--corpus ID`", "a corpus of ir_datasets, which replaces documents in the folder"]
    formats = [[f"`{format.pattern}`", format.description] for format in FORMATS]
    return table(["documents", "format"], [corpus, *formats])


def overview() -> str:
    """Returns the table of all baselines, with a row for each task and options that have a value."""
    lines = []
    for name in in_order():
        baseline = f"**[{name}](../../baselines/{name}/README.md)**<br>{about(name)}"
        section = f"[{exactness(name)}](../../baselines/{name}/README.md#{anchor(name)})"
        image = _image(name)
        by_row = group_by(_records().get(name, []), lambda record: (record.dataset, record.expected.command))
        for records in by_row.values() or [[]]:
            lines.append([baseline, *_cells(records), section, image])
            baseline = section = image = ""  # only in the first row of a baseline
    columns = ["baseline", "task", "published", "on a sample", "evaluator", "judged", "exactness", "image"]
    return table(columns, lines)


def _cells(records: Sequence[Reproduction]) -> list[str]:
    """Returns the cells of a baseline's values on one task with some options, if there are any."""
    if not records:
        return 5 * [_NOTHING]
    first = records[0]
    options = " ".join(first.expected.arguments)
    cells = [
        [short(first.dataset), *([f"`{options}`"] if options else [])],
        [_with_dimension(record.expected) for record in records if record.expected.published is not None],
        [_with_dimension(record.sample) for record in records if record.sample],
        dict.fromkeys(record.expected.evaluator for record in records),
        dict.fromkeys(filter(None, map(judged, records))),
    ]
    return ["<br>".join(cell) or _NOTHING for cell in cells]


def functions() -> str:
    """Returns the table of the library's functions: name, first sentence, and a line of their example."""
    lines = []
    for name in re.findall(r"as (\w+)$", Path(touche.__file__).with_suffix(".pyi").read_text(), re.MULTILINE):
        value = getattr(touche, name)
        examples = re.findall(rf">>> (?:\w+ = |for .* in )?(.*touche\.{name}\(.*)", getdoc(value) or "")
        if isfunction(value) and examples:
            sentence = (getdoc(value) or "").partition("\n")[0]
            lines.append(
                [f"`touche.{name}`", sentence, f"`{examples[0].partition('  # doctest')[0].strip()}`"]
            )
    return table(["function", "", "example"], sorted(lines))


def own_measures() -> str:
    """Returns the table of measures that trec_eval lacks."""
    return table(["measure", "meaning"], [[f"`{name}`", each.prose] for name, each in OWN_MEASURES.items()])


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
    lines = []
    for entry in scores(name):
        options = f"`{' '.join(entry.arguments)}`" if entry.options else ""
        run = f"official run {Path(entry.run).stem}" if entry.run else options
        share = _logged_shares().get((entry.command, entry.dataset, *entry.value_name_and_evaluator))
        value = rounded(float(entry.value))
        measured = [
            *entry.value_name_and_evaluator,
            entry.kind,
            value,
            "" if share is None else f"{share:.2f}",
        ]
        lines.append([f"`{entry.dataset}`", run, *measured, _linked(entry.source)])
    columns = ["dataset", "options or run", "dimension", "evaluator", "kind", "score", "judged", "source"]
    return table(columns, lines)


def scores(name: str) -> list[ExpectedScore]:
    """Returns the expected scores of a baseline."""
    return [entry for entry in read_expected(name) if isinstance(entry, ExpectedScore)]


def in_order() -> list[str]:
    """Returns the baselines, those with published values first."""
    return sorted(
        shipped_baselines(),
        key=lambda name: all(record.expected.published is None for record in _records().get(name, [])),
    )


def judged(record: Reproduction) -> str:
    """Returns the judged share of the first documents on the sample; empty if it is unknown."""
    rerun = record.on_sample
    return f"{rerun.judged:.2f}" if rerun and rerun.judged is not None else ""


def score(entry: ExpectedScore) -> str:
    """Returns an expected score as tables print it."""
    return rounded(float(entry.value))


def rounded(value: float | None) -> str:
    """Returns a score as tables print it; a half is rounded up, whatever its binary form is."""
    return _NOTHING if value is None else f"{value + 1e-9:.3f}"


def about(name: str) -> str:
    """Returns the first sentence of a baseline's docstring."""
    tree = ast.parse((ROOT / "baselines" / name / "baseline.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").partition("\n")[0].rstrip(".")


def exactness(name: str) -> str:
    """Returns how exact a baseline is, in the words of a heading of its README.

    Raises:
        ToucheError: if the README has no such heading.
    """
    readme = ROOT / "baselines" / name / "README.md"
    text = readme.read_text(encoding="utf-8")
    headings: list[str] = re.findall(r"^## Replication: (.+)$", text, re.MULTILINE)
    if not headings:
        problem = f"{readme.relative_to(ROOT)}: it does not say how exact the baseline is"
        raise ToucheError(f"{problem}; add a section with the heading '## Replication: HOW EXACT IT IS'")
    return headings[0]


def anchor(name: str) -> str:
    """Returns the anchor of the section of a baseline's README on its exactness."""
    return re.sub(r"[^\w -]", "", f"replication: {exactness(name)}".lower()).replace(" ", "-")


def table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown; bars in cells are escaped."""
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (columns, ["---"] * len(columns), *escaped))


@cache
def _measured() -> Mapping[str, Any]:
    return tomllib.loads(MEASURED.read_text(encoding="utf-8"))


def _linked(source: str) -> str:
    """Makes a link of words that an address in parentheses follows."""
    return re.sub(r"(\w[\w ]*) \((https?://[^)\s]+)\)", r"[\1](\2)", source)


def _default(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"`{text}`" if text else ""


@cache
def _records() -> Mapping[str, Sequence[Reproduction]]:
    """Returns the values by each task's own measure, by baseline: Touché's before BEIR's, published first."""
    records = [record for record in touche.reproductions() if record.expected.has_task_measure]
    return group_by(
        sorted(records, key=_order),
        lambda record: record.expected.baseline,
    )


def _order(record: Reproduction) -> tuple[bool, bool]:
    return not record.dataset.startswith("touche-"), record.expected.published is None


@cache
def _logged_shares() -> Mapping[tuple[str, ...], float | None]:
    """Returns the judged share of each score's last rerun, by baseline, dataset, dimension and evaluator."""
    log = read_log(ROOT / "baselines" / LOG_FILE)
    return {(row.baseline, row.dataset, row.dimension, row.evaluator): row.judged for row in log}


def short(dataset: str) -> str:
    """Returns a task as a row shows it, such as ``2020 task 1, version 1``."""
    name = dataset.removeprefix("touche-").replace("-task-", " task ").replace("-v1", ", version 1")
    return name.replace("beir-webis-touche2020", "BEIR")


def _with_dimension(entry: ExpectedScore) -> str:
    return f"{entry.dimension.removeprefix('relevance-')}&nbsp;{score(entry)}"


def _image(name: str) -> str:
    image = _measured()["images"].get(name)
    if image is None:
        return _NOTHING  # measuring needs Docker
    return f"{image['size']}&nbsp;MB<br>{image['seconds']}&nbsp;s"
