"""Times a sweep of bm25 over 20 settings against 20 single runs, in turn.

    TOUCHE_DATA=... python benchmarks/sweep_speed.py [--documents 387740] [--rounds 1]

The documents are the same as in scan_speed.py. Both sides are whole processes, from the documents to 20
run.txt and their scores: one ``touche sweep``, or 20 ``touche run`` and one ``touche evaluate``. The
benchmark prints both sides' seconds in each round, and their median ratio. If the runs differ, it ends with
an error.
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

K1 = ("0.6", "0.8", "1.2", "1.6", "2.0")
B = ("0.2", "0.4", "0.75", "0.9")
TASK = "touche-2020-task-1"
TOUCHE = (sys.executable, "-m", "touche")


@click.command()
@click.option("--documents", default=387_740, show_default=True, help="How many arguments.")
@click.option("--rounds", default=1, show_default=True, help="How often both sides are timed.")
def main(documents: int, rounds: int) -> None:
    """Prints both sides' seconds and their ratio."""
    with tempfile.TemporaryDirectory(prefix="touche-benchmark-") as temporary:
        work = Path(temporary)
        scan_speed.write(
            work,
            topics=locate("topics", f"{TASK}.xml"),
            name="documents.jsonl",
            keys=("docno", "text"),
            documents=scan_speed.recombined_arguments(documents),
        )
        ratios = []
        for number in range(rounds):
            sweep_folder = work / f"sweep-{number}"
            single_folder = work / f"single-{number}"
            sweep = time_sweep(work / "input", sweep_folder)
            single = time_single_runs(work / "input", single_folder)
            check_same(sweep_folder, single_folder)
            ratios.append(single / sweep)
            print(f"sweep {sweep:.1f} s, single runs {single:.1f} s, ratio {ratios[-1]:.1f}", flush=True)
        print(f"median ratio of {rounds} rounds: {median(ratios):.1f}")


def time_sweep(input: Path, output: Path) -> float:
    """Returns the seconds that one sweep takes."""
    values = ["--k1", ",".join(K1), "--b", ",".join(B)]
    return time_command("sweep", "bm25", *values, "-i", str(input), "--task", TASK, "-o", str(output))


def time_single_runs(input: Path, output: Path) -> float:
    """Returns the seconds for one run per setting, and for evaluating all runs."""
    folders = {(k1, b): output / f"{k1}-{b}" for k1 in K1 for b in B}
    seconds = 0.0
    for (k1, b), folder in folders.items():
        seconds += time_command("run", "bm25", "--k1", k1, "--b", b, "-i", str(input), "-o", str(folder))
    runs = [str(folder / "run.txt") for folder in folders.values()]
    return seconds + time_command("evaluate", *runs, "--task", TASK, "--evaluator", "trec_eval")


def time_command(*arguments: str) -> float:
    """Runs a touche command, and returns the wall-clock seconds."""
    started = time.monotonic()
    subprocess.run([*TOUCHE, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - started


def check_same(sweep_folder: Path, single_folder: Path) -> None:
    """Exits with an error unless both folders contain the same runs, one per setting."""
    sweep_runs = sorted(path.read_bytes() for path in sweep_folder.glob("*/run.txt"))
    single_runs = sorted(path.read_bytes() for path in single_folder.glob("*/run.txt"))
    if sweep_runs != single_runs or len(sweep_runs) != len(K1) * len(B):
        sys.exit("the runs differ")


if __name__ == "__main__":
    main()
