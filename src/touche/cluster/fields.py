"""Folders for the fields of parsed web pages, shared by all workers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from touche.cluster.failing import shortened
from touche.documents.parquet import arrow, check_no_pages
from touche.errors import InputError

_UNFINISHED = ".unfinished"  # a subfolder that readers ignore


@dataclass(frozen=True)
class FieldsFolder:
    """A folder in any file system that pyarrow opens: a mounted one, S3, Google's, Azure's or HDFS.

    Attributes:
        address: an absolute path, or an address such as ``s3://bucket/fields``.
    """

    address: str

    @classmethod
    def at(cls, name: str) -> "FieldsFolder":
        """Returns the folder for an absolute path, or for an address; Spark's ``s3a`` becomes ``s3``."""
        if "://" not in name:
            return cls(str(Path(name).absolute()))
        return cls(re.sub("^s3a:", "s3:", name.rstrip("/"), flags=re.IGNORECASE))

    def begin(self) -> None:
        """Creates the folder.

        Raises:
            InputError: if it cannot be created, or contains pages.
        """
        with self._file_system() as (file_system, folder):
            from pyarrow.fs import FileSelector  # optional

            infos = file_system.get_file_info(FileSelector(folder, allow_not_found=True))
            check_no_pages(self.address, (info.base_name for info in infos))
            file_system.create_dir(folder)

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """Opens a file for writing; it appears when it is complete, or not at all.

        Spark may run a task twice, even at the same time; both runs then write the same content, each to an
        unfinished file of its own.

        Raises:
            InputError: if the file cannot be written.
        """
        with self._file_system() as (file_system, folder):
            unfinished = f"{folder}/{_UNFINISHED}/{name}.{uuid4().hex}"
            file_system.create_dir(f"{folder}/{_UNFINISHED}")
            try:
                with file_system.open_output_stream(unfinished) as file:
                    yield file
                _move(file_system, unfinished, f"{folder}/{name}")
            finally:
                with suppress(OSError):  # it is gone if it was moved
                    file_system.delete_file(unfinished)

    def end(self) -> None:
        """Removes what killed tasks have left."""
        with self._file_system() as (file_system, folder), suppress(OSError):  # there may be nothing
            file_system.delete_dir(f"{folder}/{_UNFINISHED}")

    @contextmanager
    def _file_system(self) -> Iterator[tuple[Any, str]]:
        """Yields the file system, and the path of the folder in it.

        Raises:
            InputError: if the folder is unreachable, also later in the block.
        """
        library = arrow()
        from pyarrow.fs import FileSystem  # optional

        try:
            yield FileSystem.from_uri(self.address)
        except (OSError, library.ArrowException) as error:
            problem = f"cannot be written ({shortened(str(error))})"
            remedy = "check the address and your permissions; docs/how-to/large-collections.md explains HDFS"
            raise InputError(self.address, problem, remedy) from error


def _move(file_system: Any, unfinished: str, path: str) -> None:
    """Renames a file; HDFS refuses this if a repeated task has already moved a file with this content."""
    from pyarrow.fs import FileType  # optional

    try:
        file_system.move(unfinished, path)
    except OSError:
        if file_system.get_file_info(path).type != FileType.File:
            raise
