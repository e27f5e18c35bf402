"""Writes made-up collections as large as the official ones, for rehearsal.py. Not a script.

Files and archives are in the publishers' formats. A document consists of as many sentences as a real one,
drawn from all sentences in the samples. The qrels' ids come first. args.me's records also contain a page's
text, which is missing in the samples and drawn as well; it is as long as needed for archives of the published
size, if they compress equally well.
"""

import csv
import gzip
import io
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from touche import tasks
from touche.data.places import find, locate
from touche.data.publishers import Source
from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.jsonl import pieces_of_jsonl
from touche.documents.pieces import parse_pieces
from touche.trec.topics import read_topics

# Documents per file. args.me's 2020 version spreads 387,740 over five files.
COUNTS = {
    "debateorg.json": 338_620,
    "debatepedia.json": 21_197,
    "debatewise.json": 14_353,
    "idebate.json": 13_522,
    "parliamentary.json": 48,
    "args-me.json": 387_692,
    "args_processed.csv": 365_408,
    "passages-version-002.jsonl.gz": 868_655,
    "corpus.jsonl": 382_545,
}
# Tasks whose qrels name a file's first documents. Only one of args.me's five files contains them.
_TASKS = {
    "debateorg.json": ("touche-2020-task-1", "touche-2021-task-1"),
    "args-me.json": ("touche-2020-task-1-v1",),
    "passages-version-002.jsonl.gz": ("touche-2022-task-2",),
    "corpus.jsonl": ("beir-webis-touche2020-v2",),
}
_COMPRESSION = 2.6  # ratio of zip and gzip for such texts, at their default level
_FASTEST = 1
_JUDGED = 20  # pairs per topic of 2022 task 1, whose qrels are not among the samples


@dataclass(frozen=True)
class Record:
    """A made-up document; ``page`` is empty unless the publisher's files contain pages."""

    id: str
    title: str
    sentences: Sequence[str]
    page: str

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


def write_download(sources: Sequence[Source], share: float, folder: Path) -> Path:
    """Writes what a publisher offers at one address, a file or an archive, and returns its path.

    Args:
        sources: the official files at this address.
        share: the share of documents to write, up to 1.
    """
    download = folder / Path(sources[0].url).name
    if download.suffix == ".zip":
        with zipfile.ZipFile(download, "w", zipfile.ZIP_DEFLATED, compresslevel=_FASTEST) as archive:
            for source in sources:
                with archive.open(source.member, "w", force_zip64=True) as file:
                    file.writelines(_content(source, share))
        return download
    with _opened(download, sources[0].member) as file:
        file.writelines(_content(sources[0], share))
    return download


@contextmanager
def _opened(path: Path, member: str) -> Iterator[Any]:
    """Opens a plain file, a compressed one, or the only member of a tar archive."""
    if not path.name.endswith(".tar.gz"):
        packed = path.suffix == ".gz"
        file: Any = gzip.open(path, "wb", _FASTEST) if packed else path.open("wb")  # noqa: SIM115 (closed below)
        with file:
            yield file
        return
    unpacked = path.with_name("unpacked")
    with unpacked.open("wb") as file:
        yield file
    with tarfile.open(path, "w:gz", compresslevel=_FASTEST) as archive:
        archive.add(unpacked, member)
    unpacked.unlink()


def _content(source: Source, share: float) -> Iterator[bytes]:
    """Yields an official file's content."""
    name = Path(source.path).name
    if source.kind == "corpora":
        count = max(1, round(COUNTS[name] * share))
        yield from _FORMATS.get(name, _argsme)(_records(name, count, source.size))
    elif source.kind == "topics":
        yield _topics(source.name).read_bytes()
    elif find(source.kind, source.name):
        content = locate(source.kind, source.name).read_bytes()
        # BEIR publishes tab-separated files; our copy is in TREC's format.
        yield _as_published_by_beir(content) if source.member.endswith("test.tsv") else content
    else:
        yield from _made_up_judgments()


def _as_published_by_beir(qrels: bytes) -> bytes:
    lines = [b"query-id\tcorpus-id\tscore\n"]
    for line in qrels.splitlines():
        topic, _, document, grade = line.split()
        lines.append(b"%s\t%s\t%s\n" % (topic, document, grade))
    return b"".join(lines)


def _made_up_judgments() -> Iterator[bytes]:
    """Yields qrels for pairs from the first arguments."""
    for topic in read_topics(locate("topics", "touche-2022-task-1.xml")):
        for number in range(_JUDGED):
            id = _id("args_processed.csv", int(topic.number) * _JUDGED + number)
            yield f"{topic.number} 0 {id}__CONC__1,{id}__PREMISE__1 {number % 3}\n".encode()


def _records(name: str, count: int, archive_size: int) -> Iterator[Record]:
    """Yields a file's made-up documents.

    Args:
        name: a key of ``COUNTS``.
        archive_size: the published archive's bytes, which determine how long the pages are.
    """
    rng = random.Random(name)
    titles, texts = _sample_of_passages() if name.startswith("passages") else _sample_of_arguments()
    pool = [sentence for text in texts for sentence in text]
    pages = " ".join(pool)
    judged = _judged(name)
    page_length = 0
    if name.endswith((".json", ".csv")):  # args.me's files contain pages
        copies = 2 if name == "args_processed.csv" else 1  # each sentence is in premises and in sentences
        # A document's bytes in the archive, with and without its page.
        whole = archive_size / COUNTS[name]
        without_page = copies * len(pages) / len(texts) / _COMPRESSION
        page_length = max(0, round((whole - without_page) * _COMPRESSION))
    for number in range(count):
        begin = rng.randrange(len(pages) - page_length)
        sentences = rng.choices(pool, k=max(1, len(rng.choice(texts))))
        if number < len(judged):
            _, sentences[0] = judged[number]  # a topic's title, so that baselines rank the document
        page = pages[begin : begin + page_length]
        yield Record(id=_id(name, number), title=rng.choice(titles), sentences=sentences, page=page)


@cache
def _sample_of_arguments() -> tuple[list[str], list[list[str]]]:
    """Returns all conclusions, and the sentences in each argument's premises."""
    corpus = locate("corpora", "argsme-2020-04-01-processed-sample") / "args_processed.csv.gz"
    arguments = list(parse_pieces(pieces_of_args_processed(corpus), set()))
    premises = [
        [sentence.text for sentence in argument.sentences or () if "PREMISE" in sentence.id]
        for argument in arguments
    ]
    return [argument.conclusion for argument in arguments], premises


@cache
def _sample_of_passages() -> tuple[list[str], list[list[str]]]:
    """Returns an empty title, because passages have none, and each passage's sentences."""
    (corpus,) = locate("corpora", "touche-2022-task-2-sample").glob("passages.jsonl*")
    return [""], [passage.text.split(". ") for passage in parse_pieces(pieces_of_jsonl(corpus), set())]


@cache
def _judged(name: str) -> list[tuple[str, str]]:
    """Returns the ids in the qrels for a file's tasks, each with its first topic's title."""
    judged: dict[str, str] = {}
    for task in map(tasks.task, _TASKS.get(name, ())):
        titles = {topic.number: topic.title for topic in read_topics(_topics(task.topics))}
        for qrels in task.qrels.values():
            for line in locate("qrels", qrels.file).read_text(encoding="utf-8").splitlines():
                topic, _, document, _ = line.split()
                judged.setdefault(document, titles.get(topic, ""))
    return list(judged.items())


def _topics(name: str) -> Path:
    """Returns the topics file; BEIR's is with its sample."""
    if find("topics", name):
        return locate("topics", name)
    return locate("corpora", "beir-webis-touche2020-sample") / "queries.jsonl"


def _id(name: str, number: int) -> str:
    """Returns a document's id: one from the qrels while there are any left, then a made-up one."""
    judged = _judged(name)
    if number < len(judged):
        return judged[number][0]
    if name in ("corpus.jsonl", "args-me.json"):
        return f"{number:x}-2019-04-18T00:00:00Z-{number % 9:05d}-000"
    if name.startswith("passages"):
        return f"clueweb12-{number:08x}___{number % 50}"
    return f"S{number:08x}-A{list(COUNTS).index(name):x}{number:07x}"


def _argsme(records: Iterator[Record]) -> Iterator[bytes]:
    comma = b""
    yield b'{"arguments":['
    for record in records:
        premise = {"text": record.text, "stance": "PRO", "annotations": []}
        context = {"sourceText": record.page, "discussionTitle": record.title}
        argument = {"id": record.id, "conclusion": record.title, "premises": [premise], "context": context}
        yield comma + orjson.dumps(argument)
        comma = b","
    yield b"]}"


def _args_processed(records: Iterator[Record]) -> Iterator[bytes]:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("id", "conclusion", "premises", "context", "sentences"))
    for record in records:
        sentences = [{"sent_id": f"{record.id}__CONC__1", "sent_text": record.title}]
        sentences += [
            {"sent_id": f"{record.id}__PREMISE__{number}", "sent_text": sentence}
            for number, sentence in enumerate(record.sentences, 1)
        ]
        premises = [{"text": record.text, "stance": "PRO", "annotations": []}]
        context = {"sourceText": record.page, "discussionTitle": record.title}
        rows.writerow((record.id, record.title, repr(premises), repr(context), repr(sentences)))
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()


def _passages(records: Iterator[Record]) -> Iterator[bytes]:
    for record in records:
        yield orjson.dumps({"id": record.id, "contents": record.text, "chatNoirUrl": ""}) + b"\n"


def _beir(records: Iterator[Record]) -> Iterator[bytes]:
    for record in records:
        values = {"_id": record.id, "title": record.title, "text": record.text, "metadata": {}}
        yield orjson.dumps(values) + b"\n"


_FORMATS: Mapping[str, Callable[[Iterator[Record]], Iterator[bytes]]] = {
    "args_processed.csv": _args_processed,
    "passages-version-002.jsonl.gz": _passages,
    "corpus.jsonl": _beir,
}
