"""Times ``touche evaluate`` next to the command of ir_measures and to ranx, on made-up runs.

    python benchmarks/evaluation_speed.py [--rounds 3]

The runs have 49,000 lines of 49 topics and a million lines of 1,000 topics; a tenth of the lines is judged.
Each system is a process of its own that reads run and qrels and prints nDCG@5. ``touche`` also computes its
own evaluator, intervals, warnings and explanations. The benchmark leaves ranx out if it is not installed.
"""

import os
import random
import subprocess
import sys
import tempfile
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
COMMANDS = {
    "touche": ["-m", "touche", "evaluate", "{run}", "--qrels", "{qrels}"],
    "ir_measures": ["-m", "ir_measures", "{qrels}", "{run}", "nDCG@5"],
    "ranx": ["-c", RANX, "{qrels}", "{run}"],
}


def write(folder: Path, topics: int) -> dict[str, str]:
    """Writes a run and its qrels; some neighbours in the ranking have one score."""
    generator = random.Random(topics)
    run, qrels = folder / f"{topics}.txt", folder / f"{topics}.qrels"
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
    return {"run": str(run), "qrels": str(qrels)}


def measure(arguments: list[str]) -> tuple[float, float]:
    """Runs a program of Python; returns its seconds of a processor and its peak memory in MB."""
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"error: {' '.join(arguments)} failed; call it by itself")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


@click.command()
@click.option("--rounds", default=3, show_default=True)
def main(rounds: int) -> None:
    """Prints medians, and the median ratio of the seconds of touche to those of each other system."""
    systems = [name for name in COMMANDS if name != "ranx" or find_spec(name)]
    with tempfile.TemporaryDirectory() as folder:
        for size, topics in SIZES.items():
            files = write(Path(folder), topics)
            commands = {name: [word.format(**files) for word in COMMANDS[name]] for name in systems}
            timings = [{name: measure(command) for name, command in commands.items()} for _ in range(rounds)]
            for name in systems:
                seconds, memory = (median(each[name][part] for each in timings) for part in (0, 1))
                ratio = median(each["touche"][0] / each[name][0] for each in timings)
                lines = f"{size}, {topics * DEPTH:,} lines"
                click.echo(f"{lines}, {name}: {seconds:.2f} s, {memory:.0f} MB, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
