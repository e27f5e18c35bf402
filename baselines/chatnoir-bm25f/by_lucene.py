"""The same queries, put to Lucene, for those who doubt that the scan scores as it does."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from collecting import NO_LANGUAGE, PAGES
from queries import All, Boosted, Combined, Labelled, Phrase, Query, Some, Term
from ranking import Asked, Explained, Hit
from webpages import FOREIGN, LABELS, NUMBERS, PASSES, SHORT, fields_of, filtered

from touche.formats.documents import AnyDocument
from touche.lucene import Index, all_of, any_of, bm25, having_id, index, labelled
from touche.lucene.java import java
from touche.web.page import Page, page_of


class ByLucene:
    """Pages in an index; noted is of them what it cannot be asked for.

    Args:
        documents: the collection.
        analyses: of each field, by name.
        asked: what is asked for each topic.
        titles: all that will be asked for.
    """

    def __init__(
        self,
        documents: Iterable[AnyDocument],
        analyses: Mapping[str, str],
        asked: Sequence[Asked],
        titles: Sequence[str],
    ) -> None:
        self.tallies, self._hosts, self._asked = Counter[str](), dict[str, str](), asked
        self._index = index(
            self._noted(documents),
            analyzer="plural",
            similarity=bm25(**NUMBERS["bm25"]),
            fields=fields_of(analyses),
            phrases=analyses,
            labels={"filter": filtered, **{name: partial(_yes_or_no, name) for name in LABELS}},
            others={name: other for name, other in analyses.items() if other != "plural"},
            queries=[*titles, *(title.replace('"', " ") for title in titles)],  # in which words may end
        )

    def ids(self) -> frozenset[str]:
        """The ids of the pages that pass the filters and match some topic."""
        queries = (all_of([self._query(each.first)], filters=[_passing()]) for each in self._asked)
        return frozenset(id for query in queries for id, _ in self._index.run(query, len(self._hosts)))

    def best(self, spam: Iterable[str], window: int) -> Iterator[Sequence[Hit]]:
        """For each topic the best pages by the first query, best first."""
        left_out = having_id(spam)
        for each in self._asked:
            among = [] if each.among is None else [having_id(each.among)]
            filters = [_passing(), *among]
            first = all_of([self._query(each.first)], filters=filters, without=[left_out])
            matched = dict(self._index.run(first, window))
            second = all_of([self._query(each.second)], filters=[having_id(matched)])
            again = dict(self._index.run(second, window))
            yield [Hit(score, id, again.get(id, 0.0), self._hosts[id]) for id, score in matched.items()]

    def page(self, id: str) -> Explained | None:
        """One page, if there is one of that id."""
        if id not in self._hosts:
            return None
        stopped = (each for each in (FOREIGN, SHORT) if self._index.score(labelled("filter", each), id))
        return Explained(next(stopped, PASSES), lambda query: self._index.score(self._query(query), id))

    def close(self) -> None:
        """Gives its memory back."""
        self._index.close()

    def _noted(self, documents: Iterable[AnyDocument]) -> Iterator[Page]:
        for document in documents:
            page = page_of(document)
            self._hosts[page.id] = page.host or ""
            self.tallies.update([PAGES, filtered(page)] + [NO_LANGUAGE] * (page.language is None))
            yield page

    def _query(self, query: Query) -> Any:
        return lucenes(self._index, query)


def _yes_or_no(label: str, page: Page) -> str:
    """A label as Lucene has it."""
    return "yes" if LABELS[label](page) else "no"


def _passing() -> Any:
    return labelled("filter", PASSES)


def lucenes(pages: Index, query: Query) -> Any:
    """A query of Lucene's, which Lucene itself is to make plain."""
    match query:
        case Term():
            return pages.phrase(query.field, [query.term], 0)
        case Phrase():
            return pages.phrase(query.field, query.terms, query.slop)
        case Combined():
            return pages.combined(query.term, dict(query.weights))
        case Labelled():
            return labelled(query.label, "yes")
        case Boosted():
            return java("org.apache.lucene.search.BoostQuery")(lucenes(pages, query.query), query.boost)
        case Some():
            return any_of([lucenes(pages, each) for each in query.queries], query.least)
        case All():
            groups = (query.queries, query.filters, query.without, query.extra)
            musts, filters, without, extra = ([lucenes(pages, each) for each in group] for group in groups)
            return all_of(musts, filters=filters, without=without, extra=extra)
    return java("org.apache.lucene.search.MatchAllDocsQuery")()
