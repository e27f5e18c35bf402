"""touche tasks [check | tira]"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from touche import tasks as library
from touche.api import listing
from touche.api.listing import PublishedResult
from touche.api.task_data import TaskData
from touche.api.task_data import task as task_data
from touche.cli.commands import BASELINE, PATH, TASK_ID, Command, Ids, argument, command, option
from touche.cli.options import output
from touche.cli.output import UNUSABLE, print_records, show_records, tell
from touche.data.for_tira import SPLIT
from touche.errors import ToucheError, choice, one_line
from touche.tasks import MACRO_F1, STANCE, Published, Task
from touche.trec.framed import formatted


@command("touche tasks check 2027/tasks/touche-2027-task-1.toml", argument("cards", "FILE...", type=PATH))
def check(cards: Sequence[Path]) -> int:
    """Check task cards for unknown keys, wrong types and contradictions.

    Print the first problem of each card, or that the card is fine. Exit with 2 if a card has a problem.
    """
    checked = listing.check_cards(cards)
    for card in checked:
        line = card.problem or f"{card.path}: fine"
        click.echo(" ".join(click.format_filename(line).split()))  # names may contain any bytes
    return UNUSABLE if any(card.problem for card in checked) else 0


@command(
    "touche tasks tira spot-check/arguments -o out/tira",
    argument("task_id", "TASK", type=TASK_ID),
    output("New folder; its name becomes the dataset's name."),
    option("--dimension NAME", "Dimension to score; by default the card's first."),
    option("--baseline", "Baseline that TIRA's client runs on the dataset.", type=BASELINE, default="bm25"),
)
def tira(task_id: str, output: Path, dimension: str | None, baseline: str) -> None:
    """Write TASK as a dataset for TIRA: a README.md with tira_configs, topics, corpus and judgments.

    The files of the corpus are links. To submit the folder, run: tira-cli dataset-submission
    """
    card = listing.write_for_tira(task_id, output, dimension=dimension, baseline=baseline)
    click.echo(one_line(str(card)))
    command = ["tira-cli", "dataset-submission", "--path", str(output), "--task", "TASK", "--split", SPLIT]
    tell(f"Next: {shlex.join(command)} --dry-run")


class _Tasks(Command):
    """A command that takes an id or a subcommand."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        for each in (check, tira):
            if args[:1] == [each.name]:
                return each.make_context(f"{info_name} {each.name}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


_ID = Ids("task", lambda: ["check", "tira", *library.ids()])


@command(
    "touche tasks touche-2020-task-1",
    argument("task_id", "[TASK | check FILE | tira TASK -o DIR]", type=_ID),
    option("--all every", "Show every published run, not only the best of each team."),
    option("--per-topic", "Show the published values of each topic of TASK, by default of baselines."),
    option("--team NAME", "With --per-topic, show only the values of this team."),
    option("--format style", choices=("table", "json", "csv")),
    cls=_Tasks,
)
def tasks(task_id: str | None, every: bool, per_topic: bool, team: str | None, style: str) -> None:
    """List tasks, or show a TASK's rules and the published scores of its teams and baselines.

    JSON and CSV have only published results, each with its measure and the command that reruns it. Without
    TASK, these are the results of all tasks. To check a new task's card, run: touche tasks check FILE. To
    write a TASK as a dataset for TIRA, run: touche tasks tira TASK -o DIR
    """
    if team is not None and not per_topic:
        raise ToucheError("--team selects values of topics; add --per-topic")
    if per_topic:
        _show_topics(task_id, every, team, style)
    elif style != "table":
        click.echo(formatted(listing.published(task_id), style), nl=False)
    elif task_id:
        _show_card(task_data(task_id), every)
    else:
        records = (vars(task) | {"dimensions": ", ".join(task.dimensions)} for task in listing.list_tasks())
        template = "{id}|{title}|{unit}s|{dimensions}|{published}"
        show_records("task|title|ranked|dimensions|published", template, records)


def _show_topics(task_id: str | None, every: bool, team: str | None, style: str) -> None:
    if task_id is None:
        raise ToucheError("--per-topic shows one task; name it")
    table = listing.published_topics(task_id)
    if not table:
        raise ToucheError(table.notes[0])
    teams = dict.fromkeys(row.team for row in table)
    if team is not None and team not in teams:
        raise ToucheError(f"{task_id} has no published values of {team!r}; {choice(team, teams)}")
    rows = [row for row in table if team in (None, row.team)]
    if style != "table":
        print_records(table.kind, rows, style)
        return
    shown = [row for row in rows if every or team or row.baseline]
    records = [vars(row) | {"note": "ambiguous" if row.is_ambiguous else ""} for row in shown]
    template = "{team}|{tag}|{dimension}|{topic}|{value:.3f}|{measure}|{note}"
    show_records("team|tag|dimension|topic|value|measure|", template, records)


def _show_card(task: TaskData, every: bool) -> None:
    click.echo("\n".join(_about(task.card)))
    results = task.published
    for kind in dict.fromkeys(row.kind for row in results if row.dimension != STANCE):
        dimension, measure = kind
        click.echo(f"\nPublished {measure} for {dimension}")
        _show_leaderboard([row for row in results if row.kind == kind], every)
    if stances := [row for row in results if row.dimension == STANCE]:
        click.echo(f"\nPublished {MACRO_F1} of the detected stance, of each run and of all runs of its team")
        show_records(
            "team|tag|F1|N|team's F1|team's N||source",
            "{team}|{tag}|{value:.3f}|{results}|{team_value:.3f}|{team_results}|{kind}|{numbers}",
            _lines(stances, stances),
        )
        click.echo(_sources(stances))
    if task.card.results_note:
        click.echo(f"\n{task.card.results_note}")


def _about(task: Task) -> Iterator[str]:
    """Yields the lines above the results: the task's title, rules and files."""
    rules, note = task.rules, " ".join(task.note.split())
    yield from (f"{task.id}: {task.title}", task.url, *([f"\n{note}"] if note else []), "", "Rules")
    least = f"{rules.min_results} to " if rules.min_results else "at most "
    yield f"  {least}{rules.max_results} {rules.unit}s per topic"
    yield f"  second column: {', '.join(rules.stances) or 'not known'}"
    yield f"  runs per team: {f'at most {rules.max_runs}' if rules.max_runs else 'no limit stated'}"
    by_stance = f", the stance by {MACRO_F1}" if STANCE in task.qrels else ""
    yield from (f"  scored by {task.measure}{by_stance}", "", "Files", f"  topics: {task.topics}")
    yield from (f"  {dimension}: {judgments.file}" for dimension, judgments in task.qrels.items())


def _show_leaderboard(rows: Sequence[PublishedResult], every: bool) -> None:
    notes = dict.fromkeys(row.interval_note for row in rows if row.interval_note)
    shown = [row for row in rows if every or row.is_shortlisted]
    show_records(
        f"|team|tag|{rows[0].measure}|{'interval*' if notes else '95% interval'}||source",
        "{rank}|{name}|{tag}|{value:.3f}|{low:.3f} to {high:.3f}|{kind}|{numbers}",
        _lines(rows, shown),
    )
    for note in notes:
        click.echo(f"* {note}")
    for row in shown:
        if row.rerun:
            click.echo(f"rerun {row.rank}, {row.name}, to within {row.tolerance:g}: {row.rerun}")
    if len(shown) < len(rows):
        which = f"{len(shown)} of {len(rows)} runs: the best of each team, and the organizers' own"
        click.echo(f"{which}; show all with: touche tasks {rows[0].task} --all")
    click.echo(_sources(rows))
    click.echo(f"evaluator: {rows[0].evaluator or 'not stated'}; qrels: {rows[0].qrels or 'not stated'}")


def _lines(rows: Sequence[PublishedResult], shown: Sequence[PublishedResult]) -> Iterator[dict[str, Any]]:
    """Yields the values of the shown rows, with the numbers that their sources have among all rows."""
    numbers = _numbers(rows)
    for row in shown:
        kinds = {"baseline": row.baseline, "rerun": row.rerun}
        yield vars(row) | {
            "name": row.name,
            "tag": row.tag or None,
            "kind": ", ".join(kind for kind, applies in kinds.items() if applies),
            "numbers": ", ".join(numbers[source] for source in row.sources),
        }


def _numbers(rows: Iterable[Published]) -> dict[str, str]:
    """Returns the sources of rows, each with its number in brackets."""
    sources = dict.fromkeys(source for row in rows for source in row.sources)
    return {source: f"[{number}]" for number, source in enumerate(sources, 1)}


def _sources(rows: Iterable[Published]) -> str:
    return "\n".join(f"{number} {source}" for source, number in _numbers(rows).items())
