"""Times ``touche evaluate`` against ir_measures and ranx, and ``touche fuse`` against ranx, on made-up runs.

    python benchmarks/evaluation_speed.py [--rounds 3] [--only SIZE]

``SIZES`` lists the runs. Each system is a process of its own that reads run and qrels and prints nDCG@5.
``touche trec_eval`` computes trec_eval's scores with their interval; ``touche`` computes those of both
evaluators; both also print warnings and explanations. The fusions are reciprocal rank fusions of two such
runs that share half of their documents. ranx stops when it has the fused run, because it saves runs slowly;
touche also writes the file. ranx is left out if it is not installed.

For each size and system, the benchmark prints processor seconds, peak memory, and the ratio of the seconds to
ir_measures' (of fusions: to touche's). It takes a few minutes.
"""

import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import click


@dataclass(frozen=True)
class Size:
    """The size of a run.

    Attributes:
        topics: its topics.
        depth: its documents per topic.
        judged: the share of judged documents, below the first five.
        judged_first: the share of judged documents among the first five.
    """

    topics: int
    depth: int
    judged: float = 0.1
    judged_first: float = 0.9


SIZES = {
    "small": Size(topics=49, depth=1_000),
    "large": Size(topics=1_000, depth=1_000),
    "deep": Size(topics=50, depth=20_000),
    "many topics": Size(topics=10_000, depth=10, judged=0.5, judged_first=0.5),
    "very many topics": Size(topics=60_000, depth=10, judged=0.5, judged_first=0.5),
}
RANX = """
import sys
from ranx import Qrels, Run, evaluate
qrels, run = (kind.from_file(file, kind="trec") for kind, file in zip((Qrels, Run), sys.argv[1:]))
print(evaluate(qrels, run, "ndcg@5"))
"""
RANX_FUSE = """
import sys
from ranx import Run, fuse
runs = [Run.from_file(file, kind="trec") for file in sys.argv[1:]]
fuse(runs=runs, norm=None, method="rrf", params=dict(k=60))
"""
COMMANDS = {
    "touche": ["-m", "touche", "evaluate", "{run}", "--qrels", "{qrels}"],
    "touche trec_eval": [
        "-m",
        "touche",
        "evaluate",
        "{run}",
        "--qrels",
        "{qrels}",
        "--evaluator",
        "trec_eval",
    ],
    "ir_measures": ["-m", "ir_measures", "{qrels}", "{run}", "nDCG@5"],
    "ranx": ["-c", RANX, "{qrels}", "{run}"],
    "touche fuse": ["-m", "touche", "fuse", "{run}", "{other}", "-o", "{folder}/fused"],
    "ranx fuse": ["-c", RANX_FUSE, "{run}", "{other}"],
}


@dataclass(frozen=True)
class Usage:
    """What a process used: seconds of all processors, and peak memory."""

    seconds: float
    megabytes: float


def write(folder: Path, size: Size) -> dict[str, str]:
    """Writes a run, its qrels, and another run. Some neighbours in the ranking are tied.

    Returns:
        The paths by their names in ``COMMANDS``.
    """
    generator = random.Random(size.topics)
    name = f"{size.topics}-{size.depth}"
    run = folder / f"{name}.txt"
    qrels = folder / f"{name}.qrels"
    with run.open("w") as lines, qrels.open("w") as judgments:
        for topic in range(1, size.topics + 1):
            score = 50.0
            for rank, number in enumerate(generator.sample(range(5_000_000), size.depth), 1):
                score -= generator.random() * 0.02 * (generator.random() > 0.02)
                lines.write(f"{topic} Q0 doc{number:07d}-{topic % 7} {rank} {score:.6f} made-up\n")
                if generator.random() < (size.judged_first if rank <= 5 else size.judged):
                    judgments.write(
                        f"{topic} 0 doc{number:07d}-{topic % 7} {generator.choice([0, 0, 0, 1, 2])}\n"
                    )
    other = folder / f"{name}-other.txt"
    with run.open() as lines, other.open("w") as others:
        for line in lines:
            columns = line.split()
            document = generator.choice([columns[2], f"other-{columns[2]}"])
            score = float(columns[4]) - generator.random()
            others.write(f"{columns[0]} Q0 {document} {columns[3]} {score:.6f} other\n")
    return {"run": str(run), "qrels": str(qrels), "other": str(other), "folder": str(folder)}


def measure(arguments: list[str]) -> Usage:
    """Runs Python with these arguments; exits if that fails."""
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"error: {' '.join(arguments)} failed; call it by itself")
    return Usage(seconds=usage.ru_utime + usage.ru_stime, megabytes=usage.ru_maxrss / 1024)


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--only", type=click.Choice([*SIZES]), multiple=True, help="A size to measure; all by default.")
def main(rounds: int, only: tuple[str, ...]) -> None:
    """Prints medians, and the median ratio of each system's seconds to those of its competitor."""
    systems = [name for name in COMMANDS if not name.startswith("ranx") or find_spec("ranx")]
    with tempfile.TemporaryDirectory() as folder:
        for name_of_size in only or SIZES:
            size = SIZES[name_of_size]
            files = write(Path(folder), size)
            commands = {name: [word.format(**files) for word in COMMANDS[name]] for name in systems}
            usages = [{name: measure(command) for name, command in commands.items()} for _ in range(rounds)]
            for name in systems:
                seconds = median(usage[name].seconds for usage in usages)
                memory = median(usage[name].megabytes for usage in usages)
                # Fusions are compared with touche's, and evaluations with ir_measures'.
                other = "touche fuse" if name.endswith("fuse") else "ir_measures"
                ratio = median(usage[name].seconds / usage[other].seconds for usage in usages)
                lines = f"{name_of_size}, {size.topics:,} topics, {size.topics * size.depth:,} lines"
                click.echo(f"{lines}, {name}: {seconds:.2f} s, {memory:.0f} MB, {ratio:.2f} times {other}")


if __name__ == "__main__":
    main()
