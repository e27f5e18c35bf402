"""touche sweep"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import click

from touche.baselines.method import Baseline
from touche.cli.commands import INPUT, Option, option
from touche.cli.options import FORMAT, SCORING_BY_SEVERAL
from touche.cli.output import counted, render, tell, warn
from touche.cli.run import Baselines, baseline_command
from touche.errors import ToucheError
from touche.evaluation.equality import are_equal
from touche.evaluation.evaluators import EVALUATORS
from touche.io.tables import Column, Sheet, interval, three_decimals
from touche.lab.sweeps.cross_validation import FOLDS, CrossValidation

if TYPE_CHECKING:
    from touche.lab.sweeps.results import SettingScore, Sweep

_IN = partial(option, section="Input and output")
_COMMON_OPTIONS: list[click.Parameter] = [
    _IN("-i --input dataset INPUT", "Input directory or dataset id; by default TASK.", type=INPUT),
    _IN("-o --output DIR", "New directory for runs, tables and heat maps.", required=True),
    _IN("--overwrite", "Write to an existing DIR; replace only files that this sweep writes."),
    *SCORING_BY_SEVERAL,
    option(
        "--evaluator",
        "Compare scores of this evaluator. trec_eval also scores topics that a setting finds nothing for.",
        EVALUATORS,
    ),
    option(
        "--cross-validation",
        "Score each topic with the setting that is best on other topics.",
        ["none", *FOLDS],
    ),
    FORMAT,
]


class Sweeps(Baselines):
    """A group with a command for each baseline, whose own options take several values."""

    def make_command(self, baseline: Baseline, name: str) -> click.Command:
        example = f"touche sweep {name} {_example(baseline)} --task spot-check/arguments -o out/sweep"
        return baseline_command(baseline, name, _sweep, _COMMON_OPTIONS, example, _option)


@click.command(
    cls=Sweeps,
    common_options=_COMMON_OPTIONS,
    options_metavar=None,
    subcommand_metavar="BASELINE --OPTION VALUES... --task TASK -o DIR",
    example="touche sweep bm25 --k1 0.6:1.6:0.2 --b 0.2,0.4,0.75 --task spot-check/arguments -o out/sweep",
)
def sweep() -> None:
    """Run a baseline with every combination of option values, and score the runs.

    BASELINE is a name, or the path of a folder, whose code runs on this machine.

    Separate VALUES with commas, or repeat the option. FIRST:LAST:STEP is a range of numbers that includes
    both ends. If the baseline ranks with touche.scan, settings with the same analysis share one pass over
    the collection.

    The highest mean is optimistic, because the setting was chosen on the topics that score it. With
    --cross-validation, each setting is chosen on some topics and scored on the others.
    """


def _option(parameter: Parameter, text: str, section: str) -> Option:
    """Creates the option for the values of a baseline's parameter."""
    default = parameter.default
    names = [parameter.name, f"--{parameter.name.replace('_', '-')}"]
    example = "true,false" if isinstance(default, bool) else default
    return Option(
        names,
        section=section,
        multiple=True,
        callback=partial(_joined, example),
        metavar="VALUES",
        help=f"{text} (default: {default})".strip(),  # a baseline may lack a help text
    )


def _joined(example: Any, ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> str | None:
    """Joins an option's values. Rejects option names: if a value is missing, click takes the next option for
    it.
    """
    options = {name for other in ctx.command.get_params(ctx) for name in other.opts}
    if any(text.partition("=")[0] in options for text in texts):
        raise click.UsageError(f"{param.opts[0]} needs VALUES, such as {example}", ctx)
    return ",".join(texts) if texts else None


def _example(baseline: Baseline) -> str:
    """Returns the first float option with its default, or else the first option; empty without options."""
    options = list(baseline.options.values())
    if not options:
        return ""
    first = next((option for option in options if isinstance(option.default, float)), options[0])
    return f"--{first.name.replace('_', '-')} {first.default}"


def _sweep(
    baseline: Baseline,
    options: Mapping[str, str | None],
    dataset: str | None,
    output: Path,
    cross_validation: str,
    format: str,
    **scoring: Any,
) -> None:
    """Sweeps a baseline and prints a table.

    Args:
        options: the values of each of the baseline's options, as typed; None if it isn't swept.
        scoring: the scoring options.
    """
    from touche.lab.sweeps.grid import parse_values  # here, because help doesn't need these 48 ms
    from touche.lab.sweeps.running import sweep as run_sweep

    dataset = dataset or scoring["task"]
    if dataset is None:
        raise ToucheError("no task and no input is specified; pass --task, or -i and --qrels")
    grid = {
        option: parse_values(baseline.options[option], text)
        for option, text in options.items()
        if text is not None
    }
    scoring["cross_validation"] = None if cross_validation == "none" else cross_validation
    with catch_warnings(action="ignore"):  # a baseline's warnings come with each run
        result = run_sweep(baseline.name_or_path, dataset, grid, output=output, log=tell, **scoring)
    count = counted(len(result.settings), "setting")
    tell(f"{result.baseline}: {count} in {output}")
    warn(*result.warnings)
    render(result.folds() if scoring["cross_validation"] else result.scores, format, _sheets(result))


def _sheets(result: "Sweep") -> Iterator[Sheet]:
    """Yields a table of settings per measure, and a table of choices per cross-validation."""
    measures = [*dict.fromkeys(score.measure for score in result.scores)]
    best = [result.best(dimension) for dimension in result.by_dimension]
    optimism = "on other topics it is probably lower, because these topics chose it"
    note = f"* the highest mean of {best[0].evaluator}; {optimism}"
    for measure in measures:
        rows = [row for scores in result.by_dimension.values() for row in scores if row.measure == measure]
        notes = [note] if measure == measures[-1] else []  # once, below the last table
        yield Sheet(_columns(rows[0], best), rows, notes)
    for dimension, validation in result.cross_validations.items():
        yield _folds_sheet(f"{validation.method}, {dimension}", validation)


def _folds_sheet(subject: str, validation: CrossValidation[Any]) -> Sheet:
    """Returns a table of choices with their folds and mean scores, and the overall mean below it.

    Args:
        subject: the method and measure.
        validation: the folds.
    """
    low, high = validation.interval
    overall = f"{validation.mean:.3f} (95% interval {low:.3f} to {high:.3f})"
    topics = counted(len(validation.values), "topic")
    columns = [
        Column("chosen by other topics", "choice", str),
        Column("folds", "folds"),
        Column("topics", "topics"),
        Column("mean", "mean", three_decimals),
    ]
    note = f"{subject}: {overall} over {topics}; no topic affected its own choice"
    return Sheet(columns, validation.choices, [note])


def _columns(first: "SettingScore", best: Sequence["SettingScore"]) -> list[Column]:
    """Returns a measure's columns: the swept options, or the run if there are none, then the scores."""
    swept = [Column(name, partial(_value, name)) for name in first.setting.swept]
    return [
        *(swept or [Column("run", "setting")]),
        Column("dimension", "dimension"),
        Column(first.measure, partial(_mean, best), missing="there is no topic to average over"),
        Column("95% interval", interval, missing="an interval needs at least two topics"),
        Column("judged", "judged", "{:.2f}".format),
    ]


def _value(option: str, score: "SettingScore") -> str:
    return str(score.setting.swept[option])


def _mean(best: Sequence["SettingScore"], score: "SettingScore") -> str | None:
    """Formats a mean, starred if it equals the highest one with this measure in this dimension."""
    if score.mean is None:
        return None
    highest = next(
        row.mean for row in best if (row.dimension, row.measure) == (score.dimension, score.measure)
    )
    is_highest = highest is not None and are_equal(score.mean, highest)
    return f"{score.mean:.3f} *" if is_highest else f"{score.mean:.3f}"
