"""Search engines of others, asked politely and with a memory: what has been answered is not asked again."""

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import mktime_tz, parsedate_tz
from importlib.metadata import version
from math import ceil, isfinite
from typing import Any

import orjson

from touche.errors import ToucheError
from touche.io.identifiers import is_word
from touche.io.writing import cache_folder, make_folder, write_whole

_PAUSE = 1.0  # seconds from an answer to the next request
_ATTEMPTS = 6  # each after twice the pause
_LONGEST_PAUSE = 300.0  # seconds; who asks for a longer one is not waited for
_TIMEOUT = 60  # seconds
_LASTING = frozenset(range(400, 500)) - {408, 425, 429}  # statuses that asking again does not change
_HOMEPAGE = "https://touche.webis.de"
_BROKEN = (ValueError, TypeError, KeyError, AttributeError)  # what is no answer is read as

_log = logging.getLogger(__name__)

Result = tuple[str | None, float]
"""The id of a document, which not all results have, and its score."""


@dataclass(frozen=True)
class Question:
    """What an engine is asked.

    Attributes:
        query: the words.
        details: what else the answer depends on.
        request: as ``requests.request`` takes it, but for the address.
    """

    query: str
    details: tuple[object, ...]
    request: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What an engine answers.

    Attributes:
        results: in their order.
        missing: how many more the engine says there are, of those that were asked for.
    """

    results: Sequence[Result]
    missing: int = 0


@dataclass(frozen=True)
class _Trouble:
    """Why there is no answer, and for how many seconds the engine asks not to be asked again."""

    reason: str
    pause: float = 0.0


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

    def results(self, question: Question, read: Callable[[bytes], Answer]) -> Sequence[Result]:
        """The results for a question, in their order: from the cache if they are there.

        An answer with fewer results than the engine says there are is told, and not kept.

        Args:
            question: what is asked.
            read: makes an answer of what was sent; what it raises of what is no answer is caught.

        Raises:
            ToucheError: if the engine refuses, cannot be reached, asks for too long a pause, or answers what
                is no answer; or if the cache cannot be written.
        """
        asked = "\n".join(map(str, (self.address, *question.details, question.query)))
        path = cache_folder() / self.folder / f"{hashlib.sha256(asked.encode()).hexdigest()}.json"
        with suppress(OSError, *_BROKEN):  # not there, or broken
            return _checked(orjson.loads(path.read_bytes()))
        make_folder(path.parent)
        answer = self._ask(question.request, read)
        if answer.missing > 0:  # it may give all another time
            there, query = len(answer.results), question.query
            _log.warning("%s gave %d of %d results for: %s", self.name, there, there + answer.missing, query)
        else:
            write_whole(path, orjson.dumps(answer.results).decode())
        return answer.results

    def _ask(self, request: Mapping[str, Any], read: Callable[[bytes], Answer]) -> Answer:
        """One request, some time after the last answer, and again where that can help."""
        attempt = 0
        while True:
            attempt += 1
            time.sleep(max(0.0, self._free - time.monotonic()))
            tried = self._try(request, read)
            pause = _PAUSE if isinstance(tried, Answer) else max(_PAUSE * 2**attempt, tried.pause)
            self._free = time.monotonic() + pause
            if isinstance(tried, Answer):
                return tried
            if attempt == _ATTEMPTS or pause > _LONGEST_PAUSE:
                raise self._given_up(tried.reason, attempt, pause)
            problem = f"{self.name} gave no answer that can be read ({tried.reason})"
            _log.warning("%s, attempt %d; the next one in %.0f s", problem, attempt, pause)

    def _given_up(self, reason: str, attempts: int, pause: float) -> ToucheError:
        problem = f"gave no answer that can be read, {attempts} times ({reason}); try again later"
        if pause > _LONGEST_PAUSE:
            problem = f"asks for a pause of {ceil(pause / 60)} minutes ({reason}); try again after that"
        return ToucheError(f"{self.address} {problem}: what it has answered is kept")

    def _try(self, request: Mapping[str, Any], read: Callable[[bytes], Answer]) -> Answer | _Trouble:
        import requests  # here, for only this needs it
        from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema

        headers = {"User-Agent": f"touche-baselines/{version('touche-baselines')} ({_HOMEPAGE})"}
        try:
            response = requests.request(url=self.address, headers=headers, timeout=_TIMEOUT, **request)
        except (MissingSchema, InvalidSchema, InvalidURL) as error:
            problem = f"{self.variable} is {self.address!r}, which is no address"
            raise ToucheError(f"{problem}; write https://...") from error
        except requests.RequestException as error:
            return _Trouble(type(error).__name__)
        if response.status_code in _LASTING:
            what_to_do = self.advice.get(response.status_code, "see if its API has changed")
            raise ToucheError(f"{self.name} refuses (HTTP {response.status_code}); {what_to_do}")
        if not response.ok:
            reason = f"HTTP {response.status_code}"
            return _Trouble(reason, _pause_asked_for(response.headers.get("Retry-After", "")))
        try:
            answer = read(response.content)
            return Answer(_checked(answer.results), answer.missing)
        except _BROKEN:
            return _Trouble("no JSON with results")


def first_of_each(results: Iterable[Result], among: frozenset[str] | None) -> list[tuple[str, float]]:
    """The results that a run can hold: an id that is repeated counts where it comes first.

    Args:
        results: in their order; without those that have no id.
        among: the ids of the documents to re-rank, or None for all.
    """
    found: dict[str, float] = {}
    for id, score in results:
        if id is not None and (among is None or id in among):
            found.setdefault(id, score)
    return list(found.items())


def _checked(results: Iterable[Any]) -> list[Result]:
    """The results, if their ids and scores are such that a run can hold them.

    Raises:
        ValueError, TypeError: otherwise.
    """
    found = [(id, float(score)) for id, score in results]
    if not all((id is None or is_word(id)) and isfinite(score) for id, score in found):
        raise ValueError("an id that is no word, or a score that is no number")
    return found


def _pause_asked_for(header: str) -> float:
    """The seconds in a header Retry-After (RFC 9110), which has their number or a date; 0 where neither."""
    with suppress(ValueError, OverflowError):
        return max(0.0, float(int(header)))
    with suppress(ValueError, OverflowError):
        date = parsedate_tz(header)
        return max(0.0, mktime_tz(date) - time.time()) if date else 0.0
    return 0.0
