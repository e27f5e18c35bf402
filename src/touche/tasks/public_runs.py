"""Public runs: the downloadable runs behind published results, listed next to the cards."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import field

from touche.errors import InputError
from touche.io.toml import Name, Strict, Text, read_record
from touche.tasks import data_folders
from touche.tasks.task_records import Published, Task

_FOLDER = Path(__file__).parent / "public-runs"

# What is known about a published value.
EVALUATED = "re-evaluated"
DIFFERENT = "different"
NOT_EVALUATED = "not re-evaluated"
NOT_LISTED = "run public, not listed yet"
NOT_PUBLIC = "run not public"


class Difference(Strict, frozen=True):
    """A published value that a public run doesn't have.

    Attributes:
        name: which of the run's values it is, such as ``relevance nDCG@5``.
        got: the run's value, rounded like the published one; None if it has none.
        topics: the topics whose values differ; empty if no values of topics are published.
    """

    name: Text
    got: float | None = None
    topics: tuple[Text, ...] = ()


class PublicRun(Strict, frozen=True):
    """A public run.

    Attributes:
        file: its name; it is saved as ``runs/TASK/FILE.run``.
        path: its path below the repository's ``url``.
        team: the team in the published tables.
        tags: the run's tags there, which may differ between tables. Without tags, the tag in the file counts.
        bytes: the file's size; 0 if unknown.
        md5, git_blob: md5 and git blob id of the unpacked file; only one of them may be empty if the file can
            be fetched.
        checked: whether the run has been re-evaluated. ``touche regress --official --update`` writes it.
        different: the published values that weren't reproduced then.
    """

    file: Name
    path: Text
    team: Text
    tags: tuple[Text, ...] = ()
    bytes: int = 0
    md5: str = ""
    git_blob: str = ""
    checked: bool = False
    different: tuple[Difference, ...] = ()


class Repository(Strict, frozen=True):
    """A repository with public runs of a task. All texts are empty for runs that aren't public yet.

    Attributes:
        page: its web page.
        licence: the licence as stated there, or ``none stated``.
        url: the address that the paths continue; ``!`` separates an archive from the path in it.
        runs: the runs; empty for an archive with runs that nobody has listed yet.
        git_blob: the git blob id of an archive with runs that aren't listed; otherwise empty. If others of
            its runs are listed, these are in a second repository.
    """

    page: str = ""
    licence: str = ""
    url: str = ""
    runs: tuple[PublicRun, ...] = ()
    git_blob: str = ""

    def address(self, run: PublicRun) -> tuple[str, str]:
        """Returns the address of a run or its archive, and the path in the archive or an empty string."""
        url, _, member = f"{self.url}{run.path}".partition("!")
        return url, member


class PublicRuns(Strict, frozen=True):
    """A task's public runs, and its published results without a public run.

    Attributes:
        repositories: the repositories with the runs.
        without_run: the tags of published results without one of these runs, by team.
    """

    repositories: tuple[Repository, ...] = ()
    without_run: Mapping[Text, tuple[str, ...]] = field(default_factory=dict)

    @property
    def runs(self) -> list[tuple[Repository, PublicRun]]:
        """All runs, each with its repository."""
        return [(repository, run) for repository in self.repositories for run in repository.runs]

    @property
    def unlisted(self) -> Repository | None:
        """The repository whose archive contains runs that aren't listed yet, if there is one."""
        return next((repository for repository in self.repositories if not repository.runs), None)

    @property
    def untagged_teams(self) -> dict[str, str]:
        """Teams with runs for which only the tag in the file tells the published result, each with the page
        of the repository.
        """
        return {run.team: repository.page for repository, run in self.runs if not run.tags}


class Check(NamedTuple):
    """How a published value was checked.

    Attributes:
        verdict: ``re-evaluated`` (with an equal value), ``different``, ``not re-evaluated``,
            ``run public, not listed yet`` or ``run not public``.
        url: the address of the run, or the page of its repository; empty if the run isn't listed.
        remark: the run's value, and in which topics it differs; empty unless it does.
    """

    verdict: str
    url: str = ""
    remark: str = ""


def public_runs(task: Task) -> PublicRuns:
    """Returns a task's public runs.

    Raises:
        InputError: if the index is broken, a published result isn't listed exactly once, or a run that can be
            fetched has no checksum.
    """
    path = index_path(task)
    if not path.exists():  # a user's task
        return PublicRuns()
    index = read_record(path, PublicRuns)
    _check_checksums(path, index)
    listed = Counter(row for _, run in index.runs if run.tags for row in results_of(task, run))
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


def _check_checksums(path: Path, index: PublicRuns) -> None:
    for repository, run in index.runs:
        if repository.url and not (run.md5 or run.git_blob):
            remedy = "add one of them, so that the fetched file can be checked"
            raise InputError(path, f"{run.file} has neither md5 nor git_blob", remedy)


def index_path(task: Task) -> Path:
    """Returns the path of a task's index, which may not exist.

    That of a user's task is in ``tasks/public-runs/``, next to the card.
    """
    name = f"{task.id}.toml"
    folders = [_FOLDER, *(folder / "tasks" / "public-runs" for folder in data_folders())]
    return next((folder / name for folder in folders if (folder / name).exists()), _FOLDER / name)


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


def checks(task: Task) -> dict[Published, Check]:
    """Returns for each published result over all topics how it was checked; empty without an index."""
    if not task.published or not index_path(task).exists():
        return {}
    index = public_runs(task)
    without_run = Check(NOT_LISTED if index.unlisted else NOT_PUBLIC)
    result = {
        row: Check(NOT_EVALUATED, index.untagged_teams[row.team])
        if row.team in index.untagged_teams
        else without_run
        for row in over_all_topics(task)
    }
    for repository, run in index.runs:
        url, _ = repository.address(run)
        different = {difference.name: difference for difference in run.different}
        for row in results_of(task, run) if run.tags else ():
            difference = different.get(value_name(row))
            if not run.checked:
                result[row] = Check(NOT_EVALUATED, url)
            elif difference is None:
                result[row] = Check(EVALUATED, url)
            else:
                result[row] = Check(DIFFERENT, url, remark(difference))
    return result


def remark(difference: Difference) -> str:
    """Returns a difference in words, such as ``0.815 instead, because topic 68 differs``."""
    value = "no value" if difference.got is None else f"{difference.got:.3f}"
    topics = ", ".join(difference.topics)
    nouns = f"topic {topics} differs" if len(difference.topics) == 1 else f"topics {topics} differ"
    return f"{value} instead, because {nouns}" if topics else f"{value} instead"


def over_all_topics(task: Task) -> list[Published]:
    """Returns the published results over all topics."""
    return [row for row in task.published if row.topics is None]
