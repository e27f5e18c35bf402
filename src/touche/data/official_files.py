"""Gets official files from their publishers or a mirror, verifies them, and puts them in place."""

import hashlib
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path, PurePosixPath
from typing import IO

from touche import tasks
from touche.data import places
from touche.data.fetching import download
from touche.data.partial_datasets import copy_dataset, write_judged
from touche.data.places import data_home, whole_corpus
from touche.data.publishers import RUNS, Source
from touche.data.remedies import how_to_download
from touche.data.sources import find_source, official
from touche.data.verifying import (
    DIFFERS,
    MISSING,
    NOT_IN_MIRROR,
    NOT_PUBLISHED,
    Status,
    difference,
    verify,
    why_not_verified,
)
from touche.errors import InputError
from touche.io.opening import open_binary, opened, plain_name
from touche.io.progress import say
from touche.io.writing import make_folder, whole


def fetch(
    source: Source, mirror: Path | None = None, folder: Path | None = None, *, keep: bool = False
) -> Status:
    """Fetches a file, checks its md5, and puts it in its place. The file appears there only when it's
    complete.

    If it needs a licence, has no address, or isn't in the mirror, it stays missing and the status says why.
    Interrupted downloads resume.

    Args:
        source: the file.
        mirror: a folder to copy the file or its archive from; None to download it.
        folder: the data folder; by default the clone's or the user's.
        keep: whether to keep the downloaded archive, because another file will be unpacked from it.

    Raises:
        InputError: if the md5 differs (also if the file is already there), if the archive is broken, or if
            the file can't be written.
        ToucheError: if the download fails.
    """
    status = verify(source, folder)
    if status.word == DIFFERS:
        # ``source.path`` if another process has just removed the file.
        path = find_source(source, folder) or source.path
        raise InputError(path, status.remark, "delete the file, then fetch it again")
    if status.word != MISSING:  # the file is there: it's verified, or there is no md5 to compare it with
        return Status(source.path, "available", status.remark)
    if source.agreement:
        return Status(source.path, "needs a licence", f"apply at {source.page}, then save it at this path")
    data_folder = folder or data_home()
    if not source.url:
        reason = f"its address is unknown; see {source.page}"
        if source.by_hand:
            reason = how_to_download(source.by_hand, data_folder / source.path)
        return Status(source.path, "not fetched", reason)
    collection = whole_corpus(source.dataset) if source.dataset else None
    # A dataset with some of the topics can be made from the whole collection, without a download.
    if collection:
        return _make_dataset(source, collection, data_folder)
    if mirror is None:
        return _download_into_place(source, data_folder, keep)
    original = _find_in_mirror(source, mirror)
    if original is None:
        return Status(source.path, NOT_IN_MIRROR)
    return _put_in_place(source, original, data_folder)


def _download_into_place(source: Source, data_folder: Path, keep: bool) -> Status:
    """Downloads to a partial file in downloads/, then puts the file in its place."""
    # Name the partial file after its md5 or address, because files at different addresses can have the same
    # name.
    key = source.md5 or hashlib.md5(source.url.encode()).hexdigest()
    file = data_folder / "downloads" / f"{key}-{PurePosixPath(source.url).name}"
    make_folder(file.parent)
    with _locked(file.with_name(f"{file.name}.lock")):
        if find_source(source, data_folder):  # while we waited for the lock, another process has fetched it
            return Status(source.path, "available")
        if not file.exists():  # if it exists, it's an archive that was downloaded for another file in it
            part = file.with_name(f"{file.name}.part")
            download(source, part)
            part.replace(file)
        try:
            status = _put_in_place(source, file, data_folder)
        except InputError as error:
            if keep or error.path != file:
                raise
            # Remove the broken file, because otherwise every later attempt would find it and fail.
            file.unlink(missing_ok=True)
            remedy = f"{source.path} was not accepted; fetch it again, or see {source.page}"
            raise InputError(source.url, error.problem, remedy) from error
        if not keep:
            file.unlink(missing_ok=True)
        return status


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Waits until no other process holds the lock on this file, then holds it. The file is removed at the
    end.
    """
    is_locked = False
    while not is_locked:
        try:
            file = path.open("ab")
        except OSError as error:
            raise InputError(
                path, f"cannot be written ({error.strerror})", "choose another directory"
            ) from error
        with file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                say(f"waiting for another process that fetches into {path.parent}")
                flock(file, LOCK_EX)
            except OSError:
                pass  # Ignore: some network file systems have no locks.
            # Check that we have locked the file that is now at this path. The process that held the lock
            # before us has removed the file when it was done. So our lock can be on a file without a name,
            # while a third process has already created and locked a new one.
            with suppress(FileNotFoundError):
                is_locked = os.path.samestat(os.fstat(file.fileno()), path.stat())
            if is_locked:
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)


def copy_samples(chosen: Sequence[str], mirror: Path | None, folder: Path | None = None) -> Iterator[Status]:
    """Copies missing unpublished corpora, such as samples, from a mirror.

    Args:
        chosen: the ids of datasets; if empty, all datasets.
        mirror: the folder to copy from, or None.
        folder: the data folder; by default the clone's or the user's.

    Yields:
        A status for each copied file, and one with a problem for each corpus of a chosen dataset that is
        neither in the mirror nor in the folder.
    """
    # The names of folders in corpora/ that are published, so that they needn't be copied.
    published_folders = {source.name.partition("/")[0] for source in official() if source.kind == "corpora"}
    tasks_and_corpora = map(tasks.dataset, chosen or tasks.datasets())
    for name in dict.fromkeys(corpus.directory for _, corpus in tasks_and_corpora):  # each once
        # If no folder was passed, a corpus isn't missing if it's in any of the data folders.
        is_in_searched_folder = folder is None and places.find("corpora", name)
        if name in published_folders or is_in_searched_folder:
            continue
        is_in_folder = folder is not None and (folder / "corpora" / name).is_dir()
        paths = (mirror / "corpora" / name).glob("*") if mirror else ()
        files = sorted(path for path in paths if path.is_file())
        if chosen and not (files or is_in_folder):
            problem = f"corpora/{name} is not published; pass the folder that contains it with --from"
            yield Status(f"corpora/{name}", NOT_PUBLISHED, problem=problem)
        for file in files:
            sample = Source(path=f"corpora/{name}/{file.name}", title=name, page="", licence="")
            if not find_source(sample, folder):  # skip files that the folder already contains
                yield _put_in_place(sample, file, folder or data_home())


def _find_in_mirror(source: Source, mirror: Path) -> Path | None:
    """Returns a file's path in a mirror; None if it's missing.

    If the mirror contains both, the published file (which may be an archive) is preferred to the unpacked
    one, because only the published file's md5 is known.
    """
    published_name = PurePosixPath(source.url).name
    name_beside_file = str(PurePosixPath(source.path).parent / published_name)
    # Where the file can be: directly in the mirror, in the subfolder for its kind such as qrels/, next to the
    # place of the unpacked file, or unpacked in its place.
    names = [published_name, f"{source.kind}/{published_name}", name_beside_file, source.path]
    # Don't search by the published name, because runs of several teams have the same name.
    if source.kind == RUNS:
        names = [source.path, f"{source.path}.gz", *(names if source.member else ())]
    paths = [mirror / name for name in names]
    copies = (path for path in paths if path.is_file() or (source.dataset and path.is_dir()))
    return next(copies, None)


def _put_in_place(source: Source, file: Path, data_folder: Path) -> Status:
    """Checks a file's or archive's md5, then puts the file in its place.

    Args:
        source: the official file.
        file: where its content is now: a copy of the file, the archive or published file that it's made from,
            or a copy of the folder of a dataset.
        data_folder: the data folder.
    """
    target = data_folder / source.path
    if file.is_dir():  # the mirror contains the folder of a dataset with some of the topics
        copy_dataset(source.dataset, file, data_folder, target)
        return Status(source.path, "copied", f"not verified: {why_not_verified(source)}")
    # If the file is published in an archive but has its own name here, someone has unpacked it.
    is_unpacked = bool(source.member) and plain_name(file.name) == target.name
    is_archive = bool(source.member) and not is_unpacked
    # An unpacked file can't be verified, because the md5 is the archive's.
    is_verifiable = bool(source.md5) and not is_unpacked
    problem = difference(source, file) if is_verifiable else ""
    if problem:
        remedy = f"{source.path} was not accepted; download it from {source.page}"
        raise InputError(file, problem, remedy)
    if source.dataset:
        return _make_dataset(source, file, data_folder)
    make_folder(target.parent)
    # Runs can be compressed in a mirror, so decompress them when reading.
    open_file = open_binary if source.kind == RUNS else opened
    opened_content = _open_member(source.member, file) if is_archive else open_file(file)
    with opened_content as content, whole(target) as out:
        shutil.copyfileobj(content, out)
        out.flush()
        problem = difference(source, Path(out.name)) if source.kind == RUNS else ""
        if problem:
            raise InputError(file, problem, f"{source.path} was not accepted; see {source.page}")
    if source.kind == RUNS:
        return Status(source.path, "fetched")
    if not is_verifiable:
        return Status(source.path, "copied", f"not verified: {why_not_verified(source)}")
    remark_end = " of the archive" if is_archive else ""
    return Status(source.path, "fetched", f"md5 {source.md5}{remark_end}")


def _make_dataset(source: Source, original: Path, data_folder: Path) -> Status:
    """Makes a dataset with some of the topics, from the published file or from the folder of the whole
    corpus.
    """
    count = write_judged(source.dataset, original, data_folder, data_folder / source.path)
    # In the message, use the publisher's name of the file, because the downloaded file is named after its
    # md5.
    name = original.name if original.is_dir() else PurePosixPath(source.url).name
    return Status(source.path, "fetched", f"{count:,} judged documents from {name}")


@contextmanager
def _open_member(name: str, archive: Path) -> Iterator[IO[bytes]]:
    """Opens an archive's first file whose path ends with a name. Nothing is unpacked to disk.

    Args:
        name: the file's name, possibly with folders: ``a/b.csv`` also finds ``x/a/b.csv``.
        archive: a ZIP or tar file.
    """
    ending = f"/{name}"
    try:
        with opened(archive) as content:
            file: IO[bytes] | None
            if zipfile.is_zipfile(archive):
                zip_archive = zipfile.ZipFile(content)
                paths = [path for path in zip_archive.namelist() if f"/{path}".endswith(ending)]
                file = zip_archive.open(paths[0]) if paths else None
            else:
                tar = tarfile.open(fileobj=content, mode="r|*")  # noqa: SIM115 (read within this block)
                members = (info for info in tar if info.isfile() and f"/{info.name}".endswith(ending))
                member = next(members, None)
                file = tar.extractfile(member) if member else None
            if file is None:
                raise InputError(archive, f"no {name} in the archive", "download it again")
            yield file
    # Includes errors that are raised while the caller reads the file. RuntimeError: the file is encrypted.
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, RuntimeError, zlib.error) as error:
        raise InputError(archive, f"broken archive ({error})", "download it again") from error
