"""Measures the images of all baselines with Docker on the toy collection; writes docs/site/measured.toml.

    PYTHONPATH=docs/site python benchmarks/images.py

Run it on a quiet machine; it takes some minutes. It prints the log of the builds and runs to standard error.
"""

import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import tomli_w

import tables
from touche.baselines.expected import ExpectedScore
from touche.containers import image_builds
from touche.containers.container_runs import RUNNERS
from touche.containers.limits import Limits
from touche.errors import ToucheError
from touche.io.origin import origin
from touche.io.writing import write_whole
from touche.regression.outcomes import Outcome
from touche.regression.running import rerun
from touche.tasks.task_records import SPOT_CHECK

RUNS = 3  # of each image
_HEADER = """\
# Written by: PYTHONPATH=docs/site python benchmarks/images.py (on a quiet machine).
# images: the unpacked size in MB; the median of three runs on the dataset with one processor, in seconds from
# the start of the container to run.txt.

"""


def measure() -> Mapping[str, Any]:
    """Runs the image of every baseline on its spot check.

    Raises:
        ToucheError: if Docker or an image is missing, or a run fails.
    """
    image_builds.build("docker", tables.in_order(), _say)
    return {
        "measured": _circumstances(),
        "images": {name: _image(name) for name in tables.in_order()},
    }


def _circumstances() -> dict[str, Any]:
    """Returns the date, the commit, and the machine in words."""
    processors = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    (model, *_) = re.findall("^model name.*: (.*)$", processors, flags=re.MULTILINE) or [platform.machine()]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": origin(tables.ROOT)["revision"],
        "machine": f"{os.cpu_count()} cores of {model}, {memory:.0f} GB of memory",
    }


def _image(name: str) -> Mapping[str, Any]:
    """Runs the image of a baseline on its spot check, and returns the entry of the image."""
    expected = _first(name)
    usages = [outcome.usage for _ in range(RUNS) for _, outcome in _outcomes([expected]) if outcome.usage]
    return {
        "dataset": expected.dataset,
        "size": int(image_builds.size("docker", name).removesuffix(" MB")),
        "seconds": round(median(usage.wall for usage in usages), 1),
    }


def _first(name: str) -> ExpectedScore:
    """Returns the first expected score of a baseline on the spot check without options."""
    return next(
        entry for entry in tables.scores(name) if entry.dataset.startswith(SPOT_CHECK) and not entry.options
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _outcomes(entries: Sequence[ExpectedScore]) -> Iterable[tuple[ExpectedScore, Outcome]]:
    """Reruns baselines in their images; yields each expected score with its outcome.

    Raises:
        ToucheError: if a run fails, or its dataset is missing.
    """
    for outcome in rerun(entries, RUNNERS["docker"], Limits(), _say):
        entry = outcome.expected
        if outcome.usage is None or not isinstance(entry, ExpectedScore):
            problem = f"{entry.command} on {entry.dataset}: {outcome.verdict}"
            raise ToucheError(f"{problem} {outcome.remark}; see the log above")
        yield entry, outcome


if __name__ == "__main__":
    try:
        write_whole(tables.MEASURED, _HEADER + tomli_w.dumps(measure()))
    except ToucheError as error:
        sys.exit(f"error: {error}")
