"""Downloads files: official ones to disk, a stranger's into memory."""

from http import HTTPStatus
from pathlib import Path
from textwrap import shorten

from touche.data.publishers import Source
from touche.errors import InputError, ToucheError
from touche.io.identifiers import quoted
from touche.io.progress import bar

_CHUNK_BYTES = 1 << 16  # an interrupted download loses at most one chunk
_LONGEST_REASON = 150  # characters of a network error
_TIMEOUT_SECONDS = 30  # without receiving a byte


def download(source: Source, part: Path) -> None:
    """Downloads an official file without retries. After an error, the partial file stays and is resumed next
    time.

    Args:
        source: the file, whose address is known.
        part: the path of the partial file.

    Raises:
        ToucheError: if the download fails, or the partial file can't be written.
    """
    import requests  # takes 60 ms

    done = part.stat().st_size if part.exists() else 0  # bytes that we already have
    # Ranges count bytes, and compression in transit would shift them.
    headers = {"Accept-Encoding": "identity", "Range": f"bytes={done}-"}
    try:
        with requests.get(source.url, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS) as response:
            if done and response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                return  # the partial file is complete; its md5 is checked next
            response.raise_for_status()
            # Any other status means that the server can't resume and sends the whole file.
            if response.status_code != HTTPStatus.PARTIAL_CONTENT:
                done = 0
            with (
                part.open("ab" if done else "wb") as file,  # "a" appends to the partial file
                bar(f"fetching {source.name}", "B", source.size, done=done) as progress,
            ):
                for chunk in response.iter_content(_CHUNK_BYTES):
                    progress.update(file.write(chunk))
    except requests.RequestException as error:
        has_answer = error.response is not None
        # Without a response, the error text is about the library's internals.
        no_answer = "no connection" if isinstance(error, requests.ConnectionError) else type(error).__name__
        reason = shorten(str(error), _LONGEST_REASON) if has_answer else no_answer
        problem = f"{source.path} cannot be downloaded from {source.url} ({reason})"
        raise ToucheError(f"{problem}; try again to resume the download, or use --from") from error
    except OSError as error:
        raise InputError(part, f"cannot be written ({error.strerror})", "make space on the disk") from error


def fetch_content(url: str, most_bytes: int, seconds: float) -> bytes:
    """Downloads a stranger's file into memory. All addresses, also after redirections, must be https.

    Args:
        url: the file's address.
        most_bytes: the largest allowed size.
        seconds: the longest allowed time.

    Raises:
        ToucheError: if the file can't be downloaded within these limits.
    """
    import multiprocessing  # with the next line, takes 12 ms
    from multiprocessing.pool import ThreadPool

    # The thread of a server that never finishes is left behind. It doesn't keep the process from exiting.
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
        session.adapters.pop("http://")  # so that the session refuses such addresses, also to redirect to
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
