"""touche regress"""

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from platform import machine
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import click

from touche import baselines, regression, tasks
from touche.cli.commands import BASELINE, DATASET_ID, Command
from touche.cli.output import BAD, BROKEN, DOUBTFUL, GOOD, command_line, show, tell
from touche.cli.sandbox import OPTIONS, check_limits
from touche.data.remedies import remedy_for
from touche.errors import ToucheError
from touche.evaluation.scores import evaluate
from touche.files import make_folder, write_whole
from touche.progress import processors
from touche.regression import (
    FAILED,
    NOT_AT_HAND,
    NOT_THE_SAME,
    PASSED,
    STRUCTURE,
    TOO_HIGH,
    TOO_LOW,
    Expected,
    Outcome,
)
from touche.sandbox.runs import RUNNERS, Limits, Usage

_COLOURS = {
    PASSED: GOOD,
    NOT_AT_HAND: DOUBTFUL,
    **dict.fromkeys((TOO_LOW, TOO_HIGH, FAILED, NOT_THE_SAME), BAD),
}
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
_HEADER = (
    "baseline",
    "dataset",
    "dimension",
    "evaluator",
    "kind",
    "expected",
    "got",
    "difference",
    "wall",
    "CPU",
    "memory",
    "verdict",
)


@click.command(cls=Command, example="touche regress bm25 --dataset spot-check/passages")
@click.argument("names", nargs=-1, type=BASELINE, metavar="[BASELINE...]")
@click.option(
    "--dataset",
    "chosen",
    multiple=True,
    type=DATASET_ID,
    metavar="DATASET",
    help="Only this dataset; can be repeated.",
)
@click.option("--update", is_flag=True, help="Rewrite the pinned values that moved; never published ones.")
@click.option("--twice", is_flag=True, help="Run each baseline twice and compare run.txt byte by byte.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the results as JSON.")
@click.option(
    "--junit", "junit_file", type=click.Path(path_type=Path), help="Write the results as JUnit XML."
)
@click.option(
    "--report",
    "report_folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write a page with the table, the times, and a report on each dataset.",
)
def regress(
    names: Sequence[str],
    chosen: Sequence[str],
    update: bool,
    twice: bool,
    json_file: Path | None,
    junit_file: Path | None,
    report_folder: Path | None,
    runner: str,
    **limits: Any,
) -> int:
    """Rerun baselines on every dataset at hand, and check their scores in both directions.

    What each must score is in its folder's expected.toml. Exits with 1 if a score is too low, too high or
    missing. In GitHub Actions the table is added to the job's summary.
    """
    check_limits(runner)
    expected = _expected(names or baselines.names(), chosen)
    for file in (json_file, junit_file):
        if file and not file.parent.is_dir():
            raise ToucheError(f"{file.parent} is no directory; make it, or write to another place")
    if report_folder:
        make_folder(report_folder)
    how = (RUNNERS[runner], Limits(**limits), tell)
    keep = report_folder / "runs" if report_folder else None
    outcomes = list(regression.regress(expected, *how, twice=twice, keep=keep))
    if update:
        outcomes = _update(outcomes)
    show(_HEADER, [_row(each) for each in outcomes], _COLOURS)
    click.echo(f"\n{_summary(outcomes)}")
    if twice and not any(each.verdict in (NOT_THE_SAME, FAILED) for each in outcomes):
        click.echo("every run.txt was the same twice, byte by byte")
    _write(outcomes, json_file, junit_file)
    if report_folder:
        _report(outcomes, report_folder, runner)
    if all(each.verdict == NOT_AT_HAND for each in outcomes):
        remedy = remedy_for(each.expected.dataset for each in outcomes)
        raise ToucheError(f"nothing was checked, as no dataset is at hand; {remedy}")
    return BROKEN if any(each.broken for each in outcomes) else 0


regress.params += OPTIONS


def _expected(names: Sequence[str], chosen: Sequence[str]) -> list[Expected]:
    for dataset_id in chosen:
        tasks.dataset(dataset_id)  # or an error that names it
    entries = [each for name in names for each in regression.read_expected(name)]
    found = [each for each in entries if not chosen or each.dataset in chosen]
    if not found:
        raise ToucheError("no score is expected of these baselines on these datasets; name others")
    return found


def _update(outcomes: Sequence[Outcome]) -> list[Outcome]:
    updated = regression.update(outcomes)
    for before, after in zip(outcomes, updated, strict=True):
        if before.expected.value != after.expected.value:
            old, new = (each.expected.value for each in (before, after))
            each = after.expected
            where = f"{each.command} on {each.dataset}, {each.dimension}, {each.evaluator}"
            tell(f"moved: {where}: {old} -> {new} ({new - old:+.5f})")
    return updated


def _row(outcome: Outcome) -> tuple[str, ...]:
    each = outcome.expected
    got, difference = outcome.got, outcome.difference
    return (
        each.command,
        each.dataset,
        each.dimension,
        each.evaluator,
        each.kind,
        f"{each.value:g}",
        "–" if got is None else f"{got:.5f}",
        "–" if difference is None else f"{round(difference, 5) + 0.0:+.5f}",
        *_used(outcome.usage),
        f"{outcome.verdict}: {outcome.remark}" if outcome.remark else outcome.verdict,
    )


def _used(usage: Usage | None) -> tuple[str, str, str]:
    if usage is None:
        return ("–", "–", "–")
    return (
        f"{usage.wall:.1f} s",
        "–" if usage.cpu is None else f"{usage.cpu:.1f} s",
        "–" if usage.memory is None else f"{usage.memory / 1e6:.0f} MB",
    )


def _summary(outcomes: Sequence[Outcome]) -> str:
    counts = Counter(each.verdict for each in outcomes)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def _write(outcomes: Sequence[Outcome], json_file: Path | None, junit_file: Path | None) -> None:
    if json_file:
        write_whole(json_file, json.dumps([each.record for each in outcomes], indent=2) + "\n")
    if junit_file:
        write_whole(junit_file, tostring(_junit(outcomes), encoding="unicode", xml_declaration=True))
    if summary := os.environ.get(SUMMARY_VARIABLE):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(_markdown(outcomes))


def _report(outcomes: Sequence[Outcome], folder: Path, runner: str) -> None:
    from touche.report import Page, part_of, write  # here, for it takes a second to import

    runs: dict[str, dict[Path, None]] = {}
    for each in outcomes:
        if each.run and each.expected.evaluator != STRUCTURE:
            runs.setdefault(each.expected.dataset, {})[each.run] = None
    parts, remarks = [], [f"The runner is {runner}, on {processors()} processors ({machine()})."]
    for dataset, paths in runs.items():
        try:
            parts.append(part_of(evaluate(list(paths), tasks.task(dataset)), dataset))
        except ToucheError as error:  # one odd run does not cost the report
            remarks.append(f"There is no report on {dataset}: {error}.")
    title = "Regression of the baselines of Touché"
    click.echo(write(Page(title, command_line(), parts, outcomes, remarks=remarks), folder))


def _junit(outcomes: Sequence[Outcome]) -> Element:
    failures = [each for each in outcomes if each.broken]
    suite = Element("testsuite", name="touche regress", tests=str(len(outcomes)), failures=str(len(failures)))
    for each in outcomes:
        name = f"{each.expected.dataset} {each.expected.dimension} {each.expected.evaluator}"
        case = SubElement(suite, "testcase", classname=each.expected.command, name=name)
        if each.verdict == NOT_AT_HAND:
            SubElement(case, "skipped", message=each.verdict)
        elif each.broken:
            SubElement(case, "failure", message=_failure(each))
    suite.set("skipped", str(sum(each.verdict == NOT_AT_HAND for each in outcomes)))
    return suite


def _failure(outcome: Outcome) -> str:
    *_, expected, got, difference, _, _, _, verdict = _row(outcome)
    return f"{verdict} (expected {expected}, got {got}, difference {difference})"


def _markdown(outcomes: Sequence[Outcome]) -> str:
    rows = [_HEADER, ["---"] * len(_HEADER), *(_row(each) for each in outcomes)]
    lines = ("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    return "\n".join(["## Regression", "", *lines, "", _summary(outcomes), ""])
