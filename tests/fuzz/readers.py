"""All that reads a stranger's file: a function for each reader, and a command line for each command."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import samples

from touche import tasks
from touche.baselines import loader
from touche.data import publishers
from touche.formats.args_processed import read_args_processed_csv
from touche.formats.argsme import read_argsme_json
from touche.formats.clueweb22 import read_clueweb22_json
from touche.formats.html_folder import read_pages_csv
from touche.formats.jsonl import read_documents_jsonl, read_passages_jsonl, read_rerank_jsonl
from touche.formats.qrels import read_qrels
from touche.formats.runs import read_run
from touche.formats.side_files import read_scores
from touche.formats.topics import read_queries_jsonl, read_topics_xml
from touche.formats.warc import read_warc
from touche.lint import Finding, lint
from touche.regression.expected import read_expected
from touche.tasks.cards import read_card
from touche.tira.inputs import find_documents
from touche.web.extraction import parse
from touche.web.page import Page, PageError, RawPage


@dataclass(frozen=True)
class Reader:
    """What reads a file in this process.

    Attributes:
        file: the name of the file.
        content: what it should be.
        read: reads the file of a path to its end.
        beside: files beside it that are as they should be, by their names.
    """

    file: str
    content: bytes
    read: Callable[[Path], Any]
    beside: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Called:
    """A command that is given a folder with a file in it; ``IN`` and ``OUT`` stand for folders.

    Attributes:
        file: the name of the file.
        content: what it should be.
        arguments: what follows ``touche``.
        beside: files beside it that are as they should be, by their names.
    """

    file: str
    content: bytes
    arguments: str
    beside: dict[str, bytes] = field(default_factory=dict)


def _all(read: Callable[[Path], Iterable[Any]]) -> Callable[[Path], list[Any]]:
    return lambda path: list(read(path))


def _page(path: Path) -> Page | None:
    return _parsed(RawPage("p1", "http://a.example/", path.read_bytes() if path.is_file() else b""))


def _pages(path: Path) -> list[Page]:
    raw = (each for each in read_warc(path) if isinstance(each, RawPage))
    return [page for page in map(_parsed, raw) if page]


def _found(path: Path) -> list[Any]:
    """As a command finds it, be it what it is."""
    return list(find_documents(path.parent))


def _parsed(page: RawPage) -> Page | None:
    """Parsed by nobody but the parser: what runs it leaves a page out whatever it raises."""
    try:
        return parse(page)
    except PageError:
        return None


def _linted(path: Path) -> Sequence[Finding]:
    return lint([path], *tasks.dataset("spot-check/passages"))[0]


def _fetched(member: str, path: Path) -> bool:
    """An archive in a mirror; its md5 is right, or else nobody would open it."""
    md5 = hashlib.md5(path.read_bytes()).hexdigest() if path.is_file() else ""
    source = publishers.Source(
        f"topics/{member}", "", "", "", f"http://a.example/{path.name}", md5, 1, member
    )
    with patch.object(publishers, "home", lambda: path.parent / "home"):
        return publishers.fetch(source, path.parent).word == "fetched"


_HTML = {"html/a.html": samples.HTML, "html/b.html": b"<p>Cats"}
_FOLDER_OF_BASELINE = {"baseline.py": samples.BASELINE}

READERS = {
    "topics.xml": Reader("topics.xml", samples.TOPICS, read_topics_xml),
    "queries.jsonl": Reader("queries.jsonl", samples.QUERIES, read_queries_jsonl),
    "documents.jsonl": Reader("documents.jsonl", samples.DOCUMENTS, _all(read_documents_jsonl)),
    "passages.jsonl": Reader("passages.jsonl", samples.PASSAGES, _all(read_passages_jsonl)),
    "rerank.jsonl": Reader("rerank.jsonl", samples.CANDIDATES, _all(read_rerank_jsonl)),
    "args-me.json": Reader("args-me.json", samples.ARGUMENTS, _all(read_argsme_json)),
    "args_processed.csv": Reader("args_processed.csv", samples.PROCESSED, _all(read_args_processed_csv)),
    "pages.csv": Reader("pages.csv", samples.PAGES, _all(read_pages_csv), _HTML),
    "HTML": Reader("a.html", samples.HTML, _page),
    "web archive": Reader("pages.warc", samples.WARC, _pages),
    "web archive, ClueWeb09": Reader("00.warc", samples.WARC_OF_CLUEWEB09, _pages),
    "web archive, ClueWeb22": Reader("en0000-00.warc", samples.WARC_OF_CLUEWEB22, _pages),
    "ClueWeb22's texts": Reader("en0000-00.json", samples.TEXTS_OF_CLUEWEB22, _all(read_clueweb22_json)),
    "args-me.json or ClueWeb22": Reader("a.json", samples.TEXTS_OF_CLUEWEB22, _found),
    "spam-ranks.txt": Reader("spam-ranks.txt", samples.SPAM_RANKS, partial(read_scores, wanted={"p1", "p2"})),
    "run": Reader("run.txt", samples.RUN, read_run),
    "run, linted": Reader("run.txt", samples.RUN, _linted),
    "qrels": Reader("x.qrels", samples.QRELS, read_qrels),
    "task card": Reader("cats-2026.toml", samples.CARD, read_card),
    "expected.toml": Reader(
        "expected.toml", samples.EXPECTED, lambda path: read_expected(f"{path.parent}"), _FOLDER_OF_BASELINE
    ),
    "baseline.py": Reader(
        "baseline.py", samples.BASELINE, lambda path: loader.load(f"{path.parent}").options
    ),
    "zip of data": Reader("a.zip", samples.zip_of("a.xml", samples.TOPICS), partial(_fetched, "a.xml")),
    "tar of data": Reader("a.tar.gz", samples.tar_of("a.xml", samples.TOPICS), partial(_fetched, "a.xml")),
}

_TOPICS, _DOCUMENTS = {"topics.xml": samples.TOPICS}, {"documents.jsonl": samples.DOCUMENTS}
_QRELS = "qrels/spot-check-passages-relevance.qrels"
_RUN = {"run.txt": samples.RUN}
_SPOT = "--task spot-check/passages"

COMMANDS = {
    "run bm25, topics.xml": Called("topics.xml", samples.TOPICS, "run bm25 -i IN -o OUT", _DOCUMENTS),
    "run bm25, queries.jsonl": Called("queries.jsonl", samples.QUERIES, "run bm25 -i IN -o OUT", _DOCUMENTS),
    "run bm25, documents.jsonl": Called(
        "documents.jsonl", samples.DOCUMENTS, "run bm25 -i IN -o OUT", _TOPICS
    ),
    "run bm25, args-me.json": Called("args-me.json", samples.ARGUMENTS, "run bm25 -i IN -o OUT", _TOPICS),
    "run bm25, rerank.jsonl": Called("rerank.jsonl", samples.CANDIDATES, "run bm25 -i IN -o OUT"),
    "run dirichletlm-pairs": Called(
        "args_processed.csv", samples.PROCESSED, "run dirichletlm-pairs -i IN -o OUT", _TOPICS
    ),
    "run chatnoir-bm25f, HTML": Called(
        "html/a.html",
        samples.HTML,
        "run chatnoir-bm25f -i IN -o OUT",
        _TOPICS | _HTML | {"pages.csv": samples.PAGES},
    ),
    "run chatnoir-bm25f, archive": Called(
        "pages.warc",
        samples.WARC,
        "run chatnoir-bm25f -i IN -o OUT",
        _TOPICS | {"spam-ranks.txt": samples.SPAM_RANKS},
    ),
    "run chatnoir-bm25f, archives below": Called(
        "ClueWeb09_English_1/en0000/00.warc",
        samples.WARC_OF_CLUEWEB09,
        "run chatnoir-bm25f -i IN -o OUT",
        _TOPICS | {"ClueWeb09_English_1/en0001/00.warc": samples.WARC},
    ),
    "run chatnoir-bm25f, ClueWeb22's texts": Called(
        "txt/en/en00/en0000/en0000-00.json",
        samples.TEXTS_OF_CLUEWEB22,
        "run chatnoir-bm25f -i IN -o OUT",
        _TOPICS,
    ),
    "run chatnoir-bm25f, spam ranks": Called(
        "spam-ranks.txt",
        samples.SPAM_RANKS,
        "run chatnoir-bm25f -i IN -o OUT",
        _TOPICS | {"pages.warc": samples.WARC},
    ),
    "run, baseline.py": Called("baseline.py", samples.BASELINE, "run IN -i spot-check/passages -o OUT"),
    "lint": Called("run.txt", samples.RUN, f"lint IN/run.txt {_SPOT}"),
    "evaluate": Called("run.txt", samples.RUN, f"evaluate IN/run.txt {_SPOT}"),
    "evaluate --format json": Called(
        "run.txt", samples.RUN, f"evaluate IN/run.txt {_SPOT} --format json --per-topic"
    ),
    "evaluate, qrels": Called(_QRELS, samples.QRELS, f"evaluate IN/run.txt {_SPOT}", _RUN),
    "lint, topics": Called(
        "topics/spot-check-passages.xml", samples.TOPICS, f"lint IN/run.txt {_SPOT}", _RUN
    ),
    "compare": Called(
        "run.txt", samples.RUN, f"compare IN/run.txt IN/other.txt {_SPOT}", {"other.txt": samples.RUN}
    ),
    "evaluate --qrels": Called(
        "qrels.txt", samples.QRELS, "evaluate IN/run.txt --qrels IN/qrels.txt --measure P@3", _RUN
    ),
    "fuse": Called("run.txt", samples.RUN, "fuse IN/run.txt IN/other.txt -o OUT", {"other.txt": samples.RUN}),
    "overlap": Called("run.txt", samples.RUN, "overlap IN/run.txt IN/other.txt", {"other.txt": samples.RUN}),
    "report": Called(
        "run.txt", samples.RUN, f"report IN/run.txt IN/other.txt {_SPOT} -o OUT", {"other.txt": samples.RUN}
    ),
    "regress": Called(
        "expected.toml",
        samples.EXPECTED,
        "regress IN --dataset spot-check/passages --json IN/r.json",
        _FOLDER_OF_BASELINE,
    ),
    "tasks check": Called("cats-2026.toml", samples.CARD, "tasks check IN/cats-2026.toml"),
    "data fetch --from": Called(
        "topics-task-1.xml", samples.TOPICS, "data fetch touche-2021-task-1 --no-corpora --from IN"
    ),
}
