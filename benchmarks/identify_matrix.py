"""Identifies runs whose settings are known, and prints for each one whether the answer is right.

Usage: python benchmarks/identify_matrix.py [NAME...]

NAME selects runs by a part of their name. Runs of baselines are made first. The corpus sample and the
official runs need TOUCHE_DATA. The columns are the answer (right, undecided with or without the truth among
the candidates, wrong, or refused), seconds, seconds of all processors, and the first line of the answer.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import touche
from touche.data.datasets import open_dataset
from touche.errors import ToucheError
from touche.identification.answer import Answer, answer
from touche.identification.samples import read_scores, sample_of
from touche.trec.columns import Run

TOY, SAMPLE = "spot-check/arguments", "touche-2020-task-1/sample"
STANDARD = "standard analysis (no stop words, no stemming)"
ENGLISH = "english analysis (Lucene's 33 English stop words, Porter's stemmer, possessives cut off)"
BYTE, EXACT = "lengths in one byte", "lengths exact"
BOTH, PARTS = "premises and conclusion in one field", "premises and conclusion"

DIRICHLET = f"LMDirichlet of maximum of {PARTS}, {STANDARD}, {BYTE}"
ONE_FIELD, TWO_FIELDS = f"{BOTH}, {ENGLISH}, {BYTE}", f"sum of {PARTS}, {ENGLISH}, {BYTE}"
EITHER = "BM25 or Terrier's TF_IDF"


@dataclass(frozen=True)
class Known:
    """A run with known settings.

    Attributes:
        name: its name.
        dataset: the dataset whose documents are available.
        truth: the hypothesis in words; empty if the search lacks it.
        numbers: the parameters in words.
        baseline: the baseline; empty for an official run.
        options: its options.
        file: the official run, in the folder ``runs`` of TOUCHE_DATA.
        halved: whether every other document is left out after the run.
        mean_lengths: known mean lengths.
    """

    name: str
    dataset: str
    truth: str = ""
    numbers: str = ""
    baseline: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    file: str = ""
    halved: bool = False
    mean_lengths: Mapping[str, float] = field(default_factory=dict)


SETTINGS: Sequence[tuple[str, str, Mapping[str, object], str, str]] = (
    *(
        (f"dirichletlm-{mu}", "dirichletlm", {"mu": mu}, DIRICHLET, f"mu = {mu}")
        for mu in (2000, 1500, 700)
    ),
    *(
        (f"bm25-{k1}-{b}", "bm25", {"k1": k1, "b": b}, f"BM25 of {ONE_FIELD}", f"k1 = {k1}, b = {b}")
        for k1, b in ((0.9, 0.4), (1.2, 0.75), (1.6, 0.3))
    ),
    ("bm25-multifield", "bm25", {"multifield": True}, f"BM25 of {TWO_FIELDS}", "k1 = 0.9, b = 0.4"),
    ("dph", "dph", {}, f"DPH of {BOTH}, {ENGLISH}, {EXACT}", ""),
    ("tfidf", "tfidf", {}, f"Terrier's TF_IDF of {BOTH}, {ENGLISH}, {EXACT}", "k1 = 1.2, b = 0.75"),
    (
        "rank-bm25",
        "rank-bm25",
        {},
        rf"BM25Okapi of rank_bm25 of {BOTH}, no stop words, no stemming, words by \w+, {EXACT}",
        "k1 = 1.5, b = 0.75",
    ),
    (
        "elrond",
        "elrond",
        {},
        f"LMDirichlet of sum of premises and discussion, Snowball's 174 English stop words, KStem, {BYTE}",
        "mu = 2000",
    ),
)  # fmt: skip
HALVED = ("dirichletlm-2000", "bm25-0.9-0.4", "tfidf")
UNKNOWN = ("dense", "rm3", "sentence-coherence", "chatnoir-bm25f", "polnareff")


def known_runs() -> Iterator[Known]:
    """Yields the runs: those of all settings, those of half of the documents, official runs, unknown ones."""
    for dataset in (TOY, SAMPLE):
        for name, baseline, options, truth, numbers in SETTINGS:
            yield Known(f"{dataset} {name}", dataset, truth, numbers, baseline, options)
    for name, baseline, options, truth, numbers in SETTINGS:
        if name in HALVED:
            _, _, fields = truth.partition(" of ")
            truth = truth if baseline == "dirichletlm" else f"{EITHER} of {fields}"
            yield Known(f"half of {SAMPLE} {name}", SAMPLE, truth, numbers, baseline, options, halved=True)
    yield Known(
        "official dirichlet_multi_field",
        "touche-2021-task-1/sample",
        DIRICHLET,
        "mu = 2000",
        file="touche-2021-task-1/baseline-dirichlet-in-sample.tsv",
    )
    yield Known(
        "official puss-in-boots-1",
        "touche-2022-task-2/sample",
        f"{EITHER} of text, {ENGLISH}, {BYTE}",
        "k1 = 0.9, b = 0.4",
        file="touche-2022-task-2/puss-in-boots-1.run",
    )
    yield Known(
        "official bm25-multifield",
        "beir-webis-touche2020-v2/sample",
        f"{EITHER} of {TWO_FIELDS}",
        "k1 = 0.9, b = 0.4",
        file="beir-webis-touche2020/bm25-multifield.run.gz",
        mean_lengths={"text": 193.933577, "title": 5.268650},
    )
    for baseline in UNKNOWN:
        yield Known(f"unknown {baseline}", TOY, baseline=baseline)
    yield Known("unknown fusion", TOY, baseline="fusion")


def run_of(known: Known) -> Run | Path:
    """Returns the run: an official one, or that of a baseline."""
    if known.file:
        return Path(os.environ["TOUCHE_DATA"]) / "runs" / known.file
    if known.baseline == "fusion":
        return touche.fuse([touche.run(one, known.dataset) for one in ("bm25", "dph")])
    return touche.run(known.baseline, known.dataset, **dict[str, Any](known.options))


def answer_to(known: Known) -> Answer:
    """Identifies a run."""
    run, source = run_of(known), open_dataset(known.dataset)
    documents = list(source.documents)
    if known.halved:
        documents = documents[::2]
    lines = read_scores(run) if isinstance(run, Path) else run
    return answer(sample_of(lines, source.topics, documents, known.dataset, known.mean_lengths), documents)


def verdict(known: Known, answered: Answer) -> str:
    """Compares an answer with the truth."""
    if not known.truth:
        return "wrong" if answered.stands_out else "undecided"
    best = answered.candidates[0]
    if answered.stands_out:
        if best.hypothesis == known.truth and known.numbers in answered.first_line:
            return "right"
        # Values that the scores do not distinguish.
        words = {axis: [best.axes[axis], *answered.undecided.get(axis, ())] for axis in best.axes}
        is_possible = known.numbers in answered.first_line and all(
            any(value in known.truth for value in values) for values in words.values()
        )
        return "undecided, truth listed" if is_possible else "wrong"
    listed = known.truth in {candidate.hypothesis for candidate in answered.candidates}
    return "undecided, truth listed" if listed else "undecided"


def main() -> None:
    """Prints a line for each run, then the totals."""
    parts = sys.argv[1:]
    totals: dict[str, int] = {}
    for known in known_runs():
        if parts and not any(part in known.name for part in parts):
            continue
        begin, before = time.monotonic(), os.times()
        try:
            answered = answer_to(known)
        except ToucheError as error:
            print(f"{known.name:48} refused: {error}", flush=True)
            totals["refused"] = totals.get("refused", 0) + 1
            continue
        seconds, after = time.monotonic() - begin, os.times()
        cpu = sum(after[:4]) - sum(before[:4])
        result = verdict(known, answered)
        totals[result] = totals.get(result, 0) + 1
        print(f"{known.name:48} {result:24} {seconds:6.1f} {cpu:6.1f}  {answered.first_line}", flush=True)
        if result != "right":
            for sentence in answered.sentences():
                print(f"    {sentence}", flush=True)
    print(totals)


if __name__ == "__main__":
    main()
