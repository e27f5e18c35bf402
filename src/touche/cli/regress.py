"""touche regress"""

import os
from collections.abc import Sequence
from typing import Any

import click

from touche.api import regression as library
from touche.cli.commands import BASELINE, DATASET_ID, argument, command, option
from touche.cli.output import (
    BAD,
    BROKEN,
    DOUBTFUL,
    GOOD,
    Column,
    Sheet,
    command_line,
    paint,
    print_sheets,
    show,
    signed,
    tell,
    three_decimals,
)
from touche.cli.overlap import overlap_sheets
from touche.cli.runner_options import check_runner, runners
from touche.containers.limits import Limits
from touche.data.remedies import remedy_for
from touche.errors import ToucheError
from touche.regression import outcomes as verdicts
from touche.regression.results import COLUMNS, Regression, row_of, summary, to_json

_COLOURS = {
    verdicts.PASSED: GOOD,
    verdicts.NOT_AS_REPORTED: DOUBTFUL,
    **dict.fromkeys(verdicts.UNCHECKED, DOUBTFUL),
    **dict.fromkeys(verdicts.BROKEN, BAD),
}
_ONLY = "Only this dataset; can be repeated."
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


@command(
    "touche regress bm25 --dataset spot-check/passages",
    *runners(),
    argument("names", "[BASELINE...]", type=BASELINE),
    option("--dataset datasets DATASET", _ONLY, type=DATASET_ID, multiple=True),
    option("--update", "Rewrite pinned values that changed; published values stay."),
    option("--per-topic", "Also print the published and the measured value of each topic."),
    option("--twice", "Run each baseline twice and compare run.txt byte by byte."),
    option("--format style", choices=("table", "json")),
    option("-o --output FILE", "Also write the records to FILE, updated after each result; needs a format."),
    option("--junit FILE", "Write JUnit XML to FILE."),
    option("--report DIR", "Write a page to DIR with the table, the times, and a report per dataset."),
)
def regress(
    names: Sequence[str], datasets: Sequence[str], per_topic: bool, twice: bool, style: str, **options: Any
) -> int:
    """Rerun baselines on all available datasets, and check that their scores are unchanged.

    Each baseline's expected.toml lists the scores and rankings that it must reach. Exit with 1 if a score is
    too low or too high, if a ranking has changed, or if a run failed. A failure does not stop the other runs.
    In GitHub Actions, the table is also added to the job's summary.
    """
    check_runner(options["runner"])
    if options["output"] and style == "table":
        raise click.UsageError("--output has no format; add --format json")
    options["summary"] = os.environ.get(SUMMARY_VARIABLE) or None
    options["limits"] = Limits(*(options.pop(name) for name in ("cpus", "memory", "seconds")))
    regression = library.regress(names, datasets, twice=twice, command=command_line(), log=tell, **options)
    if style == "json" and not options["output"]:
        click.echo(to_json(regression), nl=False)
    else:
        _show(regression)
        if per_topic:
            _show_topics(regression)
        if twice and regression.repeats:
            click.echo("both runs of each baseline wrote the same run.txt, byte by byte")
        if regression.page:
            click.echo(regression.page)
    if regression.unchecked:
        raise ToucheError(f"nothing was checked: {regression.unchecked}")
    return BROKEN if regression.is_broken else 0


def _show(regression: Regression) -> None:
    """Prints a row per outcome, then the missing datasets, and what to install."""
    if rows := [row_of(outcome) for outcome in regression if outcome.verdict != verdicts.MISSING]:
        show(COLUMNS, rows, _COLOURS)
        click.echo()
    if regression.missing:
        advice = f"{', '.join(regression.missing)}; {remedy_for(regression.missing)}"
        paint((f"{verdicts.MISSING}: ", DOUBTFUL), (advice, ""))
    for remark in regression.not_installed:
        paint((f"{verdicts.NOT_INSTALLED}: ", DOUBTFUL), (remark, ""))
    usages = [outcome.usage for outcome in regression if outcome.usage]
    kinds = ", ".join(dict.fromkeys(usage.memory_of for usage in usages if usage.memory_of))
    click.echo("; memory: ".join(filter(None, (summary(regression), kinds))))
    if agreements := [agreement for outcome in regression for agreement in outcome.agreements]:
        click.echo("\nAgreement of reruns with official runs, on documents that both could find")
        print_sheets(overlap_sheets(agreements))


_TOPICS = [
    Column("baseline", format=lambda row: row[0].expected.command),
    Column("dimension", format=lambda row: row[1].dimension),
    Column("topic", format=lambda row: row[1].topic),
    Column("published", format=lambda row: three_decimals(row[1].published)),
    Column("rerun", format=lambda row: three_decimals(row[1].rerun)),
    Column("difference", format=lambda row: signed(row[1].difference)),
]


def _show_topics(outcomes: Regression) -> None:
    """Prints the published and the measured value of each topic, without a row if no entry has topics."""
    if rows := [(outcome, value) for outcome in outcomes for value in outcome.topics]:
        click.echo()
        print_sheets([Sheet(_TOPICS, rows)])
