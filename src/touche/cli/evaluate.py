"""touche evaluate"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from touche.cli.commands import command, option
from touche.cli.options import RUNS, SCORING_BY_SEVERAL
from touche.cli.output import print_records, show_records, show_wide, tell, warn
from touche.errors import ToucheError
from touche.evaluation import scores
from touche.evaluation.evaluators import EVALUATORS, TREC_EVAL_VERSION
from touche.evaluation.notes import notes_of, warnings_of
from touche.evaluation.scores import Evaluated, Score, TopicScore
from touche.evaluation.stances import StanceEvaluation
from touche.evaluation.wide import wide_table
from touche.tasks import MACRO_F1, Measure, tasks_scored_by

WIDE = ("latex", "markdown")
STYLES = ("table", "json", "csv", *WIDE)
_EVALUATOR = f"trec_eval {TREC_EVAL_VERSION}, the organizers' script (touche), or both."


@command(
    "touche evaluate out/bm25/run.txt --task spot-check/arguments",
    RUNS,
    *SCORING_BY_SEVERAL,
    option("--evaluator", _EVALUATOR, ["both", *EVALUATORS]),
    option("--per-topic", "Print the scores of each topic instead of the means."),
    option("--pairs", "any-order: also print a score that counts reversed pairs.", ["exact", "any-order"]),
    option("--reference RUN", "Mark significant differences from this file or tag."),
    option("--format style", choices=STYLES),
)
def evaluate(
    runs: Sequence[Path],
    evaluator: str,
    per_topic: bool,
    pairs: str,
    reference: str | None,
    style: str,
    **scoring: Any,
) -> None:
    """Score RUNs by the task's measure, such as nDCG@5, in every dimension, with intervals.

    Detected stances are scored by macro F1 over the N documents with a judged stance. The table also has
    the share of judged results, such as Judged@5. Lines below it explain differences between the
    evaluators, and name each run's rank among the published results. Without --task, the judgments of
    --qrels score runs of any kind.
    """
    evaluators = () if evaluator == "both" else [evaluator]
    by_measure = scores.evaluate_by(
        runs, tasks_scored_by(**scoring), evaluators, any_order=pairs == "any-order"
    )
    evaluated = [run for group in by_measure for run in group]
    is_wide = style in WIDE or (style == "table" and not per_topic and (len(by_measure) > 1 or reference))
    if (reference and not is_wide) or (per_topic and style in WIDE):
        remedy = "omit --per-topic" if per_topic else "omit --reference, or use --format table"
        raise ToucheError(f"--reference, latex and markdown print one row for each run; {remedy}")
    task, out = evaluated[0].task, click.echo if style == "table" else tell
    if per_topic and not any(run.is_ranking for run in evaluated):
        raise ToucheError("stances have no topic scores; omit --per-topic")
    rows = [(run, score) for run in evaluated for score in _scores(run, per_topic)]
    if is_wide:
        show_wide(wide_table(by_measure, reference), style)
    elif style == "table":
        ranked = [(run, score) for run, score in rows if run.is_ranking]
        stances = [run for run in evaluated if not (run.is_ranking or per_topic)]
        for measure in dict.fromkeys(run.measure for run, _ in ranked):
            _show([row for row in ranked if row[0].measure == measure], measure, per_topic)
        if ranked and stances:
            click.echo()
        if stances:
            _show_stances(stances)
    else:
        print_records(TopicScore if per_topic else Score, (score for _, score in rows), style)
    warn(*dict.fromkeys(text for group in by_measure for text in warnings_of(group)))
    for text in dict.fromkeys(text for group in by_measure for text in notes_of(group)):
        out(text)
    if task.results_note:
        out(f"{task.id}: {task.results_note}")


def _scores(run: Evaluated, per_topic: bool) -> Iterable[Score | TopicScore]:
    return run.all_topic_scores if per_topic else run.scores.values()


def _show(rows: Sequence[tuple[Evaluated, Score | TopicScore]], measure: Measure, per_topic: bool) -> None:
    header, template = "run|dimension|evaluator", "{name}|{label}|{evaluator}"
    if per_topic:
        header += f"|topic|{measure}|{measure.judged}|title"
        template += "|{topic}|{value:.3f}|{judged:.2f}|{title}"
    else:
        header += f"|{measure}|95% interval|{measure.judged}|topics"
        template += "|{mean:.3f}|{low:.3f} to {high:.3f}|{judged:.2f}|{topics}"
    named = (({"name": run.name, "label": run.label}, score) for run, score in rows)
    show_records(header, template, (vars(score) | names for names, score in named))
    for dimension, file in {run.label: run.qrels for run, _ in rows}.items():
        click.echo(f"\n{dimension} is judged by {file}")


def _show_stances(runs: Sequence[Evaluated]) -> None:
    """Prints the scores of detected stances, and of each stance."""
    template = "{name}|stance|{mean:.3f}|{low:.3f} to {high:.3f}|{results:,}|{topics}"
    scores = [(run.name, run.scores["touche"]) for run in runs]
    rows = [vars(score) | {"name": name} for name, score in scores]
    show_records(f"run|dimension|{MACRO_F1}|95% interval|N|topics", template, rows)
    template = "{name}|{label}|{precision:.3f}|{recall:.3f}|{f1:.3f}|{documents:,}"
    evaluations = [(run.name, run.evaluations["touche"]) for run in runs]
    classes = [
        vars(of_class) | {"name": name, "label": label}
        for name, evaluation in evaluations
        if isinstance(evaluation, StanceEvaluation)
        for label, of_class in evaluation.by_class().items()
    ]
    click.echo()
    show_records("run|stance|precision|recall|F1|documents", template, classes)
    click.echo(f"\nstance is judged by {runs[0].qrels}")
