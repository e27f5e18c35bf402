"""A baseline compared with an official run: does one formula explain both, and how alike are they?

Of a corpus only a part may be at hand. What the whole one would tell (a collection probability or a weight
for each term and field, the same over all topics) is fitted, all else is the formula's; so the mean of a
measure, which a part of the corpus moves, decides nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from touche.data.places import at_hand, open_dataset
from touche.errors import ToucheError, choice
from touche.evaluation.agreement import EVALUATOR, Overlap, overlap, rankings, scored_overlap
from touche.evaluation.scores import Evaluated, evaluated
from touche.formats.columns import Run
from touche.formats.runs import RunLine
from touche.identify.counts import NAMED
from touche.identify.fitting import Fit
from touche.identify.hypotheses import Hypothesis
from touche.identify.parameters import shared_numbers
from touche.identify.samples import Array, Sample, read_scores, sample_of
from touche.identify.search import fits_of
from touche.regression.expected import ExpectedFormula, Measured
from touche.tasks import STANCE, Task, dataset

OWN = 0.999  # the share of its own scores that a baseline has to meet; the rest is rounding
_NEAR = 1e-4  # of a parameter, relatively


def formula_fit(official: Path, rerun: Sequence[RunLine], entry: ExpectedFormula) -> Measured:
    """Fits a formula to the scores of an official run and of a rerun: it has to meet both.

    The remark has how many numbers were fitted to how many official scores, their median error, and Kendall's
    tau of their order and that of the formula, a mean over topics; then the share of the rerun's scores met.

    Args:
        official: a run, or a file ``*.tsv`` with topic, document and score on each line.
        rerun: the run of the baseline on the dataset; of it, the topics that the official run has.
        entry: the formula, the dataset, of which a part is enough, and the parameters in both runs by the
            names that ``touche identify`` gives them; these are fitted, too, and have to come out.

    Returns:
        The share of the official scores that are met within 1e-5, and the remark.

    Raises:
        ToucheError: if the rerun is of another formula, the parameters of either run are others, or the
            median error is above that of the entry.
    """
    hypothesis = Hypothesis(entry.model, NAMED[entry.analysis], entry.fields, entry.combination)
    scores = read_scores(official)
    topics = {line.topic for line in scores}
    again = [line for line in rerun if line.topic in topics]
    given, wanted = open_dataset(entry.dataset), {line.document for line in (*scores, *again)}
    documents = [each for each in given.documents if each.id in wanted]  # of a corpus that is read once
    samples = [
        sample_of(lines, given.topics, documents, entry.dataset, mean_lengths)
        for lines, mean_lengths in (
            (scores, entry.official_mean_lengths),
            (again, entry.rerun_mean_lengths),
        )
    ]
    theirs, ours = fits_of(hypothesis, samples)
    if ours.share() < OWN:
        told = f"only {ours.share():.1%} of the rerun's own scores are met by {hypothesis}"
        raise ToucheError(f"{told}; correct the baseline, or what its entry says it is")
    _check(ours, entry.parameters | entry.rerun_parameters, "the rerun")
    _check(theirs, entry.parameters | entry.official_parameters, "the official run")
    if theirs.median > entry.median:
        problem = f"the median error is {theirs.median:.2g}, above {entry.median:g}"
        raise ToucheError(f"{problem} ({theirs.share():.1%} of the scores are met)")
    tau = _tau(samples[0], theirs.problem.predicted(theirs.numbers))
    fitted = f"{len(theirs.errors)} scores with {theirs.rank} free numbers"
    order = f"median error {theirs.median:.2g}, tau {tau:.3f}"
    return theirs.share(), None, f"{fitted}, {order}; of the rerun's own {ours.share():.1%}"


def agreements(official: Path, rerun: Run, dataset_id: str, names: tuple[str, str]) -> list[Overlap]:
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
        wanted = set(theirs.documents)
        there = {each.id for each in open_dataset(dataset_id).documents if each.id in wanted}
        theirs = theirs.take([place for place, id in enumerate(theirs.documents) if id in there])
    counts = {topic: len(places) for topic, places in theirs.by_topic.items()}
    first = [places[: counts.get(topic, 0)] for topic, places in rerun.by_score.items()]
    ours = rerun.take(np.concatenate(first))
    without = overlap(rankings(theirs), rankings(ours), names)
    judged = [name for name, each in task.qrels.items() if name != STANCE and at_hand("qrels", each.file)]
    scored = [[_evaluated(lines, task, name) for lines in (theirs, ours)] for name in judged]
    # A test needs two topics.
    both = [runs for runs in scored if len(runs[0].topic_scores[EVALUATOR]) > 1]
    return [scored_overlap(without, *runs) for runs in both] or [without]


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


def _evaluated(lines: Run, task: Task, dimension: str) -> Evaluated:
    """Lines of a run, with the scores of just the topics that they are of."""
    run = evaluated(lines, task, dimension)
    evaluation = run.evaluations[EVALUATOR]
    of_topics = {topic: value for topic, value in evaluation.per_topic.items() if topic in lines.by_topic}
    return replace(run, evaluations={EVALUATOR: replace(evaluation, per_topic=of_topics)})
