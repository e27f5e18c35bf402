"""Lists the official files of datasets, and finds those that are on this machine."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from touche import tasks
from touche.data import places
from touche.data.places import whole_corpus
from touche.data.publishers import Source, all_sources, downloads
from touche.data.remedies import dataset_has_file, format_bytes
from touche.errors import ToucheError, counted
from touche.io.opening import plain_name


def find_source(source: Source, folder: Path | None = None) -> Path | None:
    """Returns the path of an official file in this folder, or, if no folder is passed, in the data folders.
    Returns None if the file is missing.
    """
    path = places.find(source.kind, source.name, [folder] if folder is not None else None)
    is_here = path and (_is_complete(source, path) if path.is_dir() else path.is_file())
    return path if is_here else None


def _is_complete(source: Source, folder: Path) -> bool:
    """Returns whether a folder is complete: it must contain files, or, for a dataset with some of the topics,
    a topics file.
    """
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
    return [
        source
        for source in all_sources()
        if not chosen or any(dataset_has_file(task, corpus, source.path) for task, corpus in datasets)
    ]


def is_to_download(source: Source, folder: Path | None = None) -> bool:
    """Returns whether a file is missing, can be downloaded, and can't be made from a local corpus."""
    can_be_made = bool(source.dataset) and whole_corpus(source.dataset) is not None
    return bool(source.url) and not can_be_made and find_source(source, folder) is None


def size_of_download(sources: Iterable[Source]) -> str:
    """Returns the download size, such as ``286 MB``. Files in the same archive count once."""
    size_by_file = {source.url: source.size for source in sources}
    unknown = [*size_by_file.values()].count(0)
    size = format_bytes(sum(size_by_file.values()))
    return f"{size} and {counted(unknown, 'file')} of unknown size" if unknown else size
