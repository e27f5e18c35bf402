"""Maps published results to the commands that rerun them, from each expected.toml."""

from collections.abc import Collection, Iterable

from touche import baselines
from touche.baselines.method import run_tag
from touche.regression.expected import PUBLISHED, ExpectedScore, read_expected
from touche.tasks import Published, dataset


def published_scores() -> list[ExpectedScore]:
    """Returns the published scores that reruns of the baselines have to reach.

    Raises:
        InputError: if an expected.toml is broken.
    """
    entries = [entry for name in baselines.names() for entry in read_expected(name)]
    scores = (entry for entry in entries if isinstance(entry, ExpectedScore))
    return [score for score in scores if score.kind == PUBLISHED and score.reruns]


def rerun_of(row: Published, scores: Iterable[ExpectedScore]) -> ExpectedScore | None:
    """Returns the score that a rerun of a published row has to reach, or None if there is no rerun.

    Args:
        row: the row; it belongs to an entry with the same value whose source contains the row's tag.
        scores: the result of ``published_scores``.
    """
    return next((score for score in scores if belongs_to(score, row)), None)


def command_of(score: ExpectedScore) -> str:
    """Returns the command that reruns a score."""
    return run_command(score.command, score.dataset)


def run_command(baseline: str, dataset: str) -> str:
    """Returns the command that runs a baseline, with its options, on a dataset."""
    return f"touche run {baseline} -i {dataset} -o out"


def evaluation_command(dataset: str, measures: Iterable[str] = ()) -> str:
    """Returns the command that evaluates the run of ``run_command``, by default by the task's measure."""
    listed = ",".join(measures)
    option = f" --measure {listed}" if listed else ""
    return f"touche evaluate out/run.txt --task {dataset}{option}"


def rerun_tags(rows: Collection[Published]) -> set[str]:
    """Returns the tags of runs that ``touche run`` writes for rows of a table of results."""
    scores = published_scores() if rows else []
    return {
        run_tag(score.baseline, score.options) for row in rows for score in scores if belongs_to(score, row)
    }


def belongs_to(score: ExpectedScore, row: Published) -> bool:
    """Returns whether an entry belongs to a row of a table of results.

    Args:
        score: the entry.
        row: the row.
    """
    is_named = row.tag != "" and row.tag in score.source
    has_same_value = (score.dimension, score.value) == (row.dimension, row.value)
    return is_named and has_same_value and dataset(score.dataset)[0].id == row.task
