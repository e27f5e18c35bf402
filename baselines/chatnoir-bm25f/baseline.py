"""ChatNoir (Bevendorff et al. 2018): web pages in fields, matched by all tokens and scored again by BM25."""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from api import ChatNoir
from collecting import NO_LANGUAGE, PAGES, Wanted
from queries import All, Combined, Labelled, Phrase, Query, Some, boosted, plain
from ranking import Asked, Collected, Hit
from titles import Syntax, wanted
from webpages import FILTERS, FOREIGN, NUMBERS, SHORT

from touche import Documents, Rankings, Topics, baseline
from touche.collection.documents import PAGE_RANKS, SPAM_RANKS
from touche.errors import ParameterError
from touche.formats.side_files import read_scores
from touche.formats.topics import Topic
from touche.scan.tokens import analysis_named
from touche.web.extraction import parse_as_in_2020

if TYPE_CHECKING:
    from by_lucene import ByLucene

FACTOR = NUMBERS["bm25"]["k1"] + 1  # of BM25 in Elasticsearch; Lucene has dropped it
PER_PAGE = 10  # results

_log = logging.getLogger("touche.chatnoir")  # below the one that the command line shows


@baseline(needs_documents=False)  # for ChatNoir has its own
def chatnoir_bm25f(
    topics: Topics,
    documents: Documents,
    *,
    year: Literal["2020", "today"] = "2020",
    model: Literal["fields", "bm25f"] = "fields",
    match: str = "all",
    group_by_host: bool = False,
    api: bool = False,
    explain: tuple[str, str] = ("", ""),
    depth: int = 1000,
    engine: Literal["scan", "lucene"] = "scan",
) -> Rankings:
    """Ranks web pages as ChatNoir does: all tokens must match, and a second query scores what did.

    The score of a page is the sum over its fields of weight times BM25, plus phrases in title and main
    content, plus bonuses for Wikipedia and for short paths. Pages in other languages, with too little main
    content or with a bad spam rank are left out.

    year: the query and the pages' fields as of 2020 and 2021, or as of later.
    model: that sum; or textbook BM25F, which is the papers' word for it and not what ChatNoir does; the
        README says how far each is from ChatNoir's real order, and where that was measured.
    match: all tokens of the title, or a share of them such as 30%.
    group_by_host: whether results are in the order of ChatNoir's result pages, ten at a time with those of a
        host together; what was published is in the order of the scores.
    api: whether ChatNoir itself is asked, as it answers today; the key is in CHATNOIR_API_KEY, and no
        documents are needed. Of candidates those are ranked that are among its best results.
    explain: a topic and a page; the parts of its score are printed.
    depth: how many pages are returned per topic.
    engine: scan computes the formulas as they stand here; lucene has Lucene rank, which takes longer.
    """
    if api:
        if (year, model, match, any(explain), engine) != ("2020", "fields", "all", False, "scan"):
            problem = "leave --year, --model, --match, --explain and --engine out"
            raise ParameterError(f"with --api ChatNoir ranks; {problem}")
        yield from asked(topics, depth, group_by_host)
        return
    if explain[0] and explain[0] not in [topic.number for topic in topics]:
        raise ParameterError(f"explain = {' '.join(explain)}: there is no topic {explain[0]}")
    method = Method(NUMBERS[year], model, share_of(match))
    questions = [method.asked(topic) for topic in topics]
    pages = documents.parsed_by(parse_as_in_2020) if year == "2020" else documents
    with ExitStack() as open_index:
        if engine == "lucene":
            from by_lucene import ByLucene  # here, because it needs Java

            titles = [topic.title for topic in topics]
            lucene = ByLucene(pages, method.analyses, questions, titles)
            found: Collected | ByLucene = open_index.enter_context(closing(lucene))
        else:
            found = Collected.of(pages, questions, method.wanted(topics, explain[1]))
        spam = spam_of(documents, found)
        for topic, hits in zip(topics, found.best(spam, method.numbers["window"]), strict=True):
            if explain[0] == topic.number:
                print(explanation(documents, found, method, topic, hits, explain[1]))
            ranked = scored(hits, method.numbers)[:depth]
            yield topic, grouped(ranked) if group_by_host else [(hit.id, score) for hit, score in ranked]


@dataclass(frozen=True)
class Method:
    """What is asked of pages.

    Attributes:
        numbers: those of a year.
        model: ``fields`` or ``bm25f``.
        share: of the tokens that have to match.
    """

    numbers: Mapping[str, Any]
    model: str
    share: float

    def asked(self, topic: Topic) -> Asked:
        """The two queries for a topic."""
        return Asked(plain(self.first(topic)), plain(self.second(topic)), topic.candidates)

    def first(self, topic: Topic) -> Query:
        """The query that matches: so many of the title's tokens, each in some field, and all fields alike."""
        bonuses = bonuses_of(self.numbers["match_bonuses"])
        return All((self.anywhere(topic, self.share),), extra=tuple(bonuses.values()))

    def second(self, topic: Topic) -> Query:
        """The query that scores: the sum of the parts, if so many tokens match as have to."""
        share = self.numbers["rescore_share"]
        filters = (self.anywhere(topic, share),) if share else ()
        return All((Some(tuple(self.parts(topic).values())),), filters=filters)

    def anywhere(self, topic: Topic, share: float) -> Query:
        """A query for a share of the title's tokens."""
        return self._syntax(dict.fromkeys(self.numbers["boosts"], FACTOR)).query(topic.title, share)

    def parts(self, topic: Topic) -> dict[str, Query]:
        """The parts of the sum, by name."""
        return self._parts_of_bm25f(topic) if self.model == "bm25f" else self._parts_of_fields(topic)

    def _parts_of_fields(self, topic: Topic) -> dict[str, Query]:
        """BM25 in each field, the title as a phrase, bonuses."""
        title = wanted(topic.title)
        fields = {
            name: self._syntax({name: FACTOR * boost}).query(title, share=0)
            for name, boost in self.numbers["boosts"].items()
        }
        phrases = {
            f"phrase in {name}": boosted(self._phrase(name, title), FACTOR * boost)
            for name, boost in self.numbers["phrases"].items()
            if len(self._terms(name, title)) > 1
        }
        return fields | phrases | bonuses_of(self.numbers["bonuses"])

    def _parts_of_bm25f(self, topic: Topic) -> dict[str, Query]:
        """BM25F (Robertson et al. 2004) of each token: frequencies and lengths are summed over fields first.

        The overviews of Touché call ChatNoir's method so; ChatNoir sums the scores of its fields instead.
        """
        weights = NUMBERS["bm25f"]
        tokens = Counter(self._terms(next(iter(weights)), wanted(topic.title)))
        return {term: boosted(Combined(term, tuple(weights.items())), n) for term, n in tokens.items()}

    def wanted(self, topics: Topics, explained: str) -> Wanted:
        """What pages are read for, and the page that is looked at closely."""
        queries = [each for topic in topics for each in (self.first(topic), self.second(topic))]
        parts = [each for topic in topics for each in self.parts(topic).values()]
        return Wanted(self.analyses, [plain(each) for each in queries[::2]], queries + parts, explained)

    @property
    def analyses(self) -> dict[str, str]:
        """The analysis of each field; those over which frequencies are summed have one."""
        others = self.numbers["analyzers"]
        summed = NUMBERS["bm25f"] if self.model == "bm25f" else {}
        return {
            name: "plural" if name in summed else others.get(name, "plural")
            for name in self.numbers["boosts"]
        }

    def _syntax(self, boosts: Mapping[str, float]) -> Syntax:
        return Syntax(boosts, self._terms)

    def _terms(self, field: str, text: str) -> list[str]:
        return analysis_named(self.analyses[field]).terms(text)

    def _phrase(self, field: str, title: str) -> Query:
        return Phrase(field, tuple(self._terms(field, title)), NUMBERS["phrase"]["slop"])


def scored(hits: Iterable[Hit], numbers: Mapping[str, Any]) -> list[tuple[Hit, float]]:
    """The pages of the first query with the weighted scores of both, best first."""
    weights = numbers["match_weight"], numbers["rescore_weight"]
    scores = [(hit, weights[0] * hit.first + weights[1] * hit.second) for hit in hits]
    return sorted(scores, key=lambda each: (each[1], each[0].id), reverse=True)


def grouped(ranked: Sequence[tuple[Hit, float]]) -> list[tuple[str, float]]:
    """A ranking as ChatNoir showed it: on each page of ten, results of a host follow the best of them.

    The scores only keep the order, since it is no longer that of the original ones.
    """
    shown: list[str] = []
    for start in range(0, len(ranked), PER_PAGE):
        hosts: dict[str, list[str]] = {}
        for hit, _ in ranked[start : start + PER_PAGE]:
            hosts.setdefault(hit.host or hit.id, []).append(hit.id)
        shown += [id for group in hosts.values() for id in group]
    return [(id, float(len(shown) - rank)) for rank, id in enumerate(shown)]


def asked(topics: Topics, depth: int, as_shown: bool) -> Rankings:
    """What ChatNoir itself answers: by its scores, or in the order in which it shows the results."""
    chatnoir = ChatNoir()
    chatnoir.tell()
    for topic in topics:
        found = chatnoir.search(topic.title, depth, topic.candidates)
        shown = [(id, float(len(found) - rank)) for rank, (id, _) in enumerate(found)]
        yield topic, shown if as_shown else found


def spam_of(documents: Documents, found: "Collected | ByLucene") -> frozenset[str]:
    """The pages with a bad spam rank, of those that match; what filters stop or do not know is told."""
    pages, path = f"of {found.tallies[PAGES]} pages", documents.side_file(SPAM_RANKS)
    tell_stopped(pages, {kind: found.tallies[kind] for kind in (FOREIGN, SHORT)})
    unknown = {"language": found.tallies[NO_LANGUAGE]}
    if path is None:
        tell_missing(pages, unknown | {"spam rank": found.tallies[PAGES]})
        return frozenset()
    ids = found.ids()
    ranks, matching = read_scores(path, ids), f"of {len(ids)} pages that match a title"
    spam = frozenset(id for id, rank in ranks.items() if rank < FILTERS["spam_rank"])
    tell_stopped(matching, {"with a bad spam rank": len(spam)})
    tell_missing(pages, unknown)
    tell_missing(matching, {"spam rank": len(ids) - len(ranks)})
    return spam


def tell_stopped(of: str, counts: Mapping[str, int]) -> None:
    """Says how many pages the filters leave out."""
    if told := [f"{count} {kind}" for kind, count in counts.items() if count]:
        _log.warning("%s the filters leave out %s", of, ", ".join(told))


def tell_missing(of: str, counts: Mapping[str, int]) -> None:
    """Says how many pages the filters pass for want of knowledge."""
    if told := [f"the {name} of {count}" for name, count in counts.items() if count]:
        _log.warning("%s %s are missing, so that they pass the filter", of, " and ".join(told))


def explanation(
    documents: Documents,
    found: "Collected | ByLucene",
    method: Method,
    topic: Topic,
    hits: Iterable[Hit],
    id: str,
) -> str:
    """What is known of a page, and the parts of its score, one a line."""
    page = found.page(id)
    if page is None:
        raise ParameterError(f"explain: there is no page {id}, or it could not be parsed")
    first = {hit.id: hit.first for hit in hits}
    stopped = f"is {page.state}" if page.state in (FOREIGN, SHORT) else "does not match"
    spam, rank = (score_of(documents, name, id) for name in (SPAM_RANKS, PAGE_RANKS))
    lines = [f"{id}: {'matches' if id in first else stopped} (spam rank {spam}, page rank {rank})"]
    lines += [f"{'first query':20} {first.get(id, 0.0):10.4f} x {method.numbers['match_weight']}"]
    weight = method.numbers["rescore_weight"] if page.score(method.second(topic)) else 0.0
    parts = method.parts(topic).items()
    return "\n".join([*lines, *(f"{name:20} {page.score(query):10.4f} x {weight}" for name, query in parts)])


def score_of(documents: Documents, name: str, id: str) -> float | str:
    """The score of a page in a side file."""
    path = documents.side_file(name)
    return (read_scores(path, {id}) if path else {}).get(id, "unknown")


def bonuses_of(points: Mapping[str, float]) -> dict[str, Query]:
    """What pages earn for being what they are."""
    return {name: boosted(Labelled(name), each) for name, each in points.items()}


def share_of(match: str) -> float:
    """The share of the tokens that have to match."""
    found = re.fullmatch("(100|[1-9][0-9]?)%", "100%" if match == "all" else match)
    if found is None:
        raise ParameterError(f"match = {match}: write all, or a share from 1% to 100%")
    return int(found[1]) / 100
