"""touche evaluate"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from touche import tasks
from touche.cli.output import RUNS, TASK, print_records, style, table
from touche.evaluation import CUTOFF, EVALUATORS
from touche.scores import Note, ScoredRun, score_runs, shared_tags


@click.command()
@RUNS
@TASK
@click.option(
    "--evaluator",
    type=click.Choice([*EVALUATORS, "both"]),
    default="both",
    show_default=True,
    help="trec_eval, the organizers' script, or both.",
)
@click.option("--per-topic", is_flag=True, help="A line for each topic instead of the means.")
@style("table", "json", "csv")
def evaluate(runs: Sequence[Path], task_id: str, evaluator: str, per_topic: bool, style: str) -> None:
    """Score run files: nDCG@5 in every dimension of the task, with intervals, and Judged@5.

    It ends by saying why the two evaluators differ, if they do, and where each run stands among the published
    results.
    """
    evaluators = EVALUATORS if evaluator == "both" else [evaluator]
    scored = score_runs(runs, tasks.task(task_id), evaluators)
    if style != "table":
        rows = [row for each in scored for row in (each.topic_scores if per_topic else each.scores)]
        print_records([asdict(row) for row in rows], style)
    else:
        click.echo(_per_topic(scored) if per_topic else _means(scored))
        click.echo(_judged_by(scored))
    print_warnings(scored)
    for text in grouped(note for each in scored for note in each.notes):
        click.echo(text, err=style != "table")


def print_warnings(scored: Sequence[ScoredRun]) -> None:
    """Prints what puts scores in doubt on standard error."""
    for text in shared_tags(scored):
        click.echo(f"warning: {text}", err=True)
    for text in grouped(note for each in scored for note in each.warnings):
        click.echo(f"warning: {text}", err=True)


def grouped(notes: Iterable[Note]) -> list[str]:
    """The texts, each once, with what they are about."""
    about: dict[str, dict[str, list[str]]] = {}
    for note in notes:
        run, dimension = note.about
        about.setdefault(note.text, {}).setdefault(run, []).append(dimension)
    named = {
        text: "; ".join(f"{run}, {' and '.join(dimensions)}" for run, dimensions in runs.items())
        for text, runs in about.items()
    }
    return [f"{runs}: {text}" for text, runs in named.items()]


def _means(scored: Sequence[ScoredRun]) -> str:
    header = ("run", "dimension", "evaluator", f"nDCG@{CUTOFF}", "95% interval", f"Judged@{CUTOFF}", "topics")
    return table(
        header,
        [
            (
                each.name,
                score.dimension,
                score.evaluator,
                f"{score.mean:.3f}",
                f"{score.low:.3f} to {score.high:.3f}",
                f"{score.judged:.2f}",
                str(score.topics),
            )
            for each in scored
            for score in each.scores
        ],
    )


def _per_topic(scored: Sequence[ScoredRun]) -> str:
    header = ("run", "dimension", "evaluator", "topic", f"nDCG@{CUTOFF}", f"Judged@{CUTOFF}", "title")
    return table(
        header,
        [
            (
                each.name,
                score.dimension,
                score.evaluator,
                score.topic,
                f"{score.value:.3f}",
                "–" if score.judged is None else f"{score.judged:.2f}",
                score.title,
            )
            for each in scored
            for score in each.topic_scores
        ],
    )


def _judged_by(scored: Sequence[ScoredRun]) -> str:
    files = {each.dimension: each.task.qrels[each.dimension].file for each in scored}
    return "".join(f"\n{dimension} is judged by {file}" for dimension, file in files.items())
