"""Public runs: the downloadable runs behind published results, listed next to the cards."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import field

from touche.errors import InputError
from touche.io.toml import Name, Strict, Text, read_record
from touche.tasks.task_records import Published, Task

_FOLDER = Path(__file__).parent / "public-runs"

# What is known about a published value.
EVALUATED = "re-evaluated"
DIFFERENT = "different"
NOT_EVALUATED = "not re-evaluated"
NOT_PUBLIC = "run not public"


class PublicRun(Strict, frozen=True):
    """A public run.

    Attributes:
        file: its name; it is saved as ``runs/TASK/FILE.run``.
        path: its path below the index's ``url``.
        team: the team in the published tables.
        tags: the run's tags there, which may differ between tables. Without tags, the one in the file counts.
        bytes: the file's size; 0 if unknown.
        md5, git_blob: md5 and git blob id of the unpacked file; only one of them may be empty.
        checked: whether the run has been re-evaluated. ``touche regress --official --update`` writes it.
        different: the published values that weren't reproduced then, such as ``relevance nDCG@5``.
    """

    file: Name
    path: Text
    team: Text
    tags: tuple[Text, ...] = ()
    bytes: int = 0
    md5: str = ""
    git_blob: str = ""
    checked: bool = False
    different: tuple[Text, ...] = ()


class PublicRuns(Strict, frozen=True):
    """A task's public runs, and its published results without one.

    Attributes:
        page: the repository's web page.
        licence: the licence as stated there, or ``none stated``.
        url: the address that the paths continue; ``!`` separates an archive from the path in it.
        runs: the runs.
        without_run: the tags of published results whose run isn't public, by team.
    """

    page: str = ""
    licence: str = ""
    url: str = ""
    runs: tuple[PublicRun, ...] = ()
    without_run: Mapping[Text, tuple[str, ...]] = field(default_factory=dict)

    def address(self, run: PublicRun) -> tuple[str, str]:
        """Returns the address of a run or its archive, and the path in the archive or an empty string."""
        url, _, member = f"{self.url}{run.path}".partition("!")
        return url, member

    @property
    def untagged_teams(self) -> set[str]:
        """Teams with runs for which only the tag in the file tells the published result."""
        return {run.team for run in self.runs if not run.tags}


def public_runs(task: Task) -> PublicRuns:
    """Returns a task's public runs.

    Raises:
        InputError: if the index is broken, or a published result isn't listed exactly once.
    """
    path = index_path(task)
    if not path.exists():  # a task of the user
        return PublicRuns()
    index = read_record(path, PublicRuns)
    listed = Counter(row for run in index.runs if run.tags for row in results_of(task, run))
    for team, tags in index.without_run.items():
        for tag in tags:
            rows = [row for row in over_all_topics(task) if (row.team, row.tag) == (team, tag)]
            if not rows:
                raise InputError(path, f"no published result of {team}, {tag}", "remove it from without_run")
            listed.update(rows)
    for row, count in listed.items():
        if count > 1:
            name = f"{row.team}, {row.tag}"
            raise InputError(path, f"two entries for {name}", "keep the one of that published result")
    for row in over_all_topics(task):
        if not listed[row] and row.team not in index.untagged_teams:
            name = f"{row.team}, {row.tag}"
            raise InputError(path, f"no entry for {name}", "add its run to runs, or its tag to without_run")
    return index


def index_path(task: Task) -> Path:
    """Returns the path of a task's index, which may not exist."""
    return _FOLDER / f"{task.id}.toml"


def results_of(task: Task, run: PublicRun, tag: str = "") -> list[Published]:
    """Returns the published results of a run over all topics, at most one per dimension and measure.

    Args:
        task: the task.
        run: the run.
        tag: the tag in the run's file, for runs without a tag in the index.

    Raises:
        InputError: if there is no such result, or there are two of a dimension and measure.
    """
    tags = run.tags or (tag,)
    rows = [row for row in over_all_topics(task) if row.team == run.team and row.tag in tags]
    if {*tags} != {row.tag for row in rows} or len({row.kind for row in rows}) < len(rows):
        problem = f"{run.file} has no published result, or two of a kind, of {run.team}, {' or '.join(tags)}"
        raise InputError(index_path(task), problem, "correct its team and tags, or the card")
    return rows


def value_name(row: Any) -> str:
    """Returns which of a run's values a published result is, such as ``relevance nDCG@5``."""
    return f"{row.dimension} {row.measure}"


def checks(task: Task) -> dict[Published, tuple[str, str]]:
    """Returns for each published result over all topics how it was checked, and the run's address.

    The first is ``re-evaluated`` (an equal value), ``different``, ``not re-evaluated`` or ``run not public``.
    Empty for a user's own task or judgments.
    """
    if not task.published or not index_path(task).exists():
        return {}
    index = public_runs(task)
    result = {
        row: (NOT_EVALUATED, index.page) if row.team in index.untagged_teams else (NOT_PUBLIC, "")
        for row in over_all_topics(task)
    }
    for run in index.runs:
        url, _ = index.address(run)
        for row in results_of(task, run) if run.tags else ():
            check = DIFFERENT if value_name(row) in run.different else EVALUATED
            result[row] = (check if run.checked else NOT_EVALUATED, url)
    return result


def over_all_topics(task: Task) -> list[Published]:
    """Returns the published results over all topics."""
    return [row for row in task.published if row.topics is None]
