"""ChatNoir's own search API, version 1, with the models of its official client."""

import logging
import os
from typing import Any

from fields import NUMBERS

from touche import SearchEngine, ToucheError, first_of_each, imported

KEY = "CHATNOIR_API_KEY"  # in the environment
_URL = "https://www.chatnoir.eu/api/v1/_search"
_KEYS = "request a key at https://www.chatnoir.eu/apikey/"
_ADVICE = {401: f"{KEY} is not a valid key; {_KEYS}", 403: "this machine is blocked; write to its admins"}
_PER_PAGE = 100  # results

Results = list[tuple[str | None, float]]  # ids and scores; an id may be missing

_log = logging.getLogger("touche.chatnoir")  # the command line shows the loggers below touche


class ChatNoir:
    """A connection to ChatNoir, or to the address in ``CHATNOIR_URL``; warns of differences from 2020.

    Args:
        is_cached, keep_days: whether answers are cached, and for how many days.

    Raises:
        ToucheError: if the environment has no key, or the client is not installed.
    """

    def __init__(self, *, is_cached: bool = True, keep_days: float = 7) -> None:
        self._key = os.environ.get(KEY, "")
        self._engine = SearchEngine(
            name="ChatNoir",
            variable="CHATNOIR_URL",
            address=_URL,
            is_cached=is_cached,
            keep_days=keep_days,
            advice=_ADVICE,
        )
        if not self._key:
            raise ToucheError(f"{KEY} is not set; {_KEYS}")
        self._request_model, self._response_model = _models()
        today = NUMBERS["today"]
        # The first query finds pages, and the second one scores them.
        todays_query = (
            f"{today['rescore_share']:.0%} of the tokens match in the second query, "
            f"whose weight is {today['rescore_weight']}"
        )
        _log.warning(
            "%s ranks with today's query (%s) and index, not those of 2020 and 2021",
            self._engine.address,
            todays_query,
        )

    def search(self, query: str, depth: int, among: frozenset[str] | None = None) -> list[tuple[str, float]]:
        """Returns ids and scores of the best results; if ``among`` is not None, only those with its ids.

        Raises:
            ToucheError: if ChatNoir refuses the key, is unreachable, or sends no results.
        """
        results: Results = []
        for start in range(0, depth, _PER_PAGE):
            size = min(_PER_PAGE, depth - start)
            page = self._engine.results(query, self._request(query, start, size), self._read)
            results += page
            if len(page) < _PER_PAGE:  # the last page
                break
        return first_of_each(results, among)

    def _request(self, query: str, start: int, size: int) -> dict[str, Any]:
        """Returns the request for ``size`` results from index ``start``; the cache does not store the key."""
        request = self._request_model(
            apikey=self._key,
            query=query,
            index={"clueweb12"},  # the client's name of the index
            start=start,
            size=size,
            explain=False,
            minimal=False,
            search_method="default",
        )
        headers = {"Content-Type": "application/json"}
        return {"method": "POST", "data": request.model_dump_json().encode(), "headers": headers}

    def _read(self, content: bytes) -> tuple[Results, int]:
        """Returns the results in an answer, and 0 for the number of missing results, which is not checked."""
        results = self._response_model.model_validate_json(content).results
        return [(result.trec_id, result.score) for result in results], 0


def _models() -> tuple[Any, Any]:
    """Returns the client's models of requests and answers."""
    imported("chatnoir_api", "apis")  # raises an error with the command that installs it
    from chatnoir_api.v1.model import Request, SearchResponse

    class RequestForAnyPage(Request, frozen=True, serialize_by_alias=True):
        """A request with the number of the first result, so that it can be for any page of results.

        ChatNoir's name of this number is ``from``, a keyword of Python. The client's model has it as
        ``start``, with the alias ``from``. Without aliases, ChatNoir always returns the first page.
        """

    return RequestForAnyPage, SearchResponse
