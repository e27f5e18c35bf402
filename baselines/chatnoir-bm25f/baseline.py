"""ChatNoir (Bevendorff et al. 2018): web pages in fields; a second query scores the pages with all tokens."""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from touche import Documents, ParameterError, Rankings, Topic, Topics, baseline, parse_as_in_2020, scan

from .api import rankings as api_rankings
from .fields import FILTERS, FOREIGN, SETTINGS, SHORT
from .match import NO_LANGUAGE, PAGES, Collecting, Search
from .query import Combined, Label, Phrase, Query, Syntax, all_of, any_of, boosted, without_operators
from .rescore import Collection, Hit, grouped, scored

FACTOR = SETTINGS["bm25"]["k1"] + 1  # in Elasticsearch's BM25, but not in Lucene's
SPAM_RANKS = "spam-ranks.txt"
PAGE_RANKS = "page-ranks.txt"

_log = logging.getLogger("touche.chatnoir")  # the command line shows the loggers below touche


@baseline(needs_documents=False)  # --api needs none
def chatnoir_bm25f(
    topics: Topics,
    documents: Documents,
    *,
    year: Literal["2020", "today"] = "2020",
    model: Literal["fields", "bm25f"] = "fields",
    match: str = "all",
    group_by_host: bool = False,
    api: bool = False,
    cache_days: float = 7,
    explain: tuple[str, str] = ("", ""),
    depth: int = 1000,
) -> Rankings:
    """Ranks web pages like ChatNoir: all tokens must match, and a second query scores the matching pages.

    A page's score is a sum of three parts: the weighted BM25 of its fields, the BM25 of the query as a phrase
    in title and main content, and bonuses for Wikipedia and for short paths. Filters remove pages in other
    languages, with little main content or with a bad spam rank. If you only have a part of ClueWeb12, add
    --statistics clueweb12-2020 or clueweb12-2021, for that year's official topics. These statistics were
    fitted to ChatNoir's scores.

    year: 2020 for the query and fields of 2020 and 2021, today for the later ones.
    model: fields for the sum above, or bm25f for textbook BM25F, which the papers name. ChatNoir doesn't use
        textbook BM25F; the README compares both with ChatNoir's real order.
    match: how much of the title must match: all for all tokens, or a share of them such as 30%.
    group_by_host: use the order of ChatNoir's result pages, where the results of one host are together on
    each
        page of ten. By default, results are in the order of their scores, as in the published runs.
    api: query ChatNoir itself, without documents; you get today's answers. The key is read from
        CHATNOIR_API_KEY. If the input contains candidates, only candidates among ChatNoir's best results are
        ranked.
    cache_days: request a stored answer of --api again after this many days.
    explain: a topic and a page; prints the parts of the page's score.
    depth: number of pages per topic.
    """
    explained_topic, explained_page = explain
    if api:
        has_defaults = year == "2020" and model == "fields" and match == "all" and not any(explain)
        if documents.statistics or not has_defaults:
            problem = "omit --year, --model, --match, --explain and files of statistics"
            raise ParameterError(f"with --api, ChatNoir itself ranks; {problem}")
        for topic, results in api_rankings(topics, depth, cache_days):
            if group_by_host:  # ChatNoir groups its answers, but their scores aren't in this order
                results = [(id, float(len(results) - rank)) for rank, (id, _) in enumerate(results)]
            yield topic, results
        return
    if explained_topic and explained_topic not in [topic.number for topic in topics]:
        raise ParameterError(f"explain = {' '.join(explain)}: the input has no topic {explained_topic}")
    method = Method(SETTINGS[year], model, parse_share(match))
    pages = documents.parsed_by(parse_as_in_2020) if year == "2020" else documents
    collection = Collection.read(pages, method.collecting(topics, explained_page))
    warn_of_statistics(documents, collection, method.settings["statistics"])
    spam = find_spam(documents, collection)
    best = collection.best(spam, method.settings["window"])  # the pages that the second query scores
    for topic, hits in zip(topics, best, strict=True):
        if explained_topic == topic.number:
            print(explanation(documents, collection, method, topic, hits, explained_page))
        ranked = scored(hits, method.settings)[:depth]
        yield topic, grouped(ranked) if group_by_host else [(hit.id, score) for hit, score in ranked]


@dataclass(frozen=True)
class Method:
    """Turns titles into two queries: the first one selects pages, and the second one scores them.

    Attributes:
        settings: a year's settings in chatnoir.toml.
        model: ``fields`` or ``bm25f``.
        share: the share of tokens that must match.
    """

    settings: Mapping[str, Any]
    model: str
    share: float

    def collecting(self, topics: Topics, explained: str = "") -> Collecting:
        """Returns what to collect from the pages; ``explained`` is the explained page's id, or empty."""
        searches = [
            Search(self.first_query(topic), self.second_query(topic), topic.candidates) for topic in topics
        ]
        return Collecting(
            analyses=self.analyses,
            searches=searches,
            explained=explained,
            length_format=self.settings["lengths"],
        )

    @property
    def analyses(self) -> dict[str, str]:
        """Each field's analysis. BM25F adds up frequencies over fields, so all its fields share one."""
        summed_fields = SETTINGS["bm25f"] if self.model == "bm25f" else {}
        default = self.settings["analyzer"]
        own = self.settings["analyzers"]
        return {
            field: default if field in summed_fields else own.get(field, default)
            for field in self.settings["boosts"]
        }

    def first_query(self, topic: Topic) -> Query:
        """Returns the query that requires a share of the tokens, each in any field, and adds bonuses."""
        return all_of([self._in_any_field(topic, self.share)], extra=self._bonuses("match_bonuses").values())

    def second_query(self, topic: Topic) -> Query:
        """Returns the query that sums up the parts of the score, and requires its own share of the tokens."""
        share = self.settings["rescore_share"]
        filters = [self._in_any_field(topic, share)] if share else []
        return all_of([any_of(self.parts(topic).values())], filters)

    def parts(self, topic: Topic) -> dict[str, Query]:
        """Returns the parts of the sum by name: each field's BM25, phrases and bonuses, or BM25F."""
        title = without_operators(topic.title)  # operators decide which pages match, not their scores
        if self.model == "bm25f":
            return self._bm25f(title)
        parts: dict[str, Query] = {}
        for name, boost in self.settings["boosts"].items():
            # One matching token is enough.
            parts[name] = Syntax({name: FACTOR * boost}, self._terms).query(title, share=0)
        for name, boost in self.settings["phrases"].items():
            phrase = Phrase(name, tuple(self._terms(name, title)), SETTINGS["phrase"]["slop"])
            if len(phrase.terms) > 1:
                parts[f"phrase in {name}"] = boosted(phrase, FACTOR * boost)
        return parts | self._bonuses("bonuses")

    def _bm25f(self, title: str) -> dict[str, Query]:
        """Returns BM25F (Robertson et al. 2004) by term: it sums up frequencies and lengths over the fields.

        Touché's overviews call ChatNoir's method BM25F, but ChatNoir sums up the scores of its fields.
        """
        weights = SETTINGS["bm25f"]
        first_field = next(iter(weights))  # all have the same analysis
        counts = Counter(self._terms(first_field, title))
        return {
            term: boosted(Combined(term, tuple(weights.items())), count) for term, count in counts.items()
        }

    def _in_any_field(self, topic: Topic, share: float) -> Query:
        """Returns a query that requires a share of the title's tokens, each in any field."""
        equal_boosts = dict.fromkeys(self.settings["boosts"], FACTOR)
        return Syntax(equal_boosts, self._terms).query(topic.title, share)

    def _bonuses(self, kind: str) -> dict[str, Query]:
        """Returns the queries that add points to pages with a property, by the property's name."""
        return {name: boosted(Label(name), points) for name, points in self.settings[kind].items()}

    def _terms(self, field: str, text: str) -> list[str]:
        """Returns a text's terms, using a field's analysis."""
        return scan.analysis_named(self.analyses[field]).terms(text)


def warn_of_statistics(documents: Documents, collection: Collection, advised: str) -> None:
    """Warns if statistics come from a small collection, because they decide the order.

    ``advised`` names the statistics to pass instead.
    """
    pages = collection.totals.tallies[PAGES]
    if not documents.statistics and pages < SETTINGS["fewest_pages"]:
        _log.warning(
            "statistics of only %d pages change the order; for official topics pass --statistics %s",
            pages,
            advised,
        )


def find_spam(documents: Documents, collection: Collection) -> frozenset[str]:
    """Returns the matching pages with a bad spam rank; logs what the filters remove or can't test."""
    tallies = collection.totals.tallies
    all_pages = f"{tallies[PAGES]} pages"
    reports = [  # a verb, the number of pages, from which pages, and the reason
        ("removed", tallies[FOREIGN], all_pages, FOREIGN),
        ("removed", tallies[SHORT], all_pages, SHORT),
        ("kept", tallies[NO_LANGUAGE], all_pages, NO_LANGUAGE),
    ]
    spam = frozenset[str]()
    if documents.side_file(SPAM_RANKS):
        ids = collection.ids()
        ranks = documents.side_scores(SPAM_RANKS, ids)
        spam = frozenset(id for id, rank in ranks.items() if rank < FILTERS["spam_rank"])
        matching = f"{len(ids)} pages that match a title"
        reports.append(("removed", len(spam), matching, "bad spam rank"))
        reports.append(("kept", len(ids) - len(ranks), matching, "no spam rank"))
    else:
        reports.append(("kept", tallies[PAGES], all_pages, "no spam rank"))
    for verb, count, pages, reason in reports:
        if count:
            _log.warning("the filters %s %d of %s: %s", verb, count, pages, reason)
    return spam


def explanation(
    documents: Documents, collection: Collection, method: Method, topic: Topic, hits: Iterable[Hit], id: str
) -> str:
    """Returns the parts of a page's score, and below each part its terms or its phrase.

    Args:
        documents: the collection, whose side files contain the page's spam rank and page rank.
        collection: the pages that match a topic, and the explained page.
        method: makes the queries.
        topic: the topic.
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
    (is_match,) = scoring.matching.matches(method.first_query(topic))
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
    weight = method.settings["rescore_weight"] if score(method.second_query(topic)) else 0.0
    lines = [
        f"{id}: {state} (spam rank {spam_rank}, page rank {page_rank})",
        f"{'first query':20} {first_scores.get(id, 0.0):10.4f} x {method.settings['match_weight']}",
    ]
    for name, part in method.parts(topic).items():
        lines.append(f"{name:20} {score(part):10.4f} x {weight}")
        lines += [f"  {line}" for line in scoring.explained(part)]
    return "\n".join(lines)


def side_score(documents: Documents, name: str, id: str) -> float | str:
    """Returns a page's score in a side file, or ``unknown``."""
    return documents.side_scores(name, {id}).get(id, "unknown")


def parse_share(match: str) -> float:
    """Parses ``all`` or a percentage; returns the share of tokens that have to match."""
    if match == "all":
        return 1.0
    percentage = re.fullmatch("(100|[1-9][0-9]?)%", match)
    if percentage is None:
        raise ParameterError(f"match = {match} is not a share; write all, or a share from 1% to 100%")
    return int(percentage[1]) / 100
