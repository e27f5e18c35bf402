"""touche compare"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import click

from touche.cli.commands import command, is_passed, option
from touche.cli.guessing import task_of
from touche.cli.options import FORMAT, RUNS, SCORING_BY_SEVERAL
from touche.cli.output import counted, explain, render, warn
from touche.cli.teams import TEAMS, teams_passed
from touche.errors import ToucheError, listed
from touche.evaluation import comparison as library
from touche.evaluation.comparison import UNDEFINED, Comparison, TopicDifference
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.significance import SIGNIFICANT, printed_p
from touche.evaluation.wide import wide
from touche.io.formats import FORMATS, FORMATS_FOR_PAPERS
from touche.io.grouping import group_by
from touche.io.tables import Column, Sheet, interval, signed, three_decimals, with_commas

_MAX_PUBLISHED = 10  # rows with published runs, per run and dimension


@command(
    "touche compare out/bm25/run.txt out/dph/run.txt --task spot-check/arguments",
    RUNS,
    *SCORING_BY_SEVERAL,
    option(
        "--evaluator",
        "Compare scores of this evaluator; by default the one of most published results, or else trec_eval.",
        EVALUATORS,
        default=None,
    ),
    option(
        "--reference RUN", "Compare only with RUN, a file or tag: fewer comparisons find smaller differences."
    ),
    option("--per-topic", "Print the difference on each topic instead of the means."),
    option(
        "--randomisation", "Add the paired randomisation test, which doesn't assume normal distributions."
    ),
    option("--bounds", "Add how far grades of unjudged documents among the first k could change A - B."),
    option(
        "--published",
        "Compare each RUN with every published run whose topic values are known, using the evaluator touche.",
    ),
    option(
        "--all every",
        f"With --published, print all rows instead of at most {_MAX_PUBLISHED} per RUN and dimension.",
    ),
    *TEAMS,
    FORMAT,
)
def compare(
    runs: Sequence[Path],
    evaluator: str | None,
    reference: str | None,
    per_topic: bool,
    randomisation: bool,
    bounds: bool,
    published: bool,
    every: bool,
    team_per_folder: bool,
    teams: Mapping[str, Sequence[str]],
    format: str,
    **scoring: Any,
) -> None:
    """Compare RUNs pairwise, with confidence intervals and a significance test.

    p is the two-sided p-value of the paired t-test. Holm's method corrects it for the number of comparisons
    in the table, so use --reference to compare with one run only. A star marks corrected p-values below
    0.05. d is Cohen's d of the paired scores. RUNs with one tag are told apart by their teams, which come
    from ir-metadata.yml next to the RUNs unless you pass --team-per-folder or --team.
    """
    if every and not published:
        raise click.UsageError("--all prints all comparisons with published runs; add --published")
    scoring["task"] = task_of(runs, scoring["task"], scoring["qrels"])
    scoring |= {
        "evaluator": evaluator,
        "reference": reference,
        "teams": teams_passed(team_per_folder, teams),
    }
    if FORMATS[format].is_for_papers:
        options = {
            "--per-topic": per_topic,
            "--randomisation": randomisation,
            "--bounds": bounds,
            "--published": published,
        }
        passed = [name for name, is_on in options.items() if is_on]
        if passed:
            problem = f"{FORMATS_FOR_PAPERS} print only the means and the t-test"
            raise ToucheError(f"{problem}; omit {listed(passed)}")
        wide_table = wide(runs, every_two=reference is None, **scoring)
        render(wide_table, format, [wide_table.sheet])
        warn(*wide_table.warnings)
        return
    if per_topic and bounds:
        raise ToucheError("--bounds prints bounds of means; omit --per-topic")
    if published and is_passed("evaluator") and evaluator != "touche":
        raise ToucheError("published topic values are touche's; omit --evaluator")
    if per_topic and published:
        raise ToucheError("--published compares means; omit --per-topic")
    table: Any = library.compare(
        runs,
        randomisation=randomisation,
        bounds=bounds,
        published=published,
        **scoring,
    )
    if per_topic:
        table = table.per_topic
        sheets = [_topics(table)]
    elif not table:
        raise library.nothing_to_compare(table.warnings)
    else:
        columns = _BOUNDS if bounds else []
        rows_by_measure = group_by(table, lambda row: row.measure)
        is_short = published and not every
        sheets = [_comparisons(rows, columns, is_short) for rows in rows_by_measure.values()]
    render(table, format, sheets)
    explain(table, format)


def _holm(row: Comparison) -> str | None:
    """Returns the t-test's corrected p-value, starred if significant; None if the test is undefined."""
    if row.p_t_test_holm is None:
        return None
    return f"{printed_p(row.p_t_test_holm)}{' *' if row.significant else ''}"


_PAIR = [Column("A", "run_a"), Column("B", "run_b"), Column("dimension", "dimension")]
_DIFFERENCE = [
    Column("A - B", "difference", signed),
    Column("95% interval", partial(interval, number=signed)),
]
_STANCES = [
    *_PAIR,
    Column("F1 A", "mean_a", three_decimals),
    Column("F1 B", "mean_b", three_decimals),
    *_DIFFERENCE,
    Column("N", "results", with_commas),
    Column("topics", "topics"),
]
_T_TEST = [
    *_PAIR,
    Column("mean A", "mean_a", three_decimals),
    Column("mean B", "mean_b", three_decimals),
    *_DIFFERENCE,
    Column("d", "effect_size", "{:+.2f}".format, missing=UNDEFINED),
    Column("p t", "p_t_test", printed_p, missing=UNDEFINED),
    Column("Holm t", _holm, missing=UNDEFINED),
]
_RANDOMISATION = [
    Column("p rand.", "p_randomisation", printed_p),
    Column("Holm rand.", "p_randomisation_holm", printed_p),
]
_NO_BOUNDS = "only nDCG@k, P@k and RR have bounds; those of touche only if each topic has a relevant document"
_BOUNDS = [
    Column("least", "least", signed, missing=_NO_BOUNDS),
    Column("greatest", "greatest", signed, missing=_NO_BOUNDS),
    Column(
        "winner",
        "can_change",
        lambda can_change: "can change" if can_change else "stays",
        missing=_NO_BOUNDS,
    ),
]
_COUNTS = [
    Column("won, lost, tied", "{0.won}, {0.lost}, {0.tied}".format),
    Column("topics", "topics"),
]


def _topics(differences: Sequence[TopicDifference]) -> Sheet:
    """Returns the table of topic differences, with a measure column if there are several measures."""
    measures = {row.measure for row in differences}
    columns = [
        *_PAIR,
        *([Column("measure", "measure")] if len(measures) > 1 else []),
        Column("topic", "topic"),
        Column("A - B", "difference", signed),
        Column("A", "value_a", three_decimals),
        Column("B", "value_b", three_decimals),
        Column("title", "title"),
    ]
    return Sheet(columns, differences)


def _comparisons(compared: Sequence[Comparison], bounds: Sequence[Column], is_short: bool) -> Sheet:
    """Returns a measure's table.

    Args:
        compared: the measure's comparisons.
        bounds: the columns that --bounds adds.
        is_short: whether the table shows at most ten rows per run and dimension, as in ``_closest``.
    """
    first = compared[0]
    if first.results is not None:  # detected stances aren't tested
        documents = "the N documents with a judged stance that both runs have"
        return Sheet(_STANCES, compared, [f"{first.measure} on {documents}"])
    tests = [*_T_TEST, *_RANDOMISATION] if first.p_randomisation is not None else _T_TEST
    small_p = f"corrected p of the paired t-test below {SIGNIFICANT}"
    is_any_significant = any(row.significant for row in compared)
    beginning = "* significant:" if is_any_significant else "no row is significant: no"
    significance = f"{beginning} {small_p}"
    correction = f"Holm's correction covers {first.family}"
    notes = [
        f"{first.measure} of {first.evaluator}; {correction}, intervals are not corrected",
        significance,
    ]
    if bounds:
        shared = "a result of both runs has one grade"
        notes.append(
            f"least, greatest: A - B, whatever grades the unjudged results among the first k get; {shared}"
        )
    shown = _closest(compared) if is_short else compared
    if len(shown) < len(compared):
        each = f"at most {_MAX_PUBLISHED} per run and dimension"
        selection = "the smallest significant differences above and below the run, or the smallest if none is"
        total = counted(len(compared), "row")
        notes.append(f"{len(shown)} of {total}, {each}: {selection}; print all with --all")
    return Sheet([*tests, *bounds, *_COUNTS], shown, notes)


def _closest(compared: Sequence[Comparison]) -> list[Comparison]:
    """Returns at most ten comparisons of each run in each dimension: the significant ones, or all if none is.

    If these are more than ten, it's the smallest differences, taken in turn from those above and those below
    the run: they show which published runs the run lies between.
    """
    shown = set[int]()  # positions in ``compared``
    positions = range(len(compared))
    groups = group_by(positions, lambda position: (compared[position].path_a, compared[position].dimension))
    for group in groups.values():
        candidates = [position for position in group if compared[position].significant] or group
        by_size = sorted(candidates, key=lambda position: abs(compared[position].difference))
        sides = group_by(by_size, lambda position: compared[position].difference > 0).values()
        # The smallest of each side, then the second smallest of each, and so on.
        in_turn = chain.from_iterable(zip_longest(*sides))
        shown.update(islice((position for position in in_turn if position is not None), _MAX_PUBLISHED))
    return [compared[position] for position in sorted(shown)]
