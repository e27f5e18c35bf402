"""Parses web pages with several processes."""

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import islice
from typing import Any

from touche.documents.pages import PageError, Parser, RawPage, Skipped
from touche.io.processes import Pool, in_order

_BATCH_SIZE = 32  # pages that a process receives at a time
_SECONDS_PER_PAGE = 5.0  # of processor time; most pages need 5 ms


def parsed_in_processes(documents: Iterator[Any], parser: Parser, processes: int) -> Iterator[Any]:
    """Yields documents in order with their raw pages parsed; a page that crashes its process is skipped."""
    pool = Pool(processes)
    pool.check("parse web pages", parser)

    def submit(batch: Sequence[Any]) -> Future[list[Any]]:
        """Submits a batch, to new processes if the earlier ones have died."""
        nonlocal pool
        try:
            return pool.submit(_parse_all, batch, parser)
        except BrokenProcessPool:  # a page of another batch has ended a process
            pool = Pool(processes)
            return pool.submit(_parse_all, batch, parser)

    batches = iter(lambda: list(islice(documents, _BATCH_SIZE)), [])  # until no document is left
    try:
        for batch, future in in_order(batches, submit, processes):
            try:
                yield from future.result()
            except BrokenProcessPool:
                yield from _parsed_alone(batch, parser)
    finally:  # not a with block, because ``submit`` may have replaced the pool
        pool.__exit__()


def _parsed_alone(documents: Sequence[Any], parser: Parser) -> list[Any]:
    """Parses documents in a process of their own; if a page ends the process, does so with each half."""
    with Pool(1) as pool, suppress(BrokenProcessPool):
        return pool.submit(_parse_all, documents, parser).result()
    if len(documents) == 1:  # which has ended the process
        return [Skipped(documents[0].id, "that crashed the parser, or took it too long")]
    half = len(documents) // 2
    return _parsed_alone(documents[:half], parser) + _parsed_alone(documents[half:], parser)


def _parse_all(documents: Sequence[Any], parser: Parser) -> list[Any]:
    """Parses documents in a process that a timer ends if a page takes too long."""
    parsed = []
    for document in documents:
        signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS_PER_PAGE)  # starts the timer anew
        parsed.append(_parse_one(document, parser))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)  # stops it
    return parsed


def _parse_one(document: Any, parser: Parser) -> Any:
    """Returns a raw page parsed, or skipped if that fails; other documents are unchanged."""
    if not isinstance(document, RawPage):
        return document
    try:
        return parser(document)
    except PageError as error:
        return Skipped(document.id, str(error))
    except Exception as error:  # untrusted pages can cause any error
        return Skipped(document.id, f"that the parser failed on ({type(error).__name__})")
