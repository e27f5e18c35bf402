"""Queries public search engines, pausing between requests and caching complete answers."""

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from math import ceil, isfinite
from pathlib import Path
from typing import Any

from touche.errors import ToucheError, check_range
from touche.io.identifiers import is_word
from touche.io.optional import imported
from touche.io.writing import cache_folder, make_folder, write_whole
from touche.tira.answers import note_answer

_PAUSE = 1.0  # seconds between an answer and the next request
_ATTEMPTS = 6  # pauses between them double
_LONGEST_PAUSE = 300.0  # seconds; the run ends if a longer one is due
_TIMEOUT = 60  # seconds to wait for an answer
_TEMPORARY = {408, 425, 429, *range(500, 600)}  # status codes after which it is worth trying again
_UNEXPECTED = (ValueError, TypeError, KeyError, AttributeError)  # raised when an answer has another form
_AGENT = (
    f"touche-baselines/{version('touche-baselines')} (https://touche.webis.de)"  # tells engines whom to ask
)

_log = logging.getLogger(__name__)

Result = tuple[str | None, float]
"""A document's id and score; some results have no id."""
Read = Callable[[bytes], tuple[Sequence[Result], int]]
"""Parses an answer into its results, and the number of requested results that exist but were not sent.

It may raise a ValueError, TypeError, KeyError or AttributeError.
"""


@dataclass
class SearchEngine:
    """A search engine. When created, it warns how today's search engine differs from the one that made the
    published runs.

    Attributes:
        name: its name in messages.
        variable: the environment variable that can set another address.
        address: the default address.
        difference: how the warning ends, such as ``ranks with today's index``.
        advice: what to do if the engine refuses a request.
        keep_days: the age in days from which a cached answer is requested again.
        secret: request fields that are not stored, such as a key.
    """

    name: str
    variable: str
    address: str
    difference: str
    advice: str = "check whether its API has changed"
    keep_days: float = 7
    secret: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.address = os.environ.get(self.variable, self.address)
        _log.warning("%s %s", self.address, self.difference)

    def results(
        self, query: str, read: Read, *, params: Mapping[str, str] | None = None, body: Any = None
    ) -> Sequence[Result]:
        """Returns a query's results in order, from the cache if possible, and notes their date.

        If the engine sends fewer results than it announces, a warning is logged and they are not cached.

        Args:
            query: the query, for messages.
            read: parses an answer.
            params: the parameters of a GET request.
            body: the JSON of a POST request, or None.

        Raises:
            ToucheError: if the engine refuses, is unreachable, asks for too long a pause, or sends no
                results; or if the cache folder can't be used.
        """
        check_range("cache_days", self.keep_days, 0, 36_500)  # the option's name; a hundred years
        request = json.dumps([self.address, params, body]).encode()
        file = cache_folder() / "answers" / f"{hashlib.md5(request).hexdigest()}.json"
        with suppress(OSError, *_UNEXPECTED):  # no cached answer, or an old or damaged one
            return self._stored(file, read)
        make_folder(file.parent)
        content = self._send(params, body)
        date = datetime.now(UTC)
        try:
            results, missing = _parse_answer(content, read)
        except _UNEXPECTED as error:
            raise self._no_answer("no JSON with results") from error
        if missing > 0:  # no error: a later request may return them all
            announced = len(results) + missing
            _log.warning("%s sent %d of %d results for: %s", self.name, len(results), announced, query)
        else:
            write_whole(file, f"{date.isoformat()}\n{content.decode()}")
        note_answer(self.name, date)
        return results

    def _stored(self, file: Path, read: Read) -> Sequence[Result]:
        """Returns a cached answer's results, or raises an error from ``_UNEXPECTED``."""
        text, _, content = file.read_bytes().partition(b"\n")
        date = datetime.fromisoformat(text.decode())
        # After a wrong clock, an answer from the future would never expire.
        if abs(datetime.now(UTC) - date) >= timedelta(days=self.keep_days):
            raise ValueError("an old answer")
        results, _ = _parse_answer(content, read)
        note_answer(self.name, date)
        return results

    def _send(self, params: Mapping[str, str] | None, body: Any) -> Any:
        """Sends a request, again after temporary errors, and returns the answer."""
        requests = imported("requests", "apis")
        for attempt in range(1, _ATTEMPTS + 1):
            requested_pause = 0.0
            try:
                response = requests.request(
                    "GET" if body is None else "POST",
                    self.address,
                    params=params,
                    json=None if body is None else body | self.secret,
                    headers={"User-Agent": _AGENT},
                    timeout=_TIMEOUT,
                )
            except ValueError as error:
                raise ToucheError(
                    f"{self.variable} is {self.address!r}, which is not an address; "
                    "write an address such as https://example.org"
                ) from error
            except requests.RequestException as error:
                cause = type(error).__name__
            else:
                if response.status_code not in _TEMPORARY:
                    break
                cause = f"HTTP {response.status_code}"
                requested_pause = _seconds(response.headers.get("Retry-After", ""))
            if attempt == _ATTEMPTS:
                raise self._no_answer(cause)
            pause = max(_PAUSE * 2**attempt, requested_pause)
            if pause > _LONGEST_PAUSE:
                raise ToucheError(
                    f"{self.name} requests a pause of {ceil(pause / 60)} minutes ({cause}); "
                    "try again later (answers are cached)"
                )
            _log.warning("no answer in attempt %d (%s); the next one starts in %.0f s", attempt, cause, pause)
            time.sleep(pause)
        time.sleep(_PAUSE)
        if not response.ok:
            status = f"HTTP {response.status_code}"
            raise ToucheError(f"{self.name} refuses the request ({status}); {self.advice}")
        return response.content

    def _no_answer(self, reason: str) -> ToucheError:
        return ToucheError(
            f"{self.address} sent no readable answer ({reason}); try again later (answers are cached)"
        )


def first_of_each(results: Iterable[Result], among: frozenset[str] | None) -> list[tuple[str, float]]:
    """Returns the results that a run can contain: the first one for each id.

    Args:
        results: in order; those without an id are skipped.
        among: the ids of the documents to re-rank, or None for all documents.

    Returns:
        Ids and scores, in order.

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


def _parse_answer(content: bytes, read: Read) -> tuple[Sequence[Result], int]:
    """Parses an answer; raises ValueError or TypeError if a run can't contain its ids or scores."""
    results, missing = read(content)
    scored = [(id, float(score)) for id, score in results]
    if not all(isfinite(score) and (id is None or is_word(id)) for id, score in scored):
        raise ValueError("an id that is not a word, or a score that is not a number")
    return scored, missing


def _seconds(retry_after: str) -> float:
    """Returns the pause in a Retry-After header, a number of seconds or a date; 0 if it is unreadable."""
    with suppress(ValueError, OverflowError):
        return float(int(retry_after))
    with suppress(ValueError, OverflowError):
        return parsedate_to_datetime(retry_after).timestamp() - time.time()
    return 0.0
