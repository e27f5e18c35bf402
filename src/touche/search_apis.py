"""Public search engines: requests have pauses, and answers are cached, so that none is sent twice."""

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

_PAUSE = 1.0  # seconds between an answer and the next request
_ATTEMPTS = 6  # the pause doubles after each attempt
_LONGEST_PAUSE = 300.0  # seconds; a longer one ends the run
_TIMEOUT = 60  # seconds
_TEMPORARY = {408, 425, 429, *range(500, 600)}  # statuses after which another attempt may succeed
_HOMEPAGE = "https://touche.webis.de"
_BROKEN = (ValueError, TypeError, KeyError, AttributeError)  # raised by readers of unexpected answers

_log = logging.getLogger(__name__)

Result = tuple[str | None, float]
"""A document's id and score; some results have no id."""
Answer = tuple[Sequence[Result], int]
"""The results in their order, and how many of the requested results exist but were not sent."""
Request = Mapping[str, Any]
Read = Callable[[bytes], Answer]


class _NoAnswerError(Exception):
    """A request without an answer; ``pause`` is the number of seconds that the engine requests."""

    def __init__(self, reason: str, retry_after: str = "") -> None:
        super().__init__(reason)
        self.pause = _seconds(retry_after)


@dataclass
class Engine:
    """A connection to a search engine.

    Attributes:
        name: its name in messages.
        folder: the folder of its answers, within the user's cache folder for touche.
        variable: the environment variable that can set another address.
        address: the default address.
        advice: a remedy for each status by which the engine refuses requests.
    """

    name: str
    folder: str
    variable: str
    address: str
    advice: Mapping[int, str] = field(default_factory=dict)
    _free: float = 0.0  # when the next request may be sent

    def __post_init__(self) -> None:
        self.address = os.environ.get(self.variable, self.address)

    def results(
        self, query: str, details: Iterable[object], request: Request, read: Read
    ) -> Sequence[Result]:
        """Returns the results of a query in their order, from the cache where possible.

        Fewer results than the engine announces cause a warning, and are not cached.

        Args:
            query: the query.
            details: other values on which the answer depends.
            request: the arguments of ``requests.request``, without the address.
            read: parses an answer; its errors cause another attempt.

        Raises:
            ToucheError: if the engine refuses, is absent, requests too long a pause, or sends no results;
                or if the cache cannot be written.
        """
        key = "\n".join(map(str, (self.address, *details, query)))
        path = cache_folder() / self.folder / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
        with suppress(OSError, *_BROKEN):  # missing or broken
            return _checked(orjson.loads(path.read_bytes()))
        make_folder(path.parent)
        results, missing = self._ask(request, read)
        if missing > 0:  # a later request may return all of them
            sent = len(results)
            _log.warning("%s sent %d of %d results for: %s", self.name, sent, sent + missing, query)
        else:
            write_whole(path, orjson.dumps(results).decode())
        return results

    def _ask(self, request: Request, read: Read) -> Answer:
        """Sends a request after the pause; repeats it while another attempt can succeed."""
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
                minutes = ceil(pause / 60)  # urllib3 reads at most six hours
                problem = f"requests a pause of at least {minutes} minutes ({reason})"
                raise ToucheError(f"{self.address} {problem}; try again later (answers are cached)")
            if attempt < _ATTEMPTS:
                problem = f"{self.name} sent no readable answer ({reason})"
                _log.warning("%s in attempt %d; the next attempt starts in %.0f s", problem, attempt, pause)
        problem = f"sent no readable answer in {_ATTEMPTS} attempts ({reason})"
        raise ToucheError(f"{self.address} {problem}; try again later (answers are cached)")

    def _send(self, request: Request, read: Read) -> Answer:
        import requests  # here, because only this function needs it
        from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema

        headers = {"User-Agent": f"touche-baselines/{version('touche-baselines')} ({_HOMEPAGE})"}
        try:
            response = requests.request(url=self.address, headers=headers, timeout=_TIMEOUT, **request)
        except (MissingSchema, InvalidSchema, InvalidURL) as error:
            problem = f"{self.variable} is {self.address!r}, which is not an address"
            raise ToucheError(f"{problem}; write an address such as https://example.org") from error
        except requests.RequestException as error:
            raise _NoAnswerError(type(error).__name__) from error
        status = response.status_code
        if status in _TEMPORARY:
            raise _NoAnswerError(f"HTTP {status}", response.headers.get("Retry-After", ""))
        if not response.ok:
            remedy = self.advice.get(status, "check whether its API has changed")
            raise ToucheError(f"{self.name} refuses the request (HTTP {status}); {remedy}")
        try:
            results, missing = read(response.content)
            return _checked(results), missing
        except _BROKEN as error:
            raise _NoAnswerError("no JSON with results") from error


def first_of_each(results: Iterable[Result], among: frozenset[str] | None) -> list[tuple[str, float]]:
    """Returns the results that a run can contain: for each id the first one.

    Args:
        results: in their order; those without an id are omitted.
        among: the ids of the documents to re-rank, or None for all documents.
    """
    scores: dict[str, float] = {}
    for id, score in results:
        if id is not None and (among is None or id in among):
            scores.setdefault(id, score)
    return list(scores.items())


def _checked(results: Iterable[Any]) -> list[Result]:
    """Returns the results; raises ValueError or TypeError if a run cannot contain their ids or scores."""
    checked = [(id, float(score)) for id, score in results]
    if not all((id is None or is_word(id)) and isfinite(score) for id, score in checked):
        raise ValueError("an id that is not a word, or a score that is not a number")
    return checked


def _seconds(retry_after: str) -> float:
    """Returns the seconds of a header Retry-After (RFC 9110), a number or a date; 0 for other values."""
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    with suppress(InvalidHeader, ValueError, OverflowError):
        return max(0.0, Retry().parse_retry_after(retry_after))
    return 0.0
