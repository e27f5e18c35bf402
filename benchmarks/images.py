"""Measures all baselines' images using Docker and the toy collection, and writes docs/site/measured.toml.

    PYTHONPATH=docs/site python benchmarks/images.py

Run it on a quiet machine; it takes a few minutes. The logs go to standard error.
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
from touche.errors import ToucheError
from touche.io.origin import origin
from touche.io.writing import write_whole
from touche.regression.outcomes import Outcome
from touche.regression.running import rerun
from touche.runners import image_builds
from touche.runners.container_runs import RUNNERS
from touche.runners.limits import Limits
from touche.tasks.task_records import SPOT_CHECK

RUNS = 3  # per image
_HEADER = """\
# Written by: PYTHONPATH=docs/site python benchmarks/images.py (on a quiet machine).
# images: the unpacked size in MB; the median of three runs on the dataset with one processor, in seconds from
# the start of the container to run.txt.

"""


def measure() -> Mapping[str, Any]:
    """Runs each baseline's image on its spot check."""
    image_builds.build("docker", tables.in_order(), _say)
    return {
        "measured": _circumstances(),
        "images": {name: _image(name) for name in tables.in_order()},
    }


def _circumstances() -> dict[str, Any]:
    """Returns date, commit and machine."""
    processors = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    (model, *_) = re.findall("^model name.*: (.*)$", processors, flags=re.MULTILINE) or [platform.machine()]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": origin(tables.ROOT, has_run=True)["revision"],
        "machine": f"{os.cpu_count()} cores of {model}, {memory:.0f} GB of memory",
    }


def _image(name: str) -> Mapping[str, Any]:
    """Runs a baseline's image on its spot check, and returns the image's entry."""
    expected = _first(name)
    usages = [outcome.usage for _ in range(RUNS) for _, outcome in _outcomes([expected]) if outcome.usage]
    return {
        "dataset": expected.dataset,
        "size": int(image_builds.size("docker", name).removesuffix(" MB")),
        "seconds": round(median(usage.wall for usage in usages), 1),
    }


def _first(name: str) -> ExpectedScore:
    """Returns a baseline's first expected score for the spot check with default options."""
    return next(
        entry for entry in tables.scores(name) if entry.dataset.startswith(SPOT_CHECK) and not entry.options
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _outcomes(entries: Sequence[ExpectedScore]) -> Iterable[tuple[ExpectedScore, Outcome]]:
    """Reruns baselines in their images, and yields each expected score with its outcome."""
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
