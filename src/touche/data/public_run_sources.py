"""Returns where public runs can be downloaded, as ``Source`` records."""

from collections.abc import Sequence

from touche import tasks
from touche.data.publishers import RUNS, Source
from touche.tasks.public_runs import PublicRun, Repository, public_runs


def public_run_sources(chosen: Sequence[str] = ()) -> list[Source]:
    """Returns the public runs of the chosen datasets' tasks, or of all tasks if ``chosen`` is empty. They are
    in the order of the indexes.
    """
    sources = list[Source]()
    for task_id in dict.fromkeys(tasks.task(name).id for name in chosen or tasks.ids()):
        index = public_runs(tasks.task(task_id))
        sources += [public_run_source(task_id, repository, run) for repository, run in index.runs]
    return sources


def public_run_source(task_id: str, repository: Repository, run: PublicRun) -> Source:
    """Returns where a public run comes from."""
    url, member = repository.address(run)
    return Source(
        path=f"{RUNS}/{task_id}/{run.file}.run",
        title=f"Public runs of {task_id}",
        page=repository.page,
        licence=repository.licence,
        url=url,
        # If the run is in an archive, the download is the archive, whose size is unknown.
        size=0 if member else run.bytes,
        member=member,
        unpacked_md5=run.md5,
        git_blob=run.git_blob,
    )
