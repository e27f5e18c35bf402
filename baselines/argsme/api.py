"""The API of args.me, version 2 (https://www.args.me/api-en.html)."""

import logging
from functools import partial
from typing import Any

import orjson

from touche.search_apis import Answer, Engine, first_of_each

_URL = "https://www.args.me/api/v2/arguments"
_FIELDS = "totalSize,arguments.id,arguments.explanation.score"  # the texts are not needed

_log = logging.getLogger("touche.argsme")  # below the one that the command line shows


class ArgsMe:
    """A connection to args.me, or to the address in ``ARGSME_URL``; warns that its ranking is another one."""

    def __init__(self) -> None:
        self._engine = Engine("args.me", "argsme", "ARGSME_URL", _URL)
        warning = "%s is asked: args.me's index and ranking of today, not those of 2021"
        _log.warning(warning, self._engine.address)

    def search(self, query: str, depth: int, among: frozenset[str] | None = None) -> list[tuple[str, float]]:
        """The ids and scores of the best arguments; of these only candidates where there are candidates.

        An id that is repeated counts where it comes first. Unless each result has a score, the scores say
        nothing but the order.

        Raises:
            ToucheError: if args.me refuses, cannot be reached, or sends no results.
        """
        words = {"query": query, "pageSize": str(depth), "format": "json", "fields": _FIELDS}
        request = {"method": "GET", "params": words}
        return first_of_each(self._engine.results(query, (depth,), request, partial(_read, depth)), among)


def _read(depth: int, sent: bytes) -> Answer:
    """An answer with its own word for how many results there are: without that it may be cut short."""
    answer = orjson.loads(sent)
    total = int(answer["totalSize"])
    ids = [each["id"] for each in answer["arguments"]]
    scores = [_score(each.get("explanation")) for each in answer["arguments"]]
    if None in ids or total < 0:
        raise ValueError("a result without an id, or fewer than none")
    if None in scores:
        scores = [float(len(ids) - place) for place in range(len(ids))]
    return list(zip(ids, scores, strict=True)), min(depth, total) - len(ids)


def _score(explanation: Any) -> Any:
    return None if explanation is None else explanation.get("score")
