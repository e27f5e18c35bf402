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
        url: the address; empty if it can't be fetched.
        md5: the publisher's checksum of the file or its archive.
        size: bytes to download.
        member: its name in the archive; empty if the file itself is published.
        unpacked_md5, git_blob: a public run's checksums, after unpacking; otherwise empty.
        agreement: whether the publisher requires an agreement.
        by_hand: the address of a file that you have to download yourself, because its md5 is unknown; empty
            if the address is unknown too. None for other files.
        dataset: the id of a dataset of some topics, whose folder is made from the download; otherwise empty.
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
        """``topics``, ``qrels``, ``corpora`` or ``runs``."""
        return self.path.partition("/")[0]

    @property
    def name(self) -> str:
        """The path without the kind."""
        return self.path.partition("/")[2]


@cache
def all_sources() -> tuple[Source, ...]:
    """Returns all official files except public runs, publication by publication.

    ir_datasets has most addresses and checksums. If it isn't installed, they are empty.
    """
    text = files(__package__).joinpath("publishers.toml").read_text(encoding="utf-8")
    return tuple(source for record in tomllib.loads(text)["record"] for source in sources_in(record))


def sources_in(record: dict[str, Any]) -> Iterator[Source]:
    """Yields the files in a record of publishers.toml, a publication.

    A record has a title, its page's url and a licence. The rest is optional: ``files`` has a table per path
    with ``ir_datasets``, or with url, md5 and size, and ``dataset`` for a corpus of some topics; ``by_hand``
    has an address per path; ``agreement`` is a list of paths.
    """
    publication = {"title": record["title"], "page": record["url"], "licence": record["licence"]}
    for path, file in record.get("files", {}).items():
        attributes = dict(file)  # the file's keys are attributes of ``Source``, except ir_datasets
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
    """Returns ir_datasets' downloads by collection and key; empty if it isn't installed, or has no such list.

    We read its list ourselves, because importing ir_datasets takes 158 ms.
    """
    package = find_spec("ir_datasets")
    if package is None or package.origin is None:
        return {}
    path = Path(package.origin).with_name("etc") / "downloads.json"
    with suppress(OSError, ValueError):
        return orjson.loads(path.read_bytes())  # type: ignore[no-any-return]  # values of any type
    return {}


def official_md5(path: str) -> str:
    """Returns the publisher's md5 of a file, such as ``qrels/touche-task2-2022-quality.qrels``; empty if
    unknown.

    It's unknown for files in an archive or without a checksum, and when ir_datasets isn't installed, which
    has most checksums.
    """
    return next((source.md5 for source in all_sources() if source.path == path and not source.member), "")
