"""Compares bm25 on Spark with bm25 on one machine, on documents and on web pages. Needs the extra spark.

    TOUCHE_DATA=... python benchmarks/cluster_speed.py [--documents 10000] [--pages 2000] [--partitions 2]

The documents are recombined from the samples' sentences as in scan_speed.py, in eight files. The pages are
the same as in pages_speed.py, gzipped, a thousand per archive. Spark runs only on this machine, one task at a
time per processor. You can repeat --documents and --partitions.

For each run, the benchmark prints wall-clock seconds, documents a second and core, and the peak memory of the
largest process of each kind. Every run starts Spark again, so the first line is a run on ten documents. If a
run on Spark differs from the one on one machine, it ends with an error.
"""

import gzip
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from math import ceil
from pathlib import Path

import click
import orjson
from pages_speed import large_pages, write_topics
from scan_speed import recombined_passages

from touche.data.places import locate
from touche.documents.html.extraction import parse
from touche.documents.pages import Page, PageError, RawPage
from touche.documents.warc import read_warc
from touche.scan.counting import ONE_FIELD, Counting, Vocabulary
from touche.scan.tokens import analysis_named
from touche.trec.topics import read_topics

FILES = 8  # of documents
PER_ARCHIVE = 1000  # pages
# A process's kind, by part of its command line; the first match counts.
KINDS = {"java": "Java", "pyspark.daemon": "a worker's Python", "touche": "the driver's Python"}
PEAK_MEMORY = re.compile(r"VmHWM:\s+(\d+) kB")


@dataclass
class Timing:
    """A run's time and memory.

    Attributes:
        seconds: wall-clock time.
        megabytes: the peak memory of the largest process of each kind.
    """

    seconds: float = 0.0
    megabytes: dict[str, float] = field(default_factory=dict)


@click.command()
@click.option("--documents", type=int, multiple=True, default=(10_000, 100_000, 1_000_000))
@click.option("--pages", type=int, default=2000, show_default=True)
@click.option("--partitions", type=int, multiple=True, default=(1, 2, 7))
def main(documents: Sequence[int], pages: int, partitions: Sequence[int]) -> None:
    """Prints a line per run."""
    with tempfile.TemporaryDirectory(prefix="touche-benchmark-") as temporary:
        folder = Path(temporary)
        write_passages(folder / "few", 10)
        report("Spark's start, and 10 documents", 10, run(folder, "few", partitions=2))
        for count in documents:
            write_passages(folder / str(count), count)
            compare(folder, str(count), count=count, noun="documents", partitions=partitions)
        if pages:
            write_archives(folder / "pages", pages)
            report_shares(folder / "pages")
            compare(folder, "pages", count=pages, noun="pages", partitions=partitions)


def compare(folder: Path, name: str, count: int, noun: str, partitions: Sequence[int]) -> None:
    """Runs bm25 on one machine, and on Spark with each number of partitions. The runs must be the same.

    Args:
        count: how many documents or pages there are.
        noun: which of the two they are.
    """
    report(f"{count:,} {noun}, one machine", count, run(folder, name, partitions=0))
    expected = (folder / "out" / "run.txt").read_bytes()
    for number in partitions:
        timing = run(folder, name, partitions=number)
        report(f"{count:,} {noun}, Spark, {number} partitions", count, timing)
        if (folder / "out" / "run.txt").read_bytes() != expected:
            sys.exit("the run is another one")


def report(title: str, count: int, timing: Timing) -> None:
    """Prints a line for a run on ``count`` documents or pages."""
    cores = len(os.sched_getaffinity(0))
    memory = ", ".join(f"{kind} {megabytes:,.0f} MB" for kind, megabytes in timing.megabytes.items())
    speed = f"{count / timing.seconds / cores:,.0f} a second and core"
    print(f"{title}: {timing.seconds:.1f} s, {speed}; {memory}", flush=True)


def run(folder: Path, name: str, partitions: int) -> Timing:
    """Measures a whole ``touche run bm25`` process, or ``touche spark bm25`` if there are partitions."""
    (folder / "spark-defaults.conf").write_text(f"spark.default.parallelism {partitions}\n")
    command = [sys.executable, "-m", "touche", "spark" if partitions else "run", "bm25"]
    command += ["-i", str(folder / name), "-o", str(folder / "out")]
    environment = {**os.environ, "SPARK_CONF_DIR": str(folder)}
    timing = Timing()
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        sample(process.pid, timing)
        time.sleep(0.1)
    timing.seconds = time.monotonic() - started
    if process.returncode:
        sys.exit(f"failed: {' '.join(command)}")
    return timing


def sample(pid: int, timing: Timing) -> None:
    """Adds the current peak memory of a process and its descendants to a timing."""
    for process in family(pid):
        with suppress(OSError):  # the process has ended meanwhile
            command = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
            peak = PEAK_MEMORY.search(Path(f"/proc/{process}/status").read_text())
            kind = next((name for part, name in KINDS.items() if part in command), "others")
            if peak:
                timing.megabytes[kind] = max(timing.megabytes.get(kind, 0), int(peak[1]) / 1000)


def family(pid: int) -> Iterator[int]:
    """Yields the ids of a process and all its descendants."""
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from family(int(child))


def report_shares(folder: Path) -> None:
    """Prints how the time for a folder with archives is shared between reading, parsing and scanning.

    The three steps run one after the other in this process.
    """
    started = time.perf_counter()
    raw = [page for path in sorted(folder.glob("*.warc.gz")) for page in read_warc(path, set())]
    read = time.perf_counter()
    pages = list[Page]()
    for page in raw:
        with suppress(PageError):
            pages += [parse(page)] if isinstance(page, RawPage) else []
    parsed = time.perf_counter()
    titles = [topic.title for topic in read_topics(folder / "topics.xml")]
    terms = analysis_named("english").terms(" ".join(titles))
    Counting(Vocabulary.from_terms(terms, "english"), ONE_FIELD)(pages)
    ended = time.perf_counter()
    steps = {"reading gzip": read - started, "parsing": parsed - read, "scanning": ended - parsed}
    shares = ", ".join(f"{name} {seconds / (ended - started):.1%}" for name, seconds in steps.items())
    speed = len(raw) / (ended - started)
    print(f"{len(raw)} pages, one process: {speed:.0f} a second; {shares}", flush=True)


def write_passages(folder: Path, count: int) -> None:
    """Writes an input directory with passages and the topics of 2022 task 2."""
    folder.mkdir()
    (folder / "topics.xml").write_bytes(locate("topics", "touche-2022-task-2.xml").read_bytes())
    files = [(folder / f"passages-{number}.jsonl").open("wb") for number in range(FILES)]
    for number, (id, text) in enumerate(recombined_passages(count)):
        files[number * FILES // count].write(orjson.dumps({"id": id, "contents": text}) + b"\n")
    for file in files:
        file.close()


def write_archives(folder: Path, count: int) -> None:
    """Writes an input directory with web archives; each record is gzipped separately, as in the ClueWebs."""
    write_topics(folder)
    pages = large_pages()
    for part in range(ceil(count / PER_ARCHIVE)):
        with (folder / f"{part:03}.warc.gz").open("wb") as file:
            for page in islice(pages, min(PER_ARCHIVE, count - part * PER_ARCHIVE)):
                file.write(gzip.compress(record(page), 6))


def record(page: RawPage) -> bytes:
    """Returns a page's record in an archive."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page.content
    head = f"WARC-TREC-ID: {page.id}\r\nWARC-Target-URI: {page.url}\r\nContent-Length: {len(http)}\r\n"
    kind = "WARC-Type: response\r\nContent-Type: application/http; msgtype=response\r\n"
    return f"WARC/1.0\r\n{kind}{head}\r\n".encode() + http + b"\r\n\r\n"


if __name__ == "__main__":
    main()
