"""The API of args.me, version 2 (https://www.args.me/api-en.html): politely, and with a memory."""

import hashlib
import json
import logging
import os
import time
from contextlib import suppress
from typing import Any

from touche.data.places import cache_folder
from touche.errors import ToucheError
from touche.files import write_whole

URL = "ARGSME_URL"  # in the environment
_URL = "https://www.args.me/api/v2/arguments"
_FIELDS = "totalSize,arguments.id,arguments.explanation.score"  # the texts are not needed
_PAUSE = 1.0  # seconds between two requests
_TIMEOUT = 60  # seconds
_ATTEMPTS = 6  # each after twice the time
_LASTING = range(400, 429)  # statuses that asking again does not change

_log = logging.getLogger("touche.argsme")  # below the one that the command line shows

Result = tuple[str, float | None]


class ArgsMe:
    """A connection to args.me."""

    def __init__(self) -> None:
        self._last, self._url = -60.0, os.environ.get(URL, _URL)

    def tell(self) -> None:
        """Says which engine is asked, as it is not the one that was published."""
        _log.warning("%s is asked: args.me's index and ranking of today, not those of 2021", self._url)

    def search(self, query: str, depth: int) -> list[tuple[str, float]]:
        """The ids and scores of the best arguments.

        Answers that were fetched before are taken from the user's cache folder. An id that is repeated counts
        where it comes first. Unless each result has a score, the scores say nothing but the order.

        Raises:
            ToucheError: if args.me refuses, cannot be reached, or answers what is no answer.
        """
        found: dict[str, float | None] = {}
        for id, score in self._results(query, depth):
            found.setdefault(id, score)
        if None in found.values():
            return [(id, float(len(found) - place)) for place, id in enumerate(found)]
        return [(id, score) for id, score in found.items() if score is not None]

    def _results(self, query: str, depth: int) -> list[Result]:
        """From the cache if they are there."""
        asked = f"{self._url}\n{depth}\n{query}"
        path = cache_folder() / "argsme" / f"{hashlib.sha256(asked.encode()).hexdigest()}.json"
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):  # not there, or broken
            return _read(json.loads(path.read_text(encoding="utf-8")))
        answer = self._ask({"query": query, "pageSize": str(depth), "format": "json", "fields": _FIELDS})
        results, wanted = _read(answer), min(depth, int(answer.get("totalSize", 0)))
        if len(results) < wanted:  # it may give all another time
            _log.warning("args.me gave %d of %d results for: %s", len(results), wanted, query)
            return results
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(answer))
        return results

    def _ask(self, words: dict[str, str]) -> dict[str, Any]:
        """One request, some time after the last one, and again where that can help."""
        problem = ""
        for attempt in range(_ATTEMPTS):
            time.sleep(max(0.0, self._last + _PAUSE * 2**attempt - time.monotonic()))
            self._last = time.monotonic()
            answer, problem = self._try(words)
            if answer is not None:
                return answer
            _log.warning("args.me gave no answer that can be read (%s), attempt %d", problem, attempt + 1)
        problem = f"{self._url} gave no answer that can be read, {_ATTEMPTS} times ({problem})"
        raise ToucheError(f"{problem}; try again later: what it has answered is kept")

    def _try(self, words: dict[str, str]) -> tuple[dict[str, Any] | None, str]:
        """The answer, or None and why there is none."""
        import requests  # here, for only this needs it
        from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema

        try:
            response = requests.get(self._url, words, timeout=_TIMEOUT)
        except (MissingSchema, InvalidSchema, InvalidURL) as error:
            raise ToucheError(f"{URL} is {self._url!r}, which is no address; write https://...") from error
        except requests.RequestException as error:
            return None, type(error).__name__
        if response.status_code in _LASTING:
            raise ToucheError(f"args.me refuses (HTTP {response.status_code}); see if its API has changed")
        if not response.ok:
            return None, f"HTTP {response.status_code}"
        try:
            answer = response.json()
            _read(answer), int(answer.get("totalSize", 0))
        except (ValueError, TypeError, KeyError, AttributeError):
            return None, "no JSON with arguments"
        return answer, ""


def _read(answer: Any) -> list[Result]:
    """The ids and scores in an answer, in its order."""
    return [(str(each["id"]), _score(each.get("explanation"))) for each in answer["arguments"]]


def _score(explanation: Any) -> float | None:
    return None if explanation is None or explanation.get("score") is None else float(explanation["score"])
