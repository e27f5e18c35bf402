"""touche run"""

from dataclasses import fields
from functools import cache
from inspect import Parameter
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from touche import baselines
from touche.baselines.loader import DEFAULTS, FILE
from touche.baselines.method import Baseline
from touche.cli.commands import BASELINE, INPUT, Command, Group
from touche.cli.runners import MASTER, SPARK, Asked, run_as_asked
from touche.cli.sandbox import check_limits, options_of
from touche.errors import InputError, ToucheError
from touche.sandbox.limits import PROGRAMS
from touche.tira import inputs
from touche.tira.outputs import OUTPUT_VARIABLE

_LENIENT = {"ignore_unknown_options": True, "allow_extra_args": True}  # of a baseline nobody has read


class Baselines(Group):
    """A command for each baseline, made from its folder, with the baseline's own options."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return baselines.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        try:
            if known := baselines.declared(cmd_name):
                return command_of(known, cmd_name)
        except ToucheError:
            if not ctx.resilient_parsing:
                raise
        if ctx.resilient_parsing:  # the shell, which asks what may follow, shows no errors and runs nothing
            return None
        if ctx.obj in (*PROGRAMS, "tira"):
            problem = "its options are not known without running its code, which is for its image to do"
            raise InputError(baselines.folder_of(cmd_name) / FILE, problem, "make each default a literal")
        return command_of(baselines.load(cmd_name), cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        runner = click.Command("run", params=options_of({SPARK: ""})[:1], context_settings=_LENIENT)
        ctx.obj = runner.make_context("run", args[1:], resilient_parsing=True).params["runner"]
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        options = click.Command.shell_complete(self, ctx, incomplete)
        return options or BASELINE.shell_complete(ctx, click.Argument(["baseline"]), incomplete)


@click.command(
    cls=Baselines,
    options_metavar=None,
    subcommand_metavar="BASELINE -i INPUT -o DIR [OPTION]...",
    example="touche run bm25 -i spot-check/arguments -o out/bm25\n"
    "touche run dph -i spot-check/arguments -o out/dph",
)
def run() -> None:
    """Run a baseline on an input directory; it writes run.txt.

    BASELINE is a name from the list below, or the path of a folder with a baseline.py, such as ./my-team; its
    options are shown by: touche run BASELINE --help
    """


def _path(option: str, metavar: str, help: str) -> click.Option:
    return click.Option([option], metavar=metavar, type=click.Path(path_type=Path), help=help)


_COMMON_OPTIONS: list[click.Parameter] = [
    click.Option(
        ["-i", "--input", "given"],
        envvar=inputs.INPUT_VARIABLE,
        required=True,
        type=INPUT,
        metavar="INPUT",
        help="Input directory, or the id of a dataset at hand, such as spot-check/arguments.",
    ),
    click.Option(
        ["-o", "--output"],
        envvar=OUTPUT_VARIABLE,
        required=True,
        shell_complete=lambda ctx, param, incomplete: [CompletionItem(incomplete, type="dir")],
        metavar="DIR",
        help="Output directory for run.txt.",
    ),
    click.Option(["--corpus"], metavar="ID", help="Corpus of ir_datasets, where INPUT holds topics only."),
    click.Option(
        ["--keep-fields"],
        shell_complete=lambda ctx, param, incomplete: [CompletionItem(incomplete, type="dir")],
        metavar="DIR",
        help="Keep the fields of web pages in DIR, as Parquet, which an input may hold in their place; for "
        "Spark DIR may be an address, such as s3a://bucket/fields.",
    ),
    _path("--statistics", "FILE", "Rank by these statistics, of a collection that INPUT is a part of."),
    _path("--keep-statistics", "FILE", "Keep the statistics in FILE, for --statistics."),
    click.Option(["--tag"], metavar="WORD", help="The run's tag, in place of baseline and options."),
    click.Option(["--team"], metavar="NAME", help="Your team, for ir-metadata.yml."),
]
_RUNNERS: list[click.Parameter] = [
    *options_of({SPARK: "the workers of a Spark cluster"}),
    click.Option(
        ["--master"],
        default=MASTER,
        show_default=True,
        metavar="URL",
        help="Where Spark runs, such as spark://host:7077 or yarn.",
    ),
    _path(
        "--topics", "FILE", "Topics, where INPUT is an address that Spark reads, such as s3a://bucket/corpus."
    ),
    click.Option(
        ["--resume"],
        is_flag=True,
        help="Save in DIR/parts, which all machines have to see, what Spark reads, and go on from there.",
    ),
]


def command_of(baseline: Baseline, name: str) -> click.Command:
    """Make the command that runs a baseline, from its options and its help."""
    own = _own_options(baseline)
    paragraphs = "\n\n".join(f"\b\n{paragraph}" for paragraph in baseline.description.split("\n\n"))

    def callback(**values: Any) -> None:
        asked = Asked(**{each.name: values.pop(each.name) for each in fields(Asked)})
        check_limits(asked.runner)
        run_as_asked(baseline, name, asked, values)

    params = [*_COMMON_OPTIONS, *_RUNNERS, *own]
    extra = baselines.missing_extra(name)
    first = " ".join(baseline.description.partition("\n\n")[0].split())
    short = f"(needs the extra {extra}) {first}" if extra else None
    example = f"touche run {name} -i spot-check/arguments -o out/{baseline.name}"
    return Command(name, callback=callback, params=params, help=paragraphs, short_help=short, example=example)


def _own_options(baseline: Baseline) -> list[click.Option]:
    """The baseline's own options, none of which can have a name that the command itself uses.

    Raises:
        InputError: naming the option that has.
    """
    taken, found = set(_reserved()), []
    for name, parameter in baseline.options.items():
        option = _option(parameter, baseline.option_help.get(name, ""))
        if names := _names_of(option) & taken:
            problem = f"an option cannot be called {name!r}, as {min(names)} is taken"
            file = baselines.folder_of(baseline.typed) / FILE
            raise InputError(file, problem, "give it another name", baseline.line)
        taken |= _names_of(option)
        found.append(option)
    return found


@cache
def _reserved() -> frozenset[str]:
    """What the options of every baseline's command are called."""
    command = Command("run", params=[*_COMMON_OPTIONS, *_RUNNERS])
    return frozenset[str]().union(*map(_names_of, command.get_params(click.Context(command))))


def _names_of(option: click.Parameter) -> set[str]:
    """How an option is written, and what its value is called in Python."""
    return {*option.opts, *option.secondary_opts, str(option.name)}


def _option(parameter: Parameter, text: str) -> click.Option:
    kind = _type(parameter.annotation, parameter.default)
    name = parameter.name.replace("_", "-")
    return click.Option(
        [parameter.name, f"--{name}/--no-{name}" if kind is bool else f"--{name}"],
        type=kind,
        is_flag=kind is bool,
        default=parameter.default,
        show_default=any(parameter.default) if isinstance(parameter.default, tuple) else True,
        help=text,
    )


def _type(declared: Any, default: Any) -> Any:
    """The type of a value, or of each of several: the declared one, or that of the default."""
    if get_origin(declared) is Literal:
        return click.Choice(get_args(declared))
    if not isinstance(default, tuple):
        return declared if declared in DEFAULTS else type(default)
    each = get_args(declared)
    return each if len(each) == len(default) and {*each} <= {*DEFAULTS} else tuple(map(type, default))
