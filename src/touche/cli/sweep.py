"""touche sweep"""

from collections.abc import Mapping, Sequence
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from touche import baselines
from touche.baselines.method import Baseline
from touche.cli.commands import INPUT, Command, Option, option
from touche.cli.options import SCORING
from touche.cli.output import counted, formatted, show_folds, show_records, tell, warn
from touche.cli.run import Baselines, helps_of, own_options
from touche.cli.runners import own_frames
from touche.errors import ToucheError
from touche.evaluation.cross_validation import FOLDS
from touche.evaluation.evaluators import EVALUATORS
from touche.io.writing import together, write_whole

if TYPE_CHECKING:
    from touche.tuning.results import Sweep

SETTINGS_FILE, FOLDS_FILE = "settings.csv", "folds.csv"

_IN = partial(option, section="Input and output")
_COMMON_OPTIONS: list[click.Parameter] = [
    _IN("-i --input dataset INPUT", "Input directory or dataset id; by default TASK.", type=INPUT),
    _IN("-o --output DIR", "Directory for runs, tables and heat maps.", required=True),
    *SCORING,
    option("--evaluator", "Evaluator whose scores are compared.", EVALUATORS, default="trec_eval"),
    option("--cross-validation", "Score each topic with the best setting on other topics.", ["none", *FOLDS]),
    option("--format style", choices=("table", "json", "csv")),
]


class Sweeps(Baselines):
    """A command for each baseline, whose own options take several values."""

    def command_of(self, baseline: Baseline, name: str) -> click.Command:
        def callback(**values: Any) -> None:
            texts = {name: text for name in baseline.options if (text := values.pop(name)) is not None}
            _sweep(baselines.load(name), texts, **values)

        return Command(
            name,
            callback=callback,
            params=[*own_options(baseline, _option, _COMMON_OPTIONS), *_COMMON_OPTIONS],
            **helps_of(baseline, name),
            example=f"touche sweep {name} {_example(baseline)} --task spot-check/arguments -o out/sweep",
        )


@click.command(
    cls=Sweeps,
    options_metavar=None,
    subcommand_metavar="BASELINE --OPTION VALUES... --task TASK -o DIR",
    example="touche sweep bm25 --k1 0.6:1.6:0.2 --b 0.2,0.4,0.75 --task spot-check/arguments -o out/sweep",
)
def sweep() -> None:
    """Run a baseline with every combination of option values, and score the runs.

    VALUES are separated by commas, or the option is repeated. A range of numbers is FIRST:LAST:STEP and
    includes both ends. If the baseline ranks by a scan, settings with the same analysis share one pass over
    the collection. A second sweep into DIR skips complete runs whose input, options and code are unchanged.

    The best mean is optimistic, because the topics that score the setting also chose it. Cross-validation
    chooses by some topics, and scores only the others.
    """


def _option(parameter: Parameter, text: str, section: str) -> Option:
    default = parameter.default
    names = [parameter.name, f"--{parameter.name.replace('_', '-')}"]
    callback = partial(_joined, "true,false" if isinstance(default, bool) else default)
    about = {"metavar": "VALUES", "help": f"{text} (default: {default})".strip()}
    return Option(names, section=section, multiple=True, callback=callback, **about)


def _joined(example: Any, ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> str | None:
    """Joins the values of an option; refuses the next option, which is read as a value if there is none."""
    options = {name for other in ctx.command.get_params(ctx) for name in other.opts}
    if any(text.partition("=")[0] in options for text in texts):
        raise click.UsageError(f"{param.opts[0]} needs VALUES, such as {example}", ctx)
    return ",".join(texts) if texts else None


def _example(baseline: Baseline) -> str:
    numbers = [option for option in baseline.options.values() if isinstance(option.default, float)]
    first = next(iter([*numbers, *baseline.options.values()]), None)
    return f"--{first.name.replace('_', '-')} {first.default}" if first else ""


def _sweep(
    ranker: Baseline,
    texts: Mapping[str, str],
    dataset: str | None,
    output: Path,
    evaluator: str,
    cross_validation: str,
    style: str,
    **scoring: Any,
) -> None:
    """Sweeps a baseline, writes tables and heat maps, and prints a table."""
    from touche.tuning.grid import settings_of, values_of  # here, because these two take 31 ms
    from touche.tuning.sweeps import input_and_task, sweep_of

    dataset = dataset or scoring["task_id"]
    if dataset is None:
        raise ToucheError("no task and no input is specified; pass --task, or -i and --qrels")
    grid = {option: values_of(ranker.options[option], text) for option, text in texts.items()}
    settings = settings_of(ranker.options, grid)
    source, task = input_and_task(ranker, dataset, **scoring)
    tell(f"{ranker.name}: {source.took}")
    method = None if cross_validation == "none" else cross_validation
    with own_frames(ranker):
        result = sweep_of(ranker, source, output, settings, task, evaluator, method)
    tell(f"{ranker.name}: {counted(len(settings), 'setting')} in {output}, {result.new_runs} of them new")
    warn(*result.warnings)
    _write(result, output)
    if style != "table":
        click.echo(formatted(result.folds() if method else result.scores, style), nl=False)
        return
    _show_settings(result)
    for dimension, validation in result.cross_validations.items():
        click.echo()
        show_folds(f"{validation.method}, {dimension}", validation)


def _write(result: "Sweep", folder: Path) -> None:
    """Writes the tables; also heat maps, if matplotlib is installed and options vary."""
    from touche.plots import save  # here, as above

    with together(folder / SETTINGS_FILE):
        write_whole(folder / SETTINGS_FILE, formatted(result.scores, "csv"))
        if result.cross_validations:
            write_whole(folder / FOLDS_FILE, formatted(result.folds(), "csv"))
        for dimension in result.by_dimension if result.settings[0].swept else ():
            try:
                figure = result.heat_map(dimension)
            except ToucheError as error:  # matplotlib is not installed, or the evaluator has no topic
                warn(f"no heat map: {error}")
            else:
                save(figure, folder / f"heat-map-{quote(dimension, safe='')}")


def _show_settings(result: "Sweep") -> None:
    """Prints a row for each dimension and setting."""
    names, first = [*result.settings[0].swept], result.scores[0]
    header = [*(names or ["run"]), "dimension", first.measure, "95% interval", "judged"]
    options = [f"{{swept[{name}]}}" for name in names] or ["{setting}"]
    figures = ["{dimension}", "{mean:.3f}{star}", "{low:.3f} to {high:.3f}", "{judged:.2f}"]
    best = [id(result.best(dimension)) for dimension in result.by_dimension]
    rows = [
        {**vars(score), "swept": score.setting.swept, "star": " *" if id(score) in best else ""}
        for scores in result.by_dimension.values()
        for score in scores
    ]
    show_records("|".join(header), "|".join([*options, *figures]), rows)
    why = "on other topics it is probably lower, because these topics chose it"
    click.echo(f"\n* the highest mean of {first.evaluator}; {why}")
