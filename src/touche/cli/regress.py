"""touche regress"""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from platform import machine
from typing import Any

import click

from touche.cli.commands import BASELINE, DATASET_ID, argument, command, option
from touche.cli.output import BAD, BROKEN, DOUBTFUL, GOOD, command_line, paint, show, show_records, tell
from touche.cli.overlap import show_overlaps
from touche.cli.runner_options import check_runner, runners
from touche.containers.limits import Limits
from touche.containers.runs import RUNNERS
from touche.data.remedies import remedy_for
from touche.errors import ToucheError
from touche.evaluation.scores import with_names
from touche.io.progress import processors
from touche.io.writing import make_folder, write_whole
from touche.regression import outcomes as verdicts
from touche.regression import running
from touche.regression.outcomes import Outcome
from touche.regression.results import COLUMNS, junit, markdown, row_of, summary

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
    option("--json json_file FILE", "Write JSON to FILE, updated after each result."),
    option("--junit junit_file FILE", "Write JUnit XML to FILE."),
    option("--report folder DIR", "Write a page to DIR with the table, the times, and a report per dataset."),
)
def regress(
    names: Sequence[str],
    datasets: Sequence[str],
    update: bool,
    per_topic: bool,
    twice: bool,
    json_file: Path | None,
    junit_file: Path | None,
    folder: Path | None,
    runner: str,
    **limits: Any,
) -> int:
    """Rerun baselines on all available datasets, and check that their scores are unchanged.

    Each baseline's expected.toml lists the scores and rankings that it must reach. Exit with 1 if a score is
    too low or too high, if a ranking has changed, or if a run failed. A failure does not stop the other runs.
    In GitHub Actions, the table is also added to the job's summary.
    """
    check_runner(runner)
    for file in (json_file, junit_file):
        if file and not file.parent.is_dir():
            raise ToucheError(f"{file.parent} is not a directory; create it, or choose another place")
    expected, outcomes = running.expected_of(names, datasets)
    if folder:
        make_folder(folder)
    how = (RUNNERS[runner], Limits(**limits), tell)
    for outcome in running.regress(expected, *how, twice=twice, keep=folder and folder / "runs"):
        outcomes.append(outcome)
        _write_json(outcomes, json_file)  # so that an interrupted nightly job leaves its results
    if update:
        outcomes = _update(outcomes)
    missing = _unique(each.expected.dataset for each in outcomes if each.verdict == verdicts.MISSING)
    remarks = _unique(each.remark for each in outcomes if each.verdict == verdicts.NOT_INSTALLED)
    _show(outcomes, missing, remarks)
    if per_topic:
        _show_topics(outcomes)
    if twice and not any(outcome.verdict in (verdicts.NOT_THE_SAME, verdicts.FAILED) for outcome in outcomes):
        click.echo("both runs of each baseline wrote the same run.txt, byte by byte")
    _write_json(outcomes, json_file)
    _write(outcomes, junit_file)
    if folder:
        _report(outcomes, folder, runner)
    if all(outcome.verdict in verdicts.UNCHECKED for outcome in outcomes):
        reason = remarks[0] if remarks else f"all datasets are missing; {remedy_for(missing)}"
        raise ToucheError(f"nothing was checked: {reason}")
    return BROKEN if any(outcome.broken for outcome in outcomes) else 0


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _show(outcomes: Sequence[Outcome], missing: Sequence[str], remarks: Sequence[str]) -> None:
    """Prints a row per outcome, then the missing datasets, and what to install."""
    if rows := [row_of(outcome) for outcome in outcomes if outcome.verdict != verdicts.MISSING]:
        show(COLUMNS, rows, _COLOURS)
        click.echo()
    if missing:
        paint((f"{verdicts.MISSING}: ", DOUBTFUL), (f"{', '.join(missing)}; {remedy_for(missing)}", ""))
    for remark in remarks:
        paint((f"{verdicts.NOT_INSTALLED}: ", DOUBTFUL), (remark, ""))
    kinds = _unique(each.usage.memory_of for each in outcomes if each.usage and each.usage.memory_of)
    click.echo("; memory: ".join(filter(None, (summary(outcomes), ", ".join(kinds)))))
    if agreements := [agreement for outcome in outcomes for agreement in outcome.agreements]:
        click.echo("\nAgreement of reruns with official runs, on documents that both could find")
        show_overlaps(agreements)


def _show_topics(outcomes: Sequence[Outcome]) -> None:
    """Prints the published and the measured value of each topic, without a row if no entry has topics."""
    records = [
        vars(value) | {"command": outcome.expected.command, "difference": value.difference}
        for outcome in outcomes
        for value in outcome.topics
    ]
    if not records:
        return
    click.echo()
    template = "{command}|{dimension}|{topic}|{published:.3f}|{rerun:.3f}|{difference:+.3f}"
    show_records("baseline|dimension|topic|published|rerun|difference", template, records)


def _update(outcomes: Sequence[Outcome]) -> list[Outcome]:
    updated = running.update(outcomes)
    for before, after in zip(outcomes, updated, strict=True):
        entry, old, difference = after.expected, before.expected.value, before.difference
        if old != entry.value:
            where = ", ".join(filter(None, (f"{entry.command} on {entry.dataset}", *entry.names)))
            by = "" if difference is None else f" ({difference:+.5f})"
            tell(f"moved: {where}: {old or '–'} -> {entry.value}{by}")
    return updated


def _write_json(outcomes: Sequence[Outcome], file: Path | None) -> None:
    if file:
        write_whole(file, json.dumps([outcome.record for outcome in outcomes], indent=2) + "\n")


def _write(outcomes: Sequence[Outcome], junit_file: Path | None) -> None:
    if junit_file:
        write_whole(junit_file, junit(outcomes))
    if summary_file := os.environ.get(SUMMARY_VARIABLE):
        with Path(summary_file).open("a", encoding="utf-8") as file:
            file.write(markdown(outcomes))


def _report(outcomes: Sequence[Outcome], folder: Path, runner: str) -> None:
    from touche.reports import Report, part_of, write  # here, because it takes 49 ms

    parts, remarks = [], [f"The runner is {runner}, on {processors()} processors ({machine()})."]
    for dataset in _unique(outcome.expected.dataset for outcome in outcomes):
        of_dataset = [outcome for outcome in outcomes if outcome.expected.dataset == dataset]
        found = {(each.path, each.dimension): each for outcome in of_dataset for each in outcome.evaluated}
        try:
            parts += [part_of(with_names(list(found.values())), dataset)] if found else []
        except Exception as error:  # one faulty run must not prevent the report
            remarks.append(f"There is no report on {dataset}: {error}.")
    title = "Regression of the baselines of Touché"
    click.echo(write(Report(title, command_line(), parts, outcomes, remarks=remarks), folder))
