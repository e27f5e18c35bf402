"""Web archives (ISO 28500), such as those of ClueWeb12."""

import logging
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from touche.errors import InputError, one_line
from touche.files import new_id, opened
from touche.web.page import LARGEST, TEXTS, RawPage, Skipped

_GZIP, _GZIPPED = b"\x1f\x8b", 31  # how a gzip stream begins, and what zlib calls one
_ENCODED = ("Transfer-Encoding", "Content-Encoding")

_log = logging.getLogger(__name__)


def read_warc(path: Path, seen: set[str] | None = None) -> Iterator[RawPage | Skipped]:
    """Reads the pages of a web archive, gzipped or not.

    The id of a page is its WARC-TREC-ID, or else its WARC-Record-ID. Where the archive is broken or cut off,
    what can be read is kept, and a warning says so.

    Args:
        path: the archive.
        seen: ids of the collection so far; a page whose id is among them is left out.

    Raises:
        InputError: if the file cannot be opened.
    """
    seen = set() if seen is None else seen
    count, start = 0, 0
    try:
        for record in _records(path):
            count, start = count + 1, record.stream_pos
            if page := _page(record, path, seen):
                yield page
        whole = count and _ends_with_a_record(path, start)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})", "check the path") from error
    if not count:
        _log.warning("%s holds no record; is it a web archive?", one_line(str(path)))
    elif not whole:
        _log.warning("%s is cut off after %d records; what precedes is kept", one_line(str(path)), count)


def _records(path: Path) -> Iterator[Any]:
    """All records; after a broken one it goes on at the next that can be found."""
    from fastwarc.warc import ArchiveIterator  # here, for only web pages need its libraries

    count = 0
    with opened(path) as file, path.open("rb") as again:
        try:
            for record in ArchiveIterator(file, auto_decode="all"):
                count += 1
                yield record
        except OSError as error:
            broken = "%s is broken after %d records (%s); what can be read is kept"
            _log.warning(broken, one_line(str(path)), count, error)
            lenient = ArchiveIterator(again, auto_decode="all", strict_mode=False, quirks_mode=True)
            try:
                yield from islice(lenient, count, None)
            except OSError:
                return


def _page(record: Any, path: Path, seen: set[str]) -> RawPage | Skipped | None:
    if record.headers.get("WARC-Type") != "response":
        return None
    id = record.headers.get("WARC-TREC-ID") or record.record_id or ""
    content = record.reader.read(LARGEST + 1)
    try:
        new_id(id, "page", seen, path)
    except InputError:
        return Skipped(id or "without id", "without an id of its own")
    if reason := _flaw(record, content):
        return Skipped(id, reason)
    return RawPage(id, record.headers.get("WARC-Target-URI") or "", content, record.http_charset)


def _flaw(record: Any, content: bytes) -> str:
    """Why a record holds no page, or nothing."""
    encoded = record.is_http_parsed and any(name in record.http_headers for name in _ENCODED)
    if record.content_length <= 0 or (not encoded and len(content) < min(record.content_length, LARGEST + 1)):
        return "cut off, or of a wrong length"
    if b"\r\nWARC/1." in content:
        return "of a wrong length, with another page in it"
    return "" if (record.http_content_type or "").lower() in TEXTS else "not of text"


def _ends_with_a_record(path: Path, start: int) -> bool:
    """Whether the last record, which starts there, is whole and nothing follows it."""
    with path.open("rb") as file:
        file.seek(start)
        if file.read(2) != _GZIP:
            file.seek(-4, 2)
            return file.read() == b"\r\n\r\n"
        file.seek(start)
        stream = zlib.decompressobj(_GZIPPED)
        while piece := stream.unconsumed_tail or file.read(1 << 16):
            stream.decompress(piece, 1 << 20)
        return stream.eof and not stream.unused_data
