"""Published values of topics are reproduced, and any other formula fails at a value or an official score."""

import csv
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import Touche
from touche import baselines, scan, tasks
from touche.data.datasets import open_dataset
from touche.data.judgments import task_qrels
from touche.documents.document_records import conclusion_of, premises_of
from touche.documents.statistics_files import StatisticsFiles
from touche.evaluation.evaluators import touche as by_script
from touche.tasks.per_topic import values_of_topics
from touche.tasks.task_records import rounded
from touche.trec.columns import Run
from touche.trec.runs import RunLine, read_run
from touche.trec.topics import read_topics

pytestmark = pytest.mark.xdist_group("official")

Rankings = Mapping[str, list[tuple[str, float]]]
FIELDS = {"premises": premises_of, "conclusion": conclusion_of}
ARGUMENTS = "touche-2021-task-1/ten-topics"
PASSAGES = "touche-2022-task-2/twenty-topics"
STATISTICS = {
    ARGUMENTS: "dirichletlm/statistics/argsme-2020-04-01.json",
    PASSAGES: "bm25/statistics/touche-2022-task-2.json",
}
TAGS = {ARGUMENTS: "dirichlet_multi_field", PASSAGES: "BM25-Baseline"}


def ranked(dataset: str, model: Any, statistics: Path | None = None, **how: Any) -> Rankings:
    """The rankings of a dataset by a model, with the statistics that ship."""
    source = open_dataset(dataset)
    folder = baselines.baseline_folder("bm25").parent
    files = StatisticsFiles(known=statistics or folder / STATISTICS[dataset])
    documents = source.documents.with_statistics(files)
    return {topic.number: hits for topic, hits in scan.rank(source.topics, documents, model, **how)}


def reproduced_values(dataset: str, rankings: Rankings) -> tuple[int, int]:
    """How many published values of topics these rankings have, and of how many."""
    task = tasks.task(dataset)
    lines = [
        RunLine(topic=topic, stance="Q0", document=id, rank=rank, score=score, tag="t")
        for topic, hits in rankings.items()
        for rank, (id, score) in enumerate(hits, 1)
    ]
    own = {
        dimension: by_script(Run.of(lines), task_qrels(task, dimension), task.measure).per_topic
        for dimension in ("relevance", "quality")
    }
    published = [
        value
        for value in values_of_topics(task)
        if value.row.tag == TAGS[dataset] and value.row.dimension in own
    ]
    equal = [rounded(own[value.row.dimension].get(value.topic, -1)) == value.value for value in published]
    return sum(equal), len(equal)


def official_scores(official: Path, dataset: str) -> dict[tuple[str, str], float]:
    if dataset == PASSAGES:
        run = read_run(official / "runs" / "touche-2022-task-2" / "puss-in-boots-1.run")
        return {(line.topic, line.document): line.score for line in run}
    path = official / "runs" / "touche-2021-task-1" / "swordsman-first-40.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {(row["topic"], row["document"]): float(row["score"]) for row in rows}


def reproduced_scores(official: Path, dataset: str, rankings: Rankings) -> tuple[int, int]:
    """How many official scores of the dataset's documents these rankings have, and of how many."""
    theirs = official_scores(official, dataset)
    within = 4e-4 if dataset == PASSAGES else 1e-5  # four decimals, or float32
    ids = {document.id for document in open_dataset(dataset).documents}
    own = {(topic, id): score for topic, hits in rankings.items() for id, score in hits}
    wanted = {key: score for key, score in theirs.items() if key[0] in rankings and key[1] in ids}
    equal = [abs(own.get(key, -1) - score) <= within for key, score in wanted.items()]
    return sum(equal), len(equal)


DIRICHLET = {"analysis": "standard", "fields": FIELDS, "best_field": True, "depth": 10_000}
ENGLISH = {"analysis": "english", "depth": 10_000}


@pytest.mark.parametrize(
    ("dataset", "model", "how", "values", "scores"),
    [
        (ARGUMENTS, scan.dirichletlm(2000.0), DIRICHLET, 20, 142),
        (PASSAGES, scan.bm25(0.9, 0.4), ENGLISH, 40, 700),
    ],
)
def test_the_published_values_of_some_topics_are_reproduced(
    official: Path, dataset: str, model: Any, how: dict[str, Any], values: int, scores: int
) -> None:
    rankings = ranked(dataset, model, **how)
    assert reproduced_values(dataset, rankings) == (values, values)
    assert reproduced_scores(official, dataset, rankings) == (scores, scores)


def test_the_official_scores_of_all_topics_are_reproduced(official: Path, tmp_path: Path) -> None:
    """Four words of topics 8, 86 and 92 were not fitted, and have the passages' own frequencies here."""
    topics = read_topics(official / "topics" / "touche-2022-task-2.xml")
    shipped = json.loads((baselines.baseline_folder("bm25").parent / STATISTICS[PASSAGES]).read_text())
    terms = shipped["fields"]["text"]["terms"]
    wanted = {term for topic in topics for term in scan.terms(topic.title, "english")}
    assert wanted - terms.keys() == {"am", "disadvantag", "plan", "vs"}
    source = open_dataset(PASSAGES)
    counts = Counter(
        term for document in source.documents for term in {*scan.terms(document.text, "english")}
    )
    terms |= {term: (counts[term], None) for term in wanted - terms.keys()}
    statistics = tmp_path / "all.json"
    statistics.write_text(json.dumps(shipped))
    documents = source.documents.with_statistics(StatisticsFiles(known=statistics))
    values = {
        topic.number: hits for topic, hits in scan.rank(topics, documents, scan.bm25(0.9, 0.4), **ENGLISH)
    }
    assert reproduced_scores(official, PASSAGES, values) == (1431, 1431)


def test_a_run_is_named_as_the_published_one_it_equals(official: Path, touche: Touche) -> None:
    run = official / "runs" / "touche-2021-task-1" / "jean-pierre-polnareff-dirichlet.run"
    out = touche("evaluate", run, "--task", "touche-2021-task-1")[1]
    found = "published as Jean Pierre Polnareff (seupd-jpp-dirichlet): 100 of 100 topic values are equal"
    interval = "published interval of Jean Pierre Polnareff for relevance, 0.558 to 0.703, is from other"
    assert f"{found}: identical." in out and f"; the {interval} resamples than the one computed here\n" in out
    at_ten = touche("evaluate", run, "--task", "touche-2021-task-1", "--measure", "nDCG@10")[1]
    assert "'s published values" not in at_ten


def test_a_mean_of_some_topics_has_no_rank(official: Path, touche: Touche, tmp_path: Path) -> None:
    touche("run", "dirichletlm", "-i", ARGUMENTS, "-o", tmp_path)
    out = touche("evaluate", tmp_path / "run.txt", "--task", ARGUMENTS)[1]
    assert "mean of some topics has no rank" in out and " level with " not in out
    assert "Swordsman (dirichlet_multi_field)" in out and "20 of 20 topic values are equal" in out
    record = json.loads(touche("evaluate", tmp_path / "run.txt", "--task", ARGUMENTS, "--format", "json")[1])[
        0
    ]
    assert (record["topics"], record["comparable"]) == (10, False)
