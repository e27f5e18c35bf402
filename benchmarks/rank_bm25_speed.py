"""Times the package rank_bm25 next to the BM25 of the scan, each as its baseline is run.

    TOUCHE_DATA=... python benchmarks/rank_bm25_speed.py

Both read the real sample of 2020, first as a whole, then as a re-ranking input: the 1,000 candidates that
DirichletLM has for each of the 49 topics. What counts is the ratio of the two within one call: machines
differ, and so do their good and bad days. Takes about three minutes.
"""

import json
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from touche.containers.limits import Limits
from touche.containers.runs import Job, Usage, run_locally
from touche.data.datasets import open_dataset
from touche.trec.runs import read_run

DATASET, ROUNDS = "touche-2020-task-1/sample", 5
BASELINES = ("rank-bm25", "bm25")


def main() -> None:
    """Prints for each input the seconds and MB of rank-bm25 and of bm25, and their ratio."""
    with TemporaryDirectory(prefix="touche-benchmark-") as name:
        work = Path(name)
        write_candidates(work)
        for what, given in (("whole sample", DATASET), ("re-ranking", str(work / "input"))):
            compare(what, given, work)


def compare(what: str, given: str, work: Path) -> None:
    """Runs the two in turn and prints a line for each quantity, with the ratio."""
    usages: dict[str, list[Usage]] = {name: [] for name in BASELINES}
    for _ in range(ROUNDS):
        for name, runs in usages.items():
            job = Job(name, (), given, work / name)
            runs.append(run_locally(job, Limits(), lambda line: None))
    for quantity, unit in (("wall", 1), ("cpu", 1), ("memory", 1e6)):
        package, scan = ([getattr(run, quantity) / unit for run in runs] for runs in usages.values())
        ratios = [one / other for one, other in zip(package, scan, strict=True)]
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"{what}, {quantity}: {median(package):.1f} and {median(scan):.1f}, ratio {spread}", flush=True)


def write_candidates(work: Path) -> None:
    """The candidates of DirichletLM as an input for re-ranking."""
    run_locally(Job("dirichletlm", (), DATASET, work / "candidates"), Limits(), lambda line: None)
    given = open_dataset(DATASET)
    titles = {topic.number: topic.title for topic in given.topics}
    texts = {document.id: document.text for document in given.documents}
    (work / "input").mkdir()
    with (work / "input" / "rerank.jsonl").open("w", encoding="utf-8") as file:
        for line in read_run(work / "candidates" / "run.txt"):
            candidate = {"qid": line.topic, "query": titles[line.topic]}
            candidate |= {"docno": line.document, "text": texts[line.document]}
            file.write(json.dumps(candidate) + "\n")


if __name__ == "__main__":
    main()
