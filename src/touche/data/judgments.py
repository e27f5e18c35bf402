"""The qrels of a task, and the titles of its topics."""

from contextlib import suppress
from pathlib import Path

from touche.data.places import locate, locate_topics
from touche.errors import InputError, MissingDataError
from touche.tasks import STANCE, Task
from touche.trec.by_stance import ranking_names
from touche.trec.qrels import Qrels, images_for, read_answers, read_qrels, read_stances
from touche.trec.run_forms import QrelsSource
from touche.trec.topics import read_topics


def task_qrels(
    task: Task,
    dimension: str,
    source: QrelsSource | None = None,
    answers: dict[Path, Qrels] | None = None,
) -> Qrels:
    """Returns the qrels of a task in one dimension, without excluded topics.

    A judged stance is returned as its index in ``task.stances``. If each stance of a topic has its own
    ranking, the keys are names of rankings, such as ``1 PRO``.

    Args:
        task: the task.
        dimension: one of its dimensions.
        source: the judgments to use instead of the task's.
        answers: a cache for image retrieval, where the same file contains the judgments for all dimensions:
            what was read, by file. If a file isn't in it, it's read and added. Pass the same dictionary for
            all dimensions.

    Raises:
        ToucheError: if the file is missing or broken, or qrels in memory have no judgments or no stances.
    """
    judgments = task.qrels[dimension]
    path, content = source or (locate("qrels", judgments.file), None)
    if isinstance(content, Qrels):
        raise InputError(path, "grades in memory judge no stances", "pass a file")
    if dimension == STANCE:
        qrels = read_stances(path, task.stances, task.excluded_topics, content=content)
    elif judgments.question:
        answers = {} if answers is None else answers
        stances = task.rules.ranked_stances
        if path not in answers:
            answers[path] = read_answers(
                path,
                stances,
                excluded_topics=task.excluded_topics,
                labels=judgments.labels or None,
                ids=task.rules.ids,
                content=content,
            )
        qrels = images_for(judgments.question, answers[path], stances)
    else:
        qrels = read_qrels(path, task.excluded_topics, judgments.labels or None, content=content)
    return _of_dataset(qrels, task)


def own_qrels(source: QrelsSource, task: Task | None) -> Qrels:
    """Returns the user's graded judgments, without topics that the task excludes or that aren't in the
    dataset.

    Args:
        source: the judgments.
        task: the task; None if there is none.

    Raises:
        ToucheError: if the file is missing or broken, or there are no judgments.
    """
    excluded = task.excluded_topics if task else ()
    path, content = source
    if isinstance(content, Qrels):
        qrels = Qrels(
            {topic: grades for topic, grades in content.items() if grades and topic not in excluded}
        )
        if not qrels:
            raise InputError(path, "no judgments in it", "check what made it")
    else:
        qrels = read_qrels(path, excluded, content=content)
    return _of_dataset(qrels, task) if task else qrels


def _of_dataset(qrels: Qrels, task: Task) -> Qrels:
    """Returns the judgments for those topics that are in the dataset."""
    if not task.only_topics:
        return qrels
    topics = ranking_names(task.only_topics, task.rules.ranked_stances)
    return Qrels({topic: qrels[topic] for topic in topics if topic in qrels})


def topic_titles(task: Task) -> dict[str, str]:
    """Returns the titles of a task's topics. The keys are topics, such as ``1``, and names of rankings, such
    as ``1 PRO``.

    The result is empty if the task's topics aren't on this machine.

    Raises:
        InputError: if the file is broken.
    """
    # Try all corpora, because in some datasets the topics are in the corpus' folder. The first one for which
    # topics are found is used.
    for corpus in task.corpora.values():
        with suppress(MissingDataError):
            titles = dict[str, str]()
            for topic in read_topics(locate_topics(task, corpus)):
                rankings = ranking_names([topic.number], task.rules.ranked_stances)
                titles |= dict.fromkeys([topic.number, *rankings], topic.title)
            return titles
    return {}
