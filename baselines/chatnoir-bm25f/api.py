"""ChatNoir's own search API, version 1, by its official client: politely, and with a memory."""

import hashlib
import json
import logging
import os
import time
from contextlib import suppress
from typing import Any

from touche.data.places import cache_folder
from touche.errors import ToucheError, installing
from touche.files import write_whole

KEY, URL = "CHATNOIR_API_KEY", "CHATNOIR_URL"  # in the environment
_URL = "https://www.chatnoir.eu/api/v1/_search"
_PER_PAGE = 100  # results
_PAUSE = 1.0  # seconds between two requests
_TIMEOUT = 60  # seconds
_ATTEMPTS = 6  # each after twice the time
_LASTING = ("key", "blocked")  # what the client says of 401 and 403

_log = logging.getLogger("touche.chatnoir")  # below the one that the command line shows


class ChatNoir:
    """A connection to ChatNoir.

    Args:
        index: the client's name of the index.

    Raises:
        ToucheError: if the environment has no key, or the client is not installed.
    """

    def __init__(self, index: str = "clueweb12") -> None:
        self._index, self._last = index, -60.0
        self._key, self._url = os.environ.get(KEY, ""), os.environ.get(URL, _URL)
        if not self._key:
            raise ToucheError(f"{KEY} is not set; ask for a key at https://www.chatnoir.eu/apikey/")
        self._models = _models()

    def tell(self) -> None:
        """Says which query is asked, as it is not the one that was published."""
        query = "a second query by OR with 30% of the tokens, 0.99 of its score and 0.01 of the first one's"
        told = "%s is asked: ChatNoir's query (%s) and index of today, not those of 2020 and 2021"
        _log.warning(told, self._url, query)

    def search(self, query: str, depth: int) -> list[tuple[str, float]]:
        """The ids and scores of the best results, in the order of the answers.

        Pages of results that were fetched before are taken from the user's cache folder.

        Raises:
            ToucheError: if ChatNoir refuses the key, cannot be reached, or answers what is no answer.
        """
        found: dict[str, float] = {}
        for start in range(0, depth, _PER_PAGE):
            results = self._page(query, start, min(_PER_PAGE, depth - start))
            for id, score in results:
                if id:
                    found.setdefault(id, score)
            if len(results) < _PER_PAGE:
                break
        return list(found.items())

    def _page(self, query: str, start: int, size: int) -> list[tuple[str | None, float]]:
        """A page of ids, which not all results have, and scores; from the cache if it is there."""
        asked = f"{self._url}\n{self._index}\n{start}\n{size}\n{query}"
        path = cache_folder() / "chatnoir" / f"{hashlib.sha256(asked.encode()).hexdigest()}.json"
        with suppress(OSError, ValueError, TypeError):  # not there, or broken
            return [(id, float(score)) for id, score in json.loads(path.read_text(encoding="utf-8"))]
        words = {"apikey": self._key, "query": query, "index": {self._index}, "start": start, "size": size}
        answer = self._ask(self._models[0](**words, explain=False, minimal=False, search_method="default"))
        page = [(result.trec_id, result.score) for result in answer.results]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(page))
        return page

    def _ask(self, request: Any) -> Any:
        """One request, some time after the last one, and again where that can help."""
        for attempt in range(_ATTEMPTS):
            time.sleep(max(0.0, self._last + _PAUSE * 2**attempt - time.monotonic()))
            self._last = time.monotonic()
            answer, problem = self._try(request)
            if answer is not None:
                return answer
            _log.warning("ChatNoir gave no answer that can be read (%s), attempt %d", problem, attempt + 1)
        problem = f"{self._url} gave no answer that can be read, {_ATTEMPTS} times ({problem})"
        raise ToucheError(f"{problem}; try again later: what it has answered is kept")

    def _try(self, request: Any) -> tuple[Any, str]:
        """The answer, or None and why there is none."""
        from chatnoir_api.v1.requests import request_page
        from pydantic import ValidationError
        from requests import RequestException
        from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema

        model = self._models[1]
        try:
            return request_page(request, model, "_search", _TIMEOUT, retries=0, url_for_request=self._url), ""
        except (MissingSchema, InvalidSchema, InvalidURL) as error:
            raise ToucheError(f"{URL} is {self._url!r}, which is no address; write https://...") from error
        except (RequestException, ValidationError) as error:
            return None, type(error).__name__
        except RuntimeError as error:  # what the client makes of a status
            reason = str(error).splitlines()[0].strip(" .")
            if any(word in reason for word in _LASTING):
                raise ToucheError(f"ChatNoir refuses: {reason}") from error
            return None, reason


def _models() -> tuple[Any, Any]:
    """The client's models of what is asked and what is answered."""
    try:
        from chatnoir_api.v1.model import Request, SearchResponse
    except ImportError as error:
        problem = "the client of ChatNoir is not installed"
        raise ToucheError(f"{problem}; get it with: {installing('chatnoir')}") from error

    class AnyPage(Request, frozen=True, serialize_by_alias=True):
        """The client asks for the first page only, as it sends ``start`` for what is called ``from``."""

    return AnyPage, SearchResponse
