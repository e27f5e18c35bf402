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

from touche import baselines, tasks
from touche.cli.commands import BASELINE, DATASET_ID, Command
from touche.cli.output import BAD, BROKEN, DOUBTFUL, GOOD, command_line, paint, show, tell
from touche.cli.overlap import show_overlaps
from touche.cli.sandbox import LIMITS, check_runner, runner_option
from touche.data.remedies import remedy_for
from touche.errors import ToucheError, one_line
from touche.evaluation.scores import Evaluated, told_apart
from touche.io.writing import make_folder, write_whole
from touche.progress import processors
from touche.regression import running
from touche.regression.expected import EXPECTED_FILE, Expected, read_expected
from touche.regression.running import (
    CHANGED,
    FAILED,
    NOT_AS_REPORTED,
    NOT_AT_HAND,
    NOT_INSTALLED,
    NOT_THE_SAME,
    NOTHING_EXPECTED,
    PASSED,
    TOO_HIGH,
    TOO_LOW,
    UNCHECKED,
    Outcome,
    unreadable,
)
from touche.sandbox.limits import Limits
from touche.sandbox.runs import RUNNERS, Usage

_COLOURS = {
    PASSED: GOOD,
    NOT_AS_REPORTED: DOUBTFUL,
    **dict.fromkeys(UNCHECKED, DOUBTFUL),
    **dict.fromkeys((TOO_LOW, TOO_HIGH, CHANGED, FAILED, NOT_THE_SAME), BAD),
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


@click.command(
    cls=Command,
    params=[runner_option(), *LIMITS],
    example="touche regress bm25 --dataset spot-check/passages",
)
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
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    help="Write the results as JSON, each as soon as it is known.",
)
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

    What each must score, and how it must rank, is in its folder's expected.toml. Exits with 1 if a score is
    too low or too high, if a ranking has changed, or if anything failed, which holds nothing else up. In
    GitHub Actions the table is added to the job's summary.
    """
    check_runner(runner)
    expected, outcomes = _expected(names, chosen)
    for file in (json_file, junit_file):
        if file and not file.parent.is_dir():
            raise ToucheError(f"{file.parent} is no directory; make it, or write to another place")
    if report_folder:
        make_folder(report_folder)
    how = (RUNNERS[runner], Limits(**limits), tell)
    keep = report_folder / "runs" if report_folder else None
    for outcome in running.regress(expected, *how, twice=twice, keep=keep):
        outcomes.append(outcome)
        _write_json(outcomes, json_file)  # so that a night that is cut off has told what it knew
    if update:
        outcomes = _update(outcomes)
    _show(outcomes)
    if agreements := [found for each in outcomes for found in each.agreements]:
        click.echo("\nHow close reruns are to official runs, of the documents that both could find")
        show_overlaps(agreements)
    if twice and not any(each.verdict in (NOT_THE_SAME, FAILED) for each in outcomes):
        click.echo("every run.txt was the same twice, byte by byte")
    _write_json(outcomes, json_file)
    _write(outcomes, junit_file)
    if report_folder:
        _report(outcomes, report_folder, runner)
    if all(each.verdict in UNCHECKED for each in outcomes):
        raise ToucheError(f"nothing was checked: {_reason(outcomes)}")
    return BROKEN if any(each.broken for each in outcomes) else 0


def _reason(outcomes: Sequence[Outcome]) -> str:
    """Why nothing was checked, and what to do."""
    remarks = [each.remark for each in outcomes if each.verdict == NOT_INSTALLED]
    missing = [each.expected.dataset for each in outcomes if each.verdict == NOT_AT_HAND]
    return remarks[0] if remarks else f"no dataset is at hand; {remedy_for(missing)}"


def _show(outcomes: Sequence[Outcome]) -> None:
    """Prints a row for each outcome, and in a line each what is not at hand and what to install."""
    rows = [_row(each) for each in outcomes if each.verdict != NOT_AT_HAND]
    if rows:
        show(_HEADER, rows, _COLOURS)
        click.echo()
    missing = Counter(each.expected.dataset for each in outcomes if each.verdict == NOT_AT_HAND)
    if missing:
        paint((f"{NOT_AT_HAND}: ", DOUBTFUL), (", ".join(missing), ""))
    for remark in dict.fromkeys(each.remark for each in outcomes if each.verdict == NOT_INSTALLED):
        paint((f"{NOT_INSTALLED}: ", DOUBTFUL), (remark, ""))
    click.echo(f"{_summary(outcomes)}{_kinds_of_memory(outcomes)}")


def _expected(names: Sequence[str], chosen: Sequence[str]) -> tuple[list[Expected], list[Outcome]]:
    """The entries of baselines on the chosen datasets, and the outcomes of baselines that have none to check.

    Args:
        names: names or paths of baselines; none for all that ship.
        chosen: ids of datasets; none for all.
    """
    for dataset_id in chosen:
        tasks.dataset(dataset_id)  # or an error that names it
    expected: list[Expected] = []
    unchecked: list[Outcome] = []
    for name in [name for name in names or baselines.names() if baselines.folder_of(name)]:  # or an error
        try:
            entries = [entry for entry in read_expected(name) if not chosen or entry.dataset in chosen]
        except Exception as error:
            unchecked.append(unreadable(name, error))
        else:
            expected += entries
            if names and not entries:
                remark = f"no entry in {EXPECTED_FILE} for {', '.join(chosen)}"
                unchecked.append(Outcome(Expected(baseline=name), NOTHING_EXPECTED, remark=remark))
    if not expected and all(outcome.verdict == NOTHING_EXPECTED for outcome in unchecked):
        raise ToucheError("nothing is expected of these baselines on these datasets; name others")
    return expected, unchecked


def _update(outcomes: Sequence[Outcome]) -> list[Outcome]:
    updated = running.update(outcomes)
    for before, after in zip(outcomes, updated, strict=True):
        if before.expected.value != after.expected.value:
            old, new = (each.expected.value for each in (before, after))
            each = after.expected
            where = ", ".join(filter(None, (f"{each.command} on {each.dataset}", *each.names)))
            by = before.difference
            tell(f"moved: {where}: {old or '–'} -> {new}{'' if by is None else f' ({by:+.5f})'}")
    return updated


def _row(outcome: Outcome) -> tuple[str, ...]:
    each, difference = outcome.expected, outcome.difference
    remark = "" if outcome.verdict == NOT_INSTALLED else outcome.remark
    return (
        each.command if each.reruns else f"runs/{each.run}",
        *(name or "–" for name in (each.dataset, *each.names)),
        each.kind,
        f"{each.value:g}" if isinstance(each.value, float) else each.value or "–",
        f"{outcome.got:.5f}" if isinstance(outcome.got, float) else outcome.got or "–",
        "–" if difference is None else f"{round(difference, 5) + 0.0:+.5f}",
        *_used(outcome.usage),
        ": ".join(filter(None, (outcome.verdict, remark))),
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


def _kinds_of_memory(outcomes: Sequence[Outcome]) -> str:
    kinds = dict.fromkeys(each.usage.memory_of for each in outcomes if each.usage and each.usage.memory_of)
    return f"; memory: {', '.join(kinds)}" if kinds else ""


def _write_json(outcomes: Sequence[Outcome], file: Path | None) -> None:
    if file:
        write_whole(file, json.dumps([each.record for each in outcomes], indent=2) + "\n")


def _write(outcomes: Sequence[Outcome], junit_file: Path | None) -> None:
    if junit_file:
        write_whole(junit_file, tostring(_junit(outcomes), encoding="unicode", xml_declaration=True))
    if summary := os.environ.get(SUMMARY_VARIABLE):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(_markdown(outcomes))


def _report(outcomes: Sequence[Outcome], folder: Path, runner: str) -> None:
    from touche.report import Page, part_of, write  # here, for it takes a second to import

    runs: dict[str, dict[tuple[Path, str], Evaluated]] = {}
    for outcome in outcomes:
        of_dataset = runs.setdefault(outcome.expected.dataset, {})
        of_dataset |= {(each.path, each.dimension): each for each in outcome.evaluated}
    parts, remarks = [], [f"The runner is {runner}, on {processors()} processors ({machine()})."]
    for dataset, found in runs.items():
        try:
            parts += [part_of(told_apart(list(found.values())), dataset)] if found else []
        except Exception as error:  # one odd run does not cost the report
            remarks.append(f"There is no report on {dataset}: {error}.")
    title = "Regression of the baselines of Touché"
    click.echo(write(Page(title, command_line(), parts, outcomes, remarks=remarks), folder))


def _junit(outcomes: Sequence[Outcome]) -> Element:
    failures = [each for each in outcomes if each.broken]
    suite = Element("testsuite", name="touche regress", tests=str(len(outcomes)), failures=str(len(failures)))
    for each in outcomes:
        name = " ".join(filter(None, (each.expected.dataset, *each.expected.names)))
        case = SubElement(suite, "testcase", classname=one_line(each.expected.command), name=one_line(name))
        if each.verdict in UNCHECKED:
            SubElement(case, "skipped", message=each.verdict)
        elif each.broken:
            SubElement(case, "failure", message=_failure(each))
    suite.set("skipped", str(sum(each.verdict in UNCHECKED for each in outcomes)))
    return suite


def _failure(outcome: Outcome) -> str:
    *_, expected, got, difference, _, _, _, verdict = _row(outcome)
    return one_line(f"{verdict} (expected {expected}, got {got}, difference {difference})")


def _markdown(outcomes: Sequence[Outcome]) -> str:
    rows = [_HEADER, ["---"] * len(_HEADER), *(_row(each) for each in outcomes)]
    lines = ("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    return "\n".join(["## Regression", "", *lines, "", _summary(outcomes), ""])
