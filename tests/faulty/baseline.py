"""Faults that a sandbox has to handle."""

import os
import time
import urllib.request
from pathlib import Path
from typing import Literal

from touche import Documents, Rankings, Topics, baseline

Fault = Literal[
    "exits",
    "hangs",
    "talks",
    "links",
    "eats memory",
    "writes nothing",
    "writes elsewhere",
    "calls home",
    "overwrites",
    "empty run",
    "bad run",
]
RUNS = {"empty run": "", "bad run": "1 Q0 a 1 2 t\n1 Q0 b 2 3 t\n1 Q0 b 3 1 t\n"}

OUTPUTS = (Path("/output"), Path("/tira-data/output"))


@baseline
def faulty(topics: Topics, documents: Documents, *, fault: Fault = "exits") -> Rankings:
    """Fails in the requested way."""
    match fault:
        case "exits":
            os._exit(3)
        case "hangs":
            time.sleep(600)
        case "eats memory":
            held = b"x" * 1_000_000_000
            return [(topics[0], [("a", float(len(held)))])]
        case "talks":
            print("word\n" * 1_000_000)
        case "links":
            Path("/output/run.txt").symlink_to("/etc/passwd")
        case "writes elsewhere":
            Path("/opt/baselines/x").write_text("")
        case "calls home":
            urllib.request.urlopen("http://1.1.1.1", timeout=5)
        case "overwrites":
            _overwrite(next(path for path in OUTPUTS if path.exists()))
        case "empty run" | "bad run":
            Path("/output/run.txt").write_text(RUNS[fault])
    os._exit(0)


def _overwrite(output: Path) -> None:
    """Writes a run, and files that could be the user's own."""
    (output / "link").mkdir()
    for name in ("notes.txt", "link/thesis.tex"):
        (output / name).write_text("gone")
    (output / "ir-metadata.yml").symlink_to("/etc/passwd")
    (output / "run.txt").write_text("1 Q0 a 1 2 t\n")
    (output / "run.txt").chmod(0o604)
