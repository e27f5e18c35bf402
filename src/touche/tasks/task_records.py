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
SPOT_CHECK = "spot-check"  # names in the toy collection start with it
CUTOFF = 5
MEASURE = Measure(f"nDCG@{CUTOFF}", CUTOFF)  # used until 2022, and the default
STANCE = "stance"  # detected stances
UNKNOWN = "Q0"  # second column of a result without a stance
SCRIPT: Evaluator = "touche"  # the organizers' script, whose values are published per topic
DECIMALS = (3,)  # in printed tables

Count = Annotated[int, Meta(ge=1)]


class Corpus(Strict, frozen=True):
    """A task's collection.

    Attributes:
        directory: its folder's name in corpora/.
        ir_datasets: its ir_datasets id, or None.
        files: its parts, if it's published in several.
        topics: the topics that its folder contains; empty for all the task's topics. ``touche data fetch``
            selects the documents judged for them.
        statistics: the name of whole-collection statistics, which baselines can have in a file
            ``statistics/NAME.json``. A part is ranked with them; a whole collection is compared with them.
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
        rankings: ``topic``, or ``topic and stance`` if stances are ranked separately.
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
        """The stances with their own rankings; empty if each topic has one ranking."""
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
        measure: such as ``nDCG@5``; ``macro F1`` for detected stances.
        team: the team's name at the lab.
        run: the run's number in a paper, such as ``Run 1``; may be empty.
        tag: the run's tag; empty if it isn't printed.
        value: the score; for rankings the mean over topics.
        low, high: the confidence interval, 95% unless ``interval_note`` says otherwise; None if not printed.
        baseline: whether it's an organizers' baseline.
        evaluator: the evaluator; None if unknown.
        qrels: the qrels; None if unknown.
        sources: all documents and tables with this value.
        interval_note: a note about the interval; may be empty.
        printed: the team's name in the table, if it differs.
        results: how many detected stances the value covers; None for rankings.
        team_value, team_results: the score and the number of stances for all the team's runs together.
        topics: the number of topics if the value only covers some, so that it isn't comparable; otherwise
            None.
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
    """A shared task, or a part of the toy collection.

    Attributes:
        id: such as ``touche-2020-task-1``.
        title: the title.
        url: the task's web page.
        topics: the file name in topics/.
        qrels: the qrels files by dimension.
        corpora: the collections by name; ``full`` is the whole collection.
        rules: the rules for submissions.
        measure: the measure.
        excluded_topics: topics whose judgments are ignored.
        only_topics: the topics to evaluate if a dataset doesn't have all of them; empty for all topics.
        corpus: the dataset's collection, a name in ``corpora``.
        note: a note about the judgments.
        published: all published results, best first in each dimension.
        results_note: why results are missing.
        decimals: the decimals in published tables; several numbers if the values were rounded several times.
            The last one is 3, because that's what our tables print.
        least_judged: the smallest judged share of any published run, by the share's name, such as
            ``Judged@10``. Only for tasks whose published runs contain many unjudged results.
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
        """The number of scored results; ``CUTOFF`` if all results are scored."""
        return self.measure.cutoff or CUTOFF

    @property
    def usual_evaluator(self) -> Evaluator:
        """The evaluator of most published rankings; ``trec_eval`` if no published ranking names one."""
        named = [row.evaluator for row in self.published if row.dimension != STANCE]
        return "touche" if named.count("touche") > named.count("trec_eval") else "trec_eval"

    @property
    def stances(self) -> tuple[str, ...]:
        """The judged and detected stances."""
        return tuple(stance for stance in self.rules.stances if stance != UNKNOWN)

    def measure_for(self, dimension: str) -> Measure:
        """Returns a dimension's measure: macro F1 for stances, otherwise the task's measure.

        The assessors answered several questions about each image, and each question is a dimension with its
        own precision at 10. A measure that a user chose applies to all dimensions.
        """
        if dimension == STANCE:
            return MACRO_F1
        if self.measure not in MEASURE_OF_QUESTION.values():  # no image task, or the user's own measure
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
        decimals: the numbers of decimals to round to, in turn. trec_eval prints four; the tables of 2020
            rounded those again, so 0.40348 became 0.4035 and then 0.404.
    """
    first, *later = decimals
    printed = Decimal(f"{value:.{first}f}")
    for count in later:
        printed = printed.quantize(Decimal(f"1e-{count}"), ROUND_HALF_UP)  # rounds to ``count`` decimals
    return float(printed)


def card_id(card: Path) -> str:
    """Returns the task's id from its card's path. The toy collection's cards are in a folder."""
    folder = card.absolute().parent.name
    return f"{folder}/{card.stem}" if folder == SPOT_CHECK else card.stem
