"""ChatNoir's own search API, version 1, by its official client: politely, and with a memory."""

import hashlib
import logging
import os
import time
from contextlib import suppress
from typing import Any

from touche.data.places import cache_folder
from touche.errors import ToucheError
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
        index: the id of the index, such as ``cw12`` for ClueWeb12.

    Raises:
        ToucheError: if the environment has no key, or the client is not installed.
    """

    def __init__(self, index: str = "cw12") -> None:
        self._index, self._last = index, -60.0
        self._key, self._url = os.environ.get(KEY, ""), os.environ.get(URL, _URL)
        if not self._key:
            raise ToucheError(f"{KEY} is not set; ask for a key at https://www.chatnoir.eu/apikey/")
        self._models = _models()

    def search(self, query: str, depth: int) -> list[tuple[str, float]]:
        """The ids and scores of the best results, in the order of the answers.

        Pages of results that were fetched before are taken from the user's cache folder.

        Raises:
            ToucheError: if ChatNoir refuses the key, cannot be reached, or answers what is no answer.
        """
        found: dict[str, float] = {}
        for start in range(0, depth, _PER_PAGE):
            results = self._page(query, start, min(_PER_PAGE, depth - start)).results
            for result in results:
                if result.trec_id:
                    found.setdefault(result.trec_id, result.score)
            if len(results) < _PER_PAGE:
                break
        return list(found.items())

    def _page(self, query: str, start: int, size: int) -> Any:
        """A page of results, from the cache if it is there."""
        request, answer = self._models
        asked = f"{self._url}\n{self._index}\n{start}\n{size}\n{query}"
        path = cache_folder() / "chatnoir" / f"{hashlib.sha256(asked.encode()).hexdigest()}.json"
        with suppress(OSError, ValueError):  # not there, or broken
            return answer.model_validate_json(path.read_text(encoding="utf-8"))
        page = self._ask(request(apikey=self._key, query=query, index=[self._index], start=start, size=size))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page.model_dump_json())
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
    """What is asked and what is read of an answer; the client's own models ask for the first page only."""
    try:
        import chatnoir_api  # noqa: F401
        from pydantic import BaseModel, Field
    except ImportError as error:
        problem = "the client of ChatNoir is not installed"
        raise ToucheError(f"{problem}; get it with: pip install --editable '.[chatnoir]'") from error

    class Request(BaseModel, serialize_by_alias=True):
        apikey: str
        query: str
        index: list[str]
        start: int = Field(serialization_alias="from")
        size: int
        explain: bool = False

    class Result(BaseModel):
        score: float
        trec_id: str | None = None

    class Answer(BaseModel):
        results: list[Result]

    return Request, Answer
