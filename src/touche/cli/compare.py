"""touche compare"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from touche import api as library
from touche.cli.commands import command, option
from touche.cli.evaluate import STYLES, WIDE
from touche.cli.options import RUNS, SCORING_BY_SEVERAL
from touche.cli.output import counted, print_records, quietly, show_records, show_wide, warn
from touche.errors import ToucheError
from touche.evaluation.comparison import Comparison
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.significance import SIGNIFICANT


@command(
    "touche compare out/bm25/run.txt out/dph/run.txt --task spot-check/arguments",
    RUNS,
    *SCORING_BY_SEVERAL,
    option("--evaluator", "Evaluator whose scores are compared.", EVALUATORS, default="trec_eval"),
    option("--reference RUN", "Compare each RUN with this file or tag, instead of all pairs."),
    option("--per-topic", "Print the difference on each topic instead."),
    option("--randomisation", "Add the paired randomisation test."),
    option("--format style", choices=STYLES),
)
def compare(
    runs: Sequence[Path],
    evaluator: str,
    reference: str | None,
    per_topic: bool,
    randomisation: bool,
    style: str,
    **scoring: Any,
) -> None:
    """Compare RUNs by their differences, with intervals and a paired test.

    p is the two-sided p-value of the paired t-test. Holm's method corrects it for all comparisons of the
    table; --reference needs fewer comparisons. A star marks corrected p-values below 0.05. d is Cohen's d of
    the paired scores.
    """
    about = {"evaluator": evaluator, "reference": reference, **scoring}
    if style in WIDE:
        if per_topic or randomisation:
            raise ToucheError("latex and markdown have the means and the t-test; omit the other options")
        show_wide(quietly(library.wide, runs, every_two=True, **about), style)
        return
    table = quietly(library.compare, runs, per_topic=per_topic, randomisation=randomisation, **about)
    if not table:
        warn(*table.warnings)
        raise ToucheError("nothing to compare; pass runs that share at least two scored topics")
    if style != "table":
        print_records(table.kind, table, style)
    elif per_topic:
        several = len({each.measure for each in table}) > 1
        measure, cells = ("measure|", "{measure}|") if several else ("", "")
        show_records(
            f"A|B|dimension|{measure}topic|A - B|A|B|title",
            f"{{run_a}}|{{run_b}}|{{dimension}}|{cells}{{topic}}|{{difference:+.3f}}|{{value_a:.3f}}"
            "|{value_b:.3f}|{title}",
            map(vars, table),
        )
    else:
        _show(table)
    warn(*table.warnings)


def _show(compared: Sequence[Comparison]) -> None:
    """Prints a table for each measure."""
    for number, measure in enumerate(dict.fromkeys(pair.measure for pair in compared)):
        of_measure = [pair for pair in compared if pair.measure == measure]
        if number:
            click.echo()
        if of_measure[0].results is None:
            _show_tests(of_measure)
        else:
            _show_stances(of_measure)


def _show_stances(compared: Sequence[Comparison]) -> None:
    show_records(
        "A|B|dimension|F1 A|F1 B|A - B|95% interval|N|topics",
        "{run_a}|{run_b}|{dimension}|{mean_a:.3f}|{mean_b:.3f}|{difference:+.3f}"
        "|{low:+.3f} to {high:+.3f}|{results:,}|{topics}",
        map(vars, compared),
    )
    click.echo(f"\n{compared[0].measure} on the N documents with a judged stance that both runs have")


def _show_tests(compared: Sequence[Comparison]) -> None:
    first, both = compared[0], compared[0].p_randomisation is not None
    show_records(
        f"A|B|dimension|mean A|mean B|A - B|95% interval|d|p t|Holm t{'|p rand.|Holm rand.' if both else ''}"
        "|won, lost, tied|topics",
        "{run_a}|{run_b}|{dimension}|{mean_a:.3f}|{mean_b:.3f}|{difference:+.3f}|{low:+.3f} to {high:+.3f}"
        f"|{{effect_size:+.2f}}|{{p_t_test:p}}|{{p_t_test_holm:p}}{{star}}"
        f"{'|{p_randomisation:p}|{p_randomisation_holm:p}' if both else ''}"
        "|{won}, {lost}, {tied}|{topics}",
        (vars(each) | {"star": " *" if each.significant else ""} for each in compared),
    )
    rows = counted(len(compared), "row")
    measured = f"{first.measure} of {first.evaluator}"
    click.echo(f"\n{measured}; Holm's correction covers {rows}, intervals are not corrected")
    any_star = any(each.significant for each in compared)
    which = "* significant:" if any_star else "no significant difference: no"
    click.echo(f"{which} corrected p of the paired t-test below {SIGNIFICANT}")
