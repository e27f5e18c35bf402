"""touche sweep"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from functools import partial
from inspect import Parameter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from touche import baselines
from touche.baselines.method import Baseline
from touche.cli.commands import INPUT, Command, Option, option
from touche.cli.options import SCORING
from touche.cli.output import counted, show_folds, show_records, tell, warn
from touche.cli.run import Baselines, helps_of, own_options
from touche.cli.runners import own_frames
from touche.data import places
from touche.errors import ToucheError
from touche.evaluation.cross_validation import FOLDS
from touche.evaluation.evaluators import EVALUATORS
from touche.io.writing import write_whole
from touche.tasks import datasets, task_scored_by

if TYPE_CHECKING:
    from touche.tuning.results import Sweep

SETTINGS_FILE, FOLDS_FILE = "settings.csv", "folds.csv"

_IN = partial(option, section="Input and output")
_COMMON_OPTIONS: list[click.Parameter] = [
    _IN("-i --input given INPUT", "Input directory or dataset id; by default TASK.", type=INPUT),
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
            sweep_baseline(name, texts, **values)

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

    VALUES are separated by commas. A range of numbers is FIRST:LAST:STEP and includes both ends. If the
    baseline ranks by a scan, settings with the same analysis share one pass over the collection. A second
    sweep into DIR skips complete runs whose input, options and code are unchanged.

    The best mean is optimistic, because the topics that score the setting also chose it. Cross-validation
    chooses by some topics, and scores only the others.
    """


def _option(parameter: Parameter, text: str, section: str) -> Option:
    name = parameter.name.replace("_", "-")
    about = f"{text} (default: {parameter.default})".strip()
    return Option([parameter.name, f"--{name}"], section=section, metavar="VALUES", default=None, help=about)


def _example(baseline: Baseline) -> str:
    numbers = [each for each in baseline.options.values() if isinstance(each.default, float)]
    first = next(iter([*numbers, *baseline.options.values()]), None)
    return f"--{first.name.replace('_', '-')} {first.default}" if first else ""


def sweep_baseline(
    name: str,
    texts: Mapping[str, str],
    given: str | None,
    output: Path,
    evaluator: str,
    cross_validation: str,
    style: str,
    **scoring: Any,
) -> None:
    """Sweeps a baseline, writes tables and heat maps, and prints a table.

    Args:
        name: name of the baseline, or path of its folder.
        texts: values of its options as typed.
        given, output, evaluator, cross_validation, style, scoring: values of the command's own options.

    Raises:
        ToucheError: if an argument or the input is unusable, or a run fails.
    """
    from touche.tuning.grid import settings_of, values_of  # here, because they take long to import
    from touche.tuning.sweeps import sweep

    if not (given or scoring["task_id"]):
        raise ToucheError("no task and no input is specified; pass --task, or -i and --qrels")
    own_task = given if given in datasets() else None
    task = task_scored_by(**scoring | {"task_id": scoring["task_id"] or own_task})
    ranker = baselines.load(name)
    grid = {option: values_of(ranker.options[option], text) for option, text in texts.items()}
    settings = settings_of(ranker.options, grid)
    source = places.opened(given or scoring["task_id"], needs_documents=ranker.needs_documents)
    tell(f"{ranker.name}: {source.took}")
    method = None if cross_validation == "none" else cross_validation
    with own_frames(ranker):
        found = sweep(ranker, source, output, settings, task, evaluator, method)
    tell(f"{ranker.name}: {counted(len(settings), 'setting')} in {output}, {found.made} of them new")
    warn(*found.warnings)
    _write(found, output)
    if style != "table":
        click.echo(_formatted(found.fold_records if method else found.records, style), nl=False)
        return
    _show_settings(found)
    for dimension, validation in found.cross_validations.items():
        click.echo()
        show_folds(f"{validation.method}, {dimension}", validation)


def _write(found: "Sweep", folder: Path) -> None:
    """Writes the tables; also heat maps, if matplotlib is installed and options vary."""
    from touche.report.plots import save  # here, as above

    write_whole(folder / SETTINGS_FILE, _formatted(found.records, "csv"))
    if found.cross_validations:
        write_whole(folder / FOLDS_FILE, _formatted(found.fold_records, "csv"))
    for dimension in found.by_dimension if found.settings[0].swept else ():
        try:
            figure = found.heat_map(dimension)
        except ToucheError as error:  # matplotlib is not installed, or the evaluator has no topic
            warn(f"no heat map: {error}")
        else:
            save(figure, folder / f"heat-map-{quote(dimension, safe='')}")


def _formatted(records: Sequence[Mapping[str, Any]], style: str) -> str:
    """Formats records as JSON, or as CSV with a header."""
    if style == "json":
        return json.dumps(records, indent=2, ensure_ascii=False) + "\n"
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _show_settings(found: "Sweep") -> None:
    """Prints a row for each dimension and setting."""
    names, first = [*found.settings[0].swept], found.scores[0]
    header = [*(names or ["run"]), "dimension", first.measure, "95% interval", "judged"]
    options = [f"{{swept[{name}]}}" for name in names] or ["{setting}"]
    figures = ["{dimension}", "{mean:.3f}{star}", "{low:.3f} to {high:.3f}", "{judged:.2f}"]
    best = [found.best(dimension) for dimension in found.by_dimension]
    rows = [
        {**vars(score), "swept": score.setting.swept, "star": " *" if score in best else ""}
        for score in chain.from_iterable(found.by_dimension.values())
    ]
    show_records("|".join(header), "|".join([*options, *figures]), rows)
    why = "on other topics it is probably lower, because these topics chose it"
    click.echo(f"\n* the highest mean of {first.evaluator}; {why}")
