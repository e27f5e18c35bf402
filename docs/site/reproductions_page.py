"""The page of reproductions: published values, then scores on samples, with a popover for each entry."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

import tables
import touche
from touche import tasks
from touche.baselines.reruns import evaluation_command, run_command
from touche.io.grouping import group_by
from touche.regression.log import LoggedScore
from touche.regression.reproductions import Reproduction, verdict_on_topics

_TEMPLATE = "reproductions.html.j2"


@dataclass(frozen=True)
class Step:
    """A dataset on which the baseline of an entry can be rerun.

    Attributes:
        part: what the dataset has: the whole corpus, some topics or a sample.
        commands: for each variant of the baseline, the lines of its run and of its evaluation.
        verdict: whether this rerun is the same system as the published run, in sentences; empty without
            values of topics.
        last: the last green rerun of the entry's first value on the dataset; None if there is none.
        missing: why there is no rerun; empty if there is one.
    """

    part: str
    commands: Sequence[str]
    last: LoggedScore | None
    missing: str
    verdict: str = ""


@dataclass(frozen=True)
class Entry:
    """The values of a baseline on a dataset.

    Attributes:
        records: the values; at least one. Those with the default options come first, if there are some.
    """

    records: Sequence[Reproduction]

    @property
    def first(self) -> Reproduction:
        """The value that the page shows without a popover."""
        return self.records[0]

    @property
    def is_published(self) -> bool:
        """Whether there is a published value; if not, all records are scores on a sample."""
        return self.first.expected.published is not None

    @property
    def is_rerun(self) -> bool:
        """Whether the last rerun on the whole corpus or on single topics reproduced the published values."""
        return bool(self.first.on_corpus) or (bool(self.reruns_on_topics) and self.reproduces_topics)

    @property
    def task(self) -> str:
        """The task's short name, such as ``2020 task 1, version 1``."""
        return tables.short(self.first.dataset)

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


def page() -> str:
    """Returns the page's lists as HTML without indentation, which Markdown would take for code."""
    records_by_entry = group_by(
        touche.reproductions(), lambda record: (record.expected.baseline, record.dataset)
    )
    # Values with the default options come first.
    entries = [
        Entry(sorted(records, key=lambda record: bool(record.expected.options)))
        for records in records_by_entry.values()
    ]
    published = [entry for entry in entries if entry.is_published]
    on_samples = [entry for entry in entries if not entry.is_published]
    baselines = {entry.first.expected.baseline for entry in entries}
    templates = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    templates.filters |= {"score": tables.rounded, "judged": tables.judged}
    html = templates.get_template(_TEMPLATE).render(
        entries=entries,
        published=_by_baseline(published),
        on_samples=_by_baseline(on_samples),
        rerun=sum(entry.is_rerun for entry in published),
        differing=sum(bool(entry.reruns_on_topics) and not entry.is_rerun for entry in published),
        total=len(published),
        rerun_of_topics=tables.RERUN_OF_TOPICS,
        zeros=[entry.first for entry in on_samples if entry.first.sample and entry.first.sample.pinned == 0],
        only_toy=[name for name in tables.in_order() if name not in baselines],
    )
    return "\n".join(line.strip() for line in html.splitlines() if line.strip())


def _by_baseline(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Groups entries by baseline. Reruns that reproduced all values come first, then the newest tasks."""
    newest_first = sorted(entries, key=lambda entry: tasks.newest_first(entry.first.dataset))
    in_order = sorted(newest_first, key=lambda entry: not entry.is_rerun)
    groups = group_by(in_order, lambda entry: entry.first.expected.baseline)
    names = sorted(groups, key=lambda name: (not groups[name][0].is_rerun, name))
    return {name: groups[name] for name in names}
