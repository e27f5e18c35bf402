"""Times the package rank_bm25 against the scan's BM25, each run as a baseline.

    TOUCHE_DATA=... python benchmarks/rank_bm25_speed.py

Both read the 2020 corpus sample, first as a whole, then as re-ranking input with DirichletLM's 1,000
candidates for each of the 49 topics. For each input and quantity, the benchmark prints the medians of
rank-bm25 and bm25. Compare the ratio, because times depend on the machine and its load. It takes about three
minutes.
"""

import json
from operator import truediv
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from touche.data.datasets import open_dataset
from touche.runners.container_runs import Job, Usage, run_locally
from touche.runners.limits import Limits
from touche.trec.runs import read_run

DATASET = "touche-2020-task-1/sample"
ROUNDS = 5
BASELINES = ("rank-bm25", "bm25")
QUANTITIES = {"wall": 1, "memory": 1e6}  # of a usage, with the printed unit: 1 s or 1 MB


def main() -> None:
    """Prints seconds and MB of rank-bm25 and bm25 for each input, and their ratio."""
    with TemporaryDirectory(prefix="touche-benchmark-") as temporary:
        work = Path(temporary)
        write_candidates(work)
        compare("whole sample", DATASET, work)
        compare("re-ranking", str(work / "input"), work)


def compare(title: str, input: str, work: Path) -> None:
    """Runs both baselines in turn on an input, and prints a line per quantity, with the ratio."""
    usages: dict[str, list[Usage]] = {name: [] for name in BASELINES}
    for _ in range(ROUNDS):
        for name, runs in usages.items():
            job = Job(baseline=name, arguments=(), input=input, output=work / name)
            runs.append(run_locally(job, Limits(), lambda line: None))
    for quantity, unit in QUANTITIES.items():
        package = [getattr(usage, quantity) / unit for usage in usages["rank-bm25"]]
        scan = [getattr(usage, quantity) / unit for usage in usages["bm25"]]
        ratios = list(map(truediv, package, scan))
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(
            f"{title}, {quantity}: {median(package):.1f} and {median(scan):.1f}, ratio {spread}", flush=True
        )


def write_candidates(work: Path) -> None:
    """Writes DirichletLM's candidates as re-ranking input, in the folder ``input``."""
    job = Job(baseline="dirichletlm", arguments=(), input=DATASET, output=work / "candidates")
    run_locally(job, Limits(), lambda line: None)
    dataset = open_dataset(DATASET)
    titles = {topic.number: topic.title for topic in dataset.topics}
    texts = {document.id: document.text for document in dataset.documents}
    (work / "input").mkdir()
    with (work / "input" / "rerank.jsonl").open("w", encoding="utf-8") as file:
        for line in read_run(work / "candidates" / "run.txt"):
            candidate = {
                "qid": line.topic,
                "query": titles[line.topic],
                "docno": line.document,
                "text": texts[line.document],
            }
            file.write(json.dumps(candidate) + "\n")


if __name__ == "__main__":
    main()
