"""Which published results can be rerun here, and by which command; each expected.toml knows its own."""

from collections.abc import Collection, Iterable

from touche import baselines
from touche.baselines.method import tag_of
from touche.regression.expected import PUBLISHED, ExpectedScore, read_expected
from touche.tasks import Published, dataset


def published_scores() -> list[ExpectedScore]:
    """The published scores that reruns of the baselines are to reach.

    Raises:
        InputError: if an expected.toml is broken.
    """
    found = [each for name in baselines.names() for each in read_expected(name)]
    return [
        each for each in found if isinstance(each, ExpectedScore) and each.kind == PUBLISHED and each.reruns
    ]


def rerun_of(row: Published, scores: Iterable[ExpectedScore]) -> ExpectedScore | None:
    """What a rerun of a row of a results table has to reach, or None where it cannot be rerun here.

    Args:
        row: the row; an entry is about it if it has the same value, and its source names the row's tag.
        scores: of ``published_scores``.
    """
    return next((each for each in scores if is_of(each, row)), None)


def command_of(score: ExpectedScore) -> str:
    """The command that reruns it."""
    return f"touche run {score.command} -i {score.dataset} -o out"


def tags_of(rows: Collection[Published]) -> set[str]:
    """The tags that runs have which ``touche run`` writes by the commands of rows of a results table."""
    scores = published_scores() if rows else []
    return {tag_of(each.baseline, each.options) for row in rows for each in scores if is_of(each, row)}


def is_of(score: ExpectedScore, row: Published) -> bool:
    """Whether an entry is about a row of a results table.

    Args:
        score: the entry.
        row: the row.
    """
    named = bool(row.tag) and row.tag in score.source
    same = (score.dimension, score.value) == (row.dimension, row.value)
    return named and same and dataset(score.dataset)[0].id == row.task
