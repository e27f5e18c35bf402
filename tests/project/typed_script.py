"""A script of a user; type checkers know what each function takes and returns."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, assert_type

import numpy as np

import touche
from touche.evaluation.agreement import Overlap, ScoredOverlap
from touche.evaluation.comparison import Comparisons, TopicDifference
from touche.evaluation.linting import Findings
from touche.evaluation.scores import Scores, TopicScore
from touche.evaluation.wide import WideTable
from touche.lab.identification.answer import Answer
from touche.lab.sweeps.results import Sweep
from touche.reports.published_results import PublishedResults

TASK = "spot-check/arguments"


@touche.baseline
def longest(topics: touche.Topics, documents: touche.Documents, *, depth: int = 10) -> touche.Rankings:
    ranked = [(document.id, float(len(document.text))) for document in documents]
    for topic in topics:
        yield topic, ranked[:depth]


def main() -> None:
    run = touche.run(longest, TASK, depth=5)
    runs = [run, touche.run("bm25", TASK)]
    scores = touche.evaluate(runs, TASK)
    fused = touche.fuse(runs, weights=[0.7, 0.3])
    sweep = touche.sweep("bm25", TASK, {"k1": [0.6, 1.2]})
    task = touche.task(TASK)
    assert_type(run, touche.Run)
    assert_type(fused[0].document, str)
    assert_type(scores, Scores)
    assert_type(scores[0].mean, float | None)
    assert_type(scores[:2], Scores)
    assert_type(touche.evaluate(runs, TASK).per_topic, touche.Table[TopicScore])
    assert_type(touche.compare(runs, TASK), Comparisons)
    assert_type(touche.compare(runs, TASK).per_topic, touche.Table[TopicDifference])
    assert_type(touche.overlap(runs), touche.Table[Overlap])
    assert_type(touche.overlap(runs, TASK), touche.Table[ScoredOverlap])
    assert_type(touche.wide(runs, TASK), WideTable)
    assert_type(touche.lint(runs, TASK), Findings)
    assert_type(touche.published(), PublishedResults)
    assert_type(touche.identify(run, TASK), Answer)
    assert_type(sweep, Sweep)
    assert_type(sweep.best("relevance").mean, float | None)
    assert_type(task.topics[0], touche.Topic)
    assert_type(task.qrels["relevance"], touche.Qrels)
    assert_type([topic.title for topic in task.topics], list[str])


class PandasFrame:
    """What type checkers see of a frame of pandas if they know its types."""

    columns: list[str]

    def to_dict(self, orient: str = "dict", *, into: type[dict[str, object]] = dict) -> object:
        return into()


class PolarsFrame:
    def to_pandas(self, *, date_as_object: bool = False) -> PandasFrame:
        return PandasFrame()


class Passage(NamedTuple):
    """A document of ir_datasets."""

    doc_id: str
    text: str
    url: str


def passages() -> Iterator[Passage]:
    yield Passage("a", "Coal is cheap.", "https://example.org")


def what_users_pass(run: touche.Run, frame: PandasFrame, other: PolarsFrame) -> None:
    qrels = touche.task(TASK).qrels["relevance"]
    touche.evaluate("run.txt", qrels="qrels.txt")
    touche.evaluate(Path("run.txt"), qrels=Path("qrels.txt"))
    touche.evaluate(touche.write_run("bm25", TASK, "out"), qrels=qrels)
    touche.evaluate(frame, qrels=frame)
    touche.evaluate(other, qrels=other)
    touche.evaluate({"1": {"a": 1.0}}, qrels={"1": {"a": 1}})
    touche.evaluate({1: {2: np.float32(1)}}, qrels={1: {2: 1.0}})
    touche.evaluate([run, "run.txt", Path("run.txt"), frame, other, {"1": {"a": 1}}], TASK)
    touche.evaluate({"a": run, "b": "run.txt", "c": frame, "d": other, "e": {"1": {"a": 1.0}}}, TASK)
    touche.evaluate([Path(name) for name in "ab"], TASK)
    touche.evaluate({name: Path(name) for name in "ab"}, TASK)
    touche.compare({"a": run, "b": {"1": {"a": 1.0}}}, TASK, reference={"1": {"a": 1.0}})
    touche.wide({"a": {"1": {"a": 1.0}}}, TASK, reference="a")
    touche.overlap([run, frame], TASK, baseline=("a.txt", other))
    touche.lint(run, TASK)
    touche.report({"a": run}, TASK, output="page")
    touche.identify(frame, TASK)
    touche.run("bm25", topics={"1": "coal"}, documents={"a": "Coal is cheap."})
    touche.run("bm25", topics={1: "coal"}, documents=[("a", "Coal is cheap.")])
    touche.run("bm25", topics=[touche.Topic("1", "coal")], documents=[touche.Document("a", "Coal.")])
    touche.run("bm25", topics=touche.task(TASK).topics, documents=touche.task(TASK).documents)
    touche.run("bm25", topics="topics.xml", documents=passages())
    touche.run("bm25", topics=frame, documents=[{"docno": "a", "text": "Coal is cheap."}])
    touche.run("bm25", topics=other, documents=frame)


if __name__ == "__main__":
    main()
