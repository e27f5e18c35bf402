"""touche evaluate"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche.cli.commands import Command
from touche.cli.output import print_records, show, style, tell
from touche.cli.runs import MEASURE, QRELS, RUNS, TASK_OR_QRELS, print_warnings, scored
from touche.evaluation import scores
from touche.evaluation.ndcg import EVALUATORS, TREC_EVAL_VERSION
from touche.evaluation.notes import notes_of
from touche.evaluation.scores import Evaluated, Score, TopicScore


@click.command(cls=Command, example="touche evaluate out/bm25/run.txt --task spot-check/arguments")
@RUNS
@TASK_OR_QRELS
@MEASURE
@QRELS
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
    runs: Sequence[Path],
    task_id: str | None,
    measure: str | None,
    qrels: Path | None,
    evaluator: str,
    per_topic: bool,
    pairs: str,
    style: str,
) -> None:
    """Score run files by the task's measure, such as nDCG@5, in every dimension, with intervals.

    Beside it stands the share of judged results, such as Judged@5. It ends by saying why the two evaluators
    differ, if they do, and where each run stands among the published results. Without --task, runs of any
    kind are scored by the judgments of --qrels.
    """
    evaluators = () if evaluator == "both" else [evaluator]
    found = scores.evaluate(runs, scored(task_id, measure, qrels), evaluators, any_order=pairs == "any-order")
    if style != "table":
        print_records(
            TopicScore if per_topic else Score, _topics(found) if per_topic else _means(found), style
        )
    else:
        (_show_topics if per_topic else _show_means)(found)
        click.echo(_judged_by(found))
    print_warnings(found)
    task, out = found[0].task, click.echo if style == "table" else tell
    for text in notes_of(found):
        out(text)
    if task.results_note:
        out(f"{task.id}: {task.results_note}")


def _means(found: Sequence[Evaluated]) -> list[Score]:
    return [score for each in found for score in each.scores.values()]


def _topics(found: Sequence[Evaluated]) -> list[TopicScore]:
    return [score for each in found for of in each.topic_scores.values() for score in of.values()]


def _show_means(found: Sequence[Evaluated]) -> None:
    task = found[0].task
    figures = (str(task.measure), "95% interval", task.measure.judged, "topics")
    header = ("run", "dimension", "evaluator", *figures)
    show(
        header,
        [
            (
                each.name,
                each.label,
                score.evaluator,
                _digits(score.mean),
                "–" if score.topics < 2 else f"{_digits(score.low)} to {_digits(score.high)}",
                _digits(score.judged, 2),
                str(score.topics),
            )
            for each in found
            for score in each.scores.values()
        ],
    )


def _show_topics(found: Sequence[Evaluated]) -> None:
    task = found[0].task
    header = ("run", "dimension", "evaluator", "topic", str(task.measure), task.measure.judged, "title")
    show(
        header,
        [
            (
                each.name,
                each.label,
                score.evaluator,
                score.topic,
                _digits(score.value),
                _digits(score.judged, 2),
                score.title,
            )
            for each in found
            for score in _topics([each])
        ],
    )


def _digits(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _judged_by(found: Sequence[Evaluated]) -> str:
    files = {each.label: each.qrels for each in found}
    return "".join(f"\n{dimension} is judged by {file}" for dimension, file in files.items())
