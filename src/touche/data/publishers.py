"""Official files with their publishers, addresses and checksums, as listed in publishers.toml."""

import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

RUNS = "runs"


@dataclass(frozen=True)
class Source:
    """An official file and its publisher.

    Attributes:
        path: its path below the data folder, such as ``qrels/touche-task2-2022-quality.qrels``.
        title: the publication that contains it.
        page: the publication's web page.
        licence: the publication's licence.
        url: the address to download; empty if touche can't fetch the file.
        md5: the publisher's checksum of the file, or of the archive that contains it; empty if there is none.
        size: the number of bytes to download; 0 if unknown.
        member: the file's name in the archive; empty if the file isn't published in an archive.
        unpacked_md5, git_blob: checksums of the unpacked file, for public runs; empty for other files.
        agreement: whether one has to sign an agreement with the publisher.
        by_hand: None for files that touche can fetch. For a file that users have to download themselves,
            because its md5 is unknown, the file's address, or an empty string if that is unknown, too.
        dataset: if the download is used to make the folder of a dataset with some of the topics, this
            dataset's id; otherwise empty.
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
    by_hand: str | None = None
    dataset: str = ""

    @property
    def kind(self) -> str:
        """The first part of the path: ``topics``, ``qrels``, ``corpora`` or ``runs``."""
        return self.path.partition("/")[0]

    @property
    def name(self) -> str:
        """The path without its first part, the kind."""
        return self.path.partition("/")[2]


@cache
def all_sources() -> tuple[Source, ...]:
    """Returns all official files except public runs, publication by publication.

    Most addresses and checksums are read from ir_datasets. If it isn't installed, they are empty.
    """
    text = files(__package__).joinpath("publishers.toml").read_text(encoding="utf-8")
    return tuple(source for record in tomllib.loads(text)["record"] for source in sources_in(record))


def sources_in(record: dict[str, Any]) -> Iterator[Source]:
    """Yields the files of a publication, given its record in publishers.toml.

    A record has a title, its page's url and a licence. The rest is optional: ``files`` has a table per path
    with ``ir_datasets``, or with url, md5 and size, and ``dataset`` for a corpus of some topics; ``by_hand``
    has an address per path; ``agreement`` is a list of paths.
    """
    publication = {"title": record["title"], "page": record["url"], "licence": record["licence"]}
    for path, file in record.get("files", {}).items():
        attributes = dict(file)  # all keys except ir_datasets have the names of attributes of ``Source``
        collection, _, key = attributes.pop("ir_datasets", "").partition("/")
        entry = downloads().get(collection, {}).get(key)
        if entry is not None:
            attributes |= {"url": entry["url"], "md5": entry["expected_md5"], "size": entry["size_hint"]}
        yield Source(path=path, **publication, **attributes)
    for path, address in record.get("by_hand", {}).items():
        yield Source(path=path, **publication, by_hand=address)
    for path in record.get("agreement", ()):
        yield Source(path=path, **publication, agreement=True)


@cache
def downloads() -> dict[str, Any]:
    """Returns ir_datasets' list of downloads, by collection and key. Empty if it isn't installed, or if this
    version has no such list.

    The file is read without importing ir_datasets, because that takes 158 ms.
    """
    package = find_spec("ir_datasets")
    if package is None or package.origin is None:
        return {}
    path = Path(package.origin).with_name("etc") / "downloads.json"
    with suppress(OSError, ValueError):
        return orjson.loads(path.read_bytes())  # type: ignore[no-any-return]  # JSON values of any type
    return {}


def official_md5(path: str) -> str:
    """Returns the publisher's md5 of a file, such as ``qrels/touche-task2-2022-quality.qrels``; empty if
    unknown.

    It's unknown for files in an archive and for files for which no checksum is published. Most checksums are
    also unknown if ir_datasets isn't installed, because they are read from it.
    """
    return next((source.md5 for source in all_sources() if source.path == path and not source.member), "")
