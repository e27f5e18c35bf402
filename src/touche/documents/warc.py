"""Web archives (ISO 28500), such as ClueWeb09, ClueWeb12 and ClueWeb22."""

import gzip
import io
import logging
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from touche.documents.pages import LARGEST_PAGE, TEXT_TYPES, RawPage, Skipped
from touche.errors import InputError, one_line
from touche.io.identifiers import check_new_id
from touche.io.opening import bytes_of_lines, open_binary, opened

_GZIP = b"\x1f\x8b\x08"  # the beginning of a gzip stream
_HEADERS_OF_ENCODINGS = ("Transfer-Encoding", "Content-Encoding")
_CLUEWEB22_ID = "ClueWeb22-ID"
_HEADERS_OF_IDS = ("WARC-TREC-ID", _CLUEWEB22_ID, "WARC-Record-ID")  # the first one is the page's id
_STATUS = re.compile(rb"HTTP/[0-9.]+ [0-9]{3}")  # the beginning of a response
_CONTENT_LENGTH = re.compile(rb"^Content-Length:.*$", re.IGNORECASE | re.MULTILINE)
_MOST_PEEKED = 1 << 12  # bytes that contain the first line of a file
_LONGEST_HEADERS = 1 << 15  # bytes of a record's headers

_log = logging.getLogger(__name__)


def read_warc(path: Path, seen: set[str]) -> Iterator[RawPage | Skipped]:
    """Reads the pages of a web archive, gzipped or not.

    The id of a page is its WARC-TREC-ID, its ClueWeb22-ID, or else its WARC-Record-ID. Broken or truncated
    archives cause a warning, and all readable pages are used.

    Args:
        path: the archive.
        seen: ids of the collection so far, to which those of pages are added. A page with an earlier id is
            skipped.

    Raises:
        InputError: if the file cannot be opened.
    """
    count = 0
    try:
        boundary = _unix_boundary(path)
        records = _clueweb09_records(path, boundary) if boundary else _records(path)
        for count, record in enumerate(records, 1):  # noqa: B007 (needed after the loop)
            page = _page(record, path, seen)
            if isinstance(page, RawPage):
                yield replace(page, source=str(path))
            elif page:
                yield page
        if not count:
            _log.warning("%s has no records; check that it is a web archive", one_line(str(path)))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})", "check the path") from error


def page_from_response(id: str, url: str, response: bytes) -> RawPage | Skipped:
    """Returns the page in a server's response, as if an archive contained it.

    Args:
        id: the id of the page.
        url: the address of the page.
        response: the status line, the headers, a blank line and the content.
    """
    from fastwarc.warc import WarcRecord  # here, because only web archives need its 1 ms

    record = WarcRecord()
    record.set_bytes_content(response)
    record.is_http = True  # else parse_http would do nothing
    return _page_in_record(record, id, url, is_bare=False)


def _unix_boundary(path: Path) -> bytes:
    """Returns the first line of each record if lines end as in ClueWeb09 (WARC/0.18): without the standard's
    carriage return.

    Empty otherwise, and for an unreadable file, because the reader of its records reports the problem.
    """
    with suppress(InputError), open_binary(path) as file:
        begin = file.peek(_MOST_PEEKED)  # type: ignore[attr-defined]  # the file is buffered
        line = begin.lstrip().partition(b"\n")[0]  # blank lines may precede it
        return line + b"\n" if line.startswith(b"WARC/") and not line.endswith(b"\r") else b""
    return b""


def _clueweb09_records(path: Path, boundary: bytes) -> Iterator[Any]:
    """Yields the records of ClueWeb09: each ends where the next one begins.

    Their Content-Length is often too large, because it counts carriage returns that were removed later.
    """
    from fastwarc.warc import ArchiveIterator  # here, because only web archives need its 1 ms

    count = 0
    for raw in _between(path, boundary):
        headers, _, content = raw.partition(b"\n\n")
        if content.endswith(b"\n\n"):  # else it is cut off, which its Content-Length shows
            headers = _CONTENT_LENGTH.sub(b"Content-Length: %d" % len(content.rstrip(b"\n")), headers)
        records = ArchiveIterator(
            io.BytesIO(b"%b\n\n%b" % (headers, content)), parse_http=False, quirks_mode=True
        )
        with suppress(OSError):
            for record in records:
                count += 1
                yield record
    if count and not content.endswith(b"\n\n"):
        _warn_of_end(path, count)


def _between(path: Path, boundary: bytes) -> Iterator[bytes]:
    """Yields what is from each boundary to the next one; of a record that is too large only the beginning."""
    lines: list[bytes] = []
    size = 0
    try:
        for line in bytes_of_lines(path):
            if line == boundary:
                if lines:
                    yield b"".join(lines)
                lines = []
                size = 0
            size += len(line)
            if size < LARGEST_PAGE + _LONGEST_HEADERS:
                lines.append(line)
    except InputError as error:
        _log.warning("%s; the records before this are used", error)
    yield b"".join(lines)


def _records(path: Path) -> Iterator[Any]:
    """Yields all readable records; a warning says if the archive is truncated."""
    count = 0
    last_begin = 0  # the first byte of the last record
    most_bytes = 0  # an upper bound of the decompressed length of all records, with their headers
    for record in _readable_records(path):
        count += 1
        last_begin = record.stream_pos
        most_bytes += record.content_length + _LONGEST_HEADERS
        yield record
    if count and _is_truncated(path, last_begin, most_bytes):
        _warn_of_end(path, count)


def _readable_records(path: Path) -> Iterator[Any]:
    """Yields all records; after a broken one, it reads the archive again to find the next readable record."""
    from fastwarc.warc import ArchiveIterator  # here, because only web archives need its 1 ms

    count = 0
    with opened(path) as file:
        try:
            for record in ArchiveIterator(file, parse_http=False):
                count += 1
                yield record
        except OSError as error:
            warning = "%s is broken after %d records (%s); readable records are used"
            _log.warning(warning, one_line(str(path)), count, error)
            # ``path.open`` instead of ``opened``, which shows another progress bar. In quirks_mode, because a
            # broken archive may mix both ends of lines.
            with path.open("rb") as same_file, suppress(OSError):  # nothing more is readable
                lenient = ArchiveIterator(same_file, parse_http=False, strict_mode=False, quirks_mode=True)
                yield from islice(lenient, count, None)  # without the records that were yielded before


def _warn_of_end(path: Path, count: int) -> None:
    _log.warning("%s is truncated after %d records; these records are used", one_line(str(path)), count)


def _page(record: Any, path: Path, seen: set[str]) -> RawPage | Skipped | None:
    """Returns the page in a record; None if the record is not a server's response.

    A page whose id is missing, invalid or repeated is ``Skipped``, as is one that cannot be read.
    """
    headers = record.headers
    if headers.get("WARC-Type") != "response":
        return None
    id = next((headers[name] for name in _HEADERS_OF_IDS if headers.get(name)), "")
    try:
        check_new_id(id, "page", seen, path)
    except InputError:
        return Skipped(id or "without id", "without an id of its own")
    url = (headers.get("WARC-Target-URI") or "").strip()
    return _page_in_record(record, id, url, is_bare=_CLUEWEB22_ID in headers)


def _page_in_record(record: Any, id: str, url: str, *, is_bare: bool) -> RawPage | Skipped:
    """Returns the page in a record, or the reason why it is skipped.

    Args:
        record: a record of fastwarc.
        id: the id of the page.
        url: its address; empty if it is unknown.
        is_bare: whether the archive is of ClueWeb22, whose pages have no HTTP headers, and normally are in
            UTF-8, even if they declare another encoding.
    """
    try:
        if not is_bare:
            # Also for archives with CRLF, because a server may end its lines by LF.
            record.parse_http(auto_decode="all", quirks_mode=True)
        content = record.reader.read(LARGEST_PAGE + 1)  # one byte too many, so that the parser skips the page
    except OSError:
        return Skipped(id, "that is broken")
    reason = _wrong_length(record, content)
    if reason:
        return Skipped(id, reason)
    if is_bare and _STATUS.match(content):  # some pages have HTTP headers nevertheless
        return page_from_response(id, url, content)
    if is_bare:
        is_utf8 = content.decode(errors="ignore").encode() == content  # no byte was ignored
        return RawPage(id, url, content, charset="utf-8" if is_utf8 else None)
    if (record.http_content_type or "").lower() not in TEXT_TYPES:
        return Skipped(id, "not of text")
    return RawPage(id, url, content, charset=record.http_charset)


def _wrong_length(record: Any, content: bytes) -> str:
    """Returns what is wrong with the length of a record, or an empty string."""
    # The length in the headers counts encoded bytes, so it cannot show whether decoded content is cut off.
    is_encoded = record.is_http_parsed and any(name in record.http_headers for name in _HEADERS_OF_ENCODINGS)
    most_bytes_read = LARGEST_PAGE + 1
    is_cut_off = not is_encoded and len(content) < min(record.content_length, most_bytes_read)
    if record.content_length <= 0 or is_cut_off:
        return "cut off, or of a wrong length"
    # A length that is too large makes the next record a part of this one.
    if b"\r\nWARC/1." in content:
        return "of a wrong length, with another page in it"
    return ""


def _is_truncated(path: Path, last_begin: int, most_bytes: int) -> bool:
    """Returns whether the end of an archive is missing.

    Args:
        path: the archive.
        last_begin: the first byte of the last record; within a gzip stream of many records only approximate.
        most_bytes: an upper bound of the decompressed length of all records.
    """
    with path.open("rb") as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
        file.seek(last_begin)
        if is_gzip and file.read(len(_GZIP)) == _GZIP:  # the record has its own gzip stream
            file.seek(last_begin)
            try:
                with gzip.open(file) as stream:
                    while stream.read(1 << 20):  # to the end; an error shows that it is missing
                        pass
            except (EOFError, zlib.error, OSError):
                return True
            return False
        file.seek(-4, os.SEEK_END)
        last_bytes = file.read()
    if is_gzip:
        # In a complete stream, these four bytes are its decompressed length. In a truncated one, they
        # are arbitrary, and probably a much larger number. Reading the whole stream again would take long.
        return int.from_bytes(last_bytes, "little") > most_bytes
    # A complete record is followed by two line ends.
    return not last_bytes.endswith((b"\r\n\r\n", b"\n\n"))
