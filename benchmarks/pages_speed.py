"""Pages per second and core, and memory, of the ChatNoir replica.

The pages are those of the spot check, each with its main content repeated to the size of real pages (30 kB);
the passages are recombined from their words, a hundred each. Takes about 20 minutes. From the root of the
repository:

    python benchmarks/pages_speed.py
"""

import json
import os
import random
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from touche.containers.limits import Limits
from touche.containers.runs import Job, run_locally
from touche.data.datasets import open_dataset
from touche.data.places import locate
from touche.documents.html.extraction import parse, parse_as_in_2020
from touche.documents.html.parsing import parsed
from touche.documents.html_folder import read_pages_csv
from touche.documents.pages import Parser, RawPage

PAGES, PASSAGES, SIZE = 4_000, 1_000_000, 30_000


def main() -> None:
    """Prints a line for each figure."""
    everything = sorted(os.sched_getaffinity(0))
    with TemporaryDirectory(prefix="touche-benchmark-") as name:
        folder = Path(name)
        write_archive(folder / "pages")
        write_passages(folder / "passages")
        for processors in (everything[:1], everything[:2]):
            os.sched_setaffinity(0, processors)
            cores = f"{len(processors)} core{'s' if len(processors) > 1 else ''}"
            for year, parser in (("today", parse), ("2020", parse_as_in_2020)):
                measure_parsing(year, parser, cores)
            for kind, size in (("pages", PAGES), ("passages", PASSAGES)):
                measure(folder / kind, size, cores)


def measure_parsing(year: str, parser: Parser, cores: str) -> None:
    """Takes the pages apart and prints how fast that was."""
    started = time.perf_counter()
    count = sum(1 for _ in parsed(islice(large_pages(), PAGES), parser))
    speed = count / (time.perf_counter() - started)
    print(f"parsing by the rules of {year}, {cores}: {speed:.0f} pages a second", flush=True)


def measure(given: Path, size: int, cores: str) -> None:
    """Runs the baseline and prints what it took."""
    job = Job("chatnoir-bm25f", ("--match", "30%"), str(given), given.parent / f"{given.name} {cores}")
    usage = run_locally(job, Limits(), lambda line: None)
    memory = (usage.memory or 0) / 1e6
    print(
        f"{size} {given.name}, {cores}: {usage.wall:.0f} s, {size / usage.wall:.0f} a second, {memory:.0f} MB"
    )


def large_pages() -> Iterator[RawPage]:
    """The pages of the spot check, again and again under other ids, each of about 30 kB."""
    pages = list(read_pages_csv(locate("corpora", "spot-check-pages") / "pages.csv", set()))
    for number, page in enumerate(cycle(page for page in pages if isinstance(page, RawPage))):
        before, paragraph, after = page.content.partition(b"<p>")
        missing = max(0, SIZE - len(page.content)) // max(1, len(after))
        yield RawPage(f"{page.id}-{number}", page.url, before + (paragraph + after) * (1 + missing))


def write_archive(folder: Path) -> None:
    """An input of web archives, a thousand pages each."""
    write_topics(folder)
    pages = large_pages()
    for part in range(PAGES // 1000):
        with (folder / f"{part}.warc").open("wb") as file:
            for page in islice(pages, 1000):
                http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page.content
                head = f"WARC-TREC-ID: {page.id}{part}\r\nWARC-Target-URI: {page.url}\r\n"
                kind = "WARC-Type: response\r\nContent-Type: application/http; msgtype=response\r\n"
                file.write(f"WARC/1.0\r\n{kind}{head}Content-Length: {len(http)}\r\n\r\n".encode())
                file.write(http + b"\r\n\r\n")


def write_passages(folder: Path) -> None:
    """An input of passages in the format of 2022."""
    write_topics(folder)
    words = " ".join(page.text for page in open_dataset("spot-check/pages").documents).split()
    rng = random.Random(2022)
    with (folder / "passages.jsonl").open("w", encoding="utf-8") as file:
        for number in range(PASSAGES):
            start = rng.randrange(len(words) - 50), rng.randrange(len(words) - 50)
            text = " ".join(word for at in start for word in words[at : at + 50])
            file.write(json.dumps({"id": f"p{number}", "contents": text, "chatNoirUrl": ""}) + "\n")


def write_topics(folder: Path) -> None:
    """A folder with the topics of the spot check."""
    folder.mkdir()
    (folder / "topics.xml").write_bytes(locate("topics", "spot-check-pages.xml").read_bytes())


if __name__ == "__main__":
    main()
