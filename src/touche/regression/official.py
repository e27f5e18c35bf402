"""A baseline compared with an official run: does one formula explain both, and how alike are they?

Of a corpus only a part may be at hand. What the whole one would tell (a collection probability or a weight
for each term and field, the same over all topics) is fitted, all else is the formula's; so the mean of a
measure, which a part of the corpus moves, decides nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from touche.data.places import at_hand, open_dataset
from touche.errors import ToucheError, choice
from touche.evaluation.agreement import EVALUATOR, Overlap, overlap, scored_overlap
from touche.evaluation.scores import Evaluated, TopicScore, evaluated
from touche.formats.runs import RunLine, by_topic, in_order_of_score
from touche.identify.counts import NAMED
from touche.identify.fitting import Fit
from touche.identify.hypotheses import Hypothesis
from touche.identify.models import MODELS
from touche.identify.parameters import shared_numbers
from touche.identify.samples import Array, Sample, read_scores, sample_of
from touche.identify.search import fits_of
from touche.tasks import Task, dataset

OWN = 0.999  # the share of its own scores that a baseline has to meet; the rest is rounding
_NEAR = 1e-4  # of a parameter, relatively


@dataclass(frozen=True)
class FormulaFit:
    """How well a formula meets the scores of an official run, and those of the rerun.

    Attributes:
        share: of the official scores that are met within 1e-5.
        median: the median error of these.
        documents, free_numbers: how many scores there are, and how many numbers were fitted to them.
        tau: Kendall's tau of their order and that of the formula with these numbers, a mean over topics.
        own: of the rerun's scores that are met within 1e-5.
    """

    share: float
    median: float
    documents: int
    free_numbers: int
    tau: float
    own: float

    def __str__(self) -> str:
        fitted = f"{self.documents} scores with {self.free_numbers} free numbers"
        order = f"median error {self.median:.2g}, tau {self.tau:.3f}"
        return f"{fitted}, {order}; of the rerun's own {self.own:.1%}"


def formula_of(model: str, analysis: str, fields: tuple[str, ...], combination: str) -> Hypothesis:
    """Returns the formula that an entry names.

    Raises:
        ToucheError: if there is no such model.
    """
    if model not in MODELS:
        raise ToucheError(f"there is no model {model!r}; {choice(model, MODELS)}")
    return Hypothesis(model, NAMED[analysis], fields, combination)


def formula_fit(
    official: Path,
    rerun: Sequence[RunLine],
    dataset_id: str,
    hypothesis: Hypothesis,
    known: tuple[Mapping[str, float], Mapping[str, float]],
) -> FormulaFit:
    """Fits a formula to the scores of an official run and of a rerun: it has to meet both.

    Args:
        official: a run, or a file ``*.tsv`` with topic, document and score on each line.
        rerun: the run of the baseline on the dataset; of it, the topics that the official run has.
        dataset_id: the dataset, of which a part is enough.
        hypothesis: the formula.
        known: its parameters in the official run and in the rerun, by the names that ``touche identify``
            gives them; these are fitted, too, and have to come out.

    Raises:
        ToucheError: if the rerun is of another formula, or the parameters of either run are others.
    """
    scores = read_scores(official)
    topics = {each.topic for each in scores}
    again = [line for line in rerun if line.topic in topics]
    given, wanted = open_dataset(dataset_id), {each.document for each in (*scores, *again)}
    documents = [each for each in given.documents if each.id in wanted]  # of a corpus that is read once
    samples = [sample_of(each, given.topics, documents, dataset_id) for each in (scores, again)]
    theirs, ours = fits_of(hypothesis, samples)
    if ours.share() < OWN:
        told = f"only {ours.share():.1%} of the rerun's own scores are met by {hypothesis}"
        raise ToucheError(f"{told}; correct the baseline, or what its entry says it is")
    _check(ours, known[1], "the rerun")
    _check(theirs, known[0], "the official run")
    tau = _tau(samples[0], theirs.problem.predicted(theirs.numbers))
    return FormulaFit(
        theirs.share(), theirs.median, len(theirs.errors), len(theirs.numbers), tau, ours.share()
    )


def agreements(
    official: Path, rerun: Sequence[RunLine], dataset_id: str, names: tuple[str, str]
) -> list[Overlap]:
    """How far a rerun agrees with an official run: by judgments in each dimension, or without where none fit.

    Compared is what both could have found: of the official run the documents that the dataset has, and of the
    rerun the first of each topic, as many as that leaves.

    Args:
        official: as in ``formula_fit``.
        rerun: the run of the baseline on the dataset.
        dataset_id: the dataset.
        names: what both are called in the records.

    Raises:
        ToucheError: if they have no topic in common.
    """
    task, corpus = dataset(dataset_id)
    theirs = read_scores(official)
    if corpus is not task.corpora["full"]:
        theirs = _within(theirs, dataset_id)
    ours = _first(rerun, Counter(line.topic for line in theirs))
    without = overlap(theirs, ours, names)
    judged = [name for name, each in task.qrels.items() if at_hand("qrels", each.file)]
    scored = [(_evaluated(theirs, task, name), _evaluated(ours, task, name)) for name in judged]
    # A test needs two topics.
    return [scored_overlap(without, *both) for both in scored if len(_scores(both[0])) > 1] or [without]


def _tau(sample: Sample, predicted: Array) -> float:
    """Kendall's tau of a sample's scores and those of a formula, the mean over the topics."""
    from scipy.stats import kendalltau  # here, for it takes a second to import

    topics = np.array(sample.topics)
    places = [np.flatnonzero(topics == topic) for topic in dict.fromkeys(sample.topics)]
    taus = [kendalltau(sample.scores[each], predicted[each]).statistic for each in places if len(each) > 1]
    return float(np.nanmean(taus))


def _check(fit: Fit, known: Mapping[str, float], whose: str) -> None:
    """Whether the parameters are those that are known."""
    fitted = {each.name: each.value for each in shared_numbers(fit)}
    for name, value in known.items():
        if name not in fitted:
            raise ToucheError(f"{fit.hypothesis} has no parameter {name!r}; {choice(name, fitted)}")
        if abs(fitted[name] - value) > _NEAR * value:
            told = f"in the scores of {whose} {name} is {fitted[name]:.6g}, not {value:g}"
            raise ToucheError(f"{told}; correct the baseline, or what its entry says it is")


def _evaluated(lines: Sequence[RunLine], task: Task, dimension: str) -> Evaluated:
    """Lines of a run, with the scores of just the topics that they are of."""
    ranked = [replace(line, rank=rank) for rank, line in enumerate(in_order_of_score(lines), 1)]
    found, topics = evaluated(Path(), ranked, task, dimension), {line.topic for line in lines}
    of_topics = {topic: each for topic, each in _scores(found).items() if topic in topics}
    return replace(found, topic_scores={EVALUATOR: of_topics})


def _scores(run: Evaluated) -> Mapping[str, TopicScore]:
    return run.topic_scores[EVALUATOR]


def _within(lines: Sequence[RunLine], dataset_id: str) -> list[RunLine]:
    """Those whose documents a dataset has."""
    wanted = {line.document for line in lines}
    there = {each.id for each in open_dataset(dataset_id).documents if each.id in wanted}
    return [line for line in lines if line.document in there]


def _first(run: Sequence[RunLine], counts: Mapping[str, int]) -> list[RunLine]:
    """So many lines of each topic."""
    topics = by_topic(in_order_of_score(run))
    return [line for topic, lines in topics.items() for line in lines[: counts[topic]]]
