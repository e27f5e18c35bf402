"""ChatNoir (Bevendorff et al. 2018): a first query matches web pages, and a second one scores the best."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from touche import Documents, ParameterError, Rankings, Topic, Topics, baseline, parse_as_in_2020, scan

from .api import rankings as api_rankings
from .engine.explain import explanation
from .engine.fields import SETTINGS
from .engine.filters import find_spam, warn_of_statistics
from .engine.match import Collecting, Search
from .engine.query import Combined, Label, Phrase, Query, Syntax, all_of, any_of, boosted, without_operators
from .engine.rescore import Collection, grouped, scored

FACTOR = SETTINGS["bm25"]["k1"] + 1  # in Elasticsearch's BM25, but not in Lucene's


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
        each page of ten. By default, results are in the order of their scores, as in the published runs.
    api: query ChatNoir itself, without documents; you get today's answers. The key is read from
        CHATNOIR_API_KEY. If the input contains candidates, only candidates among ChatNoir's best results are
        ranked.
    cache_days: request a stored answer of --api again after this many days.
    explain: a topic and a page; prints the parts of the page's score.
    depth: number of pages per topic.
    """
    if api:
        if documents.statistics or (year, model, match, *explain) != ("2020", "fields", "all", "", ""):
            problem = "omit --year, --model, --match, --explain and files of statistics"
            raise ParameterError(f"with --api, ChatNoir itself ranks; {problem}")
        yield from ranked_by_chatnoir(topics, depth, cache_days, group_by_host)
        return
    explained_topic, explained_page = explain
    if explained_topic and explained_topic not in [topic.number for topic in topics]:
        raise ParameterError(f"explain = {' '.join(explain)}: the input has no topic {explained_topic}")
    method = Method(SETTINGS[year], model, parse_share(match))
    pages = documents.parsed_by(parse_as_in_2020) if year == "2020" else documents
    collecting = method.collecting(topics, explained_page)
    collection = Collection.read(pages, collecting)
    warn_of_statistics(documents, collection, method.settings["statistics"])
    spam = find_spam(documents, collection)
    best = collection.best(spam, method.settings["window"])  # for the first query; the second scores them
    for topic, search, hits in zip(topics, collecting.searches, best, strict=True):
        if explained_topic == topic.number:
            print(explanation(documents, collection, method.settings, search, hits, explained_page))
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

    def _in_any_field(self, topic: Topic, share: float) -> Query:
        """Returns a query that requires a share of the title's tokens, each in any field."""
        equal_boosts = dict.fromkeys(self.settings["boosts"], FACTOR)
        return Syntax(equal_boosts, self._terms).query(topic.title, share)

    def _bonuses(self, kind: str) -> dict[str, Query]:
        """Returns the queries that add points to pages with a property, by the property's name."""
        return {name: boosted(Label(name), points) for name, points in self.settings[kind].items()}

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

    def collecting(self, topics: Topics, explained: str = "") -> Collecting:
        """Returns what to collect from the pages; ``explained`` is the explained page's id, or empty."""
        searches = [
            Search(
                first_query=self.first_query(topic),
                second_query=self.second_query(topic),
                parts=self.parts(topic),
                among=topic.candidates,
            )
            for topic in topics
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

    def _terms(self, field: str, text: str) -> list[str]:
        """Returns a text's terms, using a field's analysis."""
        return scan.analysis_named(self.analyses[field]).terms(text)


def parse_share(match: str) -> float:
    """Parses ``all`` or a percentage; returns the share of tokens that have to match."""
    if match == "all":
        return 1.0
    percentage = re.fullmatch("(100|[1-9][0-9]?)%", match)
    if percentage is None:
        raise ParameterError(f"match = {match} is not a share; write all, or a share from 1% to 100%")
    return int(percentage[1]) / 100


def ranked_by_chatnoir(topics: Topics, depth: int, cache_days: float, group_by_host: bool) -> Rankings:
    """Queries ChatNoir itself, whose answers are grouped by host; their scores aren't in this order."""
    for topic, results in api_rankings(topics, depth, cache_days):
        if group_by_host:
            results = [(id, float(len(results) - rank)) for rank, (id, _) in enumerate(results)]
        yield topic, results
