"""Compares the replica's order of web pages with ChatNoir's own scores, for several lengths and statistics.

    python benchmarks/chatnoir_order.py FOLDER RUN STATISTICS

FOLDER is an input directory with topics and ClueWeb12 pages in any format that chatnoir-bm25f reads. RUN is a
run file with ChatNoir's scores, such as the official data's chatnoir-cached.run. STATISTICS are from
ChatNoir's whole index: clueweb12-2020, clueweb12-2021 or a file.

The benchmark prints a table with one row per combination of lengths and statistics. A topic counts if at
least four pages are in both rankings, and only these pages are compared. The weighted tau is the mean
weighted by their number.
"""

import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from baseline_modules import import_from

from touche import baselines
from touche.baselines.baseline_files import statistics_named
from touche.data.datasets import opened
from touche.documents.discovery import Input
from touche.documents.html.extraction import parse_as_in_2020
from touche.documents.statistics_files import StatisticsFiles
from touche.errors import ToucheError
from touche.evaluation.agreement import NEAR, tau
from touche.evaluation.evaluators import Ranked
from touche.scan.written_statistics import read_known
from touche.trec.runs import read_run

BASELINE = "chatnoir-bm25f"
FEWEST = 4  # common pages for a topic to count
LENGTHS = {"one byte": "lengths since Lucene 7", "before Lucene 7": "lengths before Lucene 7"}
ROW = "{:62}  {:>6}  {:>8}  {:>13}  {:>6}  {:>5}"


def main() -> None:
    """Prints a row per combination of lengths and statistics."""
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder, run, statistics_name = sys.argv[1:]
    try:
        collection = opened(folder)
        original_run = read_run(Path(run))
        original = original_run.documents_of(original_run.by_score)
        shipped = statistics_named(baselines.load(BASELINE).folder or Path(), statistics_name)
        whole_index = shipped if shipped.is_file() else Path(statistics_name)
        read_known(whole_index)  # so that errors come before the table
        rows: list[tuple[str, ...]] = [("variant", "tau", "weighted", "overlap of 5", "topics", "pages")]
        for statistics, lengths in product((None, whole_index), LENGTHS):
            source = f"statistics of {statistics_name if statistics else 'these pages'}"
            ranked = rerank(collection, lengths, statistics)
            rows.append((f"{LENGTHS[lengths]}, {source}", *agreement(original, ranked)))
        print("\n".join(ROW.format(*row) for row in rows))  # after the warnings
    except ToucheError as error:
        sys.exit(str(error))


def rerank(collection: Input, lengths: str, statistics: Path | None) -> Ranked:
    """Ranks the pages as in 2020, but with other lengths and statistics.

    Args:
        lengths: a key of ``LENGTHS``.
        statistics: a file with a larger collection's statistics; None for the pages' own.
    """
    replica = import_from(BASELINE, "baseline")
    rescore = import_from(BASELINE, "engine.rescore")
    settings: Mapping[str, Any] = replica.SETTINGS["2020"] | {"lengths": lengths}
    method = replica.Method(settings=settings, model="fields", share=1.0)
    documents = collection.documents.parsed_by(parse_as_in_2020).with_statistics(StatisticsFiles(statistics))
    pages = rescore.Collection.read(documents, method.collecting(collection.topics))
    best = pages.best(replica.find_spam(collection.documents, pages), settings["window"])
    return {
        topic.number: [hit.id for hit, _ in rescore.scored(hits, settings)]
        for topic, hits in zip(collection.topics, best, strict=True)
    }


def agreement(original: Ranked, ranked: Ranked) -> tuple[str, ...]:
    """Returns a row's cells: tau, weighted tau, overlap of the first five, topics and pages."""
    taus: list[float] = []
    overlaps: list[float] = []
    sizes: list[int] = []  # how many pages were compared, per topic
    for topic in original.keys() & ranked.keys():
        common = set(original[topic]) & set(ranked[topic])
        if len(common) >= FEWEST:
            pages = [page for page in original[topic] if page in common]
            ranked_pages = [page for page in ranked[topic] if page in common]
            taus.append(tau(pages, ranked_pages) or 0.0)
            overlaps.append(len({*pages[:NEAR]} & {*ranked_pages[:NEAR]}) / len(pages[:NEAR]))
            sizes.append(len(common))
    if not sizes:
        raise ToucheError(f"no topic has {FEWEST} pages in both rankings; pass other pages, or another run")
    means = [fmean(taus), fmean(taus, weights=sizes), fmean(overlaps)]
    return *(f"{mean:.3f}" for mean in means), str(len(sizes)), str(sum(sizes))


if __name__ == "__main__":
    main()
