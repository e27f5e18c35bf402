"""Images in the folders of Touché's image retrieval: ``images/I05/I0538673fe011264e/pages/P.../``."""

import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from touche.documents.collection import Documents
from touche.documents.records import Image, ImagePage, SearchResult
from touche.errors import InputError
from touche.io.json_lines import records_of_lines, text_field
from touche.io.progress import watched

FOLDER = "images"
_GROUP = re.compile(r"I[0-9a-f]{2}")
_IMAGE = re.compile(r"I[0-9a-f]{16}(?:[0-9a-f]{8})?")
_LARGEST = 1 << 24  # bytes of a file; texts of pages have about 10,000


def has_images(directory: Path) -> bool:
    """Returns whether a directory has a folder of images."""
    return any(True for _ in _folders(directory / FOLDER, _GROUP))


@dataclass(frozen=True)
class Images(Documents):
    """Images in folders, ordered by id.

    Attributes:
        folder: the folder with the groups of images, such as I05.
    """

    folder: Path

    def __str__(self) -> str:
        return f"images from {self.folder.name}"

    def __iter__(self) -> Iterator[Image]:
        """Yields every image, with one in memory. Files that an image lacks are empty.

        Raises:
            InputError: if there are no images, or a file cannot be read.
        """
        folders = self._images()
        if not folders:
            raise InputError(self.folder, "no images in this folder", "unpack the publisher's archive there")
        for image in watched(folders, "reading images", "images", len(folders)):
            yield _read_image(image)

    def __len__(self) -> int:
        return len(self._images())

    def _images(self) -> list[Path]:
        return [image for group in _folders(self.folder, _GROUP) for image in _folders(group, _IMAGE)]


def picture(folder: Path, id: str) -> bytes:
    """Returns the content of an image's picture; nothing if it is missing.

    Args:
        folder: the folder of the collection.
        id: the id of the image.

    Raises:
        InputError: if the file cannot be read, or is larger than 16 MiB.
    """
    return _bytes(folder / FOLDER / id[:3] / id / "image.webp") if _IMAGE.fullmatch(id) else b""


def image_of_record(record: Any) -> Image:
    """Converts a record of ir_datasets."""
    pages = (
        ImagePage(
            id=page.page_id,
            url=page.url,
            text=page.text,
            results=tuple(SearchResult(line.query_id, line.query, line.rank) for line in page.rankings),
        )
        for page in record.pages
    )
    return Image(id=record.doc_id, url=record.url, pages=tuple(pages))


def _folders(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    """Returns the folders with such names in a folder, sorted; none if it is missing. Links are not followed.

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


def _read_image(folder: Path) -> Image:
    pages = _folders(folder / "pages", re.compile(r"P[0-9a-f]+"))
    return Image(
        id=folder.name, url=_text(folder / "image-url.txt").strip(), pages=tuple(map(_read_page, pages))
    )


def _read_page(folder: Path) -> ImagePage:
    return ImagePage(
        id=folder.name,
        url=_text(folder / "page-url.txt").strip(),
        text=_text(folder / "snapshot" / "text.txt"),
        results=tuple(_results(folder / "rankings.jsonl")),
    )


def _results(path: Path) -> Iterator[SearchResult]:
    for line, record in records_of_lines(io.BytesIO(_bytes(path)), path):
        rank = record.get("rank")
        if type(rank) is not int or rank < 1:
            raise InputError(
                path, f'"rank" is {rank!r}, not a whole number from 1', "repair the line", line=line
            )
        topic, query = (text_field(record, name, path, line) for name in ("topic", "query"))
        yield SearchResult(topic, query, rank)


def _text(path: Path) -> str:
    return _bytes(path).decode(errors="replace")


def _bytes(path: Path) -> bytes:
    """Returns the content of a file; nothing if it is missing.

    Raises:
        InputError: if it cannot be read, is a link or not a file, or is too large.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "replace links by files") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise InputError(path, "not a file, or larger than 16 MiB", "check that this is the right folder")
        return file.read(_LARGEST)
