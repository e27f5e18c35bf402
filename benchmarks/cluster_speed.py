"""Documents and pages a second and core on Spark, beside the same on one machine.

    TOUCHE_DATA=... python benchmarks/cluster_speed.py [--documents 10000]... [--pages 2000]

The documents are recombined from the samples' sentences as in scan_speed.py, in eight files, and ranked by
bm25; the pages are those of pages_speed.py, gzipped, in an archive for each thousand. Spark runs on this
machine alone, with a task for each processor at a time, and is started anew for each run: what that takes is
told first, as a run on ten documents. Peak memory is that of the largest process of each kind.
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
from touche.trec.topics import read_topics_xml

FILES, PER_ARCHIVE = 8, 1000
KINDS = {"java": "Java", "pyspark.daemon": "a worker's Python", "touche": "the driver's Python"}
STATUS = re.compile(r"VmHWM:\s+(\d+) kB")


@dataclass
class Timing:
    """Wall-clock seconds, and for each kind of process the peak memory of the largest in MB."""

    seconds: float = 0.0
    megabytes: dict[str, float] = field(default_factory=dict)


@click.command()
@click.option("--documents", type=int, multiple=True, default=(10_000, 100_000, 1_000_000))
@click.option("--pages", type=int, default=2000, show_default=True)
@click.option("--partitions", type=int, multiple=True, default=(1, 2, 7))
def main(documents: Sequence[int], pages: int, partitions: Sequence[int]) -> None:
    """Prints a line for each run."""
    with tempfile.TemporaryDirectory(prefix="touche-benchmark-") as name:
        folder = Path(name)
        write_passages(folder / "few", 10)
        tell("Spark's start, and 10 documents", 10, run(folder, "few", 2))
        for count in documents:
            write_passages(folder / str(count), count)
            compare(folder, str(count), count, "documents", partitions)
        if pages:
            write_archives(folder / "pages", pages)
            shares(folder / "pages")
            compare(folder, "pages", pages, "pages", partitions)


def compare(folder: Path, given: str, count: int, noun: str, partitions: Sequence[int]) -> None:
    """Runs on one machine, and on Spark with so many partitions; the runs have to be the same."""
    tell(f"{count:,} {noun}, one machine", count, run(folder, given, 0))
    expected = (folder / "out" / "run.txt").read_bytes()
    for number in partitions:
        tell(f"{count:,} {noun}, Spark, {number} partitions", count, run(folder, given, number))
        if (folder / "out" / "run.txt").read_bytes() != expected:
            sys.exit("the run is another one")


def tell(what: str, count: int, timing: Timing) -> None:
    """Prints a line."""
    cores = len(os.sched_getaffinity(0))
    memory = ", ".join(f"{kind} {megabytes:,.0f} MB" for kind, megabytes in timing.megabytes.items())
    speed = f"{count / timing.seconds / cores:,.0f} a second and core"
    print(f"{what}: {timing.seconds:.1f} s, {speed}; {memory}", flush=True)


def run(folder: Path, given: str, partitions: int) -> Timing:
    """``touche run``, whole; on Spark if there are partitions."""
    (folder / "spark-defaults.conf").write_text(f"spark.default.parallelism {partitions}\n")
    command = [
        sys.executable,
        "-m",
        "touche",
        "run",
        "bm25",
        "-i",
        str(folder / given),
        "-o",
        str(folder / "out"),
    ]
    environment = {**os.environ, "SPARK_CONF_DIR": str(folder)}
    started, timing = time.monotonic(), Timing()
    process = subprocess.Popen(
        [*command, *(["--runner", "spark"] if partitions else [])],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        sample(process.pid, timing)
        time.sleep(0.1)
    timing.seconds = time.monotonic() - started
    if process.returncode:
        sys.exit(f"failed: {' '.join(command)}")
    return timing


def sample(pid: int, timing: Timing) -> None:
    """Notes the peak memory of a process and of those that it has started."""
    for each in family(pid):
        with suppress(OSError):  # it has ended meanwhile
            command = Path(f"/proc/{each}/cmdline").read_bytes().decode(errors="replace")
            peak = STATUS.search(Path(f"/proc/{each}/status").read_text())
            kind = next((name for part, name in KINDS.items() if part in command), "others")
            if peak:
                timing.megabytes[kind] = max(timing.megabytes.get(kind, 0), int(peak[1]) / 1000)


def family(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from family(int(child))


def shares(given: Path) -> None:
    """Prints what the parts of the work on pages take, one after the other in this process."""
    started = time.perf_counter()
    raw = [page for path in sorted(given.glob("*.warc.gz")) for page in read_warc(path, set())]
    read = time.perf_counter()
    pages = list[Page]()
    for page in raw:
        with suppress(PageError):
            pages += [parse(page)] if isinstance(page, RawPage) else []
    parsed = time.perf_counter()
    titles = [topic.title for topic in read_topics_xml(given / "topics.xml")]
    Counting(Vocabulary.from_texts(titles, "english"), ONE_FIELD)(pages)
    ended = time.perf_counter()
    parts = {"reading gzip": read - started, "parsing": parsed - read, "scanning": ended - parsed}
    told = ", ".join(f"{name} {seconds / (ended - started):.1%}" for name, seconds in parts.items())
    speed = len(raw) / (ended - started)
    print(f"{len(raw)} pages, one process: {speed:.0f} a second; {told}", flush=True)


def write_passages(folder: Path, count: int) -> None:
    """An input of passages."""
    folder.mkdir()
    (folder / "topics.xml").write_bytes(locate("topics", "touche-2022-task-2.xml").read_bytes())
    files = [(folder / f"passages-{number}.jsonl").open("wb") for number in range(FILES)]
    for number, (id, text) in enumerate(recombined_passages(count)):
        files[number * FILES // count].write(orjson.dumps({"id": id, "contents": text}) + b"\n")
    for file in files:
        file.close()


def write_archives(folder: Path, count: int) -> None:
    """An input of web archives, each record gzipped by itself as in the ClueWebs."""
    write_topics(folder)
    pages = large_pages()
    for part in range(-(-count // PER_ARCHIVE)):
        with (folder / f"{part:03}.warc.gz").open("wb") as file:
            for page in islice(pages, min(PER_ARCHIVE, count - part * PER_ARCHIVE)):
                file.write(gzip.compress(record(page), 6))


def record(page: RawPage) -> bytes:
    """A page in an archive."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page.content
    head = f"WARC-TREC-ID: {page.id}\r\nWARC-Target-URI: {page.url}\r\nContent-Length: {len(http)}\r\n"
    kind = "WARC-Type: response\r\nContent-Type: application/http; msgtype=response\r\n"
    return f"WARC/1.0\r\n{kind}{head}\r\n".encode() + http + b"\r\n\r\n"


if __name__ == "__main__":
    main()
