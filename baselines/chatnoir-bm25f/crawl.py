"""Pages on their way into an index, of which is noted what cannot be asked of the index later."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence

from touche.formats.documents import AnyDocument
from touche.formats.side_files import read_scores
from touche.tira.inputs import parsed_by, side_file
from touche.web.extraction import parse_as_in_2020
from touche.web.page import Page, page_of

PER_PAGE = 10  # results

_log = logging.getLogger("touche.chatnoir")  # below the one that the command line shows


class Crawl:
    """A collection as web pages; noted are ids and hosts, and how often a field is missing.

    Args:
        documents: the collection.
        in_2020: whether pages are taken apart as by ChatNoir's indexer of 2020 and 2021, and not as by
            today's; pages whose fields come by name, and other documents, are the same at all times.
    """

    def __init__(self, documents: Iterable[AnyDocument], *, in_2020: bool = False) -> None:
        self._documents = parsed_by(parse_as_in_2020, documents) if in_2020 else documents
        self.hosts: dict[str, str] = {}
        self._without_language = 0

    def __iter__(self) -> Iterator[Page]:
        """Yields every document as a page."""
        for document in self._documents:
            page = page_of(document)
            self.hosts[page.id] = page.host or ""
            self._without_language += page.language is None
            yield page

    def scores(self, name: str) -> dict[str, float]:
        """The scores of its pages in a side file; none where there is no such file.

        Raises:
            InputError: if the file is broken.
        """
        path = side_file(self._documents, name)
        return read_scores(path, self.hosts) if path else {}

    def tell(self, spam_ranks: Mapping[str, float], filtered: Mapping[str, int]) -> None:
        """Says how many pages the filters leave out, and how many they pass for want of knowledge."""
        of = f"of {len(self.hosts)} pages"
        if told := [f"{count} {kind}" for kind, count in filtered.items() if count]:
            _log.warning("%s the filters leave out %s", of, ", ".join(told))
        missing = {"language": self._without_language, "spam rank": len(self.hosts) - len(spam_ranks)}
        if told := [f"the {name} of {count}" for name, count in missing.items() if count]:
            _log.warning("%s %s are missing, so that they pass the filter", of, " and ".join(told))

    def grouped(self, ids: Sequence[str]) -> list[tuple[str, float]]:
        """A ranking as ChatNoir showed it: on each page of ten, results of a host follow the best of them.

        The scores only keep the order, since it is no longer that of the original ones.
        """
        shown: list[str] = []
        for start in range(0, len(ids), PER_PAGE):
            hosts: dict[str, list[str]] = {}
            for id in ids[start : start + PER_PAGE]:
                hosts.setdefault(self.hosts[id] or id, []).append(id)
            shown += [id for group in hosts.values() for id in group]
        return [(id, float(len(shown) - rank)) for rank, id in enumerate(shown)]
