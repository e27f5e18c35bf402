"""A task's records: topics, qrels, corpora, rules and published results."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from touche.io.toml import Name, Strict, Text
from touche.tasks.measures import MACRO_F1, MEASURE_OF_QUESTION, Measure

Unit = Literal["argument", "sentence pair", "document", "passage", "image"]
Question = Literal["topicRelevance", "argumentativeness", "stanceRelevance"]
Evaluator = Literal["trec_eval", "touche"]

PAIR: Unit = "sentence pair"
SPOT_CHECK = "spot-check"  # the beginning of all ids in the toy collection
CUTOFF = 5
# The measure of most tasks until 2022, used for cards that name none.
MEASURE = Measure(f"nDCG@{CUTOFF}", CUTOFF)
STANCE = "stance"  # the dimension of detected stances
UNKNOWN = "Q0"  # what a run has in the second column if it detects no stance
# Behaves like the organizers' script; values published per topic were computed with that.
SCRIPT: Evaluator = "touche"
DECIMALS = (3,)  # the number of decimals in most published tables

Count = Annotated[int, Meta(ge=1)]


class Corpus(Strict, frozen=True):
    """A task's collection.

    Attributes:
        directory: its folder's name in corpora/.
        ir_datasets: its ir_datasets id, or None.
        files: the names of its files, if the collection is published in several parts.
        topics: the topics in its folder, if it's for only some of the task's topics; empty if it's for all of
            them. ``touche data fetch`` makes such a collection from the documents that are judged for these
            topics.
        statistics: the name under which baselines store statistics of the whole collection, in a file
            ``statistics/NAME.json``. If this is a part of the collection, it's ranked with these statistics.
            If it's the whole collection, its statistics are compared with them.
    """

    directory: Name
    ir_datasets: Text | None = None
    files: tuple[Name, ...] = ()
    topics: tuple[Text, ...] = ()
    statistics: Name | None = None


class Judgments(Strict, frozen=True):
    """The qrels for one dimension, such as relevance or quality.

    Attributes:
        file: the file name in qrels/.
        labels: the grades in the file; empty if unknown.
        note: what these judgments are, if the dimension's name doesn't say it; one or more sentences.
        question: the question about images. The dimensions share a file, which judges each image for the
            topic and for both stances. None for files with one grade per document.
    """

    file: Name
    labels: frozenset[int] = frozenset()
    note: str = ""
    question: Question | None = None


class Rules(Strict, frozen=True):
    """The rules for submissions.

    Attributes:
        unit: the ranked unit.
        max_results: the maximum number of results per topic.
        min_results: the minimum number of results per topic; 0 if the rules don't state one.
        max_runs: the maximum number of runs per team; None if the rules don't state one.
        stances: the values allowed in the second column; empty if unknown.
        rankings: ``topic`` if a run has one ranking per topic, or ``topic and stance`` if each stance of a
            topic has its own.
        ids: a regular expression for document ids; empty if any id is fine.
    """

    unit: Unit
    stances: tuple[Text, ...] = ()
    max_results: Count = 1000
    min_results: Annotated[int, Meta(ge=0)] = 0
    max_runs: Count | None = None
    rankings: Literal["topic", "topic and stance"] = "topic"
    ids: str = ""

    @property
    def by_stance(self) -> bool:
        """Whether each of a topic's stances has its own ranking."""
        return self.rankings == "topic and stance"

    @property
    def ranked_stances(self) -> tuple[str, ...]:
        """The stances that have their own rankings; empty if there is only one ranking per topic."""
        return self.stances if self.by_stance else ()

    def ids_of(self, result: str) -> list[str]:
        """Returns the ids in a run's third column: two for a sentence pair, otherwise one."""
        return result.split(",") if self.unit == PAIR else [result]

    def __post_init__(self) -> None:
        if self.min_results > self.max_results:
            raise ValueError("max_results is less than min_results; make it larger")
        if any(stance != stance.upper() for stance in self.stances):
            raise ValueError("stances are not in upper case; change them to upper case")
        if self.by_stance and not self.stances:
            raise ValueError("stances is missing; list the stances that have rankings")
        try:
            re.compile(self.ids)
        except re.error as error:
            raise ValueError(
                f"the pattern ids is not a valid regular expression ({error}); correct it"
            ) from error


@dataclass(frozen=True)
class Published:
    """A row in a published results table.

    Attributes:
        task: the task's id.
        dimension: the judged dimension; ``stance`` for detected stances.
        measure: the measure's name, such as ``nDCG@5``; ``macro F1`` for detected stances.
        team: the team's name at the lab.
        run: the run's number in a paper, such as ``Run 1``; may be empty.
        tag: the run's tag; empty if it isn't printed.
        value: the score; for rankings the mean over topics.
        low, high: the confidence interval, 95% unless ``interval_note`` says otherwise; None if not printed.
        baseline: whether it's an organizers' baseline.
        evaluator: the evaluator that the value was computed with; None if unknown.
        qrels: the judgments that the value was computed with; None if unknown.
        sources: all documents and tables with this value.
        interval_note: a note about the interval; may be empty.
        printed: the team's name as the table prints it, if that isn't ``team``.
        results: how many detected stances the value covers; None for rankings.
        team_value, team_results: the score and the number of detected stances over all runs of the team
            together.
        topics: None if the value covers all of the task's topics. Otherwise the number of topics that it
            covers; such a value isn't comparable with others.
    """

    task: str
    dimension: str
    measure: str
    team: str
    run: str
    tag: str
    value: float
    low: float | None
    high: float | None
    baseline: bool
    evaluator: Evaluator | None
    qrels: str | None
    sources: tuple[str, ...]
    interval_note: str = ""
    printed: str = ""
    results: int | None = None
    team_value: float | None = None
    team_results: int | None = None
    topics: int | None = None

    @property
    def kind(self) -> tuple[str, str, int | None]:
        """Dimension, measure and number of topics. Only rows of the same kind are ranked together."""
        return self.dimension, self.measure, self.topics

    @property
    def name(self) -> str:
        """Team and run, such as ``Prince of Persia (Run 1)``."""
        return f"{self.team} ({self.run})" if self.run else self.team


@dataclass(frozen=True)
class Task:
    """A shared task, or one of the tasks in the toy collection.

    Attributes:
        id: the task's id, such as ``touche-2020-task-1``.
        title: the title.
        url: the task's web page.
        topics: the file name in topics/.
        qrels: the qrels files by dimension.
        corpora: the collections by name; ``full`` is the whole collection.
        rules: the rules for submissions.
        measure: the measure that rankings are scored with.
        excluded_topics: topics that aren't evaluated, although there are judgments for them.
        only_topics: the topics to evaluate if a dataset doesn't have all of them; empty for all topics.
        corpus: which of the ``corpora`` this dataset uses.
        note: a note about the judgments.
        published: all published results, best first in each dimension.
        results_note: a note that says why published results are missing; may be empty.
        decimals: the number of decimals in published tables. There are several numbers if the values were
            rounded several times. The last number is always 3, because touche's tables print three decimals.
        least_judged: the share of judged results in the published run with the fewest, by the share's name,
            such as ``Judged@10``. Only for tasks whose published runs contain many unjudged results.
    """

    id: str
    title: str
    url: str
    topics: str
    qrels: Mapping[str, Judgments]
    corpora: Mapping[str, Corpus]
    rules: Rules
    measure: Measure = MEASURE
    excluded_topics: tuple[str, ...] = ()
    only_topics: tuple[str, ...] = ()
    corpus: str = "full"
    note: str = ""
    published: tuple[Published, ...] = ()
    results_note: str = ""
    decimals: tuple[int, ...] = DECIMALS
    least_judged: Mapping[str, float] = field(default_factory=dict)

    @property
    def dataset(self) -> str:
        """The dataset's id, such as ``touche-2020-task-1``, or ``touche-2020-task-1/sample`` for a part."""
        return dataset_with(self.id, self.corpus)

    @property
    def cutoff(self) -> int:
        """How many results per topic are scored; ``CUTOFF`` if all are, because the measure has no cutoff."""
        return self.measure.cutoff or CUTOFF

    @property
    def usual_evaluator(self) -> Evaluator:
        """The evaluator that most published scores of rankings were computed with; ``trec_eval`` if it isn't
        known for any of them.
        """
        named = [row.evaluator for row in self.published if row.dimension != STANCE]
        return "touche" if named.count("touche") > named.count("trec_eval") else "trec_eval"

    @property
    def stances(self) -> tuple[str, ...]:
        """The stances that are judged, and that runs can detect, in upper case."""
        return tuple(stance for stance in self.rules.stances if stance != UNKNOWN)

    def measure_for(self, dimension: str) -> Measure:
        """Returns a dimension's measure: macro F1 for stances, otherwise the task's measure.

        The assessors answered several questions about each image, and each question is a dimension with its
        own precision at 10. A measure that a user chose applies to all dimensions.
        """
        if dimension == STANCE:
            return MACRO_F1
        # The task isn't about images, or the user chose another measure.
        if self.measure not in MEASURE_OF_QUESTION.values():
            return self.measure
        question = self.qrels[dimension].question
        return MEASURE_OF_QUESTION[question] if question else self.measure


def newest_first(task_id: str) -> tuple[int, str]:
    """Returns a sort key: the newest year first, a year's tasks in order; ids without a year come last."""
    year = re.match(r"touche-(\d{4})\b", task_id)
    return -int(year[1]) if year else 0, task_id


def dataset_with(task_id: str, corpus: str) -> str:
    """Returns the id of a task's dataset: ``TASK`` for the whole corpus, ``TASK/NAME`` for others."""
    return task_id if corpus == "full" else f"{task_id}/{corpus}"


def rounded(value: float, decimals: Sequence[int] = DECIMALS) -> float:
    """Rounds a value like a published table.

    Args:
        value: the value.
        decimals: how many decimals to round to. If there are several numbers, the value is rounded several
            times. For example, trec_eval prints four decimals, which the tables of 2020 rounded again to
            three: 0.40348 became 0.4035 and then 0.404.
    """
    first, *later = decimals
    printed = Decimal(f"{value:.{first}f}")
    for count in later:
        printed = printed.quantize(Decimal(f"1e-{count}"), ROUND_HALF_UP)  # rounds to ``count`` decimals
    return float(printed)


def card_id(card: Path) -> str:
    """Returns the id of the task that a card describes, from the card's path. For the toy collection's cards,
    the id includes the name of their folder.
    """
    folder = card.absolute().parent.name
    return f"{folder}/{card.stem}" if folder == SPOT_CHECK else card.stem
