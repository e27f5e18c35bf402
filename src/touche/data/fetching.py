"""Downloads files: official files to disk, files of unknown people into memory."""

from http import HTTPStatus
from pathlib import Path
from textwrap import shorten

from touche.data.publishers import Source
from touche.errors import InputError, ToucheError
from touche.io.identifiers import quoted
from touche.io.progress import bar

# How much is written at a time, and so how much is lost at most if a download is interrupted.
_CHUNK_BYTES = 1 << 16
_LONGEST_REASON = 150  # characters of a network error's text that are shown
_TIMEOUT_SECONDS = 30  # how long to wait if the server sends nothing


def download(source: Source, part: Path) -> None:
    """Downloads an official file. There are no retries: after an error, the partial file stays, and the next
    call continues the download.

    Args:
        source: the file; its ``url`` must not be empty.
        part: the path of the partial file.

    Raises:
        ToucheError: if the download fails, or the partial file can't be written.
    """
    import requests  # takes 60 ms

    done = part.stat().st_size if part.exists() else 0  # the number of bytes from an interrupted download
    # Ask for an uncompressed response, because the range counts bytes of the file itself.
    headers = {"Accept-Encoding": "identity", "Range": f"bytes={done}-"}
    try:
        with requests.get(source.url, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS) as response:
            if done and response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                return  # nothing is left to download; the caller checks the md5
            response.raise_for_status()
            # Any other status means that the server can't continue a download and sends the whole file.
            if response.status_code != HTTPStatus.PARTIAL_CONTENT:
                done = 0
            with (
                # "a" appends to the partial file, "w" starts again.
                part.open("ab" if done else "wb") as file,
                bar(f"fetching {source.name}", "B", source.size, done=done) as progress,
            ):
                for chunk in response.iter_content(_CHUNK_BYTES):
                    progress.update(file.write(chunk))
    except requests.RequestException as error:
        has_answer = error.response is not None
        # If there was no response, the error's text is about the library's internals, so don't show it.
        no_answer = "no connection" if isinstance(error, requests.ConnectionError) else type(error).__name__
        reason = shorten(str(error), _LONGEST_REASON) if has_answer else no_answer
        problem = f"{source.path} cannot be downloaded from {source.url} ({reason})"
        raise ToucheError(f"{problem}; try again to resume the download, or use --from") from error
    except OSError as error:
        raise InputError(part, f"cannot be written ({error.strerror})", "make space on the disk") from error


def fetch_content(url: str, most_bytes: int, seconds: float) -> bytes:
    """Downloads a file of an unknown person into memory. The address must be https, and so must all addresses
    to which the server redirects.

    Args:
        url: the file's address.
        most_bytes: the largest allowed size.
        seconds: the longest allowed time.

    Raises:
        ToucheError: if the file can't be downloaded within these limits.
    """
    import multiprocessing  # imported here, because this and the next line take 12 ms
    from multiprocessing.pool import ThreadPool

    # If the server never finishes, the thread keeps running after the timeout, but the process can exit
    # nevertheless.
    with ThreadPool(1) as pool:
        try:
            return pool.apply_async(_content, (url, most_bytes)).get(seconds)
        except multiprocessing.TimeoutError as error:
            problem = f"{quoted(url)} has not arrived after {seconds:g} seconds"
            raise ToucheError(f"{problem}; use a faster server") from error


def _content(url: str, most_bytes: int) -> bytes:
    """Downloads a file of at most ``most_bytes``; errors as in ``fetch_content``."""
    import requests  # takes 60 ms

    content = bytearray()
    with requests.Session() as session:
        # Makes the session reject http addresses, including those that a server redirects to.
        session.adapters.pop("http://")
        try:
            headers = {"Accept-Encoding": "identity"}
            with session.get(url, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS) as response:
                response.raise_for_status()
                for chunk in response.iter_content(_CHUNK_BYTES):
                    content += chunk
                    if len(content) > most_bytes:
                        problem = f"{quoted(url)} is larger than {most_bytes:,} bytes"
                        raise ToucheError(f"{problem}; correct the address")
        except requests.RequestException as error:
            reason = shorten(str(error), _LONGEST_REASON)
            raise ToucheError(
                f"{quoted(url)} cannot be downloaded ({reason}); correct the address"
            ) from error
    return bytes(content)
