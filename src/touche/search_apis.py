"""Search engines that others run: asked politely, and never twice, because answers are cached."""

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from math import ceil, isfinite
from typing import Any

import orjson

from touche.errors import ToucheError
from touche.io.identifiers import is_word
from touche.io.writing import cache_folder, make_folder, write_whole

_PAUSE = 1.0  # seconds from an answer to the next request
_ATTEMPTS = 6  # each after twice the pause
_LONGEST_PAUSE = 300.0  # seconds; a longer one ends the run
_TIMEOUT = 60  # seconds
_TEMPORARY = {408, 425, 429, *range(500, 600)}  # statuses that asking again may change
_HOMEPAGE = "https://touche.webis.de"
_BROKEN = (ValueError, TypeError, KeyError, AttributeError)  # raised by readers of unexpected answers

_log = logging.getLogger(__name__)

Result = tuple[str | None, float]
"""The id of a document, which not all results have, and its score."""
Answer = tuple[Sequence[Result], int]
"""Results in their order, and how many more of those requested the engine says there are."""
Request = Mapping[str, Any]
Read = Callable[[bytes], Answer]


class _NoAnswerError(Exception):
    """A request without an answer; ``pause`` has the seconds that the engine asks for."""

    def __init__(self, reason: str, retry_after: str = "") -> None:
        super().__init__(reason)
        self.pause = _seconds(retry_after)


@dataclass
class Engine:
    """A connection to a search engine.

    Attributes:
        name: what messages call it.
        folder: where its answers are, in the user's cache folder for touche.
        variable: of the environment, which may name another address.
        address: its own, without the variable.
        advice: what to do about a status by which it refuses.
    """

    name: str
    folder: str
    variable: str
    address: str
    advice: Mapping[int, str] = field(default_factory=dict)
    _free: float = 0.0  # when it may be asked again

    def __post_init__(self) -> None:
        self.address = os.environ.get(self.variable, self.address)

    def results(
        self, query: str, details: Iterable[object], request: Request, read: Read
    ) -> Sequence[Result]:
        """Returns the results of a query in their order, from the cache if they are there.

        An answer with fewer results than the engine says there are is a warning, and is not cached.

        Args:
            query: the words.
            details: what else the answer depends on.
            request: as ``requests.request`` takes it, without the address.
            read: parses an answer; its errors make the engine be asked again.

        Raises:
            ToucheError: if the engine refuses, cannot be reached, asks for too long a pause, or sends no
                results; or if the cache cannot be written.
        """
        key = "\n".join(map(str, (self.address, *details, query)))
        path = cache_folder() / self.folder / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
        with suppress(OSError, *_BROKEN):  # missing or broken
            return _checked(orjson.loads(path.read_bytes()))
        make_folder(path.parent)
        results, missing = self._ask(request, read)
        if missing > 0:  # it may send all of them another time
            sent = len(results)
            _log.warning("%s gave %d of %d results for: %s", self.name, sent, sent + missing, query)
        else:
            write_whole(path, orjson.dumps(results).decode())
        return results

    def _ask(self, request: Request, read: Read) -> Answer:
        """Sends a request some time after the last answer, and again where that can help."""
        pause = _PAUSE
        for attempt in range(1, _ATTEMPTS + 1):
            time.sleep(max(0.0, self._free - time.monotonic()))
            try:
                return self._send(request, read)
            except _NoAnswerError as error:
                reason, pause = str(error), max(_PAUSE * 2**attempt, error.pause)
            finally:
                self._free = time.monotonic() + pause
            if pause > _LONGEST_PAUSE:
                minutes = ceil(pause / 60)  # which urllib3 limits to six hours
                problem = f"asks for a pause of at least {minutes} minutes ({reason}); try again after that"
                raise ToucheError(f"{self.address} {problem}: its answers are cached")
            if attempt < _ATTEMPTS:
                problem = f"{self.name} gave no answer that can be read ({reason})"
                _log.warning("%s, attempt %d; the next one in %.0f s", problem, attempt, pause)
        problem = f"gave no answer that can be read, {_ATTEMPTS} times ({reason}); try again later"
        raise ToucheError(f"{self.address} {problem}: its answers are cached")

    def _send(self, request: Request, read: Read) -> Answer:
        import requests  # here, because only this needs it
        from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema

        headers = {"User-Agent": f"touche-baselines/{version('touche-baselines')} ({_HOMEPAGE})"}
        try:
            response = requests.request(url=self.address, headers=headers, timeout=_TIMEOUT, **request)
        except (MissingSchema, InvalidSchema, InvalidURL) as error:
            problem = f"{self.variable} is {self.address!r}, which is not an address"
            raise ToucheError(f"{problem}; write https://...") from error
        except requests.RequestException as error:
            raise _NoAnswerError(type(error).__name__) from error
        status = response.status_code
        if status in _TEMPORARY:
            raise _NoAnswerError(f"HTTP {status}", response.headers.get("Retry-After", ""))
        if not response.ok:
            remedy = self.advice.get(status, "see if its API has changed")
            raise ToucheError(f"{self.name} refuses (HTTP {status}); {remedy}")
        try:
            results, missing = read(response.content)
            return _checked(results), missing
        except _BROKEN as error:
            raise _NoAnswerError("no JSON with results") from error


def first_of_each(results: Iterable[Result], among: frozenset[str] | None) -> list[tuple[str, float]]:
    """Returns the results that a run can hold: of those with one id the first.

    Args:
        results: in their order; those without an id are left out.
        among: the ids of the documents to re-rank, or None for all.
    """
    scores: dict[str, float] = {}
    for id, score in results:
        if id is not None and (among is None or id in among):
            scores.setdefault(id, score)
    return list(scores.items())


def _checked(results: Iterable[Any]) -> list[Result]:
    """The results, if a run can hold their ids and scores; else a ValueError or TypeError."""
    checked = [(id, float(score)) for id, score in results]
    if not all((id is None or is_word(id)) and isfinite(score) for id, score in checked):
        raise ValueError("an id that is not a word, or a score that is not a number")
    return checked


def _seconds(retry_after: str) -> float:
    """The seconds in a header Retry-After (RFC 9110), which has their number or a date; 0 where neither."""
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    with suppress(InvalidHeader, ValueError, OverflowError):
        return max(0.0, Retry().parse_retry_after(retry_after))
    return 0.0
