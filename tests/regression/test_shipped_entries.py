"""Every expected.toml of this project agrees with published results and with the commands for reruns."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from in_process import run_in_this_process
from touche import baselines, tasks
from touche.baselines.expected import ExpectedRun, ExpectedScore, read_expected
from touche.baselines.loader import parts_in_expected
from touche.baselines.reruns import belongs_to, find_rerun, published_scores, rerun_command
from touche.cli.run import run
from touche.data.places import shipped_baselines
from touche.regression.outcomes import PASSED
from touche.regression.running import rerun
from touche.runners.limits import Limits


@pytest.mark.parametrize("name", shipped_baselines())
def test_every_baseline_is_pinned_on_all_samples(name: str) -> None:
    """What it can rank is what the parts of the toy collection in its expected.toml consist of."""
    entries = read_expected(name)
    units = {tasks.task(part).rules.unit for part in parts_in_expected(name)}
    assert units
    # The qrels of BEIR's Touché sample are too few for all baselines.
    samples = {name for name in tasks.datasets() if re.match(r"spot-check|(?!beir).*/sample$", name)}
    pinned = {entry.dataset for entry in entries if entry.kind == "pinned"}
    assert pinned >= {sample for sample in samples if tasks.task(sample).rules.unit in units}
    ranked = {(entry.dataset, entry.command) for entry in entries if isinstance(entry, ExpectedRun)}
    scored = {(entry.dataset, entry.command) for entry in entries}
    assert ranked == {run for run in scored if run[0].startswith("spot-check")}


@pytest.mark.slow
def test_every_baseline_ranks_the_toy_collection_as_pinned() -> None:
    parts = {name for name in tasks.datasets() if name.startswith("spot-check/")}
    expected = [
        entry for name in shipped_baselines() for entry in read_expected(name) if entry.dataset in parts
    ]
    outcomes = list(rerun(expected, run_in_this_process, Limits(), print))
    assert len(outcomes) == len(expected) > 100
    assert [outcome for outcome in outcomes if outcome.verdict != PASSED] == []


def test_every_published_score_is_of_one_row_of_its_task() -> None:
    """Every row of the organizers' baselines until 2022 can be rerun; for 2023 there is no corpus."""
    scores = published_scores()
    rows = [row for task in tasks.all_tasks().values() for row in task.published]
    for published in scores:
        (row,) = (row for row in rows if belongs_to(published, row))
        # We chose evaluator and qrels if the source does not state them.
        assert row.evaluator in (published.evaluator, None) and row.qrels in (published.qrels, None)
    required = [row for row in rows if row.baseline and "2023" not in row.task]
    assert len(required) == 18 and all(find_rerun(row, scores) for row in required)
    (best,) = (row for row in rows if row.tag == "ElrondKRun" and row.dimension == "relevance")
    score = find_rerun(best, scores)
    assert score and rerun_command(score) == "touche run elrond -i touche-2021-task-1 -o out"
    assert find_rerun(replace(best, value=0.719), scores) is find_rerun(replace(best, tag=""), scores) is None


def parsed(score: ExpectedScore) -> Mapping[str, Any]:
    """Returns what ``touche run`` parses from the command that reruns it."""
    _, _, name, *arguments = shlex.split(rerun_command(score))
    return run.make_command(baselines.load(name), name).make_context("run", arguments).params


def test_every_command_that_is_told_is_one_of_touche_run() -> None:
    scores = published_scores()
    rows = [row for task in tasks.all_tasks().values() for row in task.published]
    for score in scores:
        assert score.options.items() <= parsed(score).items()
    reruns = [(row.tag, score) for row in rows if (score := find_rerun(row, scores))]
    of_mu = {tag: parsed(score)["mu"] for tag, score in reruns if "mu-" in tag}
    assert {f"mu-{mu}-" for mu in of_mu.values()} == {"mu-1500.0-", "mu-1800.0-", "mu-2000.0-"}
    assert all(f"mu-{mu}-" in tag for tag, mu in of_mu.items())
