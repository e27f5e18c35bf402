"""Images as Touché's image retrieval tasks publish them: ``images/I05/I0538673fe011264e/pages/P.../``."""

import errno
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from touche.documents.collection import Documents
from touche.documents.document_records import Image, ImagePage, SearchResult
from touche.errors import InputError
from touche.io.json_lines import records_of_lines, text_field
from touche.io.progress import watched

FOLDER = "images"
_LAYOUT = "unpack the publisher's archive so that images are in folders such as I05/I0538673fe011264e"
_GROUP_NAME = re.compile(r"I[0-9a-f]{2}")  # starts the ids in the group
_IMAGE_ID = re.compile(r"I[0-9a-f]{16}(?:[0-9a-f]{8})?")
_PAGE_ID = re.compile(r"P[0-9a-f]+")
_MOST_BYTES = 1 << 24  # per file; most texts of pages take about 10,000


@dataclass(frozen=True)
class Images(Documents):
    """Images in a folder, ordered by id. The folder contains groups of images, such as I05."""

    def __str__(self) -> str:
        return f"images from {self.paths[0].name}"

    def __iter__(self) -> Iterator[Image]:
        """Yields every image. Fields whose files are missing are empty."""
        folders = self._image_folders()
        if not folders:
            raise InputError(self.paths[0], "no images in this folder", _LAYOUT)
        for folder in watched(folders, "reading images", "images", len(folders)):
            yield Image(
                id=folder.name,
                url=_read_text(folder / "image-url.txt").strip(),
                pages=tuple(_read_page(page) for page in _folders(folder / "pages", _PAGE_ID)),
            )

    def __len__(self) -> int:
        return len(self._image_folders())

    def _image_folders(self) -> list[Path]:
        groups = _folders(self.paths[0], _GROUP_NAME)
        return [folder for group in groups for folder in _folders(group, _IMAGE_ID)]


def is_image_folder(folder: Path) -> bool:
    """Returns whether a folder contains groups of images, such as I05."""
    return bool(_folders(folder, _GROUP_NAME))


def image_of_record(record: Any) -> Image:
    """Converts an ir_datasets record."""
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
    """Returns the matching subfolders, sorted; none if the folder is missing. Links are not followed."""
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
    """The folder's name is the page's id."""
    return ImagePage(
        id=folder.name,
        url=_read_text(folder / "page-url.txt").strip(),
        text=_read_text(folder / "snapshot" / "text.txt"),
        results=tuple(_read_results(folder / "rankings.jsonl")),
    )


def _read_results(path: Path) -> Iterator[SearchResult]:
    """Reads rankings.jsonl. Each line is a search result that shows the image on this page."""
    for line, record in records_of_lines(io.BytesIO(_read_bytes(path)), path):
        rank = record.get("rank")
        if type(rank) is not int or rank < 1:  # not isinstance: True is an int
            raise InputError(
                path, f'"rank" is {rank!r}, not a whole number from 1', "repair the line", line=line
            )
        yield SearchResult(
            topic=text_field(record, "topic", path, line),
            query=text_field(record, "query", path, line),
            rank=rank,
        )


def _read_text(path: Path) -> str:
    return _read_bytes(path).decode(errors="replace")


def _read_bytes(path: Path) -> bytes:
    """Returns a file's content; empty if it is missing."""
    try:
        # Without O_NONBLOCK, opening a pipe would wait forever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        is_link = error.errno == errno.ELOOP  # O_NOFOLLOW's error for a link
        remedy = "replace links by files" if is_link else "check the path"
        raise InputError(path, f"cannot be read ({error.strerror})", remedy) from error
    status = os.fstat(descriptor)
    if not S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
        os.close(descriptor)
        raise InputError(path, "not a file, or larger than 16 MiB", "check that this is the right folder")
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MOST_BYTES)
