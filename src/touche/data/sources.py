"""Official files with their publishers, addresses and checksums."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touche import tasks
from touche.data import places
from touche.data.places import whole_corpus
from touche.data.remedies import dataset_has_file, download, downloads, format_bytes, records
from touche.errors import ToucheError, counted
from touche.io.opening import plain_name
from touche.tasks.public_runs import PublicRun, PublicRuns, public_runs

RUNS = "runs"


@dataclass(frozen=True)
class Source:
    """An official file and its publisher.

    Attributes:
        path: its path below the data folder, such as ``qrels/touche-task2-2022-quality.qrels``.
        title: the publication that contains it.
        page: the publication's web page.
        licence: the publication's licence.
        url: the address; empty if it can't be fetched.
        md5: the publisher's checksum of the file or its archive.
        size: bytes to download.
        member: its name in the archive; empty if the file itself is published.
        unpacked_md5, git_blob: a public run's checksums, after unpacking; otherwise empty.
        agreement: whether the publisher requires an agreement.
        by_hand: the address of a file that you have to download yourself, because its md5 is unknown.
        dataset: the id of a dataset of some topics, whose folder is made from the download; otherwise empty.
    """

    path: str
    title: str
    page: str
    licence: str
    url: str = ""
    md5: str = ""
    size: int = 0
    member: str = ""
    unpacked_md5: str = ""
    git_blob: str = ""
    agreement: bool = False
    by_hand: str = ""
    dataset: str = ""

    @property
    def kind(self) -> str:
        """``topics``, ``qrels``, ``corpora`` or ``runs``."""
        return self.path.partition("/")[0]

    @property
    def name(self) -> str:
        """The path without the kind."""
        return self.path.partition("/")[2]

    def place(self, folder: Path | None = None) -> Path | None:
        """Returns the file's path in a folder, or in the data folders; None if it's missing."""
        for name in [self.name, f"{self.name}.gz"] if self.kind == RUNS else [self.name]:
            path = folder / self.kind / name if folder is not None else places.find(self.kind, name)
            if path and (is_complete(self, path) if path.is_dir() else path.exists()):
                return path
        return None


def is_complete(source: Source, folder: Path) -> bool:
    """Returns whether a folder contains files; for a dataset of some topics, whether it contains topics."""
    names = {plain_name(path.name) for path in folder.iterdir()}
    if source.dataset:
        return "topics.xml" in names or "queries.jsonl" in names
    return bool(names)


def official(chosen: Sequence[str] = ()) -> list[Source]:
    """Returns the datasets' official files: topics, qrels and corpora.

    Address, md5 and size come from ir_datasets or publishers.toml.

    Args:
        chosen: dataset ids; if empty, all official files.

    Raises:
        ToucheError: if a dataset is unknown, or ir_datasets isn't installed.
    """
    datasets = [tasks.dataset(dataset_id) for dataset_id in chosen]
    if not downloads():
        raise ToucheError("ir_datasets is not installed; run the command outside of the image")
    sources = [source for record in records() for source in _list_sources(record)]
    return [
        source
        for source in sources
        if not chosen or any(dataset_has_file(task, corpus, source.path) for task, corpus in datasets)
    ]


def public_run_sources(chosen: Sequence[str] = ()) -> list[Source]:
    """Returns the public runs of datasets' tasks in index order; all tasks' if ``chosen`` is empty."""
    sources = list[Source]()
    for task_id in dict.fromkeys(tasks.task(name).id for name in chosen or tasks.ids()):
        index = public_runs(tasks.task(task_id))
        sources += [public_run_source(task_id, index, run) for run in index.runs]
    return sources


def public_run_source(task_id: str, index: PublicRuns, run: PublicRun) -> Source:
    """Returns where a public run of a task's index comes from."""
    url, member = index.address(run)
    return Source(
        path=f"{RUNS}/{task_id}/{run.file}.run",
        title=f"Public runs of {task_id}",
        page=index.page,
        licence=index.licence,
        url=url,
        size=0 if member else run.bytes,  # the archive's size is unknown
        member=member,
        unpacked_md5=run.md5,
        git_blob=run.git_blob,
    )


def is_to_download(source: Source, folder: Path | None = None) -> bool:
    """Returns whether a file is missing, can be downloaded, and can't be made from a local corpus."""
    can_be_made = bool(source.dataset) and whole_corpus(source.dataset) is not None
    return bool(source.url) and not can_be_made and source.place(folder) is None


def size_of_download(sources: Iterable[Source]) -> str:
    """Returns the download size, such as ``286 MB``. Files in the same archive count once."""
    size_by_file = {source.url: source.size for source in sources}
    unknown = [*size_by_file.values()].count(0)
    size = format_bytes(sum(size_by_file.values()))
    return f"{size} and {counted(unknown, 'file')} of unknown size" if unknown else size


def _list_sources(record: dict[str, Any]) -> Iterator[Source]:
    """Yields the files of a publication (see ``records``)."""
    publication = {"title": record["title"], "page": record["url"], "licence": record["licence"]}
    for path, file in record.get("files", {}).items():
        attributes = dict(file)  # the file's keys are attributes of ``Source``, except ir_datasets
        if "ir_datasets" in file:
            attributes |= download(file)
            del attributes["ir_datasets"]
        yield Source(path=path, **publication, **attributes)
    for path, address in record.get("by_hand", {}).items():
        yield Source(path=path, **publication, by_hand=address)
    for path in record.get("agreement", ()):
        yield Source(path=path, **publication, agreement=True)
