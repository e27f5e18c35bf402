"""Downloads official files, resumes and checks them, and puts them in their places."""

import hashlib
import logging
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from textwrap import shorten
from typing import IO, Any

from touche import tasks
from touche.data.judged import copy_dataset, write_judged
from touche.data.places import data_home, is_available, whole_corpus
from touche.data.remedies import how_to_download
from touche.data.sources import RUNS, Source, official
from touche.errors import InputError, ToucheError
from touche.io.opening import md5, open_binary, opened, plain_name
from touche.io.progress import bar
from touche.io.writing import make_folder, whole

# Words of ``Status``.
NOT_IN_MIRROR = "not in the mirror"
MISSING = "missing"
DIFFERS = "differs"
NOT_PUBLISHED = "not published"
_CHUNK_BYTES = 1 << 16  # an interrupted download loses at most one chunk
_LONGEST_REASON = 150  # characters of an error of the network
_TIMEOUT_SECONDS = 30  # without a byte
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Status:
    """The result for a file.

    Attributes:
        path: its path below the data folder, such as ``qrels/touche-task2-2022-quality.qrels``.
        word: the result, such as ``fetched`` or ``differs``.
        remark: an explanation, or an empty text.
        problem: why fetching failed, and what to do; empty if it did not fail.
    """

    path: str
    word: str
    remark: str = ""
    problem: str = ""


class RefusedError(InputError):
    """A file that differs from the published one."""


def fetch(
    source: Source, mirror: Path | None = None, folder: Path | None = None, *, keep: bool = False
) -> Status:
    """Puts a file in its place, complete and with the publisher's md5, if it can be fetched.

    If the file needs a licence or has no address, or the mirror lacks it, it stays missing, and the status
    says why.

    An interrupted download resumes.

    Args:
        source: the file.
        mirror: a folder to copy the file or its archive from; None to download it.
        folder: the folder of topics/, qrels/ and corpora/; by default the clone's or the user's.
        keep: whether to keep the downloaded archive for its other files.

    Raises:
        RefusedError: if the md5 differs, also for an existing file, or the archive is broken.
        InputError: if the file cannot be written.
        ToucheError: if the download fails.
    """
    status = verify(source, folder)
    if status.word == DIFFERS:
        path = source.place(folder) or source.path  # unless it was removed meanwhile
        raise RefusedError(path, status.remark, "delete the file, then fetch it again")
    if status.word != MISSING:  # verified, or without an md5 to compare with
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
    if collection:  # then a dataset of some topics needs no download
        return _make_dataset(source, collection, data_folder)
    if mirror is None:
        return _download_into_place(source, data_folder, keep)
    original = _find_in_mirror(source, mirror)
    if original is None:
        return Status(source.path, NOT_IN_MIRROR)
    return _put_in_place(source, original, data_folder)


def _download_into_place(source: Source, data_folder: Path, keep: bool) -> Status:
    """Downloads a file by way of a partial file, and puts it in its place.

    Args:
        source: the file.
        data_folder: the folder of topics/, qrels/ and corpora/; partial files are in its downloads/.
        keep: as in ``fetch``.
    """
    # Files at different addresses may share a name.
    key = source.md5 or hashlib.md5(source.url.encode()).hexdigest()
    part = data_folder / "downloads" / f"{key}-{PurePosixPath(source.url).name}"
    make_folder(part.parent)
    _download(source, part)
    try:
        status = _put_in_place(source, part, data_folder)
    except RefusedError:
        part.unlink(missing_ok=True)  # resuming from a wrong file would fail forever
        raise
    if not keep:
        part.unlink(missing_ok=True)
    return status


def copy_samples(chosen: Sequence[str], mirror: Path | None, folder: Path | None = None) -> Iterator[Status]:
    """Copies missing corpora that are not published, such as samples, from a mirror.

    Args:
        chosen: the ids of the datasets whose corpora are copied; if empty, all.
        mirror: the folder to copy from, or None.
        folder: the data folder; by default the clone or the user's folder.

    Yields:
        A status for each copied file, and ``not published`` for a corpus that is neither in the mirror nor in
        the folder.
    """
    # The names of folders in corpora/.
    published_folders = {source.name.partition("/")[0] for source in official() if source.kind == "corpora"}
    tasks_and_corpora = map(tasks.dataset, chosen or tasks.datasets())
    for name in dict.fromkeys(corpus.directory for _, corpus in tasks_and_corpora):  # each once
        # By default, a corpus in any of the searched data folders is not missing.
        is_in_searched_folder = folder is None and is_available("corpora", name)
        if name in published_folders or is_in_searched_folder:
            continue
        is_in_folder = folder is not None and (folder / "corpora" / name).is_dir()
        paths = (mirror / "corpora" / name).glob("*") if mirror else ()
        files = sorted(path for path in paths if path.is_file())
        if not (files or is_in_folder):
            yield Status(f"corpora/{name}", NOT_PUBLISHED)
        for file in files:
            sample = Source(path=f"corpora/{name}/{file.name}", title=name, page="", licence="")
            if not sample.place(folder):  # the folder may already have some of the files
                yield _put_in_place(sample, file, folder or data_home())


def verify(source: Source, folder: Path | None = None) -> Status:
    """Compares a file in a folder, or in the searched folders, with the publisher's md5."""
    path = source.place(folder)
    if path is None:
        return Status(source.path, MISSING)
    if source.kind == RUNS:
        with open_binary(path) as file:
            remark = _run_differs(source, file.read())
        return Status(source.path, DIFFERS, remark) if remark else Status(source.path, "verified")
    if source.member or source.dataset or not source.md5:
        return Status(source.path, "not verified", _why_not_verified(source))
    digest = md5(path)
    if digest == source.md5:
        return Status(source.path, "verified", f"md5 {digest}")
    return Status(source.path, DIFFERS, f"its md5 is {digest} instead of {source.md5}")


def _find_in_mirror(source: Source, mirror: Path) -> Path | None:
    """Returns the path of a file in a mirror; None if it is missing.

    The file as published, perhaps an archive, is preferred to the unpacked file, because only the md5 of the
    published file is known.
    """
    published_name = PurePosixPath(source.url).name
    name_beside_file = str(PurePosixPath(source.path).parent / published_name)
    # In the mirror itself, or in folders as in the data folder: by kind, or beside the unpacked file.
    names = [published_name, f"{source.kind}/{published_name}", name_beside_file, source.path]
    if source.kind == RUNS:  # the publishers name the files of several teams alike
        names = [source.path, f"{source.path}.gz", *(names if source.member else ())]
    paths = [mirror / name for name in names]
    copies = (path for path in paths if path.is_file() or (source.dataset and path.is_dir()))
    return next(copies, None)


def _download(source: Source, part: Path) -> None:
    """Downloads a file without a retry; a partial file stays after an error, and is resumed next time."""
    import requests  # here, because it takes 60 ms

    done = part.stat().st_size if part.exists() else 0  # bytes of an earlier download
    # Compression in transit would change the positions of bytes, which the range counts.
    headers = {"Accept-Encoding": "identity", "Range": f"bytes={done}-"}
    try:
        with requests.get(source.url, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS) as response:
            if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                return  # the partial file is complete, and its md5 will be checked
            response.raise_for_status()
            # With another status, the server cannot resume, and sends the whole file.
            if response.status_code != HTTPStatus.PARTIAL_CONTENT:
                done = 0
            with (
                part.open("ab" if done else "wb") as file,  # "a" appends to the partial file
                bar(f"fetching {source.name}", "B", source.size, done=done) as progress,
            ):
                for chunk in response.iter_content(_CHUNK_BYTES):
                    progress.update(file.write(chunk))
    except requests.RequestException as error:
        has_answer = error.response is not None
        # Without an answer of the server, the text of the error is about internals of the library.
        reason = shorten(str(error), _LONGEST_REASON) if has_answer else type(error).__name__
        problem = f"{source.path} cannot be downloaded from {source.url} ({reason})"
        raise ToucheError(f"{problem}; try again to resume the download, or use --from") from error
    except OSError as error:
        raise InputError(part, f"cannot be written ({error.strerror})", "make space on the disk") from error


def _put_in_place(source: Source, file: Path, data_folder: Path) -> Status:
    """Checks the md5 of a file or its archive, then puts the file in its place.

    Args:
        source: the official file.
        file: a copy of the official file, or the published file from which the official file is unpacked or
            made, or a copy of the folder of a dataset of some topics.
        data_folder: the folder of topics/, qrels/ and corpora/.
    """
    target = data_folder / source.path
    if file.is_dir():  # a dataset of some topics, copied from a mirror
        copy_dataset(source.dataset, file, data_folder, target)
        return Status(source.path, "copied", f"not verified: {_why_not_verified(source)}")
    # The name shows whether someone has already unpacked a file that is published in an archive.
    is_unpacked = bool(source.member) and plain_name(file.name) == target.name
    is_archive = bool(source.member) and not is_unpacked
    is_verifiable = bool(source.md5) and not is_unpacked  # the md5 is that of the archive
    if is_verifiable:
        digest = md5(file)
        if digest != source.md5:
            problem = f"its md5 is {digest} instead of {source.md5}"
            remedy = f"{source.path} was not accepted; download it from {source.page}"
            raise RefusedError(file, problem, remedy)
    if source.dataset:
        return _make_dataset(source, file, data_folder)
    make_folder(target.parent)
    open_file = open_binary if source.kind == RUNS else opened  # a mirror may have compressed runs
    opened_content = _open_member(source.member, file) if is_archive else open_file(file)
    with opened_content as content, whole(target) as out:
        shutil.copyfileobj(content, out, _CHUNK_BYTES)
        out.flush()
        remark = _run_differs(source, Path(out.name).read_bytes()) if source.kind == RUNS else ""
        if remark:
            raise RefusedError(file, remark, f"{source.path} was not accepted; see {source.page}")
    if source.kind == RUNS:
        return Status(source.path, "fetched")
    if not is_verifiable:
        return Status(source.path, "copied", f"not verified: {_why_not_verified(source)}")
    remark_end = " of the archive" if is_archive else ""
    return Status(source.path, "fetched", f"md5 {source.md5}{remark_end}")


def _make_dataset(source: Source, original: Path, data_folder: Path) -> Status:
    """Makes the dataset of some topics from ``original``, the published file or the folder of the corpus."""
    count = write_judged(source.dataset, original, data_folder, data_folder / source.path)
    # A download is shown by the publisher's name, because that of the partial file begins with its md5.
    name = original.name if original.is_dir() else PurePosixPath(source.url).name
    return Status(source.path, "fetched", f"{count:,} judged documents from {name}")


@contextmanager
def _open_member(name: str, archive: Path) -> Iterator[IO[bytes]]:
    """Opens the first file in an archive whose path ends with this name; nothing is unpacked to a disk.

    Args:
        name: the file's name, perhaps with its folders: ``a/b.csv`` also finds ``x/a/b.csv``.
        archive: a ZIP or tar file.
    """
    ending = f"/{name}"
    try:
        with opened(archive) as content:
            file: Any = None
            if zipfile.is_zipfile(archive):
                zip_archive = zipfile.ZipFile(content)
                paths = (path for path in zip_archive.namelist() if f"/{path}".endswith(ending))
                zip_path = next(paths, None)
                if zip_path is not None:
                    file = zip_archive.open(zip_path)
            else:
                tar = tarfile.open(fileobj=content, mode="r|*")  # noqa: SIM115 (read within this block)
                members = (info for info in tar if info.isfile() and f"/{info.name}".endswith(ending))
                member = next(members, None)
                if member is not None:
                    file = tar.extractfile(member)
            if file is None:
                raise RefusedError(archive, f"no {name} in the archive", "download it again")
            yield file
    # Also errors of the caller's block, which reads the file. An encrypted file raises RuntimeError.
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, RuntimeError, zlib.error) as error:
        raise RefusedError(archive, f"broken archive ({error})", "download it again") from error


def _run_differs(source: Source, content: bytes) -> str:
    """Returns how the content of a public run differs from the one in the index; empty if it doesn't."""
    digest, expected, name = hashlib.md5(content).hexdigest(), source.unpacked_md5, "md5"
    if not expected:  # git hashes the size too
        blob = b"blob %d\0" % len(content) + content
        digest, expected, name = hashlib.sha1(blob).hexdigest(), source.git_blob, "git blob id"
    return "" if digest == expected else f"its {name} is {digest} instead of {expected}"


def _why_not_verified(source: Source) -> str:
    """Returns why a file cannot be compared with the publisher's md5."""
    if source.dataset:
        return "made from a published file"
    if source.member:
        return "only the md5 of its archive is published"
    return "no md5 is published"
