"""The API of args.me, version 2 (https://www.args.me/api-en.html)."""

import logging
from functools import partial
from typing import Any

import orjson

from touche import SearchEngine, first_of_each

_URL = "https://www.args.me/api/v2/arguments"
_FIELDS = "totalSize,arguments.id,arguments.explanation.score"  # the texts are not needed

_log = logging.getLogger("touche.argsme")  # the command line shows the loggers below touche


class ArgsMe:
    """A connection to args.me, or to the address in ``ARGSME_URL``; warns of differences from 2021.

    Args:
        is_cached, keep_days: whether answers are cached, and for how many days.
    """

    def __init__(self, *, is_cached: bool = True, keep_days: float = 7) -> None:
        self._engine = SearchEngine(
            name="args.me", variable="ARGSME_URL", address=_URL, is_cached=is_cached, keep_days=keep_days
        )
        _log.warning("%s ranks with today's index and method, not those of 2021", self._engine.address)

    def search(self, query: str, depth: int, among: frozenset[str] | None = None) -> list[tuple[str, float]]:
        """Returns ids and scores of the best arguments; if ``among`` is not None, only those with its ids.

        A repeated id counts once, at its best rank. If a result has no score, scores only express the order.

        Raises:
            ToucheError: if args.me refuses, is unreachable, or sends no results.
        """
        parameters = {"query": query, "pageSize": str(depth), "format": "json", "fields": _FIELDS}
        request = {"method": "GET", "params": parameters}
        return first_of_each(self._engine.results(query, request, partial(_read, depth)), among)


def _read(depth: int, content: bytes) -> tuple[list[tuple[str, float]], int]:
    """Parses an answer to a request of the ``depth`` best arguments.

    Returns:
        The ids and scores of the results, and how many of the requested results exist but were not sent.

    Raises:
        KeyError: if the results, an id or the total number of results are missing.
        ValueError: if an id is null, or the total is negative.
    """
    answer = orjson.loads(content)
    total = int(answer["totalSize"])
    ids = [argument["id"] for argument in answer["arguments"]]
    scores = [_score(argument.get("explanation")) for argument in answer["arguments"]]
    if None in ids or total < 0:
        raise ValueError("a result whose id is null, or a negative total")
    if None in scores:  # the new scores only express the order
        scores = [float(len(ids) - rank) for rank in range(len(ids))]
    return list(zip(ids, scores, strict=True)), min(depth, total) - len(ids)


def _score(explanation: Any) -> Any:
    """Returns the score in a result's explanation; None without an explanation, or without a score in it."""
    return None if explanation is None else explanation.get("score")
