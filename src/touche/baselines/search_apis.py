"""Public search engines: requests have pauses, and answers are cached with their dates."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from math import ceil, isfinite
from typing import Any

from touche.errors import ToucheError, check_range
from touche.io.identifiers import is_word
from touche.io.optional import imported
from touche.io.writing import cache_folder, make_folder
from touche.tira.answers import note_answer

_PAUSE = 1.0  # seconds between an answer and the next request
_RETRIES = 5  # attempts after the first one; the pauses before them double
_LONGEST_PAUSE = 300.0  # seconds; a longer one ends the run
_TIMEOUT = 60  # seconds without an answer
_TEMPORARY = {408, 425, 429, *range(500, 600)}  # statuses after which another attempt may succeed
_CACHE_FILE = "answers.sqlite"
_UNEXPECTED = (ValueError, TypeError, KeyError, AttributeError)  # raised if an answer has another form

_log = logging.getLogger(__name__)

Result = tuple[str | None, float]
"""A document's id and score; some results have no id."""
Answer = tuple[Sequence[Result], int]
"""The results in their order, and how many of the requested results exist but were not sent."""
Request = Mapping[str, Any]
"""The arguments of ``requests.request``, without the address."""
Read = Callable[[bytes], Answer]
"""Parses the content of a response; may raise a ValueError, TypeError, KeyError or AttributeError."""


@dataclass
class SearchEngine:
    """A connection to a search engine.

    Attributes:
        name: its name in messages.
        variable: the environment variable that can set another address.
        address: the default address.
        is_cached: whether answers are stored and read.
        keep_days: the age in days from which a stored answer is requested again.
        advice: a remedy for each status by which the engine refuses requests.
    """

    name: str
    variable: str
    address: str
    is_cached: bool = True
    keep_days: float = 7
    advice: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.address = os.environ.get(self.variable, self.address)
        make_folder(cache_folder())
        with _usable_cache():
            self._session = _session()

    def results(self, query: str, request: Request, read: Read) -> Sequence[Result]:
        """Returns the results of a query in their order, from the cache where possible; notes their date.

        Fewer results than the engine announces cause a warning, and are not cached.

        Args:
            query: the query, for messages.
            request: the arguments of ``requests.request``, without the address.
            read: parses an answer.

        Raises:
            ToucheError: if the engine refuses, is absent, requests too long a pause, or sends no results;
                or if the cache cannot be used.
        """
        check_range("cache_days", self.keep_days, 0, 36_500)  # the name of the option; a hundred years
        # The session stores the answers for which this is true.
        self._session.settings.filter_fn = lambda response: _is_complete(response, read)
        caching = nullcontext() if self.is_cached else self._session.cache_disabled()
        with caching, _usable_cache():
            response = self._send(request)
            age = datetime.now(UTC) - response.created_at.astimezone(UTC)
            # An answer of the future, after a wrong clock, would never become old.
            is_fresh = abs(age) < timedelta(days=self.keep_days)
            is_usable = is_fresh and _is_complete(response, read)  # a stored answer may be damaged
            if response.from_cache and not is_usable:
                response = self._send({**request, "force_refresh": True})
        if not response.ok:
            remedy = self.advice.get(response.status_code, "check whether its API has changed")
            raise ToucheError(f"{self.name} refuses the request (HTTP {response.status_code}); {remedy}")
        try:
            results, missing = _read(response, read)
        except _UNEXPECTED as error:
            raise self._no_answer("no JSON with results") from error
        if missing > 0:  # no error, because a later request may return all of them
            sent = len(results)
            _log.warning("%s sent %d of %d results for: %s", self.name, sent, sent + missing, query)
        note_answer(self.name, response.created_at.astimezone(UTC))
        return results

    def _send(self, request: Request) -> Any:
        """Sends a request; the session reads the answer from its cache, if it is there."""
        from requests import RequestException  # here, because only API clients need these 51 ms
        from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema

        try:
            response = self._session.request(url=self.address, timeout=_TIMEOUT, **request)
        except (MissingSchema, InvalidSchema, InvalidURL) as error:
            problem = f"{self.variable} is {self.address!r}, which is not an address"
            raise ToucheError(f"{problem}; write an address such as https://example.org") from error
        except RequestException as error:
            raise self._no_answer(type(error).__name__) from error
        if response.status_code in _TEMPORARY:
            raise self._no_answer(f"HTTP {response.status_code}")
        return response

    def _no_answer(self, reason: str) -> ToucheError:
        """Returns the error for an answer that is missing or unreadable."""
        problem = f"{self.address} sent no readable answer ({reason})"
        return ToucheError(f"{problem}; try again later (answers are cached)")


@contextmanager
def _usable_cache() -> Iterator[None]:
    """Raises an error with the path of the cache if it is unusable."""
    try:
        yield
    # The last four are from requests_cache and its libraries, if stored answers have another form.
    except (sqlite3.Error, OSError, ExceptionGroup, AttributeError, KeyError, TypeError) as error:
        problem = f"{cache_folder() / _CACHE_FILE} cannot be used ({error})"
        raise ToucheError(f"{problem}; remove it, or choose another folder by XDG_CACHE_HOME") from error


def _session() -> Any:
    """Returns a session with cache, retries and pauses."""
    requests_cache = imported("requests_cache", "apis")
    # Otherwise, the file that a link names would be overwritten.
    if (cache_folder() / _CACHE_FILE).is_symlink():
        raise ToucheError(f"{cache_folder() / _CACHE_FILE} is a link, which is not followed; remove it")
    session = requests_cache.CachedSession(
        cache_folder() / _CACHE_FILE,
        serializer="json",  # because the default, pickle, can run code
        allowable_methods=("GET", "POST"),  # by default, answers to POST are not cached
        ignored_parameters=("apikey",),  # a secret, which must not be in the cache
    )
    # With an address, so that engines know whom to ask.
    session.headers["User-Agent"] = (
        f"touche-baselines/{version('touche-baselines')} (https://touche.webis.de)"
    )
    adapter = _polite_adapter()
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    return session


def _polite_adapter() -> Any:
    """Returns an adapter of requests that waits after each answer, and longer after errors."""
    from requests.adapters import HTTPAdapter  # here, because only API clients need these 51 ms
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    class Patience(Retry):
        """Retries whose pause doubles, or is as long as the engine requests."""

        def sleep(self, response: Any = None) -> None:
            """Waits before the next attempt; ``response`` is None if the failed one had no answer."""
            attempt = len(self.history)  # the number of the failed attempt, from 1
            requested_pause = self.get_retry_after(response) if response else None
            pause = max(_PAUSE * 2**attempt, requested_pause or 0.0)
            last_try = self.history[-1]
            cause = f"HTTP {last_try.status}" if last_try.status else type(last_try.error).__name__
            if pause > _LONGEST_PAUSE:
                minutes = ceil(pause / 60)
                # At least, because urllib3 shortens pauses to six hours.
                problem = f"the search engine requests a pause of at least {minutes} minutes ({cause})"
                raise ToucheError(f"{problem}; try again later (answers are cached)")
            _log.warning(
                "no answer in attempt %d (%s); the next attempt starts in %.0f s", attempt, cause, pause
            )
            time.sleep(pause)

        def parse_retry_after(self, retry_after: str) -> float:
            """Returns the requested pause in seconds; 0 if it is unreadable, instead of urllib3's error."""
            with suppress(InvalidHeader, ValueError, OverflowError):
                return max(0.0, super().parse_retry_after(retry_after))
            return 0.0

    class Adapter(HTTPAdapter):
        """Sends a request after a pause."""

        next_start = 0.0  # the time from which the next request may be sent, by the monotonic clock

        def send(self, *args: Any, **options: Any) -> Any:
            time.sleep(max(0.0, self.next_start - time.monotonic()))
            try:
                return super().send(*args, **options)
            finally:
                self.next_start = time.monotonic() + _PAUSE

    # Without allowed_methods, requests of every method are retried. If the last attempt fails, its answer is
    # returned.
    retries = Patience(_RETRIES, allowed_methods=None, status_forcelist=_TEMPORARY, raise_on_status=False)
    return Adapter(max_retries=retries)


def first_of_each(results: Iterable[Result], among: frozenset[str] | None) -> list[tuple[str, float]]:
    """Returns the results that a run can contain: for each id the first one.

    Args:
        results: in their order; those without an id are omitted.
        among: the ids of the documents to re-rank, or None for all documents.

    Returns:
        Ids and scores in their order.

    Examples:
        >>> import touche
        >>> touche.first_of_each([("d1", 3.0), (None, 2.5), ("d2", 2.0), ("d1", 1.0)], among=None)
        [('d1', 3.0), ('d2', 2.0)]
    """
    scores: dict[str, float] = {}
    for id, score in results:
        if id is not None and (among is None or id in among):
            scores.setdefault(id, score)
    return list(scores.items())


def _is_complete(response: Any, read: Read) -> bool:
    """Returns whether an answer can be cached: it is readable and has all results."""
    try:
        _, missing = _read(response, read)
    except _UNEXPECTED:
        return False
    return missing <= 0  # there may be more results than the engine announces


def _read(response: Any, read: Read) -> Answer:
    """Parses an answer; raises ValueError or TypeError if a run cannot contain its ids or scores."""
    results, missing = read(response.content)
    numeric_results = [(id, float(score)) for id, score in results]
    for id, score in numeric_results:
        is_valid_id = id is None or is_word(id)
        if not is_valid_id or not isfinite(score):
            raise ValueError("an id that is not a word, or a score that is not a number")
    return numeric_results, missing
