"""A script of a user; type checkers know what each function returns."""

from typing import assert_type

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


if __name__ == "__main__":
    main()
