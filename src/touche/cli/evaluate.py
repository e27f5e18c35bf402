"""touche evaluate"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from touche.cli.commands import Command
from touche.cli.options import RUNS, scored, scoring
from touche.cli.output import print_records, show_records, style, tell, warn
from touche.evaluation import scores
from touche.evaluation.ndcg import EVALUATORS, TREC_EVAL_VERSION
from touche.evaluation.notes import notes_of, warnings_of
from touche.evaluation.scores import Evaluated, Score, TopicScore


@click.command(cls=Command, example="touche evaluate out/bm25/run.txt --task spot-check/arguments")
@RUNS
@scoring
@click.option(
    "--evaluator",
    type=click.Choice([*EVALUATORS, "both"]),
    default="both",
    help=f"trec_eval {TREC_EVAL_VERSION}, the organizers' script (touche), or both.",
)
@click.option("--per-topic", is_flag=True, help="A line for each topic instead of the means.")
@click.option(
    "--pairs",
    type=click.Choice(["exact", "any-order"]),
    default="exact",
    help="any-order: a second score, for which a pair that is judged in the other order counts, too.",
)
@style("table", "json", "csv")
def evaluate(
    runs: Sequence[Path], evaluator: str, per_topic: bool, pairs: str, style: str, **scoring: Any
) -> None:
    """Score run files by the task's measure, such as nDCG@5, in every dimension, with intervals.

    Beside it stands the share of judged results, such as Judged@5. It ends by saying why the two evaluators
    differ, if they do, and where each run stands among the published results. Without --task, runs of any
    kind are scored by the judgments of --qrels.
    """
    evaluators = () if evaluator == "both" else [evaluator]
    evaluated = scores.evaluate(runs, scored(**scoring), evaluators, any_order=pairs == "any-order")
    task, out = evaluated[0].task, click.echo if style == "table" else tell
    if style == "table":
        _show(evaluated, per_topic)
    elif per_topic:
        print_records(TopicScore, [score for each in evaluated for score in _topic_scores(each)], style)
    else:
        print_records(Score, [score for each in evaluated for score in each.scores.values()], style)
    warn(*warnings_of(evaluated))
    for text in notes_of(evaluated):
        out(text)
    if task.results_note:
        out(f"{task.id}: {task.results_note}")


def _topic_scores(run: Evaluated) -> list[TopicScore]:
    return [score for scores in run.topic_scores.values() for score in scores.values()]


def _show(evaluated: Sequence[Evaluated], per_topic: bool) -> None:
    measure, rows = evaluated[0].task.measure, list[dict[str, Any]]()
    for run in evaluated:
        for score in _topic_scores(run) if per_topic else run.scores.values():
            rows.append(vars(score) | {"name": run.name, "label": run.label} | _interval(score))
    header, template = "run|dimension|evaluator", "{name}|{label}|{evaluator}"
    if per_topic:
        header += f"|topic|{measure}|{measure.judged}|title"
        template += "|{topic}|{value:.3f}|{judged:.2f}|{title}"
    else:
        header += f"|{measure}|95% interval|{measure.judged}|topics"
        template += "|{mean:.3f}|{low:.3f} to {high:.3f}|{judged:.2f}|{topics}"
    show_records(header, template, rows)
    for dimension, file in {run.label: run.qrels for run in evaluated}.items():
        click.echo(f"\n{dimension} is judged by {file}")


def _interval(score: Score | TopicScore) -> dict[str, None]:
    """One topic has no interval."""
    return {"low": None} if isinstance(score, Score) and score.topics < 2 else {}
