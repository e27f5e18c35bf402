"""Identifies runs with known settings, and prints whether each answer is right.

Usage: python benchmarks/identify_matrix.py [NAME...]

NAME selects runs by part of their name. For a baseline's run, the baseline is run first. The corpus sample
and the official runs need TOUCHE_DATA.

Each run's line shows: its name, the verdict (right, undecided with or without the truth among the candidates,
wrong, or refused), seconds, processor seconds, and the answer's first line. The whole answer follows unless
the verdict is right. The last line counts the runs per verdict.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import touche
from touche.data.datasets import open_dataset
from touche.errors import ToucheError
from touche.lab.identification.answer import Answer, answer
from touche.lab.identification.samples import sample_of
from touche.trec.columns import Run
from touche.trec.scores_files import read_scores

TOY = "spot-check/arguments"
SAMPLE = "touche-2020-task-1/sample"

# Parts of hypotheses, as touche.lab.identification words them.
STANDARD = "standard analysis (no stop words, no stemming)"
ENGLISH = "english analysis (Lucene's 33 English stop words, Porter's stemmer, possessives cut off)"
KSTEM = "Snowball's 174 English stop words, KStem"
BYTE = "lengths in one byte"
EXACT = "lengths exact"
BOTH = "premises and conclusion in one field"
PARTS = "premises and conclusion"

DIRICHLET = f"LMDirichlet of maximum of {PARTS}, {STANDARD}, {BYTE}"
ONE_FIELD = f"{BOTH}, {ENGLISH}, {BYTE}"
TWO_FIELDS = f"sum of {PARTS}, {ENGLISH}, {BYTE}"
EITHER = "BM25 or Terrier's TF_IDF"


@dataclass(frozen=True)
class Setting:
    """A baseline with options, and what the answer for its run should be.

    Attributes:
        truth: the hypothesis in words.
        numbers: the parameters in words; empty if there are none.
    """

    name: str
    baseline: str
    truth: str
    numbers: str = ""
    options: Mapping[str, object] = field(default_factory=dict)

    def known_run(self, name: str, dataset: str) -> "Known":
        """Returns this setting's run on a dataset."""
        return Known(
            name=name,
            dataset=dataset,
            truth=self.truth,
            numbers=self.numbers,
            baseline=self.baseline,
            options=self.options,
        )


@dataclass(frozen=True)
class Known:
    """A run with known settings.

    Attributes:
        dataset: the dataset whose documents are available.
        truth: the hypothesis in words; empty if it is not among the searched ones.
        numbers: the parameters in words.
        baseline: the baseline; empty for an official run.
        file: the official run, in TOUCHE_DATA's folder ``runs``.
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


SETTINGS: Sequence[Setting] = (
    *(
        Setting(
            name=f"dirichletlm-{mu}",
            baseline="dirichletlm",
            truth=DIRICHLET,
            numbers=f"mu = {mu}",
            options={"mu": mu},
        )
        for mu in (2000, 1500, 700)
    ),
    *(
        Setting(
            name=f"bm25-{k1}-{b}",
            baseline="bm25",
            truth=f"BM25 of {ONE_FIELD}",
            numbers=f"k1 = {k1}, b = {b}",
            options={"k1": k1, "b": b},
        )
        for k1, b in ((0.9, 0.4), (1.2, 0.75), (1.6, 0.3))
    ),
    Setting(
        name="bm25-multifield",
        baseline="bm25",
        truth=f"BM25 of {TWO_FIELDS}",
        numbers="k1 = 0.9, b = 0.4",
        options={"multifield": True},
    ),
    Setting(name="dph", baseline="dph", truth=f"DPH of {BOTH}, {ENGLISH}, {EXACT}"),
    Setting(
        name="tfidf",
        baseline="tfidf",
        truth=f"Terrier's TF_IDF of {BOTH}, {ENGLISH}, {EXACT}",
        numbers="k1 = 1.2, b = 0.75",
    ),
    Setting(
        name="rank-bm25",
        baseline="rank-bm25",
        truth=rf"BM25Okapi of rank_bm25 of {BOTH}, no stop words, no stemming, words by \w+, {EXACT}",
        numbers="k1 = 1.5, b = 0.75",
    ),
    Setting(
        name="elrond",
        baseline="elrond",
        truth=f"LMDirichlet of sum of premises and discussion, {KSTEM}, {BYTE}",
        numbers="mu = 2000",
    ),
)
HALVED = ("dirichletlm-2000", "bm25-0.9-0.4", "tfidf")
UNKNOWN = ("dense", "rm3", "sentence-coherence", "chatnoir-bm25f", "polnareff")


def known_runs() -> Iterator[Known]:
    """Yields runs for all settings, runs on half of the documents, official runs, and unknown ones."""
    for dataset in (TOY, SAMPLE):
        for setting in SETTINGS:
            yield setting.known_run(f"{dataset} {setting.name}", dataset)
    for setting in SETTINGS:
        if setting.name in HALVED:
            known = replace(setting.known_run(f"half of {SAMPLE} {setting.name}", SAMPLE), halved=True)
            if setting.baseline != "dirichletlm":
                # Half of the documents can't decide between the two models.
                _, _, fields = setting.truth.partition(" of ")
                known = replace(known, truth=f"{EITHER} of {fields}")
            yield known
    yield Known(
        name="official dirichlet_multi_field",
        dataset="touche-2021-task-1/sample",
        truth=DIRICHLET,
        numbers="mu = 2000",
        file="touche-2021-task-1/baseline-dirichlet-in-sample.tsv",
    )
    yield Known(
        name="official puss-in-boots-1",
        dataset="touche-2022-task-2/sample",
        truth=f"{EITHER} of text, {ENGLISH}, {BYTE}",
        numbers="k1 = 0.9, b = 0.4",
        file="touche-2022-task-2/puss-in-boots-1.run",
    )
    yield Known(
        name="official bm25-multifield",
        dataset="beir-webis-touche2020-v2/sample",
        truth=f"{EITHER} of {TWO_FIELDS}",
        numbers="k1 = 0.9, b = 0.4",
        file="beir-webis-touche2020/bm25-multifield.run.gz",
        mean_lengths={"text": 193.933577, "title": 5.268650},
    )
    for baseline in UNKNOWN:
        yield Known(f"unknown {baseline}", TOY, baseline=baseline)
    yield Known("unknown fusion", TOY, baseline="fusion")


def find_run(known: Known) -> Run | Path:
    """Returns the official run, or runs the baseline."""
    if known.file:
        return Path(os.environ["TOUCHE_DATA"]) / "runs" / known.file
    if known.baseline == "fusion":
        return touche.fuse([touche.run(baseline, known.dataset) for baseline in ("bm25", "dph")])
    return touche.run(known.baseline, known.dataset, **dict[str, Any](known.options))


def identify(known: Known) -> Answer:
    """Finds a run, and identifies its settings."""
    run = find_run(known)
    source = open_dataset(known.dataset)
    documents = list(source.documents)
    if known.halved:
        documents = [document for index, document in enumerate(documents) if index % 2 == 0]
    lines = read_scores(run) if isinstance(run, Path) else run
    return answer(sample_of(lines, source.topics, documents, known.dataset, known.mean_lengths), documents)


def judge(known: Known, identified: Answer) -> str:
    """Returns the verdict on an answer, compared with the truth."""
    if not known.truth:
        return "wrong" if identified.stands_out else "undecided"
    if not identified.stands_out:
        is_listed = known.truth in {candidate.hypothesis for candidate in identified.candidates}
        return "undecided, truth listed" if is_listed else "undecided"
    best = identified.candidates[0]
    has_numbers = known.numbers in identified.first_line
    if has_numbers and best.hypothesis == known.truth:
        return "right"
    # On each axis, the truth may be the best candidate's value, or one that the scores can't exclude.
    is_possible = has_numbers and all(
        any(value in known.truth for value in (best_value, *identified.undecided.get(axis, ())))
        for axis, best_value in best.axes.items()
    )
    return "undecided, truth listed" if is_possible else "wrong"


def cpu_seconds() -> float:
    """Returns the processor time of this process and its ended child processes."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    """Prints a line per run, then the totals."""
    parts = sys.argv[1:]
    totals: dict[str, int] = {}
    for known in known_runs():
        if parts and not any(part in known.name for part in parts):
            continue
        wall_start = time.monotonic()
        cpu_start = cpu_seconds()
        try:
            identified = identify(known)
        except ToucheError as error:
            print(f"{known.name:48} refused: {error}", flush=True)
            totals["refused"] = totals.get("refused", 0) + 1
            continue
        wall = time.monotonic() - wall_start
        cpu = cpu_seconds() - cpu_start
        verdict = judge(known, identified)
        totals[verdict] = totals.get(verdict, 0) + 1
        print(f"{known.name:48} {verdict:24} {wall:6.1f} {cpu:6.1f}  {identified.first_line}", flush=True)
        if verdict != "right":
            for sentence in identified.sentences():
                print(f"    {sentence}", flush=True)
    print(totals)


if __name__ == "__main__":
    main()
