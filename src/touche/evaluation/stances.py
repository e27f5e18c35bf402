"""Detected stances: the macro-averaged F1 of the labels in a run's second column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from touche.errors import ToucheError
from touche.evaluation.equality import without_last_digits
from touche.evaluation.evaluators import Evaluation, judged_share
from touche.evaluation.significance import interval_of, resampled_sums
from touche.io.identifiers import in_order
from touche.trec.columns import Run
from touche.trec.qrels import Qrels


@dataclass(frozen=True)
class ClassScores:
    """One stance's scores.

    Attributes:
        precision: among the documents that the run labels with this stance, the share that is judged as this
            stance; 0 if there are no such documents.
        recall: among the run's documents that are judged as this stance, the share that the run labels with
            it; 0 if there are no such documents.
        f1: the harmonic mean of precision and recall; 0 if both are 0.
        documents: how many of the run's documents are judged as this stance.
    """

    precision: float
    recall: float
    f1: float
    documents: int


@dataclass(frozen=True, kw_only=True)
class StanceEvaluation(Evaluation):
    """A run's judged and detected stances, counted by topic. Attributes as in ``Evaluation``, plus:

    Attributes:
        labels: the task's stances.
        counts: the number of lines by topic, judged stance and detected stance, in the shape (topics, labels,
            labels + 1). The last column counts lines with other labels, such as Q0.
    """

    labels: Sequence[str]
    counts: NDArray[np.int64]

    @property
    def mean(self) -> float | None:
        """Macro F1: the mean F1 over all stances, as on the task page of 2022; None if N is 0."""
        return without_last_digits(float(_macro_f1(self.counts.sum(axis=0)))) if self.results else None

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """Macro F1's 95% confidence interval, computed by bootstrapping topics; (None, None) if there is only
        one topic.
        """
        return interval_of(_macro_f1(_resampled(self.counts))) if self.topics > 1 else (None, None)

    @property
    def topics(self) -> int:
        """For how many topics the run contains a document whose stance is judged."""
        return len(self.counts)

    @property
    def results(self) -> int:
        """N, the number of lines whose document's stance is judged."""
        return int(self.counts.sum())

    @property
    def totals(self) -> list[list[int]]:
        """The confusion matrix over all topics: judged stances in rows, detected ones in columns."""
        totals: list[list[int]] = self.counts.sum(axis=0).tolist()
        return totals

    def by_class(self) -> dict[str, ClassScores]:
        """Returns each stance's scores."""
        counts = self.counts.sum(axis=0)  # judged stances in rows, detected ones in columns
        correct = counts.diagonal()
        labelled = counts.sum(axis=0)[:-1]  # the last column isn't a stance
        documents = counts.sum(axis=1)
        precision = _share(correct, labelled)
        recall = _share(correct, documents)
        f1 = _f1(counts)
        return {
            label: ClassScores(
                precision=float(precision[number]),
                recall=float(recall[number]),
                f1=float(f1[number]),
                documents=int(documents[number]),
            )
            for number, label in enumerate(self.labels)
        }


def evaluate_stances(run: Run, judged: Qrels, labels: Sequence[str]) -> StanceEvaluation:
    """Counts the lines of a run by judged and detected stance, if the document's stance is judged. Labels may
    be in upper or lower case.

    Args:
        run: the run.
        judged: each document's judged stance by topic, as an index of ``labels``.
        labels: the task's stances, in upper case.
    """
    topics = sorted(run.by_topic.keys() & judged.keys(), key=in_order)
    indices_by_topic = {topic: run.by_topic[topic] for topic in topics}  # line indices
    columns = {label: column for column, label in enumerate(labels)}
    # For each distinct label, its column in the matrix. Labels that aren't stances of the task get the last
    # column.
    column_of_word = np.array([columns.get(word.upper(), len(labels)) for word in run.stances.words])
    counts = np.zeros((len(topics), len(labels), len(labels) + 1), dtype=np.int64)
    for matrix, (topic, indices) in zip(counts, indices_by_topic.items(), strict=True):
        detected = column_of_word[run.stances.codes[indices]].tolist()
        for document, column in zip(run.documents[indices], detected, strict=True):
            if document in judged[topic]:
                matrix[judged[topic][document], column] += 1
    return StanceEvaluation(
        per_topic={},  # empty, because F1 is computed over all topics together
        judged_per_topic=judged_share(run.documents_of(indices_by_topic), judged, None),
        labels=labels,
        counts=counts[counts.any(axis=(1, 2))],  # only topics with a judged line
    )


def stance_difference(
    one: Run, other: Run, judged: Qrels, labels: Sequence[str]
) -> tuple[StanceEvaluation, StanceEvaluation, tuple[float, float]]:
    """Compares the stances that two runs detect for their common documents.

    Returns:
        Both runs' evaluations on these documents, and the 95% confidence interval of the difference (the
        first run's macro F1 minus the second's). The interval is a percentile bootstrap, which draws the same
        topics for both runs.

    Raises:
        ToucheError: if the common documents with a judged stance are from fewer than two topics.
    """
    lines_of_runs = [{(line.topic, line.document): line for line in run} for run in (one, other)]
    common = lines_of_runs[0].keys() & lines_of_runs[1].keys()
    keys = sorted((topic, document) for topic, document in common if document in judged.get(topic, {}))
    if len({topic for topic, _ in keys}) < 2:
        raise ToucheError("fewer than two topics have documents with a judged stance in both runs")
    first, second = (
        evaluate_stances(Run.of(lines[key] for key in keys), judged, labels) for lines in lines_of_runs
    )
    # Both arrays contain the same topics in the same order, so each resample draws the same topics for both.
    samples = _macro_f1(_resampled(first.counts)) - _macro_f1(_resampled(second.counts))
    return first, second, interval_of(samples)


def _resampled(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns one confusion matrix per resample: the sum of the matrices of the topics that it draws."""
    cells = counts.reshape(len(counts), -1)  # a row for each topic
    return resampled_sums(cells).reshape(-1, *counts.shape[1:])


def _macro_f1(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Returns the mean F1 over stances for each confusion matrix in the last two axes."""
    return np.asarray(_f1(counts).mean(axis=-1))


def _f1(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Returns F1 by stance; the last two axes of ``counts`` are judged and detected stances."""
    square = counts[..., :-1]  # the last column isn't a stance
    correct = np.diagonal(square, axis1=-2, axis2=-1)
    # The harmonic mean of precision and recall is 2 correct / (judged + detected).
    return _share(2 * correct, counts.sum(axis=-1) + square.sum(axis=-2))


def _share(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Returns part / whole, or 0 where both are 0."""
    share: NDArray[np.float64] = np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
    return share
