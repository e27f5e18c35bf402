"""Public runs: the downloadable runs behind published results, listed next to the cards."""

from collections import Counter
from pathlib import Path

from touche.errors import InputError
from touche.io.toml import Name, Strict, Text, read_record
from touche.tasks.task_records import Published, Task

_FOLDER = Path(__file__).parent / "public-runs"


class PublicRun(Strict, frozen=True):
    """A public run.

    Attributes:
        file: its name; it is saved as ``runs/TASK/FILE.run``.
        path: its path below the index's ``url``.
        team: the team in the published tables.
        tags: the run's tags there, which may differ between tables. Without tags, the one in the file counts.
        bytes: the file's size; 0 if unknown.
        md5, git_blob: md5 and git blob id of the unpacked file; only one of them may be empty.
        checked: whether all its published values were equal when the run was last re-evaluated.
    """

    file: Name
    path: Text
    team: Text
    tags: tuple[Text, ...] = ()
    bytes: int = 0
    md5: str = ""
    git_blob: str = ""
    checked: bool = False


class PublicRuns(Strict, frozen=True):
    """A task's public runs.

    Attributes:
        page: the repository's web page.
        licence: the licence as stated there, or ``none stated``.
        url: the address that the paths continue; ``!`` separates an archive from the path in it.
        runs: the runs.
    """

    page: str = ""
    licence: str = ""
    url: str = ""
    runs: tuple[PublicRun, ...] = ()

    def address(self, run: PublicRun) -> tuple[str, str]:
        """Returns the address of a run or its archive, and the path in the archive or an empty string."""
        url, _, member = f"{self.url}{run.path}".partition("!")
        return url, member


def public_runs(task: Task) -> PublicRuns:
    """Returns a task's public runs.

    Raises:
        InputError: if the index is broken, or a run has no published result or shares one with another run.
    """
    path = _FOLDER / f"{task.id}.toml"
    index = read_record(path, PublicRuns) if path.exists() else PublicRuns()
    rows = [row for run in index.runs if run.tags for row in results_of(task, run)]
    shared = [row for row, count in Counter(rows).items() if count > 1]
    if shared:
        problem = f"two runs for {shared[0].team}, {shared[0].tag}"
        raise InputError(path, problem, "keep the run of that published result")
    return index


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
    whole = [row for row in task.published if row.topics is None]
    rows = [row for row in whole if row.team == run.team and row.tag in tags]
    if {*tags} != {row.tag for row in rows} or len({row.kind for row in rows}) < len(rows):
        problem = f"{run.file} has no published result, or two of a kind, of {run.team}, {' or '.join(tags)}"
        remedy = "correct its team and tags, or the card"
        raise InputError(_FOLDER / f"{task.id}.toml", problem, remedy)
    return rows


def checks(task: Task) -> dict[Published, tuple[str, str]]:
    """Returns for each published result over all topics whether it was re-evaluated, and the run's address.

    The first is ``re-evaluated`` (an equal value), ``not re-evaluated`` or ``run not public``.
    """
    index = public_runs(task)
    untagged = {
        run.team for run in index.runs if not run.tags
    }  # only their files tell which rows they belong to
    result = {
        row: ("not re-evaluated", index.page) if row.team in untagged else ("run not public", "")
        for row in task.published
        if row.topics is None
    }
    for run in index.runs:
        check = "re-evaluated" if run.checked else "not re-evaluated"
        rows = results_of(task, run) if run.tags else ()
        result |= dict.fromkeys(rows, (check, index.address(run)[0]))
    return result
