"""args.me's API, version 2 (https://www.args.me/api-en.html)."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import orjson

from touche import SearchEngine, Topic, Topics, first_of_each

_FIELDS = "totalSize,arguments.id,arguments.explanation.score"  # we don't need the texts


def rankings(
    topics: Topics, depth: int, cache_days: float
) -> Iterator[tuple[Topic, list[tuple[str, float]]]]:
    """Yields the ids and scores of args.me's best arguments, or those at the address in ``ARGSME_URL``.

    A repeated id counts once, at its best rank. If a score is missing, scores only express the order.

    Raises:
        ToucheError: if args.me refuses, is unreachable, or sends no results.
    """
    engine = SearchEngine(
        name="args.me",
        variable="ARGSME_URL",
        address="https://www.args.me/api/v2/arguments",
        difference="ranks with today's index and method, not those of 2021",
        keep_days=cache_days,
    )
    for topic in topics:
        params = {"query": topic.title, "pageSize": str(depth), "format": "json", "fields": _FIELDS}
        results = engine.results(topic.title, partial(_read, depth), params=params)
        yield topic, first_of_each(results, topic.candidates)


def _read(depth: int, content: bytes) -> tuple[list[tuple[str, float]], int]:
    """Parses the answer to a request for the ``depth`` best arguments.

    Returns:
        The results' ids and scores, and how many of the requested results exist but weren't sent.

    Raises:
        KeyError: if the results, an id or the total number of results are missing.
        ValueError: if an id is null, or the total is negative.
    """
    answer = orjson.loads(content)
    total = int(answer["totalSize"])
    ids = [argument["id"] for argument in answer["arguments"]]
    scores: list[Any] = [(argument.get("explanation") or {}).get("score") for argument in answer["arguments"]]
    if None in ids or total < 0:
        raise ValueError("a result whose id is null, or a negative total")
    if None in scores:  # the new scores only express the order
        scores = [float(len(ids) - rank) for rank in range(len(ids))]
    return list(zip(ids, scores, strict=True)), min(depth, total) - len(ids)
