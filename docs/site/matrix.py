"""The matrix of reproductions: baselines by datasets, with a popover for each cell."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

import tables
import touche
from touche.baselines.reruns import evaluation_command, run_command
from touche.io.grouping import group_by
from touche.regression.log import LoggedScore
from touche.regression.reproductions import Reproduction, verdict_on_topics
from touche.tasks import task

_TEMPLATE = "reproductions.html.j2"


@dataclass(frozen=True)
class Step:
    """A dataset on which the baseline of a cell can be rerun.

    Attributes:
        part: what the dataset has: the whole corpus, some topics or a sample.
        commands: for each variant of the baseline, the lines of its run and of its evaluation.
        verdict: whether this rerun is the same system as the published run, in sentences; empty without
            values of topics.
        last: the last green rerun of the cell's first value on the dataset; None without one.
        missing: why there is no rerun; empty if there is one.
    """

    part: str
    commands: Sequence[str]
    last: LoggedScore | None
    missing: str
    verdict: str = ""


@dataclass(frozen=True)
class Cell:
    """The values of a baseline on a dataset.

    Attributes:
        records: the values; at least one. Those with the default options come first, if there are some.
    """

    records: Sequence[Reproduction]

    @property
    def first(self) -> Reproduction:
        """The value that the cell shows."""
        return self.records[0]

    @property
    def id(self) -> str:
        """The id of the popover."""
        return f"{self.first.expected.baseline}--{self.first.dataset}"

    @property
    def reruns_on_topics(self) -> list[LoggedScore]:
        """The reruns of published values of topics, one per dimension."""
        return [record.on_topics for record in self.records if record.on_topics]

    @property
    def share(self) -> str:
        """The reproduced share of published values of topics; empty if none was rerun."""
        reruns = self.reruns_on_topics
        if not reruns:
            return ""
        reproduced = sum(rerun.reproduced or 0 for rerun in reruns)
        total = sum(rerun.topics or 0 for rerun in reruns)
        return f"{reproduced} of {total} values in {reruns[0].topics} topics"

    @property
    def reproduces_topics(self) -> bool:
        """Whether all published values of topics that were rerun are reproduced."""
        return all(record.reproduces_topics for record in self.records if record.on_topics)

    @property
    def steps(self) -> list[Step]:
        """The datasets on which the first value can be rerun, the whole corpus first."""
        first = self.first
        whole = Step(
            part="The whole corpus",
            commands=_commands(self.records, first.dataset),
            last=first.on_corpus,
            missing=first.missing,
        )
        steps = [whole]
        if first.on_topics:
            topics = Step(
                part=f"{first.on_topics.topics} topics, rerun {tables.RERUN_OF_TOPICS}",
                verdict=verdict_on_topics(self.reruns_on_topics),
                commands=_commands([first], first.on_topics.dataset),
                last=first.on_topics if self.reproduces_topics else None,
                missing="" if self.reproduces_topics else "some values differ",
            )
            steps.append(topics)
        on_sample = [record for record in self.records if record.sample]
        if on_sample:
            sample = Step(
                part="A sample, which is not published",
                commands=_commands(on_sample, f"{first.dataset}/sample"),
                last=first.on_sample,
                missing="" if first.on_sample else "no rerun is recorded",
            )
            steps.append(sample)
        return steps


def _commands(records: Iterable[Reproduction], dataset: str) -> list[str]:
    """Returns the run and the evaluation of each variant of a baseline, in two lines."""
    commands = []
    for command, variant in group_by(records, lambda record: record.expected.command).items():
        measures = dict.fromkeys(record.expected.measure for record in variant)
        is_default = all(record.expected.has_task_measure for record in variant)
        evaluation = evaluation_command(dataset, [] if is_default else measures)
        commands.append(f"{run_command(command, dataset)}\n{evaluation}")
    return commands


def matrix() -> str:
    """Returns the matrix as HTML without indentation, which Markdown would take for code."""
    cells: dict[tuple[str, str], list[Reproduction]] = {}
    for record in touche.reproductions():
        cells.setdefault((record.expected.baseline, record.dataset), []).append(record)
    for records in cells.values():
        records.sort(key=lambda record: bool(record.expected.options))
    datasets = sorted({dataset for _, dataset in cells}, key=lambda name: (not _is_touche(name), name))
    templates = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    templates.filters |= {"score": tables.rounded, "judged": tables.judged}
    html = templates.get_template(_TEMPLATE).render(
        baselines=tables.in_order(),
        datasets={name: _short(name) for name in datasets},
        titles={name: task(name).title for name in datasets},
        with_values={baseline for baseline, _ in cells},
        measures={name: _measure(name) for name in datasets},
        cells={key: Cell(records) for key, records in cells.items()},
    )
    return "\n".join(line.strip() for line in html.splitlines() if line.strip())


def _measure(dataset: str) -> str:
    """Returns the measure of a task's first dimension."""
    card = task(dataset)
    return str(card.measure_for(next(iter(card.qrels))))


def _is_touche(dataset: str) -> bool:
    return dataset.startswith("touche-")


def _short(dataset: str) -> str:
    return dataset.removeprefix("touche-").replace("-", " ")
