"""Finds the command that reruns a published result, using each expected.toml."""

from collections.abc import Collection, Iterable
from functools import cache

from touche.baselines.expected import PUBLISHED, ExpectedScore, read_expected
from touche.baselines.method import run_tag
from touche.data.places import shipped_baselines
from touche.tasks import Published, dataset


@cache
def published_scores() -> tuple[ExpectedScore, ...]:
    """Returns the published scores that all shipped baselines' reruns must reach."""
    entries = [entry for name in shipped_baselines() for entry in read_expected(name)]
    scores = (entry for entry in entries if isinstance(entry, ExpectedScore))
    return tuple(score for score in scores if score.kind == PUBLISHED and score.needs_rerun)


def find_rerun(row: Published, scores: Iterable[ExpectedScore]) -> ExpectedScore | None:
    """Returns the score that a published row's rerun must reach, or None if there is no rerun.

    ``scores`` come from ``published_scores``.
    """
    return next((score for score in scores if belongs_to(score, row)), None)


def rerun_command(score: ExpectedScore) -> str:
    """Returns the command that reruns a score."""
    return run_command(score.command, score.dataset)


def run_command(baseline_with_options: str, dataset: str) -> str:
    return f"touche run {baseline_with_options} -i {dataset} -o out"


def evaluation_command(dataset: str, measures: Iterable[str] = ()) -> str:
    """Returns the command that evaluates the run of ``run_command``; without measures, with the task's."""
    comma_separated = ",".join(measures)
    option = f" --measure {comma_separated}" if comma_separated else ""
    return f"touche evaluate out/run.txt --task {dataset}{option}"


def rerun_tags(rows: Collection[Published]) -> set[str]:
    """Returns the tags of the runs that ``touche run`` writes for rows of a results table."""
    scores = published_scores() if rows else []  # reads many files
    return {
        run_tag(score.baseline, score.options) for row in rows for score in scores if belongs_to(score, row)
    }


def belongs_to(score: ExpectedScore, row: Published) -> bool:
    """Returns whether an entry's value comes from this row of a published table.

    Task, dimension, measure and value must agree, and the entry's source must name the row's tag.
    """
    is_named = row.tag != "" and row.tag in score.source
    has_same_value = (score.dimension, score.measure, score.value) == (row.dimension, row.measure, row.value)
    if not (is_named and has_same_value):
        return False
    task, _ = dataset(score.dataset)  # last, because it is slow for all pairs of entries and rows
    return task.id == row.task
