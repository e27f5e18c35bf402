"""Scores runs: each run is scored in each dimension, with each measure and each evaluator that knows it.

Three files explain how a score comes about: ``judged`` reads what runs are scored against, this file applies
each evaluator to each run, and ``evaluators`` computes the values of topics. Means, intervals, ranks and
sentences are then computed from what this file returns.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from touche.errors import InputError, ToucheError, one_line
from touche.evaluation.evaluators import EVALUATORS, Evaluation
from touche.evaluation.image_scores import precision_per_stance
from touche.evaluation.stances import evaluate_stances
from touche.io.grouping import group_by
from touche.io.identifiers import numbered
from touche.io.progress import watched
from touche.tasks.measures import MEASURE_OF_QUESTION, Measure
from touche.trec.by_stance import CountedLines, counted
from touche.trec.columns import Run
from touche.trec.qrels import Qrels
from touche.trec.runs import LineError, check_unique


@dataclass(frozen=True, eq=False)
class Judged:
    """What runs are scored against: a dimension's judgments, and a measure.

    Attributes:
        dimension: the dimension's name, such as ``relevance``, or ``stance`` for detected stances.
        measure: the measure.
        qrels: the judgments. If each stance of a topic has its own ranking, the keys are names of rankings,
            such as ``1 PRO``.
        file: the judgments' file name, or ``qrels`` if they aren't in a file.
        is_official: whether they are the task's own judgments, for which there may be published results.
        is_chosen: whether the user chose the measure; if not, it's the task's measure.
        unit: what the runs rank, such as ``argument``.
        grades: the grades on the task's scale; empty if unknown.
        stances: for detected stances, their labels in the order of the qrels' numbers; empty for rankings.
        counted_lines: which lines of a run count. Only set if each stance has its own ranking; None means
            that all lines count.
        any_order: whether pairs that were judged in the other order count too.
        is_optional: whether runs that detect no stances aren't scored here. True if detecting stances is
            optional in the task.
    """

    dimension: str
    measure: Measure
    qrels: Qrels
    file: str
    is_official: bool = True
    is_chosen: bool = False
    unit: str = "document"
    grades: frozenset[int] = frozenset()
    stances: tuple[str, ...] = ()
    counted_lines: CountedLines | None = None
    any_order: bool = False
    is_optional: bool = False

    @property
    def label(self) -> str:
        """The dimension's name, such as ``relevance, any order``."""
        return label_of(self.dimension, self.any_order)


@dataclass(frozen=True, eq=False)
class Scored:
    """A run's scores for one dimension, measure and evaluator.

    Attributes:
        run: the lines that count. If each stance has its own ranking, ranking names such as ``1 PRO`` replace
            the topics; if ``judged.any_order`` is set, pairs are in the order in which they were judged.
        judged: what the run was scored against.
        evaluator: a name in ``EVALUATORS``.
        evaluation: the values by topic.
        name: the run's tag, or another name if the tag isn't unique; see ``unique_names``.
        skipped: an error for each line that doesn't count; only in tasks where the organizers' script skips
            such lines.
        team: the run's team; empty if unknown.
        is_baseline: whether the user declared the run a baseline.
    """

    run: Run
    judged: Judged
    evaluator: str
    evaluation: Evaluation
    name: str
    skipped: Sequence[LineError] = ()
    team: str = ""
    is_baseline: bool = False

    @property
    def label(self) -> str:
        """The dimension's name, such as ``relevance, any order``."""
        return self.judged.label

    @property
    def is_ranking(self) -> bool:
        """Whether a ranking is scored, and not detected stances."""
        return not self.judged.stances


ByEvaluator = Mapping[str, Scored]
"""The scores of one run against one thing, by evaluator."""


def label_of(dimension: str, any_order: bool) -> str:
    """Returns a dimension's name, followed by ``, any order`` if pairs count in any order."""
    return f"{dimension}, any order" if any_order else dimension


def score(
    runs: Sequence[Run],
    judged: Sequence[Judged],
    evaluators: Collection[str] = EVALUATORS,
    teams: Mapping[Path, str] = MappingProxyType({}),
    baselines: Collection[Path] = (),
) -> list[Scored]:
    """Scores each run with each dimension's judgments and measure, and with each evaluator that knows the
    measure.

    Args:
        runs: the runs, with different paths.
        judged: what to score them against.
        evaluators: names in ``EVALUATORS``. If only one evaluator knows a measure, it is used even if it
            isn't among them.
        teams: each run's team by the run's path; runs whose team is unknown are missing.
        baselines: the paths of the runs that are baselines.

    Returns:
        The results, run by run.

    Raises:
        ToucheError: if there is no run, no line of a run counts, or a run has none of the judged topics.
    """
    if not runs:
        raise ToucheError("no run is passed; pass at least one")
    names = unique_names({run.path: run.tag for run in runs}, teams)
    scored = list[Scored]()
    for run in watched(runs, "evaluating", "runs", len(runs)):
        for judged_dimension in judged:
            if judged_dimension.is_optional and not run.has_stances:
                continue
            lines, skipped = _lines_that_count(run, judged_dimension)
            for evaluator in _chosen(judged_dimension.measure, evaluators):
                evaluation = _evaluation(lines, judged_dimension, evaluator)
                scored.append(
                    Scored(
                        run=lines,
                        judged=judged_dimension,
                        evaluator=evaluator,
                        evaluation=evaluation,
                        name=names[run.path],
                        skipped=skipped,
                        team=teams.get(run.path, ""),
                        is_baseline=run.path in baselines,
                    )
                )
    return scored


def by_evaluator(scored: Iterable[Scored]) -> list[ByEvaluator]:
    """Groups scores so that a group contains all evaluators' scores for one run, dimension and measure."""
    groups = group_by(scored, lambda scored_run: (scored_run.run.path, scored_run.judged))
    return [{scored_run.evaluator: scored_run for scored_run in group} for group in groups.values()]


def _chosen(measure: Measure, evaluators: Collection[str]) -> list[str]:
    """Returns those of the given evaluators that know a measure. If only one evaluator knows it, returns this
    one, even if it isn't given.
    """
    suitable = measure.evaluators
    return [name for name in suitable if name in evaluators or len(suitable) == 1]


def _lines_that_count(run: Run, judged: Judged) -> tuple[Run, Sequence[LineError]]:
    """Returns the lines that are scored, and an error for each line that doesn't count.

    Raises:
        InputError: if no line counts, or a topic contains a document twice.
    """
    if judged.counted_lines is None:
        # Only now check for repeated documents, because a document may be in the rankings of both stances.
        if run.ranks_stances:
            check_unique(run)
        return (in_judged_order(run, judged.qrels) if judged.any_order else run), ()
    lines, errors = counted(run, judged.counted_lines)
    skipped = sorted([*run.unread, *errors], key=lambda error: error.line or 0)
    if not lines:
        raise skipped[0] if skipped else InputError(run.path, "the run is empty", "check what wrote it")
    check_unique(lines)
    return lines, skipped


def _evaluation(run: Run, judged: Judged, evaluator: str) -> Evaluation:
    """Evaluates a run's lines.

    Raises:
        ToucheError: if the run and the judgments have no topic in common.
    """
    try:
        if judged.stances:
            return evaluate_stances(run, judged.qrels, judged.stances)
        # A measure for image retrieval, which only touche computes.
        if judged.measure in MEASURE_OF_QUESTION.values():
            return precision_per_stance(run, judged.qrels)
        return EVALUATORS[evaluator](run, judged.qrels, judged.measure)
    except ToucheError as error:  # run and judgments have no common topic
        raise ToucheError(f"{run.path}: {error}, and that the run ranks {judged.unit}s") from error


def unique_names(
    tags: Mapping[Path, str], teams: Mapping[Path, str] = MappingProxyType({})
) -> dict[Path, str]:
    """Returns a name to show for each run: its tag, or else ``TEAM (TAG)``, or else its path. The first of
    these is chosen that isn't also a tag, a path or a ``TEAM (TAG)`` of another run.

    No two runs share a name, even if they look the same after control characters are escaped.

    Args:
        tags: each run's tag by its path.
        teams: their teams, as far as they are known.
    """
    labels = dict[Path, list[str]]()  # each run's possible names, the preferred one first
    for path, tag in tags.items():
        team = teams.get(path)
        texts = [tag, *([f"{team} ({tag})"] if team else []), str(path)]
        labels[path] = [*dict.fromkeys(map(one_line, texts))]
    uses = Counter(chain.from_iterable(labels.values()))
    names = dict[Path, str]()
    for path, own_labels in labels.items():
        name = next((label for label in own_labels if uses[label] == 1), own_labels[-1])
        names[path] = numbered(name, [*names.values()])
    return names


def in_judged_order(run: Run, qrels: Qrels) -> Run:
    """Returns a run of sentence pairs in the order in which they were judged: (a, b) becomes (b, a) if only
    (b, a) is judged. Pairs that the run contains in both orders aren't changed, so that no judgment counts
    twice.
    """
    documents = run.documents.copy()
    for topic, lines in run.by_topic.items():
        judged = qrels.get(topic, {})
        present = set(run.documents[lines])
        for line in lines:
            reversed_pair = ",".join(reversed(documents[line].split(",")))
            if documents[line] not in judged and reversed_pair in judged and reversed_pair not in present:
                documents[line] = reversed_pair
    return replace(run, documents=documents)


def check_evaluators(judged: Iterable[Judged], evaluators: Collection[str]) -> None:
    """Raises a ToucheError if the user asks for touche as the only evaluator, but it doesn't know a measure.
    Asking for trec_eval alone is never an error: if only touche knows a measure, touche is used instead.
    """
    for judged_dimension in judged:
        if [*evaluators] == ["touche"] and judged_dimension.measure.evaluators == ["trec_eval"]:
            problem = f"touche, the organizers' script, lacks {judged_dimension.measure}"
            raise ToucheError(f"{problem}; use only trec_eval")


def ranks_stances(judged: Iterable[Judged]) -> bool:
    """Returns whether each stance of a topic has its own ranking, so that some lines of runs don't count."""
    return any(judged_dimension.counted_lines is not None for judged_dimension in judged)
