"""Options and arguments that several commands share."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from touche import tasks
from touche.cli.commands import DATASET_ID, PATH, TASK_ID, Option, argument, option
from touche.io.formats import FORMATS
from touche.io.identifiers import NO_TAG, is_word, quoted
from touche.tasks.measures import parse_measures
from touche.trec.runs import MAX_DEPTH


def _one_measure(ctx: click.Context, param: click.Parameter, measures: Sequence[str]) -> str | None:
    """Returns the only measure, or None for the task's. Click would silently use the last of several."""
    if len(measures) > 1:
        raise click.BadParameter(f"{' and '.join(measures)}: pass one measure per command.", ctx, param)
    return measures[0] if measures else None


def checking(is_valid: Callable[[str], Any], problem: str) -> Callable[..., str | None]:
    """Creates a callback that rejects an option's invalid values and says what's wrong with them."""

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        if value is not None and not is_valid(value):
            raise click.UsageError(f"{param.opts[0]} {quoted(value)} {problem}", ctx)
        return value

    return check


def task(help: str = f"One of {', '.join(tasks.ids())}.") -> Option:
    """Creates the option --task."""
    return option("--task TASK", help, type=TASK_ID)


def output(help: str = "Output directory for run.txt.", placeholder: str = "DIR") -> Option:
    """Creates the required option -o."""
    return option(f"-o --output {placeholder}", help, required=True)


def naming(section: str = "Options", default: str = "baseline and options") -> list[click.Parameter]:
    """Creates the options --tag and --team.

    Args:
        section: the help section for both.
        default: how the help describes the default tag.
    """
    return [
        option(
            "--tag WORD",
            f"Tag of the run; by default {default}.",
            section=section,
            callback=checking(is_word, NO_TAG),
        ),
        option(
            "--team NAME",
            "Your team's name, for ir-metadata.yml.",
            section=section,
            callback=checking(str.strip, "is empty; name the team, or omit the option"),
        ),
    ]


RUNS = argument("runs", "RUN...", type=PATH)
ANY_RUNS = argument("runs", "[RUN...]", type=PATH)
FORMAT = option("--format", choices=FORMATS)
DATASETS = argument("datasets", "[DATASET...]", type=DATASET_ID)
DEPTH_RANGE = click.IntRange(1, MAX_DEPTH)
DEPTH = option("--depth", "Maximum number of documents per topic.", type=DEPTH_RANGE, default=MAX_DEPTH)
_TASK = task()
_QRELS = option("--qrels FILE", "Judgments to use instead of the task's; their dimension is FILE's name.")
SCORING: list[click.Parameter] = [
    _TASK,
    option(
        "--measure MEASURE",
        "Measure to use instead of the task's, as in ir_measures: nDCG@10, AP, P(rel=2)@10, RR and so on.",
        multiple=True,
        callback=_one_measure,
    ),
    _QRELS,
]
SCORING_BY_SEVERAL: list[click.Parameter] = [
    _TASK,
    option(
        "--measure LIST",
        "Measures to use instead of the task's, as in ir_measures, such as nDCG@10,AP. Can be repeated.",
        multiple=True,
        callback=lambda ctx, param, texts: parse_measures(texts),
    ),
    _QRELS,
]
