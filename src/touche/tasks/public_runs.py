"""Public runs: runs for which results are published and which can be downloaded. Lists of them are next to
the cards.
"""

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

# Possible values of ``Check.verdict``.
EVALUATED = "re-evaluated"
DIFFERENT = "different"
NOT_EVALUATED = "not re-evaluated"
NOT_LISTED = "run public, not listed yet"
NOT_PUBLIC = "run not public"


class Difference(Strict, frozen=True):
    """A published value that differs from the value computed with the public run.

    Attributes:
        name: the dimension and measure of the value, such as ``relevance nDCG@5``.
        got: the value computed with the run, rounded like the published one; None if it can't be computed.
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
        md5, git_blob: the md5 and the git blob id of the unpacked file. If the file can be fetched, at least
            one of them must be known; the other may be empty.
        checked: whether we have evaluated the run again. This and ``different`` are written by ``touche
            regress --official --update``.
        different: the published values that differed when the run was evaluated again.
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
        page: the repository's web page.
        licence: the licence that the repository states, or ``none stated``.
        url: the beginning of each run's address; the run's ``path`` is appended to it. If runs are in an
            archive, ``!`` separates the archive's address from the path in it.
        runs: the runs; empty for an archive with runs that nobody has listed yet.
        git_blob: the git blob id of an archive whose runs haven't been listed; empty for other repositories.
            If some of an archive's runs are listed, there are two records: one with these runs, and one for
            the rest.
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
        without_run: the tags of published results for which no run is public, by team.
    """

    repositories: tuple[Repository, ...] = ()
    without_run: Mapping[Text, tuple[str, ...]] = field(default_factory=dict)

    @property
    def runs(self) -> list[tuple[Repository, PublicRun]]:
        """All public runs of the task, each with its repository."""
        return [(repository, run) for repository in self.repositories for run in repository.runs]

    @property
    def unlisted(self) -> Repository | None:
        """The repository whose archive contains runs that aren't listed yet, if there is one."""
        return next((repository for repository in self.repositories if not repository.runs), None)

    @property
    def untagged_teams(self) -> dict[str, str]:
        """Teams that have runs without tags in this index, each with its repository's page. Which published
        results these runs have can only be told from the tags in their files.
        """
        return {run.team: repository.page for repository, run in self.runs if not run.tags}


class Check(NamedTuple):
    """How a published value was checked.

    Attributes:
        verdict: ``re-evaluated`` (with an equal value), ``different``, ``not re-evaluated``,
            ``run public, not listed yet`` or ``run not public``.
        url: the address of the run, or the page of its repository; empty if the run isn't listed.
        remark: if the run's value differs, its value and the topics on which it differs; otherwise empty.
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
    if not path.exists():  # a user's task may have no index
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
    """Returns the path of the index of a task's public runs. The file may not exist. For a user's task, it's
    in the folder ``public-runs`` next to the task's card.
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
        InputError: if the run has no published result, or two results in the same dimension and measure.
    """
    tags = run.tags or (tag,)
    rows = [row for row in over_all_topics(task) if row.team == run.team and row.tag in tags]
    if {*tags} != {row.tag for row in rows} or len({row.kind for row in rows}) < len(rows):
        problem = f"{run.file} has no published result, or two of a kind, of {run.team}, {' or '.join(tags)}"
        raise InputError(index_path(task), problem, "correct its team and tags, or the card")
    return rows


def value_name(row: Any) -> str:
    """Returns the dimension and measure of a published result in words, such as ``relevance nDCG@5``."""
    return f"{row.dimension} {row.measure}"


def checks(task: Task) -> dict[Published, Check]:
    """Returns how each published result over all topics was checked. Empty if the task has no index of public
    runs.
    """
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
