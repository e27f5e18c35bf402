"""touche tasks"""

from collections.abc import Iterator

import click

from touche.cli.commands import TASK_ID, Command
from touche.cli.output import print_records, show, style
from touche.tasks import Published, Rules, Task, all_tasks, task


@click.command(cls=Command, example="touche tasks touche-2020-task-1")
@click.argument("task_id", required=False, type=TASK_ID, metavar="[TASK]")
@style("table", "json", "csv")
def tasks(task_id: str | None, style: str) -> None:
    """List the tasks, or show one TASK: its rules and all published results.

    As JSON and CSV, the published results alone; without TASK, those of all tasks.
    """
    chosen = [task(task_id)] if task_id else list(all_tasks().values())
    if style != "table":
        print_records(Published, [row for each in chosen for row in each.published], style)
    elif task_id:
        _show_card(chosen[0])
    else:
        _show_list(chosen)


def _show_list(chosen: list[Task]) -> None:
    header = ("task", "title", "ranked", "dimensions", "published results")
    show(
        header,
        [
            (each.id, each.title, f"{each.rules.unit}s", ", ".join(each.qrels), str(len(each.published)))
            for each in chosen
        ],
    )


def _show_card(shown: Task) -> None:
    click.echo("\n".join(_about(shown)))
    for dimension in dict.fromkeys(row.dimension for row in shown.published):
        click.echo(f"\nPublished nDCG@5 for {dimension}")
        _show_leaderboard([row for row in shown.published if row.dimension == dimension])
    if shown.results_note:
        click.echo(f"\n{shown.results_note}")


def _about(shown: Task) -> Iterator[str]:
    yield from (f"{shown.id}: {shown.title}", shown.url)
    yield from (f"\n{' '.join(text.split())}" for text in (shown.note,) if text)
    yield from ("", "Rules", *_rules(shown.rules))
    yield from ("", "Files", f"  topics: {shown.topics}")
    yield from (f"  {dimension}: {judgments.file}" for dimension, judgments in shown.qrels.items())


def _rules(rules: Rules) -> Iterator[str]:
    least = f"{rules.min_results} to " if rules.min_results else "at most "
    yield f"  {least}{rules.max_results} {rules.unit}s per topic"
    yield f"  second column: {', '.join(rules.stances)}"
    yield f"  runs per team: {f'at most {rules.max_runs}' if rules.max_runs else 'no limit stated'}"


def _show_leaderboard(rows: list[Published]) -> None:
    sources = list(dict.fromkeys(source for row in rows for source in row.sources))
    header = ("", "team", "tag", "nDCG@5", "95% interval", "", "source")
    lines = [
        (
            str(place),
            row.name,
            row.tag or "–",
            f"{row.value:.3f}",
            "–" if row.low is None else f"{row.low:.3f} to {row.high:.3f}",
            "baseline" if row.baseline else "",
            ", ".join(f"[{sources.index(source) + 1}]" for source in row.sources),
        )
        for place, row in enumerate(rows, 1)
    ]
    show(header, lines)
    for number, source in enumerate(sources, 1):
        click.echo(f"[{number}] {source}")
    click.echo(f"evaluator: {rows[0].evaluator or 'not stated'}; qrels: {rows[0].qrels or 'not stated'}")
