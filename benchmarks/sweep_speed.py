"""Times a sweep of bm25 over 20 settings next to 20 single runs, in turn.

    TOUCHE_DATA=... python benchmarks/sweep_speed.py [--documents 387740] [--rounds 1]

The documents are those of scan_speed.py. Both sides are whole processes, from the documents to 20 run.txt and
their scores: one ``touche sweep``, and 20 ``touche run`` with one ``touche evaluate``. The runs are compared
byte by byte.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import click
import scan_speed

from touche.data.places import locate

K1, B = ("0.6", "0.8", "1.2", "1.6", "2.0"), ("0.2", "0.4", "0.75", "0.9")
TASK = "touche-2020-task-1"
TOUCHE = (sys.executable, "-m", "touche")


@click.command()
@click.option("--documents", default=387_740, show_default=True, help="How many arguments.")
@click.option("--rounds", default=1, show_default=True, help="How often both sides are timed.")
def main(documents: int, rounds: int) -> None:
    """Prints the seconds of both sides and their ratio."""
    with tempfile.TemporaryDirectory(prefix="touche-benchmark-") as name:
        work = Path(name)
        pairs = scan_speed.recombined_arguments(documents)
        scan_speed.write(work, locate("topics", f"{TASK}.xml"), "documents.jsonl", ("docno", "text"), pairs)
        ratios = []
        for number in range(rounds):
            swept, single = work / f"sweep-{number}", work / f"single-{number}"
            of_sweep, of_runs = sweep(work / "input", swept), single_runs(work / "input", single)
            check_same(swept, single)
            ratios.append(of_runs / of_sweep)
            print(f"sweep {of_sweep:.1f} s, single runs {of_runs:.1f} s, ratio {ratios[-1]:.1f}", flush=True)
        print(f"median ratio of {rounds} rounds: {median(ratios):.1f}")


def sweep(given: Path, output: Path) -> float:
    """The seconds of one sweep."""
    values = ["--k1", ",".join(K1), "--b", ",".join(B)]
    return seconds("sweep", "bm25", *values, "-i", str(given), "--task", TASK, "-o", str(output))


def single_runs(given: Path, output: Path) -> float:
    """The seconds of as many single runs, and of scoring them."""
    folders = {(k1, b): output / f"{k1}-{b}" for k1 in K1 for b in B}
    spent = 0.0
    for (k1, b), folder in folders.items():
        spent += seconds("run", "bm25", "--k1", k1, "--b", b, "-i", str(given), "-o", str(folder))
    runs = [str(folder / "run.txt") for folder in folders.values()]
    return spent + seconds("evaluate", *runs, "--task", TASK, "--evaluator", "trec_eval")


def seconds(*arguments: str) -> float:
    """The wall-clock time of a command."""
    started = time.monotonic()
    subprocess.run([*TOUCHE, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - started


def check_same(*folders: Path) -> None:
    """Ends the benchmark unless both folders have the same runs."""
    some, others = (sorted(path.read_bytes() for path in folder.glob("*/run.txt")) for folder in folders)
    if some != others or len(some) != len(K1) * len(B):
        sys.exit("the runs differ")


if __name__ == "__main__":
    main()
