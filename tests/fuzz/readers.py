"""All readers of untrusted files: a function for each reader, and a command line for each command."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import samples

from reading import read_args_processed_csv, read_argsme_json, read_documents_jsonl
from touche.baselines import loader
from touche.baselines.expected import read_expected
from touche.data import official_files
from touche.data.publishers import Source
from touche.documents.clueweb22 import read_clueweb22_json
from touche.documents.discovery import find_documents
from touche.documents.html.extraction import parse
from touche.documents.html_folder import read_pages_csv
from touche.documents.jsonl import read_rerank_jsonl
from touche.documents.pages import Page, PageError, RawPage
from touche.documents.side_files import read_scores
from touche.documents.warc import read_warc
from touche.submission import lint
from touche.tasks.cards import read_card
from touche.trec.qrels import read_qrels
from touche.trec.runs import read_run
from touche.trec.topics import read_topics


@dataclass(frozen=True)
class Target:
    """A reader of a file.

    Attributes:
        file: the name of the file.
        content: its valid content.
        read: a function that reads a path completely in this process, or the arguments of a command, in which
            ``IN`` and ``OUT`` are folders.
        others: valid files in the same folder, by their names.
    """

    file: str
    content: bytes
    read: Callable[[Path], Any] | str
    others: dict[str, bytes] = field(default_factory=dict)

    def files(self, content: bytes) -> dict[str, bytes]:
        """The files by their names, with this content in place of the valid one."""
        return self.others | {self.file: content}


def _all(read: Callable[[Path], Iterable[Any]]) -> Callable[[Path], list[Any]]:
    return lambda path: list(read(path))


def _page(path: Path) -> Page | None:
    return _parsed(RawPage("p1", "http://a.example/", path.read_bytes() if path.is_file() else b""))


def _pages(path: Path) -> list[Page]:
    raw = (page for page in read_warc(path, set()) if isinstance(page, RawPage))
    return [page for page in map(_parsed, raw) if page]


def _parsed(page: RawPage) -> Page | None:
    """Calls only the parser, because its caller skips a page after any error."""
    try:
        return parse(page)
    except PageError:
        return None


def _fetched(member: str, path: Path) -> bool:
    """An archive in a mirror, with the right md5, so that it is opened."""
    md5 = hashlib.md5(path.read_bytes()).hexdigest() if path.is_file() else ""
    source = Source(
        path=f"topics/{member}",
        title="",
        page="",
        licence="",
        url=f"http://a.example/{path.name}",
        md5=md5,
        size=1,
        member=member,
    )
    with patch.object(official_files, "data_home", lambda: path.parent / "home"):
        return official_files.fetch(source, path.parent).word == "fetched"


_PASSAGES = "spot-check/passages"
_HTML = {"html/a.html": samples.HTML, "html/b.html": b"<p>Cats"}
_BASELINE = {"baseline.py": samples.BASELINE}
_OTHER = {"other.txt": samples.RUN}
_TOPICS = {"topics.xml": samples.TOPICS}
_DOCUMENTS = {"documents.jsonl": samples.DOCUMENTS}
_TABLE = {"pages.csv": samples.PAGES}
_PAIR = "IN/run.txt IN/other.txt"
_SPOT = f"--task {_PASSAGES}"
_BM25, _CHATNOIR = (f"run {name} -i IN -o OUT" for name in ("bm25", "chatnoir-bm25f"))
_ARCHIVES = "ClueWeb09_English_1/en0000/00.warc", "ClueWeb09_English_1/en0001/00.warc"

READERS = {
    "topics.xml": Target("topics.xml", samples.TOPICS, read_topics),
    "queries.jsonl": Target("queries.jsonl", samples.QUERIES, read_topics),
    "documents.jsonl": Target("documents.jsonl", samples.DOCUMENTS, _all(read_documents_jsonl)),
    "passages.jsonl": Target("passages.jsonl", samples.PASSAGES, _all(read_documents_jsonl)),
    "corpus.jsonl": Target("corpus.jsonl", samples.BEIR, _all(read_documents_jsonl)),
    "rerank.jsonl": Target("rerank.jsonl", samples.CANDIDATES, _all(read_rerank_jsonl)),
    "args-me.json": Target("args-me.json", samples.ARGUMENTS, _all(read_argsme_json)),
    "args_processed.csv": Target("args_processed.csv", samples.PROCESSED, _all(read_args_processed_csv)),
    "pages.csv": Target(
        file="pages.csv",
        content=samples.PAGES,
        read=_all(lambda path: read_pages_csv(path, set())),
        others=_HTML,
    ),
    "HTML": Target("a.html", samples.HTML, _page),
    "web archive": Target("pages.warc", samples.WARC, _pages),
    "web archive, ClueWeb09": Target("00.warc", samples.WARC_OF_CLUEWEB09, _pages),
    "web archive, ClueWeb22": Target("en0000-00.warc", samples.WARC_OF_CLUEWEB22, _pages),
    "ClueWeb22's texts": Target(
        "en0000-00.json", samples.TEXTS_OF_CLUEWEB22, _all(lambda path: read_clueweb22_json(path, set()))
    ),
    "args-me.json or ClueWeb22": Target(
        "a.json", samples.TEXTS_OF_CLUEWEB22, lambda path: list(find_documents(path.parent))
    ),
    "spam-ranks.txt": Target("spam-ranks.txt", samples.SPAM_RANKS, partial(read_scores, wanted={"p1", "p2"})),
    "run": Target("run.txt", samples.RUN, read_run),
    "run, linted": Target("run.txt", samples.RUN, lambda path: lint([path], _PASSAGES)),
    "qrels": Target("x.qrels", samples.QRELS, read_qrels),
    "task card": Target("cats-2026.toml", samples.CARD, read_card),
    "expected.toml": Target(
        file="expected.toml",
        content=samples.EXPECTED,
        read=lambda path: read_expected(f"{path.parent}"),
        others=_BASELINE,
    ),
    "baseline.py": Target(
        "baseline.py", samples.BASELINE, lambda path: loader.load(f"{path.parent}").options
    ),
    "zip of data": Target("a.zip", samples.zip_of("a.xml", samples.TOPICS), partial(_fetched, "a.xml")),
    "tar of data": Target("a.tar.gz", samples.tar_of("a.xml", samples.TOPICS), partial(_fetched, "a.xml")),
}


def _of_run(arguments: str) -> Target:
    return Target(file="run.txt", content=samples.RUN, read=arguments, others=_OTHER)


COMMANDS = {
    "run bm25, topics.xml": Target(file="topics.xml", content=samples.TOPICS, read=_BM25, others=_DOCUMENTS),
    "run bm25, queries.jsonl": Target(
        file="queries.jsonl", content=samples.QUERIES, read=_BM25, others=_DOCUMENTS
    ),
    "run bm25, documents.jsonl": Target(
        file="documents.jsonl", content=samples.DOCUMENTS, read=_BM25, others=_TOPICS
    ),
    "run bm25, args-me.json": Target(
        file="args-me.json", content=samples.ARGUMENTS, read=_BM25, others=_TOPICS
    ),
    "run bm25, rerank.jsonl": Target("rerank.jsonl", samples.CANDIDATES, _BM25),
    "run dirichletlm-pairs": Target(
        file="args_processed.csv",
        content=samples.PROCESSED,
        read="run dirichletlm-pairs -i IN -o OUT",
        others=_TOPICS,
    ),
    "run chatnoir-bm25f, HTML": Target(
        file="html/a.html", content=samples.HTML, read=_CHATNOIR, others=_TOPICS | _HTML | _TABLE
    ),
    "run chatnoir-bm25f, archives below": Target(
        file=_ARCHIVES[0],
        content=samples.WARC_OF_CLUEWEB09,
        read=_CHATNOIR,
        others=_TOPICS | {_ARCHIVES[1]: samples.WARC},
    ),
    "run chatnoir-bm25f, ClueWeb22's texts": Target(
        file="txt/en/en00/en0000/en0000-00.json",
        content=samples.TEXTS_OF_CLUEWEB22,
        read=_CHATNOIR,
        others=_TOPICS,
    ),
    "run chatnoir-bm25f, spam ranks": Target(
        file="spam-ranks.txt",
        content=samples.SPAM_RANKS,
        read=_CHATNOIR,
        others=_TOPICS | {"pages.warc": samples.WARC},
    ),
    "run, baseline.py": Target("baseline.py", samples.BASELINE, f"run IN -i {_PASSAGES} -o OUT"),
    "evaluate --qrels": Target(
        file="q.txt",
        content=samples.QRELS,
        read="evaluate IN/other.txt --qrels IN/q.txt --measure P@3",
        others=_OTHER,
    ),
    "lint, topics": Target(
        file="topics/spot-check-passages.xml",
        content=samples.TOPICS,
        read=f"lint IN/other.txt {_SPOT}",
        others=_OTHER,
    ),
    "lint": _of_run(f"lint IN/run.txt {_SPOT}"),
    "evaluate": _of_run(f"evaluate IN/run.txt {_SPOT} --format json --per-topic"),
    "compare": _of_run(f"compare {_PAIR} {_SPOT}"),
    "fuse": _of_run(f"fuse {_PAIR} -o OUT"),
    "overlap": _of_run(f"overlap {_PAIR}"),
    "report": _of_run(f"report {_PAIR} {_SPOT} -o OUT"),
    "regress": Target(
        file="expected.toml",
        content=samples.EXPECTED,
        read=f"regress IN --dataset {_PASSAGES} -o IN/r.json --format json",
        others=_BASELINE,
    ),
    "tasks check": Target("cats-2026.toml", samples.CARD, "tasks check IN/cats-2026.toml"),
    "data fetch --from": Target(
        "topics-task-1.xml", samples.TOPICS, "data fetch touche-2021-task-1 --no-corpora --from IN"
    ),
}
