"""Images in the folders of Touché's image retrieval: ``images/I05/I0538673fe011264e/pages/P.../``."""

import errno
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any, ClassVar

from touche.documents.collection import Documents
from touche.documents.document_records import Image, ImagePage, SearchResult
from touche.documents.finding import Folder
from touche.errors import InputError
from touche.io.json_lines import records_of_lines, text_field
from touche.io.progress import watched

FOLDER = "images"
_LAYOUT = "unpack the publisher's archive so that images are in folders such as I05/I0538673fe011264e"
_GROUP_NAME = re.compile(r"I[0-9a-f]{2}")  # the first characters of the ids in the group
_IMAGE_ID = re.compile(r"I[0-9a-f]{16}(?:[0-9a-f]{8})?")
_PAGE_ID = re.compile(r"P[0-9a-f]+")
_MOST_BYTES = 1 << 24  # of a file; most texts of pages have about 10,000


@dataclass(frozen=True)
class Images(Documents):
    """Images in folders, ordered by id.

    Attributes:
        folder: the folder with the groups of images, such as I05.
    """

    folder: Path

    pattern: ClassVar[str] = f"{FOLDER}/"
    about: ClassVar[str] = "images of 2022 and 2023 task 3, in folders as the publisher has them"

    @classmethod
    def find(cls, folder: Folder) -> "Images | None":
        """Returns the images in a folder; None if there are none."""
        paths = folder.take(lambda path: path.name == FOLDER and is_folder_of_images(path))
        return cls(paths[0], paths=(paths[0],)) if paths else None

    def __str__(self) -> str:
        return f"images from {self.folder.name}"

    def __iter__(self) -> Iterator[Image]:
        """Yields every image, with one in memory. Files that an image lacks are empty.

        Raises:
            InputError: if there are no images, or a file cannot be read.
        """
        folders = self._image_folders()
        if not folders:
            raise InputError(self.folder, "no images in this folder", _LAYOUT)
        for folder in watched(folders, "reading images", "images", len(folders)):
            yield Image(
                id=folder.name,
                url=_read_text(folder / "image-url.txt").strip(),
                pages=tuple(_read_page(page) for page in _folders(folder / "pages", _PAGE_ID)),
            )

    def __len__(self) -> int:
        return len(self._image_folders())

    def _image_folders(self) -> list[Path]:
        """Returns the folders of all images, in the order of the ids."""
        groups = _folders(self.folder, _GROUP_NAME)
        return [folder for group in groups for folder in _folders(group, _IMAGE_ID)]


def is_folder_of_images(folder: Path) -> bool:
    """Returns whether a folder has groups of images, such as I05."""
    return bool(_folders(folder, _GROUP_NAME))


def image_of_record(record: Any) -> Image:
    """Converts a record of ir_datasets."""
    pages = (
        ImagePage(
            id=page.page_id,
            url=page.url,
            text=page.text,
            results=tuple(
                SearchResult(result.query_id, result.query, result.rank) for result in page.rankings
            ),
        )
        for page in record.pages
    )
    return Image(id=record.doc_id, url=record.url, pages=tuple(pages))


def _folders(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    """Returns the subfolders whose names match a pattern, sorted; none if the folder is missing.

    Links are not followed.

    Raises:
        InputError: if the folder cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name
                for entry in entries
                if pattern.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InputError(folder, f"cannot be read ({error.strerror})", "check its permissions") from error
    return [folder / name for name in sorted(names)]


def _read_page(folder: Path) -> ImagePage:
    """Reads a page with an image; its folder has the page's id as name."""
    return ImagePage(
        id=folder.name,
        url=_read_text(folder / "page-url.txt").strip(),
        text=_read_text(folder / "snapshot" / "text.txt"),
        results=tuple(_read_results(folder / "rankings.jsonl")),
    )


def _read_results(path: Path) -> Iterator[SearchResult]:
    """Reads the lines of rankings.jsonl; each is a result with the image on this page."""
    for line, record in records_of_lines(io.BytesIO(_read_bytes(path)), path):
        rank = record.get("rank")
        if type(rank) is not int or rank < 1:  # not isinstance, because True is an int
            raise InputError(
                path, f'"rank" is {rank!r}, not a whole number from 1', "repair the line", line=line
            )
        yield SearchResult(
            topic=text_field(record, "topic", path, line),
            query=text_field(record, "query", path, line),
            rank=rank,
        )


def _read_text(path: Path) -> str:
    """Returns the text of a file; empty if it is missing."""
    return _read_bytes(path).decode(errors="replace")


def _read_bytes(path: Path) -> bytes:
    """Returns the content of a file; empty if it is missing.

    Raises:
        InputError: if it cannot be read, is a link or not a file, or is too large.
    """
    try:
        # Opening a pipe would wait forever without O_NONBLOCK.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        is_link = error.errno == errno.ELOOP  # the error of O_NOFOLLOW for a link
        remedy = "replace links by files" if is_link else "check the path"
        raise InputError(path, f"cannot be read ({error.strerror})", remedy) from error
    status = os.fstat(descriptor)
    if not S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
        os.close(descriptor)
        raise InputError(path, "not a file, or larger than 16 MiB", "check that this is the right folder")
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MOST_BYTES)
