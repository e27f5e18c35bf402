"""Times ``touche evaluate`` against ir_measures and ranx, and ``touche fuse`` against ranx, on made-up runs.

    python benchmarks/evaluation_speed.py [--rounds 3]

The runs contain 49,000 lines for 49 topics and a million lines for 1,000 topics; a tenth of the lines is
judged. Each system is a process of its own that reads run and qrels and prints nDCG@5. ``touche`` also
computes its own evaluator, intervals, warnings and explanations. The fusions are reciprocal rank fusions of
two such runs that share half of their documents. ranx stops when it has the fused run, because it saves runs
slowly; touche also writes the file. ranx is left out if it is not installed.

For each size and system, the benchmark prints processor seconds, peak memory, and the ratio of touche's
seconds to the system's. It takes a few minutes.
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

SIZES = {"small": 49, "large": 1_000}  # topics
DEPTH = 1_000
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


def write(folder: Path, topics: int) -> dict[str, str]:
    """Writes a run, its qrels, and another run. Some neighbours in the ranking are tied.

    Returns:
        The paths by their names in ``COMMANDS``.
    """
    generator = random.Random(topics)
    run = folder / f"{topics}.txt"
    qrels = folder / f"{topics}.qrels"
    with run.open("w") as lines, qrels.open("w") as judgments:
        for topic in range(1, topics + 1):
            score = 50.0
            for rank, number in enumerate(generator.sample(range(5_000_000), DEPTH), 1):
                score -= generator.random() * 0.02 * (generator.random() > 0.02)
                lines.write(f"{topic} Q0 doc{number:07d}-{topic % 7} {rank} {score:.6f} made-up\n")
                if generator.random() < (0.9 if rank <= 5 else 0.1):
                    judgments.write(
                        f"{topic} 0 doc{number:07d}-{topic % 7} {generator.choice([-2, 0, 0, 1, 2])}\n"
                    )
    other = folder / f"{topics}-other.txt"
    with run.open() as lines, other.open("w") as others:
        for line in lines:
            columns = line.split()
            name = generator.choice([columns[2], f"other-{columns[2]}"])
            score = float(columns[4]) - generator.random()
            others.write(f"{columns[0]} Q0 {name} {columns[3]} {score:.6f} other\n")
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
def main(rounds: int) -> None:
    """Prints medians, and the median ratio of touche's seconds to each other system's."""
    systems = [name for name in COMMANDS if not name.startswith("ranx") or find_spec("ranx")]
    with tempfile.TemporaryDirectory() as folder:
        for size, topics in SIZES.items():
            files = write(Path(folder), topics)
            commands = {name: [word.format(**files) for word in COMMANDS[name]] for name in systems}
            usages = [{name: measure(command) for name, command in commands.items()} for _ in range(rounds)]
            for name in systems:
                seconds = median(usage[name].seconds for usage in usages)
                memory = median(usage[name].megabytes for usage in usages)
                ours = "touche fuse" if name.endswith("fuse") else "touche"
                ratio = median(usage[ours].seconds / usage[name].seconds for usage in usages)
                lines = f"{size}, {topics * DEPTH:,} lines"
                click.echo(f"{lines}, {name}: {seconds:.2f} s, {memory:.0f} MB, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
