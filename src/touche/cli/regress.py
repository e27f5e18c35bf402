"""touche regress"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from types import SimpleNamespace
from typing import Any

import click

from touche.cli.commands import BASELINE, DATASET_ID, argument, command, command_line, option
from touche.cli.options import FORMAT
from touche.cli.output import (
    BAD,
    BROKEN,
    DOUBTFUL,
    GOOD,
    Column,
    Sheet,
    echo,
    render,
    signed,
    tell,
    three_decimals,
)
from touche.cli.runner_options import check_runner, runners
from touche.cli.sheets import overlap_sheets
from touche.containers.limits import Limits
from touche.data.remedies import remedy_for
from touche.errors import ToucheError
from touche.regression import outcomes as verdicts
from touche.regression.outcomes import COLUMNS, Regression, row_of, summary
from touche.regression.running import regress as run_regression

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
        "Rerun only on this dataset; can be repeated.",
        type=DATASET_ID,
        multiple=True,
    ),
    option("--update", "Write new values over pinned values that changed; published values stay."),
    option("--per-topic", "Also print the published and the measured value of each topic."),
    option("--twice", "Run each baseline twice and compare run.txt byte by byte."),
    FORMAT,
    option("-o --output FILE", "Also write the records as JSON to FILE, updated after each result."),
    option("--junit FILE", "Write JUnit XML to FILE."),
    option("--record FILE", "Append a row for each measured score to FILE, a log of reruns in CSV."),
    option("--by NAME", "Your name, for the rows that --record appends.", default=""),
    option("--report DIR", "Write a page to DIR with the table, the times, and a report per dataset."),
)
def regress(
    names: Sequence[str], datasets: Sequence[str], per_topic: bool, twice: bool, style: str, **options: Any
) -> int:
    """Rerun baselines on all available datasets, and check that their scores are unchanged.

    The expected scores and rankings of a baseline are in its expected.toml. Exit with 1 if a score is too low
    or too high, if a ranking has changed, or if a run failed. A failure does not stop the other runs.
    In GitHub Actions, the table is also added to the job's summary.
    """
    check_runner(options["runner"])
    if options["output"] and style != "json":
        raise click.UsageError("--output writes JSON; add --format json")
    if options["record"] and not options["by"]:
        raise click.UsageError("--record needs a name for its rows; add --by NAME")
    options["summary"] = os.environ.get("GITHUB_STEP_SUMMARY") or None
    options["limits"] = Limits(
        cpus=options.pop("cpus"), memory=options.pop("memory"), seconds=options.pop("seconds")
    )
    regression = run_regression(names, datasets, twice=twice, command=command_line(), log=tell, **options)
    style = "table" if options["output"] else style  # standard output has the table if a file has the records
    render(regression, style, _sheets(regression, per_topic))
    print_line = echo if style == "table" else tell
    if twice and regression.all_repeatable and not regression.unchecked:
        print_line("both runs of each baseline wrote the same run.txt, byte by byte")
    if regression.page:
        print_line(str(regression.page))
    if regression.unchecked:
        raise ToucheError(f"nothing was checked: {regression.unchecked}")
    return BROKEN if regression.is_broken else 0


_OUTCOMES = [Column(name, format=itemgetter(index)) for index, name in enumerate(COLUMNS)]
_TOPICS = [
    Column("baseline", "baseline"),
    Column("dimension", "dimension"),
    Column("topic", "topic"),
    Column("published", "published", three_decimals),
    Column("rerun", "rerun", three_decimals),
    Column("difference", "difference", signed),
]


def _sheets(regression: Regression, per_topic: bool) -> Iterator[Sheet]:
    """Yields the outcomes with notes, then agreements with official runs, then topics."""
    notes = list[str]()
    if regression.missing:
        advice = f"{', '.join(regression.missing)}; {remedy_for(regression.missing)}"
        notes.append(f"{verdicts.MISSING}: {advice}")
    notes += [f"{verdicts.NOT_INSTALLED}: {remark}" for remark in regression.not_installed]
    notes.append(f"expected results: {summary(regression)}")
    checked = [row_of(outcome) for outcome in regression if outcome.verdict != verdicts.MISSING]
    yield Sheet(_OUTCOMES, checked, notes, colours=_COLOURS)
    agreements = [agreement for outcome in regression for agreement in outcome.agreements]
    if agreements:
        first, *others = overlap_sheets(agreements)
        title = "Agreement of reruns with official runs, on documents that both could find"
        yield from [replace(first, above=[title]), *others]
    # ``vars`` has only fields; the difference is a property.
    topics = [
        SimpleNamespace(
            baseline=outcome.expected.command, difference=topic_value.difference, **vars(topic_value)
        )
        for outcome in regression
        for topic_value in outcome.topics
    ]
    if per_topic and topics:
        yield Sheet(_TOPICS, topics)
