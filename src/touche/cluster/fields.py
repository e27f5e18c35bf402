"""Where workers keep the fields of parsed web pages: a folder that all of them see, or an address."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from touche.cluster.failing import shortened
from touche.errors import InputError
from touche.formats.parquet import arrow, check_no_fields

_UNFINISHED = ".unfinished"  # a folder in it, which no reader looks into


@dataclass(frozen=True)
class FieldsFolder:
    """A folder in any file system that pyarrow opens: a mounted one, S3, Google's, Azure's or HDFS.

    Attributes:
        address: an absolute path, or an address such as ``s3://bucket/fields``.
    """

    address: str

    @classmethod
    def at(cls, given: str) -> "FieldsFolder":
        """As a user names it: ``s3a``, as Spark calls S3, is ``s3``, and workers are in other folders."""
        if "://" not in given:
            return cls(str(Path(given).absolute()))
        return cls(re.sub("^s3a:", "s3:", given.rstrip("/"), flags=re.IGNORECASE))

    def begin(self) -> None:
        """Makes the folder.

        Raises:
            InputError: if that cannot be done, or there are fields in it.
        """
        with self._reached() as (files, folder):
            from pyarrow.fs import FileSelector

            there = files.get_file_info(FileSelector(folder, allow_not_found=True))
            check_no_fields(self.address, (each.base_name for each in there))
            files.create_dir(folder)

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """Opens a file for writing that appears once all is written, whoever else writes it, or not at all.

        Spark may have a task done twice, even at the same time; both then write the same.

        Raises:
            InputError: if it cannot be written.
        """
        with self._reached() as (files, folder):
            part = f"{folder}/{_UNFINISHED}/{name}.{uuid4().hex}"
            files.create_dir(f"{folder}/{_UNFINISHED}")
            try:
                with files.open_output_stream(part) as file:
                    yield file
                _move(files, part, f"{folder}/{name}")
            finally:
                with suppress(OSError):
                    files.delete_file(part)

    def end(self) -> None:
        """Removes what tasks that were killed have left."""
        with self._reached() as (files, folder), suppress(OSError):
            files.delete_dir(f"{folder}/{_UNFINISHED}")

    @contextmanager
    def _reached(self) -> Iterator[tuple[Any, str]]:
        """The file system, and the folder's path in it.

        Raises:
            InputError: if it cannot be reached, now or later.
        """
        library = arrow()
        from pyarrow.fs import FileSystem

        try:
            yield FileSystem.from_uri(self.address)
        except (OSError, library.ArrowException) as error:
            problem = f"cannot be written ({shortened(str(error))})"
            remedy = "check the address, and your rights there; see docs/how-to/large-collections.md for HDFS"
            raise InputError(self.address, problem, remedy) from error


def _move(files: Any, part: str, path: str) -> None:
    """Gives a file its name; HDFS leaves what has it already, which is the same."""
    from pyarrow.fs import FileType

    try:
        files.move(part, path)
    except OSError:
        if files.get_file_info(path).type != FileType.File:
            raise
