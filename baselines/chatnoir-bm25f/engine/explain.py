"""Explain: the parts of a page's score, which ``--explain`` prints."""

from collections.abc import Iterable, Mapping
from typing import Any

from touche import Documents, ParameterError

from .filters import SPAM_RANKS
from .match import Search
from .query import Query
from .rescore import Collection, Hit

PAGE_RANKS = "page-ranks.txt"


def explanation(
    documents: Documents,
    collection: Collection,
    settings: Mapping[str, Any],
    search: Search,
    hits: Iterable[Hit],
    id: str,
) -> str:
    """Returns the parts of a page's score, and below each part its terms or its phrase.

    Args:
        documents: the collection, whose side files contain the page's spam rank and page rank.
        collection: the pages that match a topic, and the explained page.
        settings: a year's settings in chatnoir.toml.
        search: the topic's queries.
        hits: the topic's best pages.
        id: the page's id.
    """
    scoring = collection.page(id)
    if scoring is None:
        raise ParameterError(f"explain: page {id} is missing, or cannot be parsed")

    def score(query: Query) -> float:
        """Returns the page's score, 0 if it doesn't match."""
        _, scores = scoring.scored(query)  # one score, or an empty array
        return float(sum(scores))

    first_scores = {hit.id: hit.first_score for hit in hits}
    removal_reason = scoring.matching.pages.rows[0].removal_reason  # of the only page
    (is_match,) = scoring.matching.matches(search.first_query)
    if id in first_scores:
        state = "matches"
    elif removal_reason:
        state = f"is {removal_reason}"
    elif is_match:
        state = "matches, but is spam, no candidate, or not among the best pages"
    else:
        state = "does not match"
    spam_rank = side_score(documents, SPAM_RANKS, id)
    page_rank = side_score(documents, PAGE_RANKS, id)
    # The parts add nothing to a page that the second query does not match.
    weight = settings["rescore_weight"] if score(search.second_query) else 0.0
    lines = [
        f"{id}: {state} (spam rank {spam_rank}, page rank {page_rank})",
        f"{'first query':20} {first_scores.get(id, 0.0):10.4f} x {settings['match_weight']}",
    ]
    for name, part in search.parts.items():
        lines.append(f"{name:20} {score(part):10.4f} x {weight}")
        lines += [f"  {line}" for line in scoring.explained(part)]
    return "\n".join(lines)


def side_score(documents: Documents, name: str, id: str) -> float | str:
    """Returns a page's score in a side file, or ``unknown``."""
    return documents.side_scores(name, {id}).get(id, "unknown")
