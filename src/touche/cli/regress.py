"""touche regress"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any

import click

from touche.cli.commands import BASELINE, DATASET_ID, argument, command, command_line, is_passed, option
from touche.cli.options import FORMAT
from touche.cli.output import BAD, BROKEN, DOUBTFUL, GOOD, echo, render, tell
from touche.cli.runner_options import check_runner, runners
from touche.cli.sheets import overlap_sheets
from touche.data.places import remedy_for
from touche.errors import ToucheError, listed
from touche.io.grouping import group_by
from touche.io.tables import Column, Sheet, signed, three_decimals
from touche.regression import log_checking, published_cells
from touche.regression import outcomes as verdicts
from touche.regression.outcomes import COLUMNS, Regression, summary, what_reruns_show
from touche.regression.running import regress as run_regression
from touche.runners.limits import Limits
from touche.tasks.public_runs import DIFFERENT, NOT_LISTED, NOT_PUBLIC, value_name

_COLOURS = {
    verdicts.PASSED: GOOD,
    verdicts.NOT_AS_REPORTED: DOUBTFUL,
    **dict.fromkeys(verdicts.UNCHECKED, DOUBTFUL),
    **dict.fromkeys(verdicts.BROKEN, BAD),
}


@command(
    "touche regress bm25 --dataset spot-check/passages",
    *runners(),
    argument("names", "[BASELINE...]", type=BASELINE),
    option(
        "--dataset datasets DATASET",
        "Rerun only on this dataset. Can be repeated.",
        type=DATASET_ID,
        multiple=True,
    ),
    option(
        "--official", "Re-evaluate the public runs behind published results, instead of rerunning baselines."
    ),
    option("--all every", "With --official, show each published value."),
    option(
        "--update",
        "Overwrite pinned values that changed on purpose, and name those that could not be renewed. "
        "Published values stay. With --official, write to the index of public runs which runs were checked.",
    ),
    option("--per-topic", "Also print each topic's published and measured value."),
    option("--twice", "Run each baseline twice and compare run.txt byte by byte."),
    FORMAT,
    option(
        "-o --output FILE",
        "With --format json, write the records to FILE after each result, and print the table.",
    ),
    option("--junit FILE", "Write JUnit XML to FILE."),
    option("--record FILE", "Append each measured score to FILE, a log of reruns in CSV."),
    option("--by NAME", "Your name, for the rows that --record appends.", default=""),
    option("--run-url URL", "The address where the run file will be public, for these rows.", default=""),
    option(
        "--check-log FILE",
        "Instead, check the rows that FILE, a changed copy of baselines/reproductions.csv, adds to it.",
        type=click.Path(exists=True, dir_okay=False),
    ),
    option("--report DIR", "Write a page to DIR with the table, the times and a report per dataset."),
)
def regress(
    names: Sequence[str],
    datasets: Sequence[str],
    official: bool,
    check_log: str | None,
    every: bool,
    per_topic: bool,
    twice: bool,
    format: str,
    **options: Any,
) -> int:
    """Rerun baselines on all available datasets and check that their scores haven't changed.

    A baseline's expected scores and rankings are in its expected.toml. Exit with 1 if a score is too low or
    too high, a ranking has changed, a run failed, or a published value differs; with --update, also if a
    value moved, but another one of the same baseline could not be renewed. Other runs continue after a
    failure. In GitHub Actions, the table also appears in the job's summary.

    BASELINE is a name, or the path of a folder, whose code runs on this machine unless --runner
    names a container program.
    """
    check_runner(options["runner"])
    if options["output"] and format != "json":
        raise click.UsageError("--output writes JSON; add --format json")
    if every and not official:
        raise click.UsageError("--all shows published values; add --official")
    if official:
        others = click.get_current_context().params.keys() - _WITH_OFFICIAL
        if any(map(is_passed, others)):
            problem = "--official reruns nothing"
            raise click.UsageError(f"{problem}; use it only with --dataset, --all, --update and files")
        files = {name: options[name] for name in ("output", "junit", "update")}
        return _check_published(datasets, format, every, **files)
    if check_log:
        return _check_log(check_log, format)
    _check_options_of_rows(**{name: options[name] for name in ("record", "by", "run_url")})
    options["summary"] = os.environ.get("GITHUB_STEP_SUMMARY") or None
    options["limits"] = Limits(
        cpus=options.pop("cpus"), memory=options.pop("memory"), seconds=options.pop("seconds")
    )
    regression = run_regression(names, datasets, twice=twice, command=command_line(), log=tell, **options)
    format = "table" if options["output"] else format  # print the table if the records go to a file
    render(regression, format, _sheets(regression, per_topic))
    print_line = echo if format == "table" else tell
    if twice and regression.all_repeatable and not regression.unchecked:
        print_line("both runs of each baseline wrote the same run.txt, byte by byte")
    if regression.page:
        print_line(str(regression.page))
    if regression.unchecked:
        raise ToucheError(f"nothing was checked: {regression.unchecked}")
    return BROKEN if regression.is_broken else 0


def _check_published(
    datasets: Sequence[str], format: str, every: bool, output: str | None, junit: str | None, update: bool
) -> int:
    """Runs ``touche regress --official``."""
    cells = published_cells.check_published(datasets, output=output, junit=junit, update=update)
    rows = list[tuple[str, ...]]()
    for task, of_task in [*group_by(cells, lambda cell: cell.row.task).items(), ("all", cells)]:
        counts = Counter(cell.verdict for cell in of_task)
        rows.append((task, *map(str, [len(of_task), *(counts[verdict] for verdict in _VERDICTS)])))
    wrong = [cell for cell in cells if cell.verdict == DIFFERENT or cell.is_broken]
    notes = []
    if any(cell.verdict == published_cells.NOT_HERE for cell in cells):
        command = " ".join(["touche data fetch", *datasets, "--runs"])
        notes.append(f"to get the runs that are not here: {command}")
    remarks = (f"{cell.row.team}, {cell.row.tag}: {cell.remark}" for cell in wrong if cell.remark)
    notes += dict.fromkeys(remarks)
    sheets = [Sheet(_TASKS, rows, notes)]
    shown = cells if every else wrong
    for task, of_task in group_by(shown, lambda cell: cell.row.task).items():
        is_clear = len({cell.row.measure for cell in of_task}) <= len(
            {cell.row.dimension for cell in of_task}
        )
        columns = [_RUN, _DIMENSION if is_clear else _MEASURE, *_VALUES]
        sheets.append(Sheet(columns, of_task, above=[task], colours=_CELL_COLOURS))
    render(cells, "table" if output else format, sheets)
    return BROKEN if any(cell.is_broken for cell in cells) else 0


def _check_options_of_rows(record: str | None, by: str, run_url: str) -> None:
    """Rejects a log without a name for its rows, and the other way round."""
    if record and not by:
        raise click.UsageError("--record needs a name for its rows; add --by NAME")
    if run_url and not record:
        raise click.UsageError("--run-url is for the rows that --record appends; add --record FILE")
    if by and not record:
        raise click.UsageError("--by names who made the rows that --record appends; add --record FILE")


def _check_log(file: str, format: str) -> int:
    """Runs ``touche regress --check-log``."""
    if any(map(is_passed, click.get_current_context().params.keys() - {"check_log", "format"})):
        raise click.UsageError("--check-log chooses what to rerun; use it only with --format")
    rows = log_checking.check_added_rows(file, tell)
    refused = sum(bool(checked.problem) for checked in rows)
    count = f"rows added: {len(rows)}, refused: {refused}"
    render(rows, format, [Sheet(_LOG_ROWS, rows, [count, *rows.notes])])
    return BROKEN if refused else 0


def _measured(checked: log_checking.CheckedRow) -> str:
    """Says what gave an accepted row's score again."""
    names = listed(checked.measured)
    return f"the same in {names}" if names else "its form only: data to measure the score again are missing"


def _as_printed(value: float) -> str:
    """Formats a value with at least three decimals."""
    return max(three_decimals(value), str(value), key=len)


_LOG_ROWS = [
    Column("verdict", lambda checked: "refused" if checked.problem else "accepted"),
    Column("baseline", attrgetter("row.baseline")),
    Column("dataset", attrgetter("row.dataset")),
    Column("dimension", attrgetter("row.dimension")),
    Column("evaluator", attrgetter("row.evaluator")),
    Column("got", attrgetter("row.got"), "{:.5f}".format),
    Column("remark", lambda checked: checked.problem or _measured(checked)),
]
_WITH_OFFICIAL = {"datasets", "official", "every", "update", "format", "output", "junit"}
_VERDICTS = (
    published_cells.EQUAL,
    DIFFERENT,
    published_cells.OTHER_FILE,
    published_cells.NOT_HERE,
    NOT_LISTED,
    NOT_PUBLIC,
)
_TASKS = [Column(name, itemgetter(index)) for index, name in enumerate(["task", "cells", *_VERDICTS])]
_CELL_COLOURS = {published_cells.EQUAL: GOOD, DIFFERENT: BAD, published_cells.OTHER_FILE: BAD}
_RUN = Column("run", lambda cell: ", ".join(filter(None, [cell.row.team, cell.row.tag])))
_DIMENSION = Column("dimension", lambda cell: cell.row.dimension)
_MEASURE = Column("measure", lambda cell: value_name(cell.row))
_VALUES = [
    Column("published", lambda cell: cell.row.value, _as_printed),
    Column("here", "value", _as_printed, missing="not re-evaluated"),
    Column("verdict", "verdict"),
]


def _sheets(regression: Regression, per_topic: bool) -> Iterator[Sheet]:
    """Yields the outcomes with notes, the agreements with official runs, and the topics."""
    notes = list[str]()
    if regression.missing:
        advice = f"{', '.join(regression.missing)}; {remedy_for(regression.missing)}"
        notes.append(f"{verdicts.MISSING}: {advice}")
    notes += [f"{verdicts.NOT_INSTALLED}: {remark}" for remark in regression.not_installed]
    notes.append(f"expected results: {summary(regression)}")
    notes += what_reruns_show(regression)
    checked = [outcome for outcome in regression if outcome.verdict != verdicts.MISSING]
    yield Sheet(COLUMNS, checked, notes, colours=_COLOURS)
    agreements = [agreement for outcome in regression for agreement in outcome.agreements]
    if agreements:
        first, *others = overlap_sheets(agreements)
        title = "Agreement of reruns with official runs, on documents that both could find"
        yield from [replace(first, above=[title]), *others]
    topics = [
        {"baseline": outcome.expected.command, **row} for outcome in regression for row in outcome.topic_rows
    ]
    if per_topic and topics:
        yield Sheet(_TOPICS, topics)


def _difference(row: Mapping[str, Any]) -> float | None:
    """Returns a rerun's topic value minus the published one; None if the rerun lacks the topic."""
    return None if row["rerun"] is None else round(row["rerun"] - row["published"], 3)


_TOPICS = [
    Column("baseline", itemgetter("baseline")),
    Column("dimension", itemgetter("dimension")),
    Column("topic", itemgetter("topic")),
    Column("published", itemgetter("published"), three_decimals),
    Column("rerun", itemgetter("rerun"), three_decimals),
    Column("difference", _difference, signed),
]
