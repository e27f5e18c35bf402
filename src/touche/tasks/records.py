"""What a task is: its topics, judgments, corpora, rules and published results."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from touche.io.toml import Name, Strict, Text
from touche.tasks.measures import MACRO_F1, Measure

Unit = Literal["argument", "sentence pair", "document", "passage"]
Evaluator = Literal["trec_eval", "touche"]

PAIR: Unit = "sentence pair"
SPOT_CHECK = "spot-check"  # what the names of the project's own data begin with
CUTOFF = 5
MEASURE = Measure(f"nDCG@{CUTOFF}", CUTOFF)  # of the tasks until 2022, and of a card that names none
STANCE = "stance"  # the dimension of detected stances
UNKNOWN = "Q0"  # the second column of a line without a stance

Count = Annotated[int, Meta(ge=1)]


class Corpus(Strict, frozen=True):
    """A collection that a task can be run on.

    Attributes:
        directory: the name of its folder in corpora/.
        ir_datasets: its id in ir_datasets, or None.
        files: the parts that it consists of, where it is published in several.
    """

    directory: Name
    ir_datasets: Text | None = None
    files: tuple[Name, ...] = ()


class Judgments(Strict, frozen=True):
    """The judgments of one dimension, such as relevance or quality.

    Attributes:
        file: the name of the file in qrels/.
        labels: the labels that occur in it; empty where they are not known.
    """

    file: Name
    labels: frozenset[int] = frozenset()


class Rules(Strict, frozen=True):
    """What a submission must keep to.

    Attributes:
        unit: what is ranked.
        max_results: how many of them per topic at the most.
        min_results: how many at the least; 0 where no minimum was stated.
        max_runs: how many runs a team may submit, or None where no limit was stated.
        stances: the values of the second column; empty where they are not known.
    """

    unit: Unit
    stances: tuple[Text, ...] = ()
    max_results: Count = 1000
    min_results: Annotated[int, Meta(ge=0)] = 0
    max_runs: Count | None = None

    def __post_init__(self) -> None:
        if self.min_results > self.max_results:
            raise ValueError("max_results is less than min_results; make it larger")
        if any(stance != stance.upper() for stance in self.stances):
            raise ValueError("stances are not in upper case; write them so")


@dataclass(frozen=True)
class Published:
    """One row of a published results table.

    Attributes:
        task: the id of the task.
        dimension: what was judged; ``stance`` where detecting it was.
        measure: what the value is of, such as ``nDCG@5``; of detected stances ``macro F1``.
        team: the name of the team, as the lab has it.
        run: the number that a paper gives the run, such as ``Run 1``; empty where it has none.
        tag: the tag of the run; empty where none was printed.
        value: the measure, of rankings its mean.
        low, high: the confidence interval, or None where none was printed; a 95% one, but for its note.
        baseline: whether it is the organizers' own.
        evaluator: the one it was computed with, or None where that is not known.
        qrels: the judgments it was computed with, or None where that is not known.
        sources: every document and table that prints it.
        interval_note: what one must know about the interval; empty where that is all.
        printed: what the table has for the team, where that is another name.
        results: over how many detected stances the value is; None for rankings.
        team_value, team_results: the same of all runs of the team together.
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

    @property
    def kind(self) -> tuple[str, str]:
        """Dimension and measure: rows with the same ones are ranked together."""
        return self.dimension, self.measure

    @property
    def name(self) -> str:
        """Team and run, such as ``Prince of Persia (Run 1)``."""
        return f"{self.team} ({self.run})" if self.run else self.team


@dataclass(frozen=True)
class Task:
    """A shared task, or a part of the project's own spot check.

    Attributes:
        id: such as ``touche-2020-task-1``.
        title: the title of the task.
        url: its page.
        topics: the name of the file in topics/.
        qrels: the judgments by dimension.
        corpora: the collections by name; ``full`` is the one of the task.
        rules: what a submission must keep to.
        measure: what runs are scored by.
        excluded_topics: topics whose judgments do not count.
        note: what one must know about the judgments.
        published: all published results, the best of each dimension first.
        results_note: why results are missing, where they are.
        incomplete: whether published values count unjudged documents among the first as well.
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
    note: str = ""
    published: tuple[Published, ...] = ()
    results_note: str = ""
    incomplete: bool = False

    @property
    def cutoff(self) -> int:
        """How many of the first results are scored, or looked at first where all are."""
        return self.measure.cutoff or CUTOFF

    @property
    def stances(self) -> tuple[str, ...]:
        """The stances of documents, which are judged and detected."""
        return tuple(stance for stance in self.rules.stances if stance != UNKNOWN)

    def measure_for(self, dimension: str) -> Measure:
        """Returns the measure of a dimension: macro F1 of stances, else that of the task."""
        return MACRO_F1 if dimension == STANCE else self.measure


def id_of(card: Path) -> str:
    """Returns the id of a task by the name of its card; those of spot checks are in a folder."""
    folder = card.absolute().parent.name
    return f"{folder}/{card.stem}" if folder == SPOT_CHECK else card.stem
