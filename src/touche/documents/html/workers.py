"""Parses web pages using several processes."""

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from touche.documents.pages import PageError, Parser, RawPage, Skipped
from touche.errors import InputError
from touche.io.processes import Pool, in_order

_BATCH_SIZE = 32  # pages per task
_SECONDS_PER_PAGE = 5.0  # processor time; most pages need 5 ms
# A timer can't interrupt the HTML library. If that doesn't return, the system ends the process.
_SECONDS_IN_LIBRARY = 60.0


def parsed_in_processes(documents: Iterator[Any], parser: Parser, processes: int) -> Iterator[Any]:
    """Yields documents in order, with raw pages parsed. If a page crashes its process, that is an error."""
    with Pool(processes, _begin_process) as pool:
        pool.check("parse web pages", parser)

        def submit(batch: Sequence[Any]) -> Future[list[Any]]:
            try:
                return pool.submit(_parse_all, batch, parser)
            except BrokenProcessPool as error:  # an earlier batch crashed, and its future raises first
                future = Future[list[Any]]()
                future.set_exception(error)
                return future

        batches = iter(lambda: list(islice(documents, _BATCH_SIZE)), [])  # until no document is left
        for batch, future in in_order(batches, submit, processes):
            try:
                yield from future.result()
            except BrokenProcessPool as error:
                raise _crash(batch, processes) from error


def _crash(batch: Sequence[Any], processes: int) -> InputError:
    """A crash loses the process's batch and all pending ones, so the error can only narrow it down."""
    page = next((document for document in batch if isinstance(document, RawPage)), batch[0])
    later_pages = (2 * processes + 1) * _BATCH_SIZE - 1  # in the batches that ``in_order`` has submitted
    return InputError(
        getattr(page, "source", "") or "web pages",
        f"page {page.id}, or one of the next {later_pages}, crashed the parser",
        "remove this page from the file",
    )


def _begin_process() -> None:
    """Makes the timer in ``_parse_one`` raise TimeoutError, instead of ending the process."""
    signal.signal(signal.SIGVTALRM, _stop_parsing)


def _stop_parsing(*_: object) -> None:
    raise TimeoutError


def _parse_all(documents: Sequence[Any], parser: Parser) -> list[Any]:
    return [_parse_one(document, parser) for document in documents]


def _parse_one(document: Any, parser: Parser) -> Any:
    """Parses a raw page, or skips it if that fails. Other documents are returned unchanged."""
    if not isinstance(document, RawPage):
        return document
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS_PER_PAGE)
        signal.setitimer(signal.ITIMER_PROF, _SECONDS_IN_LIBRARY)
        return parser(document)
    except TimeoutError:
        return Skipped(document.id, "that took the parser too long")
    except PageError as error:
        return Skipped(document.id, str(error))
    except Exception as error:  # untrusted pages can cause any error
        return Skipped(document.id, f"that the parser failed on ({type(error).__name__})")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)  # stops the timers
        signal.setitimer(signal.ITIMER_PROF, 0)
