"""A baseline compared with an official run; on the toy collection, the baseline itself makes it."""

import json
import shutil
from collections.abc import Callable
from math import log2
from pathlib import Path

import pytest
from small_clone import FORMULA, MAXIMUM, expect

from conftest import ROOT, Touche, Write
from touche.baselines.expected import read_expected
from touche.evaluation.agreement import ScoredOverlap
from touche.lab.identification.fitting import Fit
from touche.regression.agreements import agreements
from touche.regression.outcomes import PASSED, Outcome
from touche.regression.running import rerun
from touche.runners.container_runs import Job, Usage, run_locally
from touche.runners.limits import Limits
from touche.runners.programs import Log
from touche.trec.columns import Run
from touche.trec.runs import RunLine, read_run

pytest_plugins = ["small_clone"]

DATASET = "small-arguments"
ONE_FIELD = f"""{FORMULA}
model = "BM25"
analysis = "english"
fields = ["premises and conclusion in one field"]
parameters = {{ "k1 (1 - b)" = 0.54 }}
official_parameters = {{ "k1 b / avgdl" = 0.00665298 }}
rerun_parameters = {{ "k1 b / avgdl" = 0.00665298 }}
"""
TWO_FIELDS = f"""{FORMULA}
model = "BM25"
analysis = "english"
fields = ["premises", "conclusion"]
combination = "sum"
parameters = {{ k1 = 0.9, b = 0.4 }}
official_mean_lengths = {{ premises = 49.062963, conclusion = 5.048148 }}
rerun_mean_lengths = {{ premises = 49.062963, conclusion = 5.048148 }}
"""
STORED = """
[[score]]
dataset = "touche-2020-task-2"
run = "official.run"
dimension = "relevance"
measure = "nDCG@5"
evaluator = "trec_eval"
qrels = "touche2020-task2-relevance-withbaseline.qrels"
published = 0.5
tolerance = 0.001
source = "table 6"
"""
TOPICS = 10  # of the official runs; the rerun is limited to their documents

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def make_baseline(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Runs a baseline on the toy collection, once with each change of its program."""
    known: dict[tuple[str, ...], Path] = {}

    def make(baseline: str, *change: str) -> Path:
        if (baseline, *change) not in known:
            folder = tmp_path_factory.mktemp("made")
            shutil.copytree(ROOT / "baselines" / baseline, folder / baseline)
            program = folder / baseline / "baseline.py"
            text = program.read_text()
            assert not change or change[0] in text
            program.write_text(text.replace(*change) if change else text)
            job = Job(
                baseline=str(folder / baseline),
                arguments=(),
                input="spot-check/arguments",
                output=folder / "out",
            )
            run_locally(job, Limits(), lambda line: None)
            known[baseline, *change] = folder / "out" / "run.txt"
        return known[baseline, *change]

    return make


def outcome(clone: Path, entry: str, run: Path, theirs: Path | list[RunLine]) -> Outcome:
    """Returns the outcome of an entry for a rerun and official scores."""
    lines = read_run(theirs) if isinstance(theirs, Path) else theirs
    few = [*dict.fromkeys(line.topic for line in lines)][:TOPICS]
    rows = (f"{line.topic}\t{line.document}\t{line.score}\n" for line in lines if line.topic in few)
    (clone / "runs" / "official.tsv").write_text("".join(rows))
    expect(clone, entry)

    def copy(job: Job, limits: Limits, log: Log) -> Usage:
        job.output.mkdir()
        shutil.copy(run, job.output)
        return Usage(1.0)

    (agreement,) = rerun(read_expected("dirichletlm"), copy, Limits(), print)
    return agreement


OTHER = ("bm25", "k1: float = 0.9", "k1: float = 1.2")
# With the same k1 (1 - b).
OTHER_LENGTHS = ("bm25", "k1: float = 0.9,\n    b: float = 0.4", "k1: float = 1.2,\n    b: float = 0.55")
NEAR = ("bm25", "k1: float = 0.9", "k1: float = 0.9005")
SUM = ("dirichletlm", ", best_field=True", "")


def test_the_formula_of_an_official_run_is_that_of_the_rerun(clone: Path, make_baseline: Make) -> None:
    agreement = outcome(clone, MAXIMUM, make_baseline("dirichletlm"), make_baseline("dirichletlm"))
    assert (agreement.verdict, agreement.got) == (PASSED, 1.0)
    assert agreement.remark.endswith("tau 1.000; 100.0% of the rerun's own scores")
    (relevance,) = agreement.agreements
    assert (relevance.run_a, relevance.run_b) == ("runs/official.tsv", f"dirichletlm on {DATASET}")
    assert relevance.rbo == pytest.approx(1) and relevance.tau_union == 1


@pytest.mark.slow
def test_known_mean_lengths_of_either_collection_determine_k1_and_b(clone: Path, make_baseline: Make) -> None:
    run = make_baseline("bm25", "multifield: bool = False", "multifield: bool = True")
    passed = outcome(clone, TWO_FIELDS, run, run)
    assert (passed.verdict, passed.got) == (PASSED, 1.0)
    for whose, name in (("official", "the official run"), ("rerun", "the rerun")):
        mean_lengths = f"{whose}_mean_lengths = {{ premises = "
        failed = outcome(clone, TWO_FIELDS.replace(f"{mean_lengths}49", f"{mean_lengths}59"), run, run)
        assert failed.verdict != PASSED and (name in failed.remark or failed.got != 1.0)


@pytest.mark.parametrize(
    ("entry", "mine", "theirs", "problem"),
    [
        (MAXIMUM, SUM, ("dirichletlm",), "of the rerun's own scores"),
        (ONE_FIELD, OTHER, ("bm25",), "of the rerun, k1 (1 - b) is 0.72 instead of 0.54"),
        (ONE_FIELD, NEAR, ("bm25",), "of the rerun, k1 (1 - b) is 0.5403 instead of 0.54"),
        (ONE_FIELD, ("bm25",), OTHER, "of the official run, k1 (1 - b) is 0.72 instead of 0.54"),
        (ONE_FIELD, OTHER_LENGTHS, ("bm25",), "of the rerun, k1 b / avgdl is "),
        (ONE_FIELD, ("bm25",), OTHER_LENGTHS, "of the official run, k1 b / avgdl is "),
    ],
)
@pytest.mark.slow
def test_another_formula_or_parameter_is_seen_in_the_scores(
    clone: Path, make_baseline: Make, entry: str, mine: tuple[str, ...], theirs: tuple[str, ...], problem: str
) -> None:
    agreement = outcome(clone, entry, make_baseline(*mine), make_baseline(*theirs))
    assert agreement.verdict == "failed" and problem in agreement.remark and not agreement.agreements


@pytest.mark.slow
def test_official_scores_that_the_formula_does_not_meet_lower_the_share_and_raise_the_median(
    clone: Path, make_baseline: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = moved(make_baseline("bm25"), 2)
    agreement = outcome(clone, ONE_FIELD, make_baseline("bm25"), theirs)
    assert agreement.verdict == "too low" and agreement.got == pytest.approx(0.9, abs=0.01)
    monkeypatch.setattr(Fit, "median", 0.00002)
    agreement = outcome(clone, ONE_FIELD, make_baseline("bm25"), theirs)
    assert agreement.verdict == "failed" and agreement.remark.startswith(
        "the median error is 2e-05, above 1e-05 ("
    )


def moved(run: Path, of_twenty: int) -> list[RunLine]:
    """Returns the lines of a run; some of each twenty have another score."""
    return [
        RunLine(
            topic=line.topic,
            stance="Q0",
            document=line.document,
            rank=0,
            score=line.score + (n % 20 < of_twenty) * (3 + n % 7),
            tag="t",
        )
        for n, line in enumerate(read_run(run))
    ]


def test_only_what_both_could_find_is_compared(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents outside of the dataset are ignored, and so are extra results of the rerun."""
    topics = "".join(f"<topic><number>{n}</number><title>cats</title></topic>" for n in "12")
    write("topics/touche-2022-task-2.xml", f"<topics>{topics}</topics>")
    passages = "".join(json.dumps({"id": id, "contents": "cats"}) + "\n" for id in "abcd")
    write("corpora/touche-2022-task-2-sample/passages.jsonl", passages)
    path = write("runs/official.tsv", "1 elsewhere 9\n1 a 8\n1 b 7\n2 c 6\n2 elsewhere 5\n")
    rerun = [
        RunLine(topic=topic, stance="Q0", document=document, rank=1, score=-rank, tag="t")
        for topic in "12"
        for rank, document in enumerate("abcd")
    ]
    monkeypatch.setenv("TOUCHE_DATA", str(path.parents[1]))
    (agreement,) = agreements(path, Run.of(rerun), "touche-2022-task-2/sample", ("a", "b"))
    assert not isinstance(agreement, ScoredOverlap)
    assert (agreement.topics, agreement.overlap_5) == (2, 0.5), "a b beside a b, c beside a"
    write("qrels/touche-task2-2022-relevance.qrels", "1 0 b 1\n2 0 c 1\n3 0 a 1\n")
    (agreement,) = agreements(path, Run.of(rerun), "touche-2022-task-2/sample", ("a", "b"))
    assert isinstance(agreement, ScoredOverlap)
    second = 1 / log2(3)
    assert (agreement.mean_a, agreement.mean_b) == pytest.approx(((second + 1) / 2, second / 2))


def test_a_score_of_an_official_run_needs_no_corpus(touche: Touche, clone: Path, write: Write) -> None:
    expect(clone, STORED)
    assert "nothing was checked" in touche("regress")[2]
    write("clone/runs/official.run", "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")
    qrels = write("data/qrels/touche2020-task2-relevance-withbaseline.qrels", "1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHE_DATA", str(qrels.parents[1]))
        code, out, err = touche("regress", "--format", "json", "-o", clone / "r.json")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split()[:2] == ["runs/official.run", "touche-2020-task-2"]
    (record,) = json.loads((clone / "r.json").read_text())
    assert (record["got"], record["judged"], record["agreements"]) == (0.5, 1.0, [])
