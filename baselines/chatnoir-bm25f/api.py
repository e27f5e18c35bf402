"""ChatNoir's own search API, version 1: what its official client sends and reads."""

import logging
import os
from typing import Any

from touche.errors import NotInstalledError, ToucheError, installing
from touche.search_apis import Answer, Engine, Result, first_of_each

KEY = "CHATNOIR_API_KEY"  # in the environment
_URL = "https://www.chatnoir.eu/api/v1/_search"
_KEYS = "ask for a key at https://www.chatnoir.eu/apikey/"
_ADVICE = {401: f"{KEY} is no valid key; {_KEYS}", 403: "it has blocked this machine; write to its admins"}
_PER_PAGE = 100  # results

_log = logging.getLogger("touche.chatnoir")  # below the one that the command line shows


class ChatNoir:
    """A connection to ChatNoir, or to the address in ``CHATNOIR_URL``; warns that its query is another one.

    Args:
        index: the client's name of the index.

    Raises:
        ToucheError: if the environment has no key, or the client is not installed.
    """

    def __init__(self, index: str = "clueweb12") -> None:
        self._index, self._key = index, os.environ.get(KEY, "")
        self._engine = Engine("ChatNoir", "chatnoir", "CHATNOIR_URL", _URL, _ADVICE)
        if not self._key:
            raise ToucheError(f"{KEY} is not set; {_KEYS}")
        self._models = _models()
        query = "a second query by OR with 30% of the tokens, 0.99 of its score and 0.01 of the first one's"
        warning = "%s is asked: ChatNoir's query (%s) and index of today, not those of 2020 and 2021"
        _log.warning(warning, self._engine.address, query)

    def search(self, query: str, depth: int, among: frozenset[str] | None = None) -> list[tuple[str, float]]:
        """The ids and scores of the best results, in the order of the answers.

        Of these there are only candidates where there are candidates.

        Raises:
            ToucheError: if ChatNoir refuses the key, cannot be reached, or sends no results.
        """
        results: list[Result] = []
        for start in range(0, depth, _PER_PAGE):
            size = min(_PER_PAGE, depth - start)
            details = self._index, start, size
            page = self._engine.results(query, details, self._request(query, start, size), self._read)
            results += page
            if len(page) < _PER_PAGE:
                break
        return first_of_each(results, among)

    def _request(self, query: str, start: int, size: int) -> dict[str, Any]:
        """A page of results; answers do not depend on the key."""
        words = {"apikey": self._key, "query": query, "index": {self._index}, "start": start, "size": size}
        request = self._models[0](**words, explain=False, minimal=False, search_method="default")
        return {"method": "POST", "data": request.model_dump_json().encode()}

    def _read(self, sent: bytes) -> Answer:
        results = self._models[1].model_validate_json(sent).results
        return [(each.trec_id, each.score) for each in results], 0


def _models() -> tuple[Any, Any]:
    """The client's models of what is asked and what is answered."""
    try:
        from chatnoir_api.v1.model import Request, SearchResponse
    except ImportError as error:
        problem = "the client of ChatNoir is not installed"
        raise NotInstalledError(f"{problem}; get it with: {installing('chatnoir')}") from error

    class AnyPage(Request, frozen=True, serialize_by_alias=True):
        """The client asks for the first page only, as it sends ``start`` for what is called ``from``."""

    return AnyPage, SearchResponse
