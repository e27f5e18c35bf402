"""ChatNoir's search API, version 1, using its official client's models."""

import json
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

from touche import SearchEngine, Topic, Topics, ToucheError, first_of_each, imported

KEY = "CHATNOIR_API_KEY"  # environment variable
_KEYS = "request a key at https://www.chatnoir.eu/apikey/"
_PER_PAGE = 100  # results


def rankings(
    topics: Topics, depth: int, cache_days: float
) -> Iterator[tuple[Topic, list[tuple[str, float]]]]:
    """Yields the ids and scores of ChatNoir's best pages, or those at the address in ``CHATNOIR_URL``.

    Raises:
        ToucheError: if the environment has no key, the client isn't installed, or ChatNoir refuses the key,
            is unreachable, or sends no results.
    """
    models = imported("chatnoir_api.v1.model", "apis")
    key = os.environ.get(KEY, "")
    if not key:
        raise ToucheError(f"{KEY} is not set; {_KEYS}")
    engine = SearchEngine(
        name="ChatNoir",
        variable="CHATNOIR_URL",
        address="https://www.chatnoir.eu/api/v1/_search",
        difference="ranks with today's query and index, not those of 2020 and 2021",
        advice=f"check {KEY}, or {_KEYS}",
        keep_days=cache_days,
        secret={"apikey": key},
    )
    for topic in topics:
        yield topic, first_of_each(_results(engine, models, topic.title, depth), topic.candidates)


def _results(engine: SearchEngine, models: Any, query: str, depth: int) -> Iterator[tuple[str | None, float]]:
    """Yields the best results' ids and scores, page by page; an id can be missing."""
    for start in range(0, depth, _PER_PAGE):
        request = models.Request(
            apikey="",  # ``engine`` has it
            query=query,
            index={"clueweb12"},  # the client's name for the index
            start=start,
            size=min(_PER_PAGE, depth - start),
            explain=False,
            minimal=False,
            search_method="default",
        )
        # ChatNoir calls the start ``from``, an alias in the client's model.
        body = json.loads(request.model_dump_json(by_alias=True))
        page = engine.results(query, partial(_read, models.SearchResponse), body=body)
        yield from page
        if len(page) < _PER_PAGE:  # the last page
            return


def _read(response: Any, content: bytes) -> tuple[list[tuple[str | None, float]], int]:
    """Returns an answer's results, and 0 for the number of missing results, which we don't check."""
    results = response.model_validate_json(content).results
    return [(result.trec_id, result.score) for result in results], 0
