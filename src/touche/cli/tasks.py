"""touche tasks [check | tira]"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from touche import tasks as library
from touche.api import published_topics
from touche.baselines.loader import folder_of
from touche.cli.commands import BASELINE, PATH, TASK_ID, Command, Ids, argument, command, option
from touche.cli.options import output
from touche.cli.output import UNUSABLE, print_records, show_records, tell
from touche.data.for_tira import SPLIT, write_dataset
from touche.errors import InputError, ToucheError, choice, one_line
from touche.evaluation.leaderboard import rank, shortlist
from touche.regression.expected import ExpectedScore
from touche.regression.reruns import command_of, published_scores, rerun_of
from touche.tasks import MACRO_F1, STANCE, Published, Task
from touche.tasks.cards import read_card
from touche.tasks.per_topic import PublishedTopic, tasks_with_topics


@command("touche tasks check 2027/tasks/touche-2027-task-1.toml", argument("cards", "FILE...", type=PATH))
def check(cards: Sequence[Path]) -> int:
    """Check task cards for unknown keys, wrong types and contradictions.

    Print the first problem of each card, or that the card is fine. Exit with 2 if a card has a problem.
    """
    code = 0
    for card in cards:
        line = f"{card}: fine"
        try:
            read_card(card)
            library.check_name(card)
        except InputError as error:
            line, code = str(error), UNUSABLE
        click.echo(" ".join(click.format_filename(line).split()))  # names may contain any bytes
    return code


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
    task = library.task(task_id)
    ranked = [name for name in task.qrels if name != STANCE]
    if dimension is not None and dimension not in ranked:
        raise ToucheError(f"{task.id} does not rank by {dimension!r}; {choice(dimension, ranked)}")
    if not ranked:
        raise ToucheError(f"{task.id} has no judged rankings, which TIRA needs; choose another task")
    chosen = dimension or ranked[0]
    click.echo(one_line(str(write_dataset(task, chosen, folder_of(baseline), output))))
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
    chosen = [library.task(task_id)] if task_id else list(library.all_tasks().values())
    if per_topic:
        _show_topics(task_id, every, team, style)
    elif style != "table":
        scores = published_scores()
        rows = [_with_rerun(row, scores) for each in chosen for row in each.published]
        print_records(_Listed, rows, style)
    elif task_id:
        _show_card(chosen[0], every)
    else:
        numbers = ({"dimensions": ", ".join(each.qrels), "n": len(each.published)} for each in chosen)
        records = (vars(task) | more for task, more in zip(chosen, numbers, strict=True))
        template = "{id}|{title}|{rules.unit}s|{dimensions}|{n}"
        show_records("task|title|ranked|dimensions|published", template, records)


def _show_topics(task_id: str | None, every: bool, team: str | None, style: str) -> None:
    if task_id is None:
        raise ToucheError("--per-topic shows one task; name it")
    table = published_topics(task_id)
    if not table:
        raise ToucheError(
            f"{task_id} has no published values of topics; {choice(task_id, tasks_with_topics())}"
        )
    teams = dict.fromkeys(row.team for row in table)
    if team is not None and team not in teams:
        raise ToucheError(f"{task_id} has no published values of {team!r}; {choice(team, teams)}")
    rows = [row for row in table if team in (None, row.team)]
    if style != "table":
        print_records(PublishedTopic, rows, style)
        return
    shown = [row for row in rows if every or team or row.baseline]
    records = [vars(row) | {"note": "ambiguous" if row.is_ambiguous else ""} for row in shown]
    template = "{team}|{tag}|{dimension}|{topic}|{value:.3f}|{measure}|{note}"
    show_records("team|tag|dimension|topic|value|measure|", template, records)


@dataclass(frozen=True)
class _Listed(Published):
    """A published result, and the command that reruns it; empty if touche has none."""

    rerun: str = ""


def _with_rerun(row: Published, scores: Sequence[ExpectedScore]) -> _Listed:
    score = rerun_of(row, scores)
    return _Listed(**vars(row), rerun=command_of(score) if score else "")


def _show_card(task: Task, every: bool) -> None:
    click.echo("\n".join(_about(task)))
    scores = published_scores() if task.published else []
    for kind in dict.fromkeys(row.kind for row in task.published if row.dimension != STANCE):
        dimension, measure = kind
        click.echo(f"\nPublished {measure} for {dimension}")
        _show_leaderboard([row for row in task.published if row.kind == kind], every, scores)
    if stances := [row for row in task.published if row.dimension == STANCE]:
        click.echo(f"\nPublished {MACRO_F1} of the detected stance, of each run and of all runs of its team")
        show_records(
            "team|tag|F1|N|team's F1|team's N||source",
            "{team}|{tag}|{value:.3f}|{results}|{team_value:.3f}|{team_results}|{kind}|{numbers}",
            _lines(stances, stances),
        )
        click.echo(_sources(stances))
    if task.results_note:
        click.echo(f"\n{task.results_note}")


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


def _show_leaderboard(rows: Sequence[Published], every: bool, scores: Sequence[ExpectedScore]) -> None:
    notes = dict.fromkeys(row.interval_note for row in rows if row.interval_note)
    lines = _lines(rows, rows if every else shortlist(rows), scores)
    show_records(
        f"|team|tag|{rows[0].measure}|{'interval*' if notes else '95% interval'}||source",
        "{place}|{name}|{tag}|{value:.3f}|{low:.3f} to {high:.3f}|{kind}|{numbers}",
        lines,
    )
    for note in notes:
        click.echo(f"* {note}")
    for line in lines:
        if score := line["score"]:
            which = f"rerun {line['place']}, {line['name']}, to within {score.tolerance:g}"
            click.echo(f"{which}: {command_of(score)}")
    if len(lines) < len(rows):
        which = f"{len(lines)} of {len(rows)} runs: the best of each team, and the organizers' own"
        click.echo(f"{which}; show all with: touche tasks {rows[0].task} --all")
    click.echo(_sources(rows))
    click.echo(f"evaluator: {rows[0].evaluator or 'not stated'}; qrels: {rows[0].qrels or 'not stated'}")


def _lines(
    rows: Sequence[Published], shown: Sequence[Published], scores: Sequence[ExpectedScore] = ()
) -> list[dict[str, Any]]:
    """Returns the values of the shown rows, each with its rank among all rows."""
    numbers, lines = _numbers(rows), []
    for row in shown:
        score = rerun_of(row, scores)
        line = {
            "place": rank(row, rows),
            "name": row.name,
            "tag": row.tag or None,
            "score": score,
            "kind": ", ".join(["baseline"] * row.baseline + ["rerun"] * (score is not None)),
            "numbers": ", ".join(numbers[source] for source in row.sources),
        }
        lines.append(vars(row) | line)
    return lines


def _numbers(rows: Iterable[Published]) -> dict[str, str]:
    """Returns the sources of rows, each with its number in brackets."""
    sources = dict.fromkeys(source for row in rows for source in row.sources)
    return {source: f"[{number}]" for number, source in enumerate(sources, 1)}


def _sources(rows: Iterable[Published]) -> str:
    return "\n".join(f"{number} {source}" for source, number in _numbers(rows).items())
