"""The ``touche`` command."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import Parameter
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click

from touche import baselines, data, tasks, tira
from touche.baselines import Baseline
from touche.errors import ToucheError
from touche.evaluation import EVALUATORS, MEASURE
from touche.qrels import Qrels, read_qrels
from touche.runs import read_run

UNUSABLE, INTERRUPTED, TERMINATED = 2, 130, 143  # exit codes


def main() -> None:
    """Runs the command line; an error is one line on standard error."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # so that nothing is left behind
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(UNUSABLE)
    except click.ClickException as error:
        help_of = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "touche"
        _fail(f"{error.format_message()} (see: {help_of} --help)")
    except ToucheError as error:
        _fail(str(error))
    except OSError as error:  # standard output is full or closed, or the working directory is gone
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (what is left in it cannot be written at exit)
        _fail(f"{error}; choose another place")
    except (KeyboardInterrupt, click.Abort):
        click.echo("touche: interrupted", err=True)
        sys.exit(INTERRUPTED)


def _fail(message: str) -> None:
    click.echo(f"touche: {' '.join(message.split())}", err=True)
    sys.exit(UNUSABLE)


@click.group()
@click.version_option(package_name="touche-baselines")
def cli() -> None:
    """Reruns the baselines of the Touché shared tasks and scores runs as the organizers did."""


class Baselines(click.Group):
    """A command for each baseline, made from its folder, with the baseline's own options."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return baselines.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        return command_of(baselines.load(cmd_name), cmd_name)


@cli.command(cls=Baselines, subcommand_metavar="BASELINE -i INPUT -o DIR [OPTION]...")
def run() -> None:
    """Run a baseline on an input directory; it writes run.txt.

    BASELINE is a name from the list below, or the path of a folder that holds a baseline.py; its options are
    shown by: touche run BASELINE --help
    """


_COMMON_OPTIONS: list[click.Parameter] = [
    click.Option(
        ["-i", "--input", "given"],
        envvar=tira.INPUT_VARIABLE,
        required=True,
        metavar="INPUT",
        help="Input directory, or the id of a dataset at hand, such as spot-check/arguments.",
    ),
    click.Option(
        ["-o", "--output"],
        envvar=tira.OUTPUT_VARIABLE,
        required=True,
        metavar="DIR",
        help="Output directory for run.txt.",
    ),
    click.Option(["--corpus"], metavar="ID", help="Corpus of ir_datasets, where INPUT holds topics only."),
]


def command_of(baseline: Baseline, name: str) -> click.Command:
    """The command that runs a baseline."""
    own = [_option(each, baseline.option_help.get(name, "")) for name, each in baseline.options.items()]
    paragraphs = "\n\n".join(f"\b\n{paragraph}" for paragraph in baseline.description.split("\n\n"))

    def callback(given: str, output: str, corpus: str | None, **options: Any) -> None:
        _run(baseline, given, output, corpus, options)

    return click.Command(name, callback=callback, params=[*_COMMON_OPTIONS, *own], help=paragraphs)


def _option(parameter: Parameter, text: str) -> click.Option:
    kind = type(parameter.default) if parameter.annotation is Parameter.empty else parameter.annotation
    return click.Option(
        [f"--{parameter.name.replace('_', '-')}"],
        type=click.Choice(get_args(kind)) if get_origin(kind) is Literal else kind,
        is_flag=kind is bool,
        default=parameter.default,
        show_default=True,
        help=text,
    )


def _run(baseline: Baseline, given: str, output: str, corpus: str | None, options: dict[str, Any]) -> None:
    started = time.monotonic()
    if not given or not output:
        raise ToucheError("-i or -o is empty; name the input and the output directory")
    source = _open(given, corpus)
    click.echo(f"{baseline.name}: {source.took}", err=True)
    for topic in baselines.run(baseline, source, Path(output), options):
        click.echo(
            f"{baseline.name}: warning: nothing found for topic {topic.number}: {topic.title}", err=True
        )
    seconds = time.monotonic() - started
    click.echo(f"{baseline.name}: wrote {Path(output) / tira.RUN_FILE} in {seconds:.1f} s", err=True)


def _open(given: str, corpus: str | None) -> tira.Input:
    if Path(given).exists():
        return tira.find(Path(given), corpus)
    if given in tasks.datasets() and corpus is None:
        return data.open_dataset(given)
    if given in tasks.datasets():
        raise ToucheError(f"the dataset {given} has its own corpus; leave --corpus out")
    problem = f"{given}: no such directory, and no such dataset"
    raise ToucheError(f"{problem}; give a directory, or one of {', '.join(tasks.datasets())}")


@dataclass(frozen=True)
class Score:
    """A line of the score table, and a record of its JSON."""

    run: str
    tag: str
    task: str
    dimension: str
    measure: str
    evaluator: str
    mean: float
    judged: float
    topics: int


@cli.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "--task", "task_id", required=True, metavar="TASK", help=f"One of {', '.join(tasks.all_tasks())}."
)
@click.option(
    "--evaluator",
    type=click.Choice(["touche", "trec_eval", "both"]),
    default="both",
    show_default=True,
    help="The organizers' script, trec_eval, or both.",
)
@click.option("--format", "style", type=click.Choice(["table", "json"]), default="table", show_default=True)
def evaluate(runs: Sequence[Path], task_id: str, evaluator: str, style: str) -> None:
    """Score run files: nDCG@5 in every dimension of the task, and Judged@5."""
    task = tasks.task(task_id)
    judgments = {
        dimension: read_qrels(data.locate("qrels", file), task.excluded_topics)
        for dimension, file in task.qrels.items()
    }
    scores = [score for path in runs for score in _scores(path, task, judgments, evaluator)]
    click.echo(
        json.dumps([asdict(score) for score in scores], indent=2) if style == "json" else _table(scores)
    )


def _scores(path: Path, task: tasks.Task, judgments: Mapping[str, Qrels], evaluator: str) -> Iterator[Score]:
    run = read_run(path)
    for dimension, qrels in judgments.items():
        for name in EVALUATORS if evaluator == "both" else [evaluator]:
            try:
                result = EVALUATORS[name](run, qrels)
            except ToucheError as error:
                raise ToucheError(f"{path}: {error}") from error
            figures = (MEASURE, name, result.mean, result.judged, len(result.per_topic))
            yield Score(str(path), run[0].tag, task.id, dimension, *figures)


def _table(scores: Sequence[Score]) -> str:
    header = ("tag", "dimension", "evaluator", "nDCG@5", "Judged@5", "topics")
    rows = [
        (each.tag, each.dimension, each.evaluator, f"{each.mean:.3f}", f"{each.judged:.2f}", str(each.topics))
        for each in scores
    ]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in (header, *rows)
    ]
    return "\n".join(line.rstrip() for line in lines)
