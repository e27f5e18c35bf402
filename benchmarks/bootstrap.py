"""Times the bootstrap interval for 50 topics against scipy.stats.bootstrap, with and without importing it.

    python benchmarks/bootstrap.py [--rounds 20]

Every score is shown with an interval, and importing scipy.stats would take longer than everything else. The
benchmark prints each one's median seconds, and the ratio of touche to scipy without and with the import. It
takes about a minute.
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
    """Prints the median seconds and their ratios."""
    from scipy.stats import bootstrap

    scores = np.random.default_rng(1).random(TOPICS)
    commands: dict[str, Callable[[], object]] = {
        "touche": lambda: bootstrap_interval(list(scores)),
        "scipy": lambda: bootstrap((scores,), np.mean, n_resamples=RESAMPLES, method="percentile"),
        "import": lambda: subprocess.run([sys.executable, "-c", "import scipy.stats"], check=True),
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            started = time.perf_counter()
            command()
            seconds[name].append(time.perf_counter() - started)
    touche = median(seconds["touche"])
    scipy = median(seconds["scipy"])
    importing = median(seconds["import"])
    click.echo(f"{TOPICS} topics: touche {touche:.4f} s, scipy {scipy:.4f} s, ratio {touche / scipy:.2f}")
    click.echo(f"with the import of scipy.stats, {importing:.2f} s: ratio {touche / (importing + scipy):.3f}")


if __name__ == "__main__":
    main()
