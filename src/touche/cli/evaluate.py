"""touche evaluate"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche import tasks
from touche.cli.commands import Command
from touche.cli.output import RUNS, TASK, print_records, print_warnings, show, style, tell
from touche.evaluation.ndcg import CUTOFF, EVALUATORS
from touche.evaluation.notes import grouped, notes_of
from touche.evaluation.scores import Score, ScoredRun, TopicScore, score_runs
from touche.progress import watched


@click.command(
    cls=Command, example="touche evaluate build/demo/arguments/*/run.txt --task spot-check/arguments"
)
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
@click.option(
    "--pairs",
    type=click.Choice(["exact", "any-order"]),
    default="exact",
    show_default=True,
    help="any-order: a second score, for which a pair that is judged in the other order counts, too.",
)
@style("table", "json", "csv")
def evaluate(
    runs: Sequence[Path], task_id: str, evaluator: str, per_topic: bool, pairs: str, style: str
) -> None:
    """Score run files: nDCG@5 in every dimension of the task, with intervals, and Judged@5.

    It ends by saying why the two evaluators differ, if they do, and where each run stands among the published
    results.
    """
    evaluators = EVALUATORS if evaluator == "both" else [evaluator]
    scored = score_runs(runs, tasks.task(task_id), evaluators, any_order=pairs == "any-order")
    if style != "table":
        rows = [
            row
            for each in watched(scored, "bootstrap", "rows", len(scored))
            for row in (each.topic_scores if per_topic else each.scores)
        ]
        print_records(TopicScore if per_topic else Score, rows, style)
    else:
        (_show_topics if per_topic else _show_means)(scored)
        click.echo(_judged_by(scored))
    print_warnings(scored)
    task, out = scored[0].task, click.echo if style == "table" else tell
    for text in grouped(note for each in scored for note in notes_of(each)):
        out(text)
    if task.results_note:
        out(f"{task.id}: {task.results_note}")


def _show_means(scored: Sequence[ScoredRun]) -> None:
    header = ("run", "dimension", "evaluator", f"nDCG@{CUTOFF}", "95% interval", f"Judged@{CUTOFF}", "topics")
    show(
        header,
        [
            (
                each.name,
                score.dimension,
                score.evaluator,
                f"{score.mean:.3f}",
                f"{score.low:.3f} to {score.high:.3f}" if score.topics > 1 else "–",
                f"{score.judged:.2f}",
                str(score.topics),
            )
            for each in watched(scored, "bootstrap", "rows", len(scored))
            for score in each.scores
        ],
    )


def _show_topics(scored: Sequence[ScoredRun]) -> None:
    header = ("run", "dimension", "evaluator", "topic", f"nDCG@{CUTOFF}", f"Judged@{CUTOFF}", "title")
    show(
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
    files = {each.dimension: each.file for each in scored}
    return "".join(f"\n{dimension} is judged by {file}" for dimension, file in files.items())
