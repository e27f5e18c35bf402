"""Measures for a topic's rankings per stance, from the organizers' script for image retrieval."""

from collections.abc import Mapping
from statistics import fmean

from touche.evaluation.evaluators import Evaluation, judged_order, judged_share
from touche.io.grouping import group_by
from touche.tasks.measures import IMAGES
from touche.trec.by_stance import topic_in
from touche.trec.columns import Run
from touche.trec.qrels import Qrels


def precision_per_stance(run: Run, qrels: Qrels) -> Evaluation:
    """Computes precision at 10 like the organizers' script: hits among the first 10, divided by 10.

    A topic's value is the mean over its stances. A stance without a ranking counts as 0. A topic without any
    line in the run is left out of the mean. Unjudged images aren't hits. The number of hits is divided by 10
    even if a ranking has fewer images.

    Args:
        run: the lines that the script counts, with ranking names as topics.
        qrels: 1 for each ranking's hits, 0 for other images.

    Raises:
        ToucheError: if the run contains none of the qrels' topics.
    """
    ranked = run.documents_of(judged_order("touche", run, qrels), IMAGES)
    topics = {topic_in(ranking) for ranking in ranked}
    # Including rankings that aren't in the run, if the topic is.
    rankings = [name for name in qrels if topic_in(name) in topics]
    hits = {name: sum(qrels[name].get(image, 0) for image in ranked.get(name, ())) for name in rankings}
    values = {name: count / IMAGES for name, count in hits.items()}
    judged = judged_share(ranked, qrels, IMAGES)
    return Evaluation(
        per_topic=means_of_topics(values),
        judged_per_topic=means_of_topics(judged),
        per_ranking=Evaluation(per_topic=values, judged_per_topic=judged),
    )


def means_of_topics(values: Mapping[str, float]) -> dict[str, float]:
    """Returns the mean over each topic's rankings."""
    rankings = group_by(values, topic_in)
    return {topic: fmean(values[ranking] for ranking in rankings[topic]) for topic in rankings}
