"""Web pages parsed by all processors."""

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from touche.processes import check, executor, in_order, submit
from touche.web.page import PageError, RawPage, Skipped
from touche.web.parsing import Parser

_BATCH = 32  # pages that are handed to a process at a time
_SECONDS = 5.0  # of a processor for a page; most take five thousandths


def in_processes(documents: Iterator[Any], parser: Parser, processes: int) -> Iterator[Any]:
    """Batches of pages go round so many processes."""
    pool = _Pool(processes, parser)
    batches = iter(lambda: list(islice(documents, _BATCH)), [])
    try:
        for batch, future in in_order(batches, pool.submit, processes):
            yield from pool.result(batch, future)
    finally:
        pool.close()


class _Pool:
    """Processes that may die of a page."""

    def __init__(self, processes: int, parser: Parser) -> None:
        self._processes, self._parser = processes, parser
        self._executor = executor(processes)
        check(self._executor, "parse web pages")

    def submit(self, documents: Sequence[Any]) -> Future[list[Any]]:
        """Hands documents to a process; if all have just died, to a new one."""
        try:
            return submit(self._executor, _parse_all, documents, self._parser)
        except BrokenProcessPool:
            self._executor = executor(self._processes)
            return submit(self._executor, _parse_all, documents, self._parser)

    def result(self, documents: Sequence[Any], future: Future[list[Any]]) -> list[Any]:
        """What became of documents; if a process died meanwhile, they are tried again by themselves."""
        try:
            return future.result()
        except BrokenProcessPool:
            return self._again(documents)

    def close(self) -> None:
        """Ends the processes without waiting for what they have not begun."""
        self._executor.shutdown(cancel_futures=True)

    def _again(self, documents: Sequence[Any]) -> list[Any]:
        """In a process that no other documents can end; if they end it, each half by itself."""
        with executor(1) as alone:
            try:
                return submit(alone, _parse_all, documents, self._parser).result()
            except BrokenProcessPool:
                half = len(documents) // 2
        if not half:
            return [Skipped(documents[0].id, "that the parser died of, or was too long at")]
        return self._again(documents[:half]) + self._again(documents[half:])


def _parse_all(documents: Sequence[Any], parser: Parser) -> list[Any]:
    """In a process of its own, which the timer ends if a page takes the parser too long."""
    found = []
    for page in documents:
        signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
        found.append(_parse_one(page, parser))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return found


def _parse_one(page: Any, parser: Parser) -> Any:
    if not isinstance(page, RawPage):
        return page
    try:
        return parser(page)
    except PageError as error:
        return Skipped(page.id, str(error))
    except Exception as error:  # whatever a stranger's page brings about
        return Skipped(page.id, f"that the parser failed on ({type(error).__name__})")
