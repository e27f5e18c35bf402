"""ChatNoir (Bevendorff et al. 2018): web pages in fields, matched by all tokens and scored again by BM25."""

import re
import tomllib
from functools import partial
from pathlib import Path
from typing import Any, Literal

from api import ChatNoir
from crawl import Crawl

from touche import Documents, Rankings, Topics, baseline
from touche.errors import ParameterError
from touche.formats.topics import Topic
from touche.lucene import Index, all_of, any_of, bm25, having_id, index, labelled, wanted
from touche.tira.inputs import SIDE_FILES, SPAM_RANKS
from touche.web.page import Page

NUMBERS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "chatnoir.toml").read_text(encoding="utf-8"))
FILTERS = NUMBERS["filters"]
FACTOR = NUMBERS["bm25"]["k1"] + 1  # of BM25 in Elasticsearch; Lucene has dropped it
PASSES, FOREIGN, SHORT = "passes", "in another language", "with too little main content"


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
        documents are needed.
    explain: a topic and a page; the parts of its score are printed.
    depth: how many pages are returned per topic.
    """
    if api:
        if (year, model, match, any(explain)) != ("2020", "fields", "all", False):
            raise ParameterError(
                "with --api ChatNoir ranks; leave --year, --model, --match and --explain out"
            )
        yield from asked(topics, depth, group_by_host)
        return
    if explain[0] and explain[0] not in [topic.number for topic in topics]:
        raise ParameterError(f"explain = {' '.join(explain)}: there is no topic {explain[0]}")
    numbers, share = NUMBERS[year], share_of(match)
    crawl = Crawl(documents, in_2020=year == "2020")
    parts_of = parts_of_bm25f if model == "bm25f" else partial(parts_of_fields, numbers=numbers)
    summed = NUMBERS["bm25f"] if model == "bm25f" else {}  # fields over which a token's frequencies are
    analyzers = {name: other for name, other in numbers["analyzers"].items() if name not in summed}
    with index_of(crawl, [topic.title for topic in topics], numbers, analyzers) as pages:
        spam = spam_of(crawl, pages)
        for topic in topics:
            matched = matching(pages, topic, share, spam, numbers)
            parts = parts_of(pages, topic)
            second = second_query(pages, topic, parts, numbers)
            ranked = scored(pages, matched, second, numbers)[:depth]
            if explain[0] == topic.number:
                print(explanation(crawl, pages, explain[1], parts, matched, second, numbers))
            yield topic, crawl.grouped([id for id, _ in ranked]) if group_by_host else ranked


def matching(
    pages: Index, topic: Topic, share: float, spam: list[str], numbers: dict[str, Any]
) -> dict[str, float]:
    """The first query: the pages that pass the filters and have the title's tokens, with their scores."""
    filters = [labelled("filter", PASSES)]
    if topic.candidates is not None:
        filters.append(having_id(topic.candidates))
    bonuses = bonuses_of(numbers["match_bonuses"]).values()
    words = anywhere(pages, topic, share, numbers)
    query = all_of([words], filters=filters, without=[having_id(spam)], extra=bonuses)
    return dict(pages.run(query, numbers["window"]))


def second_query(pages: Index, topic: Topic, parts: dict[str, Any], numbers: dict[str, Any]) -> Any:
    """What scores the pages of the first query: the sum of the parts, if so many tokens match as have to."""
    share = numbers["rescore_share"]
    return all_of([any_of(parts.values())], filters=[anywhere(pages, topic, share, numbers)] if share else [])


def scored(
    pages: Index, matched: dict[str, float], second: Any, numbers: dict[str, Any]
) -> list[tuple[str, float]]:
    """The pages of the first query with the weighted scores of both, best first."""
    again = dict(pages.run(all_of([second], filters=[having_id(matched)]), numbers["window"]))
    scores = [
        (id, numbers["match_weight"] * score + numbers["rescore_weight"] * again.get(id, 0.0))
        for id, score in matched.items()
    ]
    return sorted(scores, key=lambda hit: (hit[1], hit[0]), reverse=True)


def asked(topics: Topics, depth: int, as_shown: bool) -> Rankings:
    """What ChatNoir itself answers: by its scores, or in the order in which it shows the results."""
    chatnoir = ChatNoir()
    chatnoir.tell()
    for topic in topics:
        found = chatnoir.search(topic.title, depth)
        shown = [(id, float(len(found) - rank)) for rank, (id, _) in enumerate(found)]
        yield topic, shown if as_shown else found


def index_of(crawl: Crawl, titles: list[str], numbers: dict[str, Any], analyzers: dict[str, str]) -> Index:
    """An index of the fields, and of what a page is filtered by and earns a bonus for."""
    return index(
        crawl,
        analyzer="plural",
        similarity=bm25(**NUMBERS["bm25"]),
        fields={name: partial(text_of, name) for name in numbers["boosts"]},
        phrases=numbers["boosts"],
        labels={"filter": filtered, "wikipedia": is_wikipedia, "shallow": is_shallow},
        others=analyzers,
        queries=titles,
    )


def spam_of(crawl: Crawl, pages: Index) -> list[str]:
    """The pages with a bad spam rank; what the filters stop and what is not known is told."""
    ranks = crawl.scores(SPAM_RANKS)
    spam = [id for id, rank in ranks.items() if rank < FILTERS["spam_rank"]]
    stopped = {kind: pages.count(labelled("filter", kind)) for kind in (FOREIGN, SHORT)}
    crawl.tell(ranks, stopped | {"with a bad spam rank": len(spam)})
    return spam


def parts_of_fields(pages: Index, topic: Topic, numbers: dict[str, Any]) -> dict[str, Any]:
    """The parts of the sum: BM25 in each field, the title as a phrase, bonuses."""
    title = wanted(topic.title)
    words = pages.tokens(title)
    fields = {
        name: pages.simple(title, {name: FACTOR * boost}, share=0)
        for name, boost in numbers["boosts"].items()
    }
    phrases = {
        f"phrase in {name}": pages.phrase(name, words, NUMBERS["phrase"]["slop"], FACTOR * boost)
        for name, boost in numbers["phrases"].items()
    }
    return fields | (phrases if len(words) > 1 else {}) | bonuses_of(numbers["bonuses"])


def parts_of_bm25f(pages: Index, topic: Topic) -> dict[str, Any]:
    """BM25F (Robertson et al. 2004) of each token: frequencies and lengths are summed over fields first.

    The overviews of Touché call ChatNoir's method so; ChatNoir sums the scores of its fields instead.
    """
    tokens = pages.terms(wanted(topic.title))
    return {token: pages.combined(token, NUMBERS["bm25f"], count) for token, count in tokens.items()}


def explanation(
    crawl: Crawl,
    pages: Index,
    page: str,
    parts: dict[str, Any],
    matched: dict[str, float],
    second: Any,
    numbers: dict[str, Any],
) -> str:
    """What is known of a page, and the parts of its score, one a line."""
    if page not in crawl.hosts:
        raise ParameterError(f"explain: there is no page {page}, or it could not be parsed")
    stopped = [f"is {kind}" for kind in (FOREIGN, SHORT) if pages.score(labelled("filter", kind), page)]
    state = "matches" if page in matched else "".join(stopped) or "does not match"
    spam, rank = (crawl.scores(name).get(page, "unknown") for name in SIDE_FILES)
    lines = [f"{page}: {state} (spam rank {spam}, page rank {rank})"]
    lines += [f"{'first query':20} {matched.get(page, 0.0):10.4f} x {numbers['match_weight']}"]
    weight = numbers["rescore_weight"] if pages.score(second, page) else 0.0
    lines += [f"{name:20} {pages.score(query, page):10.4f} x {weight}" for name, query in parts.items()]
    return "\n".join(lines)


def anywhere(pages: Index, topic: Topic, share: float, numbers: dict[str, Any]) -> Any:
    """A query for a share of the title's tokens, each in some field, and all fields alike."""
    return pages.simple(topic.title, dict.fromkeys(numbers["boosts"], FACTOR), share)


def bonuses_of(points: dict[str, float]) -> dict[str, Any]:
    """What pages earn for being what they are."""
    return {name: labelled(name, "yes", each) for name, each in points.items()}


def share_of(match: str) -> float:
    """The share of the tokens that have to match."""
    found = re.fullmatch("(100|[1-9][0-9]?)%", "100%" if match == "all" else match)
    if found is None:
        raise ParameterError(f"match = {match}: write all, or a share from 1% to 100%")
    return int(found[1]) / 100


def text_of(field: str, page: Page) -> str:
    """The text of a field; none where it is missing."""
    return labels_of(page.host or "") if field == "host" else getattr(page, field) or ""


def labels_of(host: str) -> str:
    """The labels of a host that are searched; each is one token, even where there are hyphens in it."""
    left_out = NUMBERS["host"]["left_out"]
    labels = (label.replace("-", "_") for label in host.split("."))
    return " ".join(label for label in labels if len(label) > 2 and label not in left_out)


def filtered(page: Page) -> str:
    """Whether a page passes, or what stops it; what a collection does not tell, passes."""
    if page.language not in (None, FILTERS["language"]):
        return FOREIGN
    return SHORT if page.body is not None and len(page.body) < FILTERS["shortest_body"] else PASSES


def is_wikipedia(page: Page) -> str:
    """Whether a page is from the Wikipedia of the language that is searched."""
    return "yes" if page.host == f"{FILTERS['language']}.wikipedia.org" else "no"


def is_shallow(page: Page) -> str:
    """Whether the path is /, /wiki/ or /index.*"""
    return "yes" if re.fullmatch(r"/(wiki/|index\.[a-z]+)?", page.path or "") else "no"
