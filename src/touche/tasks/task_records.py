"""The records of a task: topics, qrels, corpora, rules and published results."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from touche.errors import ToucheError
from touche.io.toml import Name, Strict, Text
from touche.tasks.measures import MACRO_F1, MEASURE_OF_QUESTION, Measure

Unit = Literal["argument", "sentence pair", "document", "passage", "image"]
Question = Literal["topicRelevance", "argumentativeness", "stanceRelevance"]
Evaluator = Literal["trec_eval", "touche"]

PAIR: Unit = "sentence pair"
SPOT_CHECK = "spot-check"  # the beginning of names in the toy collection
CUTOFF = 5
MEASURE = Measure(f"nDCG@{CUTOFF}", CUTOFF)  # the measure until 2022, and the default
STANCE = "stance"  # the dimension for detected stances
UNKNOWN = "Q0"  # in the second column of a run, for results without a stance
DECIMALS = (3,)  # of the printed tables

Count = Annotated[int, Meta(ge=1)]


class Corpus(Strict, frozen=True):
    """A collection of a task.

    Attributes:
        directory: the name of its folder in corpora/.
        ir_datasets: its id in ir_datasets, or None.
        files: its parts, if it is published in several.
        topics: the numbers of its topics, which its folder contains; empty for all topics of the task.
            ``touche data fetch`` selects the documents that are judged for them.
        statistics: the name of statistics of the whole collection, which baselines may have in a file
            ``statistics/NAME.json``. A part is ranked by them, and the whole is compared with them.
    """

    directory: Name
    ir_datasets: Text | None = None
    files: tuple[Name, ...] = ()
    topics: tuple[Text, ...] = ()
    statistics: Name | None = None


class Judgments(Strict, frozen=True):
    """The qrels of one dimension, such as relevance or quality.

    Attributes:
        file: the name of the file in qrels/.
        labels: the grades in the file; empty if unknown.
        question: what the dimension asks about images. The dimensions share a file, which judges each image
            for the topic and for both stances. None for files with one grade of each document.
    """

    file: Name
    labels: frozenset[int] = frozenset()
    question: Question | None = None


class Rules(Strict, frozen=True):
    """The rules for submissions.

    Attributes:
        unit: the ranked unit.
        max_results: the largest number of results per topic.
        min_results: the smallest number of results per topic; 0 if the rules state none.
        max_runs: the largest number of runs of a team, or None if the rules state none.
        stances: the values of the second column; empty if unknown.
        rankings: what a ranking answers; ``topic and stance`` if each stance of a topic has its own ranking.
        ids: a regular expression for the ids of documents; empty if they may have any form.
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
        """Whether each stance of a topic has its own ranking."""
        return self.rankings == "topic and stance"

    @property
    def ranked_stances(self) -> tuple[str, ...]:
        """The stances with their own rankings; empty if each topic has one ranking."""
        return self.stances if self.by_stance else ()

    def ids_of(self, result: str) -> list[str]:
        """Returns the ids in the third column of a run: two for a pair of sentences, else one."""
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
    """A row of a published table of results.

    Attributes:
        task: the id of the task.
        dimension: the judged dimension; ``stance`` for detected stances.
        measure: the measure, such as ``nDCG@5``; ``macro F1`` for detected stances.
        team: the name of the team at the lab.
        run: the run's number in a paper, such as ``Run 1``; empty without a number.
        tag: the tag of the run; empty if not printed.
        value: the score; for rankings the mean over topics.
        low, high: the confidence interval, or None if not printed; 95% unless ``interval_note`` differs.
        baseline: whether it is a baseline of the organizers.
        evaluator: the evaluator of the value, or None if unknown.
        qrels: the qrels of the value, or None if unknown.
        sources: all documents and tables with this value.
        interval_note: a note about the interval, or empty.
        printed: the team's name in the table, if it differs.
        results: the number of detected stances in the value; None for rankings.
        team_value, team_results: the score and the number of stances for all runs of the team together.
        topics: the number of topics, if the value is over some topics, and so not comparable; else None.
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
        """Dimension, measure and number of topics; only rows with the same kind are ranked together."""
        return self.dimension, self.measure, self.topics

    @property
    def name(self) -> str:
        """Team and run, such as ``Prince of Persia (Run 1)``."""
        return f"{self.team} ({self.run})" if self.run else self.team


@dataclass(frozen=True)
class Task:
    """A shared task, or a part of the bundled toy collection.

    Attributes:
        id: the id, such as ``touche-2020-task-1``.
        title: the title of the task.
        url: the task's web page.
        topics: the name of the file in topics/.
        qrels: the files of qrels by dimension.
        corpora: the collections by name; ``full`` is the whole collection.
        rules: the rules for submissions.
        measure: the measure of the runs.
        excluded_topics: topics whose judgments are ignored.
        only_topics: the topics to evaluate, for a dataset with fewer topics; empty for all topics.
        note: a note about the judgments.
        published: all published results, best first in each dimension.
        results_note: the reason for missing results.
        decimals: the decimals of published values; several numbers if these were rounded several times.
        least_judged: the smallest share of judged results of a published run, by the name of the share,
            such as ``Judged@10``. Only for tasks whose published runs have many unjudged results.
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
    note: str = ""
    published: tuple[Published, ...] = ()
    results_note: str = ""
    decimals: tuple[int, ...] = DECIMALS
    least_judged: Mapping[str, float] = field(default_factory=dict)

    @property
    def cutoff(self) -> int:
        """The number of scored results, or ``CUTOFF`` if all results are scored."""
        return self.measure.cutoff or CUTOFF

    @property
    def judged_limit(self) -> float | None:
        """The smallest share of judged results of a published run, from ``least_judged``; None if unknown."""
        return self.least_judged.get(self.measure.judged)

    @property
    def stances(self) -> tuple[str, ...]:
        """The stances that are judged and detected."""
        return tuple(stance for stance in self.rules.stances if stance != UNKNOWN)

    def check_one_ranking(self, format: str) -> None:
        """Checks that each topic has one ranking.

        Args:
            format: the format that has no stances, such as BEIR.

        Raises:
            ToucheError: if each stance of a topic has its own ranking.
        """
        if self.rules.by_stance:
            problem = f"{self.id} has a ranking for each stance of a topic, which {format} lacks"
            raise ToucheError(f"{problem}; name another task")

    def measure_for(self, dimension: str) -> Measure:
        """Returns the measure of a dimension: macro F1 for stances, else the task's measure.

        The assessors answered several questions about each image. Each question is a dimension with its own
        precision at 10. Another measure that a user chose applies to all dimensions.
        """
        if dimension == STANCE:
            return MACRO_F1
        if self.measure not in MEASURE_OF_QUESTION.values():  # no task on images, or the user's measure
            return self.measure
        question = self.qrels[dimension].question
        return MEASURE_OF_QUESTION[question] if question else self.measure


def rounded(value: float, decimals: Sequence[int] = DECIMALS) -> float:
    """Rounds a value as a table was rounded.

    Args:
        value: the value.
        decimals: the numbers of decimals, one after another. trec_eval prints four, and tables of 2020
            rounded them again, so that 0.40348 became 0.4035 and then 0.404.
    """
    first, *later = decimals
    printed = Decimal(f"{value:.{first}f}")
    for count in later:
        printed = printed.quantize(Decimal(f"1e-{count}"), ROUND_HALF_UP)  # keeps ``count`` decimals
    return float(printed)


def card_id(card: Path) -> str:
    """Returns the id of a task from the path of its card; the toy collection's cards are in a folder."""
    folder = card.absolute().parent.name
    return f"{folder}/{card.stem}" if folder == SPOT_CHECK else card.stem
