"""touche tasks [check | tira]"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import click

from touche import tasks as library
from touche.cli.commands import BASELINE, PATH, TASK_ID, Command, Ids, argument, command, option
from touche.cli.options import FORMAT, output
from touche.cli.output import UNUSABLE, counted, echo, render, tell, warn
from touche.data.checking import CheckedCard, check_cards
from touche.data.places import has_dataset, remedy_for
from touche.errors import ToucheError, choice
from touche.io.grouping import group_by
from touche.io.identifiers import quoted
from touche.io.tables import Column, Sheet, interval, three_decimals
from touche.regression.reproductions import reproductions
from touche.reports.published_results import PublishedResult, PublishedResults, published
from touche.runners.tira_dataset import SPLIT, write_for_tira
from touche.tasks import MACRO_F1, STANCE, Task
from touche.tasks.listed import list_tasks
from touche.tasks.per_topic import published_topics, sentences_on_copies
from touche.tasks.reported import reported as reported_values
from touche.tasks.task_records import dataset_with


@command("touche tasks check 2027/tasks/cats-2027.toml", argument("cards", "FILE...", type=PATH), FORMAT)
def check(cards: Sequence[Path], format: str) -> int:
    """Check task cards: unknown keys, wrong types, contradictions and the files that they name.

    If topics, judgments and corpora are available, judged topics must exist, and in smaller corpora judged
    documents too. Print each card's first problem, or that the card is fine. Exit with 2 if a card has a
    problem.
    """
    checked = check_cards(cards)
    if format == "table":
        for card in checked:
            line = card.problem or f"{card.path}: fine{_contents(card)}"
            # A card's name may contain line breaks or bytes that aren't UTF-8.
            echo(" ".join(click.format_filename(line).split()))
    else:
        render(checked, format, [Sheet(_CARDS, checked)])
    return UNUSABLE if any(card.problem for card in checked) else 0


@command(
    "touche tasks tira spot-check/arguments -o out/tira",
    argument("task_id", "TASK", type=TASK_ID),
    output("New folder, whose name becomes the name of the dataset."),
    option("--dimension NAME", "Dimension to score; by default the card's first."),
    option("--baseline", "Baseline that TIRA's client runs on the dataset.", type=BASELINE, default="bm25"),
)
def tira(task_id: str, output: Path, dimension: str | None, baseline: str) -> None:
    """Write TASK as a dataset for TIRA: a README.md with tira_configs, topics, corpus and judgments.

    Corpus files are links. To submit the folder, run: tira-cli dataset-submission
    """
    readme = write_for_tira(task_id, output, dimension=dimension, baseline=baseline)
    echo(str(readme))
    # TASK stays a placeholder, because the task has another id at TIRA.
    command = ["tira-cli", "dataset-submission", "--path", str(output), "--task", "TASK", "--split", SPLIT]
    tell(f"Next: {shlex.join(command)} --dry-run")


def _contents(card: CheckedCard) -> str:
    """Returns how many topics, judgments and documents there are, and which files weren't checked."""
    contents = []
    if card.topics is not None:
        unjudged = f" ({card.unjudged_topics:,} without judgments)" if card.unjudged_topics else ""
        contents.append(f"{counted(card.topics, 'topic')}{unjudged}")
    numbers = {"judgment": card.judgments, "document": card.documents}
    contents += [counted(number, noun) for noun, number in numbers.items() if number is not None]
    contents += [f"{counted(number, 'document')} in {name}" for name, number in card.other_corpora.items()]
    checked = f", with {', '.join(contents)}" if contents else ""
    missing = f"; missing and not checked: {', '.join(card.missing)}" if card.missing else ""
    return f"{checked}{missing}"


class _Tasks(Command):
    """A command that takes an id or a subcommand."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Returns the subcommand's context if the first word names one. Click then runs the context's
        command.
        """
        for subcommand in (check, tira):
            if args[:1] == [subcommand.name]:
                return subcommand.make_context(f"{info_name} {subcommand.name}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


_ID = Ids("task", lambda: ["check", "tira", *library.ids()])


@command(
    "touche tasks touche-2020-task-1",
    argument("task_id", "[TASK | check FILE | tira TASK -o DIR]", type=_ID),
    option("--all every", "Show every published run, not only the best of each team."),
    option("--per-topic", "Show the baselines' published values for each topic of TASK."),
    option("--team NAME", "Show only this team's runs; with --per-topic, instead of the baselines."),
    option("--reported", "Show TIREx's values for TASK, from runs that nobody submitted."),
    option("--reproductions reruns", "Show each baseline's published values, scores on samples, and reruns."),
    FORMAT,
    cls=_Tasks,
)
def tasks(
    task_id: str | None,
    every: bool,
    per_topic: bool,
    team: str | None,
    reported: bool,
    reruns: bool,
    format: str,
) -> None:
    """List tasks, or show a TASK's rules and its teams' and baselines' published scores.

    With a TASK, JSON and CSV contain its published results, each with its measure and the command that reruns
    it. For all tasks' results, pass --all without a TASK. To check a new task's card, run: touche tasks
    check FILE. To write a TASK as a dataset for TIRA, run: touche tasks tira TASK -o DIR
    """
    if reruns:
        if every or per_topic or reported or team:
            raise ToucheError("--reproductions has its own table; omit the other options")
        table = reproductions(task_id)
        notes = [
            *table.notes,
            "scores on a sample are not comparable with published values; a sample lacks most documents",
        ]
        render(table, format, [Sheet(_REPRODUCTIONS, table, notes)])
    elif reported:
        if task_id is None or every or per_topic or team:
            problem = "--reported shows one task"
            raise ToucheError(f"{problem}; name it, and omit --all, --per-topic and --team")
        rows = reported_values(task_id)
        render(rows, format, [Sheet(_REPORTED, rows)])
        if not rows:
            warn(f"TIREx reports no values of {task_id}")
    elif per_topic:
        _show_topics(task_id, every, team, format)
    elif task_id is None and team is None and not every:
        listed = list_tasks()
        render(listed, format, [Sheet(_TASKS, listed)])
    else:
        results = published(task_id)
        if team is not None:
            results = _of_team(results, team)
        if task_id is None:
            sheets = _sheets_of_all_tasks(results)
        else:
            sheets = _sheets_of_task(library.task(task_id), results, every or team is not None)
        render(results, format, sheets)


_CARDS = [
    Column("card", "path"),
    Column("problem", lambda card: card.problem or None, missing="the card is fine"),
]
_TASKS = [
    Column("task", "id"),
    Column("title", "title"),
    Column("ranked", "unit", "{}s".format),
    Column("dimensions", "dimensions", ", ".join),
    Column("published values", "published"),
]
_REPORTED = [
    Column("system", "system"),
    Column("nDCG@10", "ndcg_10", "{:.4f}".format),
    Column("P@10", "precision_10", "{:.4f}".format),
    Column("unjudged@10", "unjudged_10", "{:.2f}".format),
]
_REPRODUCTIONS = [
    Column("baseline", attrgetter("expected.command")),
    Column("dataset", "dataset"),
    Column("dimension", attrgetter("expected.dimension")),
    Column("measure", attrgetter("expected.measure")),
    Column("evaluator", attrgetter("expected.evaluator")),
    Column(
        "published", attrgetter("expected.published"), three_decimals, missing="no such value is published"
    ),
    Column(
        "on a sample",
        lambda reproduction: reproduction.sample and reproduction.sample.pinned,
        three_decimals,
        missing="no sample pins this value",
    ),
    Column(
        "Judged",
        lambda reproduction: reproduction.on_sample and reproduction.on_sample.judged,
        "{:.2f}".format,
        missing="there is no green rerun on a sample, or stances are scored",
    ),
    Column(
        "topics",
        "on_topics",
        lambda row: f"{row.reproduced} of {row.topics}",
        missing="no values of topics are published, or they were not rerun",
    ),
    Column(
        "last green rerun",
        "last",
        lambda row: f"{row.date}, {row.dataset.rpartition('/')[2]}",
        missing="no rerun on corpus, topics or sample is within the tolerance",
    ),
    Column("whole corpus", "missing", lambda missing: missing or "green"),
]
_TOPICS = [
    Column("team", attrgetter("row.name")),
    Column("tag", attrgetter("row.tag")),
    Column("dimension", attrgetter("row.dimension")),
    Column("topic", "topic"),
    Column("value", "value", three_decimals),
    Column("measure", attrgetter("row.measure")),
    Column("", "is_ambiguous", lambda is_ambiguous: "ambiguous" if is_ambiguous else ""),
]


def _of_team(results: PublishedResults, team: str) -> PublishedResults:
    """Returns a team's results, whatever the case of its name."""
    of_team = tuple(result for result in results if result.row.team.casefold() == team.casefold())
    if not of_team:
        teams = sorted({result.row.team for result in results})
        raise ToucheError(f"no published result of {quoted(team)}; {choice(team, teams)}")
    return replace(results, records=of_team)


def _show_topics(task_id: str | None, every: bool, team: str | None, format: str) -> None:
    """Prints topics' published values. Without --all and --team, the table only shows baselines."""
    if task_id is None:
        raise ToucheError("--per-topic shows one task; name it")
    only_baselines = format == "table" and not (every or team)
    table = published_topics(task_id, team=team, only_baselines=only_baselines)
    if not table and table.notes:  # the note lists tasks that have values
        raise ToucheError(table.notes[0])
    render(table, format, [Sheet(_TOPICS, table)])


def _sheets_of_task(card: Task, published: PublishedResults, every: bool) -> Iterator[Sheet]:
    """Yields a task's description, its published results, and a note about them."""
    yield Sheet([], [], above=_about(card))
    yield from _leaderboards(published, every)
    if card.results_note:
        yield Sheet([], [], above=[card.results_note])


def _sheets_of_all_tasks(published: PublishedResults) -> Iterator[Sheet]:
    """Yields every task's tables, titled with its id."""
    for task_id, rows in group_by(published, lambda result: result.row.task).items():
        yield from _leaderboards(replace(published, records=tuple(rows)), every=True, prefix=f"{task_id}: ")


def _leaderboards(published: PublishedResults, every: bool, prefix: str = "") -> Iterator[Sheet]:
    """Yields a table per dimension and measure. The stances' table always shows all runs.

    ``prefix`` is the beginning of the titles.
    """
    for (dimension, measure, topics), results in published.by_kind.items():
        source = Column("source", partial(_sources_of_row, _number_by_source(results)))
        if dimension == STANCE:
            title = (
                f"{prefix}Published {measure} of the detected stance, of each run and of all runs of its team"
            )
            yield Sheet([*_STANCES, source], results, _sources(results), [title])
        else:
            part = f", over {topics} topics and therefore not comparable" if topics else ""
            yield _leaderboard(results, source, every, f"{prefix}Published {measure} for {dimension}{part}")


def _about(task: Task) -> list[str]:
    """Returns the lines above the results: title, rules and files."""
    rules = task.rules
    note = " ".join(task.note.split())
    range_start = f"{rules.min_results} to " if rules.min_results else "at most "
    stances = ", ".join(rules.stances) or "not known"
    max_runs = f"at most {rules.max_runs}" if rules.max_runs else "no limit stated"
    measures = dict.fromkeys(str(task.measure_for(name)) for name in task.qrels if name != STANCE)
    stance_measure = f", the stance by {MACRO_F1}" if STANCE in task.qrels else ""
    return [
        f"{task.id}: {task.title}",
        task.url,
        *(["", note] if note else []),
        "",
        "Rules",
        f"  {range_start}{rules.max_results} {rules.unit}s per {rules.rankings}",
        f"  second column: {stances}",
        f"  runs per team: {max_runs}",
        f"  scored by {', '.join(measures)}{stance_measure}",
        "",
        "Files",
        f"  topics: {task.topics}",
        *(
            f"  {dimension}: {judgments.file}{f'. {judgments.note}' if judgments.note else ''}"
            for dimension, judgments in task.qrels.items()
        ),
        "",
        "Datasets",
        *(f"  {dataset}" for dataset in _datasets(task)),
    ]


def _datasets(task: Task) -> Iterator[str]:
    """Yields a line for each of a task's datasets: where its documents are, or how to get them."""
    for name, corpus in task.corpora.items():
        dataset = dataset_with(task.id, name)
        state = "here" if has_dataset(dataset) else f"missing: {remedy_for([dataset])}"
        yield f"{dataset}: corpora/{corpus.directory}; {state}"


def _kinds(result: PublishedResult) -> str:
    """Returns ``baseline`` for organizers' baselines, and ``can be rerun`` if touche has a command."""
    kinds = {"baseline": result.row.baseline, "can be rerun": result.rerun}
    return ", ".join(kind for kind, applies in kinds.items() if applies)


_NOT_PRINTED = "the source does not print it"
_TAG = Column("tag", lambda result: result.row.tag or None, missing=_NOT_PRINTED)
_STANCES = [
    Column("team", attrgetter("row.team")),
    _TAG,
    Column("F1", attrgetter("row.value"), three_decimals),
    Column("N", attrgetter("row.results")),
    Column("team's F1", attrgetter("row.team_value"), three_decimals, missing=_NOT_PRINTED),
    Column("team's N", attrgetter("row.team_results"), missing=_NOT_PRINTED),
    Column("", _kinds),
]


def _leaderboard(results: PublishedResults, source: Column, every: bool, title: str) -> Sheet:
    """Returns the table for a dimension and measure. Reruns, sources and other notes are below it."""
    first = results[0].row
    shown = results if every else results.shortlist
    interval_notes = dict.fromkeys(result.row.interval_note for result in results if result.row.interval_note)
    has_groups = any(result.level.group is not None for result in results)
    columns = [
        Column("", "rank"),
        *([Column("95% ranks", _ranks), Column("group", attrgetter("level.group"))] if has_groups else []),
        Column("team", attrgetter("row.name")),
        _TAG,
        Column(first.measure, attrgetter("row.value"), three_decimals),
        # "Published", because touche evaluate computes its own; * means that not all are 95%
        # intervals.
        Column(
            "published interval*" if interval_notes else "published 95% interval",
            lambda result: interval(result.row),
            missing=_NOT_PRINTED,
        ),
        Column("", _kinds),
        source,
    ]
    notes = [f"* {note}" for note in interval_notes]
    if has_groups:
        notes += _notes_on_groups(results)
        notes += sentences_on_copies(library.task(first.task))
    notes += [
        f"to rerun {result.rank}, {result.row.name}, whose rerun may differ by {result.tolerance:g}: "
        f"{result.rerun}"
        for result in shown
        if result.rerun
    ]
    if len(shown) < len(results):
        selection = f"{len(shown)} of {len(results)} runs: the best of each team, and the organizers' own"
        notes.append(f"{selection}; show all with: touche tasks {first.task} --all")
    notes += _sources(results)
    notes.append(f"evaluator: {first.evaluator or 'not stated'}; qrels: {first.qrels or 'not stated'}")
    return Sheet(columns, shown, notes, [title])


def _notes_on_groups(results: PublishedResults) -> list[str]:
    """Returns a sentence about the groups, and one for each run without a group."""
    grouped = [result for result in results if result.level.group is not None]
    groups = counted(len({result.level.group for result in grouped}), "group")
    test = "the paired t-test, corrected for all pairs, does not separate a group's runs from its first"
    ungrouped = [result for result in results if result.level.group is None]
    return [
        f"{len(grouped)} runs in {groups}: {test}",
        *(
            f"{result.row.name} ({result.row.tag}) is in no group: {result.level.reason}"
            for result in ungrouped
        ),
    ]


def _ranks(result: PublishedResult) -> str | None:
    level = result.level
    return None if level.low is None else f"{level.low} to {level.high}"


def _sources_of_row(number_by_source: Mapping[str, str], result: PublishedResult) -> str:
    return ", ".join(number_by_source[source] for source in result.row.sources)


def _number_by_source(results: Iterable[PublishedResult]) -> dict[str, str]:
    """Returns a bracketed number for each source, such as ``[1]``."""
    sources = dict.fromkeys(source for result in results for source in result.row.sources)
    return {source: f"[{number}]" for number, source in enumerate(sources, 1)}


def _sources(results: Iterable[PublishedResult]) -> list[str]:
    """Returns the lines that explain the sources' numbers."""
    return [f"{number} {source}" for source, number in _number_by_source(results).items()]
