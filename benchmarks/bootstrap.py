"""Times the bootstrap interval of 50 topics beside scipy.stats.bootstrap, and beside importing that.

    python benchmarks/bootstrap.py [--rounds 20]

An interval is computed for every score that is shown; importing scipy.stats would take longer than all else.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import click
import numpy as np

from touche.evaluation.significance import RESAMPLES, bootstrap_interval

TOPICS = 50


@click.command()
@click.option("--rounds", default=20, show_default=True)
def main(rounds: int) -> None:
    """Prints the medians and their ratios."""
    from scipy.stats import bootstrap

    scores = np.random.default_rng(1).random(TOPICS)
    commands: dict[str, Callable[[], object]] = {
        "touche": lambda: bootstrap_interval(list(scores)),
        "scipy": lambda: bootstrap((scores,), np.mean, n_resamples=RESAMPLES, method="percentile"),
        "import": lambda: subprocess.run([sys.executable, "-c", "import scipy.stats"], check=True),
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            started = time.perf_counter()
            command()
            taken[name].append(time.perf_counter() - started)
    ours, scipys, importing = (median(times) for times in taken.values())
    click.echo(f"{TOPICS} topics: touche {ours:.4f} s, scipy {scipys:.4f} s, ratio {ours / scipys:.2f}")
    click.echo(f"with the import of scipy.stats, {importing:.2f} s: ratio {ours / (importing + scipys):.3f}")


if __name__ == "__main__":
    main()
