"""Measures of rankings for each stance of a topic, by the organizers' script for image retrieval."""

from collections.abc import Mapping
from statistics import fmean

from touche.evaluation.evaluators import EVALUATORS, Evaluation, judged_order, judged_share
from touche.io.grouping import group_by
from touche.tasks.measures import IMAGES, MEASURE_OF_QUESTION, Measure
from touche.trec.by_stance import topic_in
from touche.trec.columns import Run
from touche.trec.qrels import Qrels


def evaluation_by(evaluator: str, run: Run, qrels: Qrels, measure: Measure) -> Evaluation:
    """Computes a measure of rankings, also one of the organizers' measures of images.

    Args:
        evaluator: a name in ``EVALUATORS``; the measures of images ignore it.
        run: the run; if each stance has its own ranking, its topics are names such as ``1 PRO``.
        qrels: the judgments of the same topics or rankings.
        measure: the measure.

    Raises:
        ToucheError: if the run has no topic of the qrels.
    """
    if measure in MEASURE_OF_QUESTION.values():
        return precision_per_stance(run, qrels)
    return EVALUATORS[evaluator](run, qrels, measure)


def precision_per_stance(run: Run, qrels: Qrels) -> Evaluation:
    """Computes precision at 10 as the organizers' script: hits among the first 10, divided by 10.

    A topic has the mean of its stances. A stance without a ranking counts 0, and a topic without lines is
    left out. An image that is not judged is not a hit. Hits in fewer than ten images are also divided by 10.

    Args:
        run: the lines that the script counts, with the names of rankings as topics.
        qrels: for each ranking 1 for the images that are hits, and 0 for the others.

    Raises:
        ToucheError: if the run has no topic of the qrels.
    """
    ranked = run.documents_of(judged_order("touche", run, qrels), IMAGES)
    topics = {topic_in(ranking) for ranking in ranked}
    rankings = [name for name in qrels if topic_in(name) in topics]  # also those that the run lacks
    hits = {name: sum(qrels[name].get(image, 0) for image in ranked.get(name, ())) for name in rankings}
    values = {name: count / IMAGES for name, count in hits.items()}
    judged = judged_share(ranked, qrels, IMAGES)
    return Evaluation(
        per_topic=means_of_topics(values),
        judged_per_topic=means_of_topics(judged),
        per_ranking=Evaluation(per_topic=values, judged_per_topic=judged),
    )


def means_of_topics(values: Mapping[str, float]) -> dict[str, float]:
    """Returns the mean of each topic's rankings; a topic with one ranking has its value."""
    rankings = group_by(values, topic_in)
    return {topic: fmean(values[ranking] for ranking in rankings[topic]) for topic in rankings}
