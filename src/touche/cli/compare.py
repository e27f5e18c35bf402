"""touche compare"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche.cli.commands import Command
from touche.cli.output import counted, print_records, show, style, warn
from touche.cli.runs import MEASURE, QRELS, RUNS, TASK_OR_QRELS, p_value, print_warnings, scored
from touche.errors import ToucheError
from touche.evaluation import comparison
from touche.evaluation.comparison import Comparison, TopicDifference
from touche.evaluation.ndcg import EVALUATORS
from touche.evaluation.scores import evaluate
from touche.evaluation.significance import SIGNIFICANT


@click.command(
    cls=Command, example="touche compare out/bm25/run.txt out/dph/run.txt --task spot-check/arguments"
)
@RUNS
@TASK_OR_QRELS
@MEASURE
@QRELS
@click.option(
    "--evaluator",
    type=click.Choice(list(EVALUATORS)),
    default="trec_eval",
    help="Whose scores are compared.",
)
@click.option(
    "--reference",
    metavar="RUN",
    help="The run, by its file or tag, to compare each other RUN with; by default every two are compared.",
)
@click.option("--per-topic", is_flag=True, help="Print the difference on every topic instead.")
@click.option("--randomisation", is_flag=True, help="The paired randomisation test beside the t-test.")
@style("table", "json", "csv")
def compare(
    runs: Sequence[Path],
    task_id: str | None,
    measure: str | None,
    qrels: Path | None,
    evaluator: str,
    reference: str | None,
    per_topic: bool,
    randomisation: bool,
    style: str,
) -> None:
    """Compare the RUNs: differences with their intervals, and a paired test.

    p is two-sided, of the paired t-test, as it is and corrected by the method of Holm for all comparisons of
    the table, which --reference makes fewer; a star marks corrected ones below 0.05. d is Cohen's d of the
    paired scores.
    """
    found = evaluate(runs, scored(task_id, measure, qrels), [evaluator])
    second = comparison.run_named(reference, found) if reference else None
    compared = comparison.comparisons(found, evaluator, second, randomisation=randomisation)
    for text in comparison.not_compared(found, evaluator, second):
        warn(text)
    if not compared:
        raise ToucheError("there is nothing to compare; give runs that share two scored topics at least")
    topics = comparison.topic_differences(found, evaluator, second) if per_topic else []
    if style != "table":
        print_records(TopicDifference if per_topic else Comparison, topics if per_topic else compared, style)
    elif per_topic:
        _show_topics(topics)
    else:
        _show_tests(compared)
    print_warnings(found)


def _show_tests(compared: Sequence[Comparison]) -> None:
    both = compared[0].p_randomisation is not None
    tests = f"p t|Holm t{'|p rand.|Holm rand.' if both else ''}"
    header = f"A|B|dimension|mean A|mean B|A - B|95% interval|d|{tests}|won, lost, tied|topics"
    rows = [
        (
            each.run_a,
            each.run_b,
            each.dimension,
            f"{each.mean_a:.3f}",
            f"{each.mean_b:.3f}",
            f"{each.difference:+.3f}",
            f"{each.low:+.3f} to {each.high:+.3f}",
            "–" if each.effect_size is None else f"{each.effect_size:+.2f}",
            p_value(each.p_t_test),
            f"{p_value(each.p_t_test_holm)}{' *' if each.significant else ''}",
            *(map(p_value, (each.p_randomisation, each.p_randomisation_holm)) if both else ()),
            f"{each.won}, {each.lost}, {each.tied}",
            str(each.topics),
        )
        for each in compared
    ]
    show(header.split("|"), rows)
    measured = f"{compared[0].measure} of {compared[0].evaluator}"
    click.echo(
        f"\n{measured}; Holm's correction is for {counted(len(rows), 'row')}, intervals are not corrected"
    )
    found = (
        "* significant:"
        if any(each.significant for each in compared)
        else "no difference is significant: none"
    )
    click.echo(f"{found} below {SIGNIFICANT} by the paired t-test, corrected")


def _show_topics(differences: Sequence[TopicDifference]) -> None:
    header = ["A", "B", "dimension", "topic", "A - B", "A", "B", "title"]
    rows = [
        (
            each.run_a,
            each.run_b,
            each.dimension,
            each.topic,
            f"{each.difference:+.3f}",
            f"{each.value_a:.3f}",
            f"{each.value_b:.3f}",
            each.title,
        )
        for each in differences
    ]
    show(header, rows)
