"""Lists, fetches and verifies official data."""

import logging
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path, PurePosixPath

from touche import tasks
from touche.data import official_files, verifying
from touche.data.partial_datasets import compare_texts
from touche.data.places import data_home
from touche.data.public_run_sources import public_run_sources
from touche.data.publishers import Source
from touche.data.remedies import remedy
from touche.data.sources import find_source, is_to_download, size_of_download
from touche.data.sources import official as sources_of
from touche.data.verifying import DIFFERS, MISSING, NOT_IN_MIRROR, Status
from touche.errors import InputError, ToucheError, counted, warn
from touche.io.identifiers import names_or_paths, optional_path
from touche.trec.framed import Table

FAILED = "failed"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OfficialFile:
    """An official file.

    Attributes:
        path: its path below the data folder, such as ``qrels/touche-task2-2022-quality.qrels``. It ends with
            ``.gz`` if the file is a run that is packed on this machine.
        available: whether it is on this machine.
        size: the number of bytes to download; None if the size is unknown or the file can't be fetched.
        md5: the checksum of the file, or of its archive; empty if none is known.
        in_archive: whether size and md5 are an archive's, and not the file's own.
        title: the publication that contains it.
        page: the publication's web page.
        licence: the publication's licence.
    """

    path: str
    available: bool
    size: int | None
    md5: str
    in_archive: bool
    title: str
    page: str
    licence: str


@dataclass(frozen=True)
class TextCheck:
    """The result of comparing the texts in a file of args.me with the checksums in their ids.

    Attributes:
        path: the path of the file.
        texts: the number of texts.
        altered: the ids of the texts that don't have the checksum in their id.
    """

    path: str
    texts: int
    altered: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class VerifiedData(Table[Status]):
    """The result of verifying data: a ``Table`` with a record for each official file, and further attributes.

    The result of a file is ``verified``, ``differs``, ``missing`` or ``not verified``. The notes say how many
    files have each result.

    Attributes:
        texts: a record for each available file of args.me.
        is_broken: whether a file or a text differs. If datasets were named, also whether one of their files
            is missing.
    """

    texts: Table[TextCheck] = field(kw_only=True)
    is_broken: bool = field(kw_only=True)


def list_data(datasets: str | Sequence[str] = ()) -> Table[OfficialFile]:
    """Returns the official files of datasets: topics, relevance judgments, corpora and public runs.

    Args:
        datasets: the id of a dataset, or several ids; if empty, all official files.

    Returns:
        An ``OfficialFile`` for each file, publication by publication.

    Raises:
        ToucheError: if there is no such dataset.

    Examples:
        >>> import touche
        >>> [file.path for file in touche.list_data("touche-2020-task-1") if file.path.startswith("topics")]
        ['topics/touche-2020-task-1.xml']
    """
    files = tuple(
        OfficialFile(
            path=source.path if here is None else str(PurePosixPath(source.path).with_name(here.name)),
            available=here is not None,
            size=(source.size or None) if source.url else None,  # of the file or archive that is downloaded
            # For files in archives, some publishers state the archive's checksum, others only that of the
            # unpacked file.
            md5=source.md5 or source.unpacked_md5,
            in_archive=bool(source.member) and not source.unpacked_md5,
            title=source.title,
            page=source.page,
            licence=source.licence,
        )
        for source in [*sources_of(_ids(datasets)), *public_run_sources(_ids(datasets))]
        for here in [find_source(source)]
    )
    return Table(OfficialFile, files)


def fetch(
    datasets: str | Sequence[str] = (),
    *,
    output: str | PathLike[str] | None = None,
    mirror: str | PathLike[str] | None = None,
    no_corpora: bool = False,
    runs: bool = False,
    every: bool = False,
    report: Callable[[Status], None] = lambda status: None,
    log: Callable[[str], None] = _log.info,
) -> Table[Status]:
    """Fetches official data and checks it against the publishers' md5.

    Interrupted downloads resume. If a file can't be fetched, the others are fetched nevertheless.

    Args:
        datasets: one or several dataset ids; if empty, all data.
        output: the data folder. None stands for the clone of the repository; if touche doesn't run in a
            clone, for the user's cache folder.
        mirror: a folder to copy from instead of downloading. It has the same subfolders as a data folder, or
            contains the archives as they are published.
        no_corpora: fetch only topics and relevance judgments.
        runs: fetch topics, judgments and the public runs behind published results.
        every: fetch all published data, including corpora, if no dataset is named.
        report: a function that is called with each file's status as soon as the file is complete.
        log: a function that is called with lines of text about the size of the download and about licences.

    Returns:
        A status per file. ``problem`` says why a file is missing; each problem is also a Python warning. The
        notes say how to use another folder.

    Raises:
        ToucheError: if there is no such dataset, all data is requested without ``every``, or runs are
            requested together with ``every`` or for tasks that have no public runs.

    Examples:
        >>> import tempfile, touche
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     task, files = "touche-2020-task-1", {"mirror": folder, "output": folder}
        ...     statuses = touche.fetch(task, no_corpora=True, **files)
        >>> {status.word for status in statuses}
        {'not in the mirror'}
    """
    ids = _ids(datasets)
    folder = optional_path("output", output)
    mirror_folder = optional_path("mirror", mirror)
    if mirror_folder and not os.path.isdir(mirror_folder):  # noqa: PTH112 (Path.is_dir raises if it is too long)
        raise InputError(mirror_folder, "no such folder", "pass the folder to copy the data from")
    if runs and every:
        raise ToucheError("runs are fetched without corpora; omit --all, or fetch the corpora separately")
    no_corpora = no_corpora or runs
    sources = _sources_of_runs(ids) if runs else sources_of(ids)
    if no_corpora:
        sources = [source for source in sources if source.kind != "corpora"]
    missing = [source for source in sources if is_to_download(source, folder)]
    size = size_of_download(missing)
    # Downloading everything takes long, so users have to request it with ``every``.
    is_requested = bool(ids) or no_corpora or mirror_folder is not None or every
    if missing and not is_requested:
        raise ToucheError(f"all data is a download of {size}; pass a DATASET, or add --all or --no-corpora")
    destination = f" ({size}) to {folder or data_home()}" if missing else ""
    log(f"{counted(len(sources), 'file')}, {len(missing) or 'none'} of them to fetch{destination}")
    if not mirror_folder:
        lines = (f"from {source.page}: {source.title}, licence: {source.licence}" for source in missing)
        # Without duplicates, because several files can be from the same publication.
        for line in dict.fromkeys(lines):
            log(line)
    statuses = []
    for status in _fetch_each(sources, ids, mirror_folder, folder, no_corpora):
        report(status)
        statuses.append(status)
        if status.problem:
            warn(status.problem)
    return Table(Status, tuple(statuses), notes=_how_to_use(folder))


def _sources_of_runs(ids: Sequence[str]) -> list[Source]:
    """Returns the public runs of the datasets' tasks, and the tasks' official files.

    Raises:
        ToucheError: if the datasets' tasks have no public runs.
    """
    public = public_run_sources(ids)
    if not public:
        raise ToucheError(f"{' and '.join(ids)} has no listed public run; omit --runs")
    tasks_of_runs = dict.fromkeys(source.name.rpartition("/")[0] for source in public)
    return [*sources_of(ids or list(tasks_of_runs)), *public]


def _fetch_each(
    sources: Sequence[Source], ids: Sequence[str], mirror: Path | None, folder: Path | None, no_corpora: bool
) -> Iterator[Status]:
    """Fetches official files and then copies unpublished corpora from the mirror. Yields each file's status.

    Args:
        sources: the official files.
        ids: the ids of the requested datasets; if empty, all data is fetched. In that case it's no problem if
            a file isn't in the mirror, or if a corpus is unpublished, because nobody asked for it. Failures
            are always problems.
        mirror: the folder to copy from; None to download.
        folder: the data folder; None for the default.
        no_corpora: leave out unpublished corpora.
    """
    for number, source in enumerate(sources, 1):
        # Other files to fetch that are in the same archive: if there are some, keep the archive.
        later_members = [other for other in sources[number:] if other.member and other.url == source.url]
        keep = any(not find_source(other, folder) for other in later_members)
        try:
            status = official_files.fetch(source, mirror, folder, keep=keep)
        except ToucheError as error:
            yield Status(source.path, FAILED, problem=str(error))
            continue
        if ids and status.word == NOT_IN_MIRROR:
            problem = f"{source.path} is not in {mirror}; put it or its archive there"
            status = replace(status, problem=problem)
        yield status
    if not no_corpora:
        yield from official_files.copy_samples(ids, mirror, folder)


def _how_to_use(folder: Path | None) -> tuple[str, ...]:
    """Returns a note that says how to use the data in a folder. There is no note if the folder is empty, or
    if touche searches it anyway.
    """
    if folder is None or folder in tasks.data_folders():
        return ()
    if not folder.is_dir() or {path.name for path in folder.iterdir()} <= {"downloads"}:
        return ()
    # not replaced with its value, because the user pastes this into a shell, which does that
    earlier_folders = f'{os.pathsep}"$TOUCHE_DATA"' if tasks.data_folders() else ""
    return (f"to use the data: export TOUCHE_DATA={shlex.quote(str(folder.absolute()))}{earlier_folders}",)


def verify(datasets: str | Sequence[str] = ()) -> VerifiedData:
    """Compares the md5 of available files with the publisher's, and checks args.me's texts by their ids.

    Args:
        datasets: one or several dataset ids; if empty, all data.

    Returns:
        A ``VerifiedData`` with a record per official file. A Python warning is issued if all files are
        missing, because then nothing was verified.

    Raises:
        ToucheError: if there is no such dataset, or none of its files are published.

    Examples:
        >>> import touche
        >>> verified = touche.verify("touche-2020-task-1")
        >>> verified[0].path, verified[0].word in ("verified", "missing")
        ('topics/touche-2020-task-1.xml', True)
    """
    ids = _ids(datasets)
    # Only those that are on this machine, because runs that nobody fetched aren't missing.
    here = [source for source in public_run_sources(ids) if find_source(source)]
    sources = [*sources_of(ids), *here]
    texts = tuple(TextCheck(str(path), count, tuple(altered)) for path, count, altered in compare_texts(ids))
    if not sources and not texts:
        names = " ".join(ids)
        raise ToucheError(f"{names}: nothing was verified, because no file is published; choose other data")
    files = tuple(verifying.verify(source) for source in sources)
    counts = Counter(status.word for status in files)
    warnings = list[str]()
    if counts[MISSING] == len(files) and not texts:
        how_to_get = _how_to_get(sources, ids)
        warnings.append(f"nothing was verified, because all files are missing; {how_to_get}")
        warn(warnings[0])
    # If no datasets are named, it's no problem that some data is missing.
    is_incomplete = bool(ids) and counts[MISSING] > 0
    is_altered = counts[DIFFERS] > 0 or any(check.altered for check in texts)
    sentences = [sentence for check in texts for sentence in _describe_check(check)]
    counts_text = ", ".join(f"{count} {word}" for word, count in counts.items())  # e.g. 3 verified
    return VerifiedData(
        kind=Status,
        records=files,
        texts=Table(TextCheck, texts),
        is_broken=is_altered or is_incomplete,
        warnings=tuple(warnings),
        notes=(*sentences, counts_text or "no file is published"),
    )


def _how_to_get(sources: Sequence[Source], ids: Sequence[str]) -> str:
    """Returns how to get the files of datasets. Used if all of them are missing."""
    # None of the files can be fetched, so all have the same remedy.
    if not any(source.url for source in sources):
        return remedy(sources[-1].path)
    # Samples aren't published, but they have the same topics and qrels as the whole dataset, so name that.
    fetchable = dict.fromkeys(name.removesuffix("/sample") for name in ids)
    return f"get them with: touche data fetch {' '.join(fetchable) or '--all'}"


def _describe_check(check: TextCheck) -> Iterator[str]:
    """Yields sentences about a file's texts."""
    for id in check.altered:
        yield f"{check.path}: the text of {id} does not match the checksum in its id"
    intact = check.texts - len(check.altered)
    yield f"{check.path}: {intact:,} of {check.texts:,} texts match the checksums in their ids"


def _ids(datasets: str | Sequence[str]) -> list[str]:
    """Returns one or several ids as a list."""
    return names_or_paths("dataset", datasets)
