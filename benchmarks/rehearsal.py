"""Rehearses the nightly rerun on made-up collections of the official sizes.

    TOUCHE_DATA=... python benchmarks/rehearsal.py FOLDER [BASELINE ...] [--dataset ID] [--share 0.1]

It works in a copy of the project. A server on loopback, with the archives from whole_collections.py, replaces
the publishers. ``touche data fetch`` downloads and checks the archives, and ``touche regress`` runs each
baseline with an entry for the dataset. A few other baselines get an entry, so that they run too. Scores mean
nothing here.

A JSON record for each collection and each run is printed and added to rehearsal.jsonl. Times are in seconds
and sizes in bytes. FOLDER needs 20 GB; files that are already there are not fetched again.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from whole_collections import write_download

from touche.data.publishers import Source
from touche.data.sources import official
from touche.io.grouping import group_by
from touche.io.opening import md5

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("rehearsal.jsonl")  # speed_page.py turns it into tables
DATASETS = (  # as in regression.yml
    "beir-webis-touche2020-v2",
    "touche-2020-task-1-v1",
    "touche-2020-task-1",
    "touche-2021-task-1",
    "touche-2022-task-1",
    "touche-2022-task-2",
)
# Baselines without a published score for a whole collection, with a dataset that they can rank.
WITHOUT_ENTRY = {
    "rank-bm25": "touche-2020-task-1",
    "stance-lexicon": "touche-2022-task-2",
    "dirichletlm-pairs": "touche-2022-task-1",
    "sentence-coherence": "touche-2022-task-1",
}
_ENTRY = '\n[[run]]\ndataset = "{}"\ndigest = "0000000000000000"\n'
_OFFICIAL = ("touche*", "args*", "beir*", "clueweb*")


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Logs nothing."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("baselines", nargs=-1)
@click.option("--dataset", "datasets", multiple=True, type=click.Choice(DATASETS), help="Default: all.")
@click.option("--share", default=1.0, show_default=True, help="The part of the documents.")
@click.option("--runner", default="local", show_default=True, help="As for touche regress.")
@click.option("--results", default=RESULTS, type=click.Path(path_type=Path), help="The file to add lines to.")
def main(
    folder: Path, baselines: Sequence[str], datasets: Sequence[str], share: float, runner: str, results: Path
) -> None:
    """Fetches made-up collections and runs baselines on them."""
    folder = folder.resolve()
    copy = folder / "copy"
    copy_project(copy)
    for dataset in datasets or DATASETS:
        missing = [source for source in official([dataset]) if not (copy / source.path).exists()]
        with publishers(missing, copy, folder / "server", share) as downloaded:
            before = measure_size(copy)
            started = time.monotonic()
            with peak_size(copy) as peak:
                touche(copy, "data", "fetch", dataset)
            seconds = time.monotonic() - started
        record = {
            "dataset": dataset,
            "share": share,
            "unpacked": measure_size(copy) - before,
            "fetch": {"bytes": downloaded, "seconds": seconds, "peak": peak[0] - before},
        }
        report(record, results)
        for outcome in runs(copy, dataset, baselines, runner):
            report({"share": share, "runner": runner, **outcome}, results)


def copy_project(copy: Path) -> None:
    """Copies the library, the baselines and the toy collection, but no official data."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("src", "baselines"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored, dirs_exist_ok=True)
    ignored = shutil.ignore_patterns(*_OFFICIAL)
    for name in ("topics", "qrels", "corpora"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored, dirs_exist_ok=True)
    for name, dataset in WITHOUT_ENTRY.items():
        with (copy / "baselines" / name / "expected.toml").open("a", encoding="utf-8") as file:
            file.write(_ENTRY.format(dataset))


@contextmanager
def publishers(sources: Sequence[Source], copy: Path, folder: Path, share: float) -> Iterator[int]:
    """Serves downloads of official files, and makes the project's copy fetch them from there.

    Yields the bytes of all downloads, which are removed at the end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lines = ['[[record]]\ntitle = "made up"\nurl = "https://example.org"\nlicence = "none"\n']
    for url, members in group_by(sources, lambda source: source.url).items():
        if not url:
            continue
        file = write_download(members, share, folder)
        download = {
            "url": f"http://127.0.0.1:{server.server_port}/{file.name}",
            "md5": md5(file),
            "size": file.stat().st_size,
        }
        for source in members:
            values = download | {"member": source.member} if source.member else download
            fields = ", ".join(f"{key} = {value!r}" for key, value in values.items())
            lines.append(f'files."{source.path}" = {{ {fields} }}\n')
    (copy / "src" / "touche" / "data" / "publishers.toml").write_text("".join(lines), encoding="utf-8")
    try:
        yield measure_size(folder)
    finally:
        server.shutdown()
        server.server_close()
        shutil.rmtree(folder)


def runs(copy: Path, dataset: str, baselines: Sequence[str], runner: str) -> Iterator[dict[str, Any]]:
    """Yields a record for each run in ``touche regress`` on a dataset."""
    records = copy / "records.json"
    for name in baselines or [*with_entry(copy, dataset)]:
        with peak_size(copy / "temporary") as peak:
            records.unlink(missing_ok=True)
            output = ["--format", "json", "--output", str(records)]
            touche(copy, "regress", name, "--dataset", dataset, "--runner", runner, *output, check=False)
        outcomes = json.loads(records.read_bytes()) if records.exists() else []
        reruns = [outcome for outcome in outcomes if not outcome["run"]]  # without official runs
        for options, group in groupby(reruns, key=lambda outcome: outcome["options"]):
            first = next(group)
            usage = {key: first[key] for key in ("wall", "memory", "verdict", "remark")}
            yield {"baseline": name, "options": options, "dataset": dataset, **usage, "temporary": peak[0]}


def with_entry(copy: Path, dataset: str) -> Iterator[str]:
    """Yields the baselines with an entry for a dataset."""
    for path in sorted(copy.glob("baselines/*/expected.toml")):
        tables = tomllib.loads(path.read_text(encoding="utf-8")).values()
        if any(entry["dataset"] == dataset for table in tables for entry in table):
            yield path.parent.name


def touche(copy: Path, *arguments: str, check: bool = True) -> None:
    """Runs a command in the copied project, whose temporary files are in its folder ``temporary``."""
    temporary = copy / "temporary"
    temporary.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name != "TOUCHE_DATA"}
    environment |= {"PYTHONPATH": str(copy / "src"), "TMPDIR": str(temporary)}
    environment |= {"XDG_CACHE_HOME": str(temporary)}
    command = [sys.executable, "-P", "-m", "touche", *arguments]
    subprocess.run(command, cwd=copy, env=environment, check=check, stdout=subprocess.DEVNULL)


@contextmanager
def peak_size(folder: Path) -> Iterator[list[int]]:
    """Yields a list with a single number: the folder's largest size in bytes, measured every second."""
    peak = [0]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(1):
            peak[0] = max(peak[0], measure_size(folder))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()
        peak[0] = max(peak[0], measure_size(folder))


def measure_size(folder: Path) -> int:
    """Returns how many bytes a folder's files take. Ignores errors, because files may disappear meanwhile."""
    command = ["du", "--summarize", "--block-size=1", str(folder)]
    summary = subprocess.run(command, capture_output=True, check=False).stdout
    return int(summary.split()[0]) if summary else 0


def report(record: dict[str, Any], results: Path) -> None:
    """Prints a record and adds it to the results."""
    line = json.dumps(record)
    print(line, flush=True)
    with results.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    main()
