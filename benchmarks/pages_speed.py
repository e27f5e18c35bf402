"""Measures how fast pages are parsed, and how fast chatnoir-bm25f ranks pages and passages.

    python benchmarks/pages_speed.py

The pages come from the spot check, with their main content repeated to the size of real pages (30 kB). The
passages are recombined from their words, a hundred each. On one core and on two, the benchmark prints each
parser's pages a second, and each run's time, speed and peak memory. It takes about 20 minutes.
"""

import json
import os
import random
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from touche.data.datasets import open_dataset
from touche.data.places import locate
from touche.documents.html.extraction import parse, parse_as_in_2020
from touche.documents.html.parsing import parsed
from touche.documents.html_folder import read_pages_csv
from touche.documents.pages import Parser, RawPage
from touche.runners.container_runs import Job, run_locally
from touche.runners.limits import Limits

PAGES = 4_000
PASSAGES = 1_000_000
PAGE_SIZE = 30_000  # bytes
PER_ARCHIVE = 1_000  # pages


def main() -> None:
    """Prints a line per parser and run, on one core and then on two."""
    available = sorted(os.sched_getaffinity(0))
    with TemporaryDirectory(prefix="touche-benchmark-") as temporary:
        folder = Path(temporary)
        write_archive(folder / "pages")
        write_passages(folder / "passages")
        for processors in (available[:1], available[:2]):
            os.sched_setaffinity(0, processors)  # the runs are child processes and inherit this
            cores = f"{len(processors)} core{'s' if len(processors) > 1 else ''}"
            for year, parser in (("today", parse), ("2020", parse_as_in_2020)):
                measure_parsing(year, parser, cores)
            for kind, size in (("pages", PAGES), ("passages", PASSAGES)):
                measure(folder / kind, size, cores)


def measure_parsing(year: str, parser: Parser, cores: str) -> None:
    """Parses the pages, and prints how many per second."""
    started = time.perf_counter()
    count = sum(1 for _ in parsed(islice(large_pages(), PAGES), parser))
    speed = count / (time.perf_counter() - started)
    print(f"parsing by the rules of {year}, {cores}: {speed:.0f} pages a second", flush=True)


def measure(folder: Path, size: int, cores: str) -> None:
    """Runs the baseline on an input with ``size`` documents, and prints its time, speed and peak memory."""
    output = folder.parent / f"{folder.name} {cores}"
    job = Job(baseline="chatnoir-bm25f", arguments=("--match", "30%"), input=str(folder), output=output)
    usage = run_locally(job, Limits(), lambda line: None)
    speed = f"{usage.wall:.0f} s, {size / usage.wall:.0f} a second"
    print(f"{size} {folder.name}, {cores}: {speed}, {(usage.memory or 0) / 1e6:.0f} MB")


def large_pages() -> Iterator[RawPage]:
    """Yields the spot check's pages endlessly, with new ids, each of about 30 kB."""
    pages = list(read_pages_csv(locate("corpora", "spot-check-pages") / "pages.csv", set()))
    for number, page in enumerate(cycle(page for page in pages if isinstance(page, RawPage))):
        before, paragraph, after = page.content.partition(b"<p>")
        copies = 1 + max(0, PAGE_SIZE - len(page.content)) // max(1, len(after))
        content = before + (paragraph + after) * copies
        yield RawPage(id=f"{page.id}-{number}", url=page.url, content=content)


def write_archive(folder: Path) -> None:
    """Writes an input directory with web archives, a thousand pages each."""
    write_topics(folder)
    pages = large_pages()
    for part in range(PAGES // PER_ARCHIVE):
        with (folder / f"{part}.warc").open("wb") as file:
            for page in islice(pages, PER_ARCHIVE):
                http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page.content
                head = f"WARC-TREC-ID: {page.id}{part}\r\nWARC-Target-URI: {page.url}\r\n"
                kind = "WARC-Type: response\r\nContent-Type: application/http; msgtype=response\r\n"
                file.write(f"WARC/1.0\r\n{kind}{head}Content-Length: {len(http)}\r\n\r\n".encode())
                file.write(http + b"\r\n\r\n")


def write_passages(folder: Path) -> None:
    """Writes an input directory with passages in the 2022 format."""
    write_topics(folder)
    words = " ".join(page.text for page in open_dataset("spot-check/pages").documents).split()
    rng = random.Random(2022)
    with (folder / "passages.jsonl").open("w", encoding="utf-8") as file:
        for number in range(PASSAGES):
            starts = [rng.randrange(len(words) - 50) for _ in range(2)]
            text = " ".join(word for start in starts for word in words[start : start + 50])
            file.write(json.dumps({"id": f"p{number}", "contents": text, "chatNoirUrl": ""}) + "\n")


def write_topics(folder: Path) -> None:
    """Creates a folder with the spot check's topics."""
    folder.mkdir()
    (folder / "topics.xml").write_bytes(locate("topics", "spot-check-pages.xml").read_bytes())


if __name__ == "__main__":
    main()
