"""Compares a rerun with the official run that it should reproduce: how similar are their rankings and scores?

Only documents that both could find are compared, because a rerun may see only part of the corpus.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from touche.data.datasets import open_dataset
from touche.data.places import find
from touche.evaluation.agreement import EVALUATOR, Overlap, overlap_of, scored_overlap
from touche.evaluation.judged import judged
from touche.evaluation.scoring import Scored, score
from touche.tasks import STANCE, Task, dataset
from touche.trec.columns import Run
from touche.trec.scores_files import read_scores


def agreements(official: Path, rerun: Run, dataset_id: str, names: tuple[str, str]) -> list[Overlap]:
    """Returns how a rerun agrees with an official run, in each dimension with scores for at least two
    topics.

    If there is no such dimension, it returns one agreement without scores. Documents that aren't in the
    dataset are removed from the official run, and each topic of the rerun is cut to the same length.

    Args:
        official: the official run's file: a run, or a ``*.tsv`` file with topic, document and score on each
            line.
        rerun: the run that the baseline produced on the dataset.
        dataset_id: the dataset.
        names: the names of the official run and the rerun in the returned records.

    Raises:
        ToucheError: if the runs have no topic in common.
    """
    task, corpus = dataset(dataset_id)
    official_run = read_scores(official)
    # Remove documents that aren't in the dataset; not needed for the whole corpus, which contains all of
    # them.
    if corpus is not task.corpora["full"]:
        wanted = set(official_run.documents)
        common = {document.id for document in open_dataset(dataset_id).documents if document.id in wanted}
        official_run = official_run.take(
            [index for index, id in enumerate(official_run.documents) if id in common]
        )
    depth_by_topic = {topic: len(indices) for topic, indices in official_run.by_topic.items()}
    first_indices = [indices[: depth_by_topic.get(topic, 0)] for topic, indices in rerun.by_score.items()]
    rerun = rerun.take(np.concatenate(first_indices))
    unscored = overlap_of(official_run, rerun, names)
    scored = list[Overlap]()
    for dimension, judgments in task.qrels.items():
        if dimension == STANCE or not find("qrels", judgments.file):
            continue
        official_scores = _scored(official_run, task, dimension)
        rerun_scores = _scored(rerun, task, dimension)
        # Check only the official run: the test needs scores for two topics, and topics that aren't in the
        # rerun count as 0.
        if len(official_scores.evaluation.per_topic) > 1:
            scored.append(scored_overlap(unscored, task, official_scores, rerun_scores))
    return scored or [unscored]


def _scored(run: Run, task: Task, dimension: str) -> Scored:
    """Scores a run. trec_eval counts topics that aren't in the run as 0; if the run is partial, such topics
    are dropped.
    """
    [scored_run] = score([run], judged(task, dimensions=[dimension]), [EVALUATOR])
    values = {
        topic: value for topic, value in scored_run.evaluation.per_topic.items() if topic in run.by_topic
    }
    return replace(scored_run, evaluation=replace(scored_run.evaluation, per_topic=values))
