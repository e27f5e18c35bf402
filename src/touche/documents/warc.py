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
from touche.errors import InputError, counted, one_line
from touche.io.identifiers import check_new_id
from touche.io.opening import bytes_of_lines, open_binary, opened

_GZIP = b"\x1f\x8b\x08"  # start of a gzip stream
_HEADERS_OF_ENCODINGS = ("Transfer-Encoding", "Content-Encoding")
_CLUEWEB22_ID = "ClueWeb22-ID"
_HEADERS_OF_IDS = ("WARC-TREC-ID", _CLUEWEB22_ID, "WARC-Record-ID")  # the first one present is the page's id
_STATUS = re.compile(rb"HTTP/[0-9.]+ [0-9]{3}")  # start of a response
_CONTENT_LENGTH = re.compile(rb"^Content-Length:.*$", re.IGNORECASE | re.MULTILINE)
_MOST_PEEKED = 1 << 12  # bytes, enough for a file's first line
_LONGEST_HEADERS = 1 << 15  # bytes per record

_log = logging.getLogger(__name__)


def read_warc(path: Path, seen: set[str]) -> Iterator[RawPage | Skipped]:
    """Reads the pages in a web archive, gzipped or not.

    A page's id is its WARC-TREC-ID, its ClueWeb22-ID, or else its WARC-Record-ID. When an archive is broken
    or truncated, a warning is logged and all readable pages are used.

    Args:
        seen: the collection's ids so far; new ids are added. A page that repeats one is skipped.
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
    """Returns the page in a server's response, as if it came from an archive.

    Args:
        response: status line, headers, a blank line and the content.
    """
    from fastwarc.warc import WarcRecord  # imported late: only web archives need its 1 ms

    record = WarcRecord()
    record.set_bytes_content(response)
    record.is_http = True  # else parse_http would do nothing
    return _page_in_record(record, id, url, is_bare=False)


def _unix_boundary(path: Path) -> bytes:
    """Returns every record's first line if lines end in LF, as in ClueWeb09 (WARC/0.18), else b""."""
    with suppress(InputError), open_binary(path) as file:
        begin = file.peek(_MOST_PEEKED)  # type: ignore[attr-defined]  # the file is buffered
        line = begin.lstrip().partition(b"\n")[0]  # blank lines may come before it
        return line + b"\n" if line.startswith(b"WARC/") and not line.endswith(b"\r") else b""
    return b""


def _clueweb09_records(path: Path, boundary: bytes) -> Iterator[Any]:
    """Yields ClueWeb09's records. Each one ends where the next begins.

    Content-Length is often too large, because it counts carriage returns that were removed later.
    """
    from fastwarc.warc import ArchiveIterator  # imported late: only web archives need its 1 ms

    count = 0
    for raw in _between(path, boundary):
        headers, _, content = raw.partition(b"\n\n")
        if content.endswith(b"\n\n"):  # else it is cut off, and Content-Length shows that
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
    """Yields what is between boundaries. Oversized records are cut off."""
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
    """Yields all readable records, and warns if the archive is truncated."""
    count = 0
    last_begin = 0  # the last record's first byte
    most_bytes = 0  # upper bound for the decompressed size of all records, including headers
    for record in _readable_records(path):
        count += 1
        last_begin = record.stream_pos
        most_bytes += record.content_length + _LONGEST_HEADERS
        yield record
    if count and _is_truncated(path, last_begin, most_bytes):
        _warn_of_end(path, count)


def _readable_records(path: Path) -> Iterator[Any]:
    """Yields all records. After a broken one, reads the archive again to find the next readable one."""
    from fastwarc.warc import ArchiveIterator  # imported late: only web archives need its 1 ms

    count = 0
    with opened(path) as file:
        try:
            for record in ArchiveIterator(file, parse_http=False):
                count += 1
                yield record
        except OSError as error:
            warning = "%s is broken after %s (%s); readable records are used"
            _log.warning(warning, one_line(str(path)), counted(count, "record"), error)
            # Not ``opened``, which would show another progress bar. quirks_mode, because a broken
            # archive may mix CRLF and LF.
            with path.open("rb") as same_file, suppress(OSError):  # nothing more is readable
                lenient = ArchiveIterator(same_file, parse_http=False, strict_mode=False, quirks_mode=True)
                yield from islice(lenient, count, None)  # skip the records yielded before


def _warn_of_end(path: Path, count: int) -> None:
    number = counted(count, "record")
    _log.warning("%s is truncated after %s; the records before this are used", one_line(str(path)), number)


def _page(record: Any, path: Path, seen: set[str]) -> RawPage | Skipped | None:
    """Returns the page in a record; None if the record is not a response.

    A page is ``Skipped`` if it can't be read, or its id is missing, invalid or repeated.
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
    """Returns the page in a record, or why it is skipped.

    Args:
        is_bare: whether it comes from ClueWeb22, whose pages come without HTTP headers and are normally
            UTF-8, even if they declare another encoding.
    """
    try:
        if not is_bare:
            # quirks_mode even for CRLF archives: a server may end its lines with LF.
            record.parse_http(auto_decode="all", quirks_mode=True)
        content = record.reader.read(LARGEST_PAGE + 1)  # one byte too many, so that the parser skips the page
    except OSError:
        return Skipped(id, "that is broken")
    reason = _wrong_length(record, content)
    if reason:
        return Skipped(id, reason)
    if is_bare and _STATUS.match(content):  # some pages come with HTTP headers after all
        return page_from_response(id, url, content)
    if is_bare:
        is_utf8 = content.decode(errors="ignore").encode() == content  # no byte was ignored
        return RawPage(id, url, content, charset="utf-8" if is_utf8 else None)
    if (record.http_content_type or "").lower() not in TEXT_TYPES:
        return Skipped(id, "not of text")
    return RawPage(id, url, content, charset=record.http_charset)


def _wrong_length(record: Any, content: bytes) -> str:
    """Returns what is wrong with a record's length, or an empty string."""
    # The header's length counts encoded bytes, so it can't tell whether decoded content is cut off.
    is_encoded = record.is_http_parsed and any(name in record.http_headers for name in _HEADERS_OF_ENCODINGS)
    most_bytes_read = LARGEST_PAGE + 1
    is_cut_off = not is_encoded and len(content) < min(record.content_length, most_bytes_read)
    if record.content_length <= 0 or is_cut_off:
        return "cut off, or of a wrong length"
    # If the length is too large, the record swallows the next one.
    if b"\r\nWARC/1." in content:
        return "of a wrong length, with another page in it"
    return ""


def _is_truncated(path: Path, last_begin: int, most_bytes: int) -> bool:
    """Returns whether the end of an archive is missing.

    Args:
        last_begin: the last record's first byte; only approximate in a gzip stream of many records.
        most_bytes: upper bound for the decompressed size of all records.
    """
    with path.open("rb") as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
        file.seek(last_begin)
        if is_gzip and file.read(len(_GZIP)) == _GZIP:  # the record is a gzip stream of its own
            file.seek(last_begin)
            try:
                with gzip.open(file) as stream:
                    while stream.read(1 << 20):  # to the end; an error means that it is missing
                        pass
            except (EOFError, zlib.error, OSError):
                return True
            return False
        file.seek(-4, os.SEEK_END)
        last_bytes = file.read()
    if is_gzip:
        # The last four bytes of a complete stream are its decompressed size. In a truncated one they
        # are arbitrary, and probably much larger. Decompressing everything again would take too long.
        return int.from_bytes(last_bytes, "little") > most_bytes
    # Two line ends follow a complete record.
    return not last_bytes.endswith((b"\r\n\r\n", b"\n\n"))
