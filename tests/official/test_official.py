"""Known scores on official data; skipped without TOUCHE_DATA."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import ir_measures
import pytest

from spotcheck import scored_in
from touche import tasks
from touche.baselines.expected import ExpectedScore, read_expected
from touche.baselines.extras import extra_in_dockerfile
from touche.data.judgments import task_qrels
from touche.data.places import shipped_baselines
from touche.errors import InputError
from touche.evaluation.evaluators import EVALUATORS, Evaluation
from touche.evaluation.leaderboard import comparable
from touche.lab.official_formulas import check_formulas
from touche.regression.outcomes import PASSED
from touche.regression.running import rerun
from touche.runners.container_runs import Job, Usage
from touche.runners.limits import Limits
from touche.runners.programs import Log
from touche.submission import lint
from touche.trec.columns import Run, RunLine
from touche.trec.runs import read_run

pytest_plugins = ["sample_runs"]
pytestmark = pytest.mark.xdist_group("official")  # which share their rankings

KNOWN = {
    "touche-2022-task-2/puss-in-boots-1": (0.469, 0.476),
    "touche-2022-task-2/captain-levi-5": (0.753, 0.730),
    "touche-2022-task-2/katana-3": (0.618, 0.643),
    "touche-2022-task-2/captain-tempesta-1": (0.574, 0.589),
    "touche-2022-task-2/grimjack-1": (0.376, 0.363),
    "touche-2022-task-2/asuna-1": (0.263, 0.332),
    "touche-2021-task-1/jean-pierre-polnareff-dirichlet": (0.633, 0.802),
}


def score(run: Path, task_id: str, dimension: str, evaluator: str) -> Evaluation:
    task = tasks.task(task_id)
    return EVALUATORS[evaluator](read_run(run), task_qrels(task, dimension), task.measure)


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("name", KNOWN)
def test_official_runs_score_what_was_published(official: Path, name: str, evaluator: str) -> None:
    """Both evaluators: these runs are fully judged."""
    for dimension, expected in zip(("relevance", "quality"), KNOWN[name], strict=True):
        result = score(official / "runs" / f"{name}.run", name.split("/")[0], dimension, evaluator)
        assert round(result.mean, 3) == expected
        assert (result.judged, len(result.per_topic)) == (1.0, 50)


@pytest.mark.parametrize("name", ["Bpref", "infAP", "P(judged_only=True)@5", "AP", "nDCG@5", "SetF"])
@pytest.mark.parametrize(
    ("task_id", "dimension"),
    [
        ("touche-2020-task-1", "relevance"),
        ("touche-2020-task-1-v1", "relevance-uncorrected"),  # a topic's grades are all -2
        ("touche-2021-task-1", "relevance"),
    ],
)
def test_official_grades_of_minus_2_mean_what_they_mean_to_trec_eval(
    official: Path, task_id: str, dimension: str, name: str
) -> None:
    """Of a run that ranks all judged documents by id, because teams' runs of 2020 aren't public."""
    qrels = task_qrels(tasks.task(task_id), dimension)
    scores = {
        topic: {id: float(score) for score, id in enumerate(sorted(labels))}
        for topic, labels in qrels.items()
    }
    run = Run.of(
        RunLine(topic=topic, stance="Q0", document=id, rank=len(of_topic) - int(score), score=score, tag="t")
        for topic, of_topic in scores.items()
        for id, score in of_topic.items()
    )
    safe = {topic: labels for topic, labels in qrels.items() if max(labels.values()) >= 0}  # others crash
    measure = ir_measures.parse_measure(name)
    theirs = {
        result.query_id: result.value for result in ir_measures.pytrec_eval.iter_calc([measure], safe, scores)
    }
    ours = EVALUATORS["trec_eval"](run, qrels, tasks.measure_of(name)).per_topic
    assert ours == {topic: pytest.approx(theirs.get(topic, 0.0), abs=1e-12) for topic in qrels}


ARGUMENTS = "touche-2020-task-1"
PASSAGES = "touche-2022-task-2"
PAIRS = "touche-2022-task-1"


CLASSIC = "tfidf --variant classic"


def by_day(expected: ExpectedScore) -> bool:
    """Returns whether it is an official run, or a fast baseline without options on a sample of each kind."""
    is_first = expected.dataset.startswith((ARGUMENTS, PASSAGES, PAIRS)) and not expected.options
    is_slow = extra_in_dockerfile(expected.baseline) in ("lucene", "models")
    return bool(expected.run) or (is_first and not is_slow)


@pytest.mark.slow
@pytest.mark.parametrize("night", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_baselines_score_what_is_expected_of_them(
    official: Path, measured: Callable[..., Path], night: bool
) -> None:
    """Every score in every expected.toml, for samples and official runs."""

    def copy(job: Job, limits: Limits, log: Log) -> Usage:
        job.output.mkdir()
        command = " ".join([job.baseline, *job.arguments])
        shutil.copy(measured(command, job.input.removesuffix("/sample")), job.output)
        return Usage(1.0)

    expected = [
        entry
        for name in shipped_baselines()
        for entry in read_expected(name)
        if (entry.dataset.endswith("/sample") or entry.run)
        and isinstance(entry, ExpectedScore)
        and by_day(entry) != night
    ]
    outcomes = list(rerun(expected, copy, Limits(), print))
    assert len(outcomes) == len(expected) > 30
    assert [outcome for outcome in outcomes if outcome.verdict != PASSED] == []


@pytest.mark.slow
@pytest.mark.usefixtures("official")
def test_formulas_explain_the_official_runs() -> None:
    """The three runs whose formula is known, on the samples."""
    outcomes = check_formulas((), print)
    assert [outcome.verdict for outcome in outcomes] == 3 * [PASSED]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processors can be chosen on Linux only")
@pytest.mark.parametrize("command", ["dirichletlm", "tfidf"])
def test_the_bytes_of_a_run_do_not_depend_on_the_number_of_threads(
    official: Path, measured: Callable[..., Path], tmp_path: Path, command: str
) -> None:
    words = [sys.executable, "-m", "touche", "run", command, "-i", f"{ARGUMENTS}/sample", "-o", tmp_path]
    processor = min(os.sched_getaffinity(0))
    subprocess.run(words, check=True, preexec_fn=lambda: os.sched_setaffinity(0, {processor}))
    assert (tmp_path / "run.txt").read_bytes() == measured(command).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("task_id", [ARGUMENTS, PASSAGES])
def test_what_the_program_writes_passes_the_linter(
    official: Path, measured: Callable[..., Path], task_id: str
) -> None:
    """With topics and corpus; this also tests ranks, ties and depths."""
    paths = [measured(command, task_id) for command in ("dirichletlm", "bm25", "tfidf", CLASSIC)]
    findings = lint(paths, f"{task_id}/sample")
    assert (findings.records, findings.notes) == ((), ())


IMAGES = {
    "touche-2022-task-3/minsc-baseline": (0.736, 0.686, 0.407),
    "touche-2022-task-3/aramis-argumentativeness-formula-stance-formula": (0.701, 0.634, 0.381),
    "touche-2022-task-3/aramis-argumentativeness-neural-stance-neural": (0.673, 0.624, 0.354),
    "touche-2022-task-3/boromir-afinn-clustering": (0.600, 0.545, 0.319),
    "touche-2022-task-3/boromir-afinn-ocr": (0.814, 0.726, 0.408),
    "touche-2022-task-3/boromir-bert-ocr-clustering-query-processing": (0.822, 0.728, 0.411),
    "touche-2022-task-3/jester-with-emotion-detection": (0.696, 0.647, 0.350),
    "touche-2022-task-3/sigir23-bert": (0.882, 0.804, 0.462),
    "touche-2022-task-3/sigir23-formula": (0.867, 0.790, 0.453),
    "touche-2022-task-3/sigir23-v7-30-topics": (0.890, 0.817, 0.458),
    "touche-2023-task-3/jean-luc-picard-0": (0.523, 0.292, 0.162),
    "touche-2023-task-3/jean-luc-picard-2": (0.369, 0.196, 0.098),
}


@pytest.mark.parametrize("name", IMAGES)
def test_runs_of_images_score_what_the_organizers_script_computes(official: Path, name: str) -> None:
    """On topic, argumentative, on stance; official runs also have a row with these values in the card."""
    task = tasks.task(name.split("/")[0])
    results = scored_in([official / "runs" / f"{name}.run"], task)
    assert {result.evaluator for result in results} == {"touche"}
    assert [round(result.evaluation.mean, 3) for result in results] == [*IMAGES[name]]
    assert not results[0].skipped and results[0].evaluation.judged > 0.998
    if "sigir23" not in name:
        tags = [
            {row.tag for row in comparable(task, result.judged.dimension, "touche") if row.value == value}
            for result, value in zip(results, IMAGES[name], strict=True)
        ]
        assert set[str].intersection(*tags)
    assert len(lint(official / "runs" / f"{name}.run", task.id)) == 0


def test_qrels_of_the_other_year_are_refused(
    official: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qrels").mkdir()
    files = [tasks.task(f"touche-{year}-task-3").qrels["stance-relevance"].file for year in (2022, 2023)]
    for name, other in (files, files[::-1]):
        (tmp_path / "qrels" / name).symlink_to(official / "qrels" / other)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    for year, run in ((2022, "minsc-baseline"), (2023, "jean-luc-picard-0")):
        with pytest.raises(InputError, match=r"qrels:\d+: "):
            scored_in(
                [official / "runs" / f"touche-{year}-task-3" / f"{run}.run"],
                tasks.task(f"touche-{year}-task-3"),
            )


# The first rows and the last row that the notebook of the baseline of 2023 shows for the sample of 50 images:
# full-rank-pipeline.ipynb of touche-webis-de/touche-code, clef23, by PyTerrier 0.9.1 and Terrier 5.7.
TERRIER = """
34 Iad17912610912ffd -0.15252834973127183  48 I16ace897d8007db7 -0.853631864038536
34 Ia20c1e2e90f832cb -0.30796645663411376  48 I6a52d140c9e3f1b8 -0.9622739037371058
34 I374eede3492beb08 -1.046228903596743    48 I208be82ba17b76f8 -0.9651438760842836
34 I8b51d50df3ca6612 -1.0598961782264882   48 Ia51bd34a65572b5f -0.9826388724839397
34 I0c02739ff554ca9c -1.2412999972368923   48 Ia993cc74992623ab -1.0019699335876844
34 I6a52d140c9e3f1b8 -5.089492433990176    48 I270936e4b9d90dbb -2.964837596966391
""".split()


def test_bm25_of_images_has_the_scores_of_terrier(official: Path, measured: Callable[..., Path]) -> None:
    run = read_run(measured("bm25-images --depth 100", "touche-2022-task-3"))
    assert {topic: len(positions) for topic, positions in run.by_topic.items()} == {"34": 43, "48": 36}
    for topic, positions in run.by_rank.items():
        rows = [TERRIER[at : at + 3] for at in range(0, len(TERRIER), 3) if TERRIER[at] == topic]
        ends = [*positions[: len(rows) - 1], positions[-1]]
        assert run.documents[ends].tolist() == [image for _, image, _ in rows]
        assert run.scores[ends].tolist() == pytest.approx([float(score) for *_, score in rows], rel=1e-6)
