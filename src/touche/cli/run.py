"""touche run"""

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from inspect import Parameter
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from statistics import mode
from typing import Any, Literal, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from touche.baselines.extras import missing_extra
from touche.baselines.loader import DEFAULT_TYPES, FILE, baseline_folder, load, parts_in_expected
from touche.baselines.method import Baseline
from touche.cli.commands import BASELINE, INPUT, Command, Group, Option, command, option
from touche.cli.frames import own_frames
from touche.cli.options import naming
from touche.cli.output import UNUSABLE, counted, echo, tell, warn
from touche.cli.runner_options import check_runner, runners
from touche.data.places import shipped_baselines
from touche.errors import InputError
from touche.io.opening import is_file
from touche.runners.baseline_runs import write_run
from touche.runners.limits import CONTAINER_PROGRAMS, HERE, Limits
from touche.tira.outputs import INPUT_VARIABLE, OUTPUT_VARIABLE

ALL = "all"  # instead of a baseline's name
_EXAMPLE = "spot-check/arguments"
# For an image, whose options we don't know.
_LENIENT = {"ignore_unknown_options": True, "allow_extra_args": True}


class Baselines(Group):
    """A group with a command for each baseline, whose options are its function's.

    Args:
        common_options: the options that all baselines share.
    """

    def __init__(self, *args: Any, common_options: Sequence[click.Parameter], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.common_options = common_options

    def list_commands(self, ctx: click.Context) -> list[str]:
        return shipped_baselines()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns a baseline's command. For shell completion, the baseline's code isn't imported."""
        if ctx.resilient_parsing:
            return Command(cmd_name, params=[*self.common_options], context_settings=_LENIENT)
        return self.make_command(load(cmd_name), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the baselines with their files' first lines, without running their code."""
        with formatter.section("Baselines"):
            formatter.write_dl([(name, _first_line(name)) for name in self.list_commands(ctx)])

    def make_command(self, baseline: Baseline, name: str) -> click.Command:
        """Creates the command that runs a baseline."""
        is_in_image = not shipped_baselines()  # inside an image, the only command is called baseline
        example = f"touche run {name} -i {_example_of_input(name)} -o out/{baseline.name}"
        command = baseline_command(
            baseline, name, _run, _COMMON_OPTIONS, "baseline -i INPUT -o DIR" if is_in_image else example
        )
        if is_in_image:
            command.context_class = _InImage
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Moves the baseline to the front, because its options may come before it."""
        if args and args[0].startswith("-") and not ctx.resilient_parsing:
            indexes = self._indexes_of_baselines(args)
            # Options that work without a baseline, such as --help.
            names_of_options = {name for option in self.get_params(ctx) for name in option.opts}
            if len(indexes) > 1:  # one of them may be a value of the baseline's option
                words = " and ".join(args[index] for index in indexes)
                raise click.UsageError(f"{words} are names of baselines; write the one to run first", ctx)
            if indexes:
                index = indexes[0]
                args = [args[index], *args[:index], *args[index + 1 :]]
            elif args[0] not in names_of_options:
                raise click.UsageError("no baseline is named; name it before its options", ctx)
        return super().parse_args(ctx, args)

    def _indexes_of_baselines(self, args: Sequence[str]) -> list[int]:
        """Returns where words name baselines and aren't values of common options."""
        options = [option for option in self.common_options if isinstance(option, Option)]
        options_with_value = {name for option in options if not option.is_flag for name in option.opts}
        names = self.list_commands(click.Context(self))
        return [
            index
            for index, (previous_word, word) in enumerate(pairwise(["", *args]))
            if previous_word not in options_with_value and (word in names or is_file(Path(word, FILE)))
        ]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completes options, or baselines and folders; click would only complete names."""
        options = click.Command.shell_complete(self, ctx, incomplete)
        return options or BASELINE.shell_complete(ctx, click.Argument(["baseline"]), incomplete)


class _InImage(click.Context):
    """The context of an image's only command, for help and hints."""

    @property
    def command_path(self) -> str:
        return "baseline"


class RunCommands(Baselines):
    """The group for ``touche run``, which also runs baselines' images, and all baselines at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = super().list_commands(ctx)
        return [*names, ALL] if names else []  # an image has only its own baseline

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == ALL and shipped_baselines():
            return _run_all
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Looks for --runner first: a baseline that runs in an image isn't imported."""
        words = [part for word in args for part in (word.split("=", 1) if word.startswith("--") else [word])]
        runners = [word for previous_word, word in pairwise(words) if previous_word == "--runner"]
        if len(runners) > 1 and not ctx.resilient_parsing:
            raise click.UsageError("--runner is passed twice; pass it once", ctx)
        is_local = not runners or runners[0] == HERE
        if args[0] == ALL and runners and not ctx.resilient_parsing:
            raise click.UsageError(f"{ALL} runs the baselines on this machine; omit --runner")
        if is_local or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        return args[0], _image_command(args[0], runners[0]), args[1:]  # click checks the runner's name later


_READ = partial(option, section="Input and output")
_REQUIRED = partial(_READ, required=True)
_READ_HERE = partial(_READ, runners=(HERE,))  # a sandbox only sees its input and only writes run.txt
_FOLDER = click.Path(file_okay=False, readable=False)
_DATASETS = " or dataset id, such as spot-check/arguments, or irds:ID for an id of ir_datasets"
_DATASET = _DATASETS if shipped_baselines() else ""
_INPUT = _REQUIRED(
    "-i --input dataset INPUT", f"Input directory{_DATASET}.", type=INPUT, envvar=INPUT_VARIABLE
)
_OUTPUT = partial(_REQUIRED, "-o --output DIR", type=_FOLDER, envvar=OUTPUT_VARIABLE)
_TAG, _TEAM = naming("Input and output")
INPUT_AND_OUTPUT: list[click.Parameter] = [
    _INPUT,
    _OUTPUT("Directory for run.txt."),
    _READ_HERE("--corpus ID", "Corpus of ir_datasets, if INPUT has only topics."),
    _READ(
        "--statistics FILE",
        "Use the statistics of the whole collection; INPUT is one part of it. none: use those of INPUT, even "
        "if the baseline ships some.",
    ),
    _READ_HERE("--keep-statistics FILE", "Write the statistics of INPUT to FILE, for --statistics."),
    _TAG,
    _TEAM,
]
_COMMON_OPTIONS: list[click.Parameter] = [*INPUT_AND_OUTPUT, *runners()]


@click.command(
    cls=RunCommands,
    common_options=_COMMON_OPTIONS,
    options_metavar=None,
    subcommand_metavar="BASELINE -i INPUT -o DIR [OPTION]...",
    example="touche run bm25 -i spot-check/arguments -o out/bm25\n"
    "touche run dph -i spot-check/arguments -o out/dph",
)
def run() -> None:
    """Run a baseline on an input directory and write run.txt.

    BASELINE is a name from the list below, or the path of a folder with a baseline.py, such as ./my-team.
    A folder's code runs on this machine, even for its --help, unless --runner names a container program.
    To see its options, run: touche run BASELINE --help
    """


def _run(
    baseline: str | Baseline,
    cpus: float,
    memory: str,
    seconds: float,
    tag: str | None,
    team: str | None,
    **values: Any,
) -> None:
    """Runs a baseline. ``values`` are further arguments of ``write_run``."""
    check_runner(values["runner"])
    limits = Limits(cpus, memory, seconds)
    written = write_run(baseline, tag=tag or "", team=team or "", limits=limits, log=tell, **values)
    warn(*written.warnings, subject=written.baseline)
    if written.runner == HERE:
        tell(f"{written.baseline}: wrote {written.path} in {written.seconds:.1f} s")
    else:  # the container has already said what it wrote
        tell(f"{written.baseline}: {written.runner} took {written.seconds:.1f} s")


@command(f"touche run {ALL} -i {_EXAMPLE} -o out", _INPUT, _OUTPUT("Directory for BASELINE/run.txt."), _TEAM)
def _run_all(dataset: str, output: str, team: str | None) -> int:
    """Run every baseline that fits the input, and write its run to DIR/BASELINE/run.txt.

    Each baseline has its default options. The others are listed with the reason, e.g. that the documents are
    no images, or that an extra is not installed. Exit with 2 if a baseline failed, or if none fits.
    """
    from touche.runners.all_baselines import Attempt, run_all  # here, because a single run doesn't need it

    attempts = list[Attempt]()
    for attempt in run_all(dataset, Path(output), team=team or ""):
        attempts.append(attempt)
        if attempt.written:
            warn(*attempt.written.warnings, subject=attempt.baseline)
            tell(f"{attempt.baseline}: wrote {attempt.written.path} in {attempt.written.seconds:.1f} s")
    without_run = [attempt for attempt in attempts if not attempt.written]
    for attempt in sorted(without_run, key=attrgetter("is_failure")):
        echo(f"{attempt.baseline} {'failed' if attempt.is_failure else 'does not fit'}: {attempt.reason}")
    failures = sum(attempt.is_failure for attempt in attempts)
    runs = len(attempts) - len(without_run)
    echo(
        f"{counted(runs, 'run')} of {counted(len(attempts), 'baseline')} in {output}; "
        f"{len(without_run) - failures} do not fit, {failures} failed"
    )
    return 0 if runs and not failures else UNUSABLE


def _image_command(name: str, runner: str) -> click.Command:
    """Creates the command that runs a baseline's image. It passes unknown words on to the image."""
    from touche.runners.image_builds import image_name  # here, because an image doesn't need it

    def callback(**values: Any) -> None:
        _run(name, words=click.get_current_context().args, **values)

    program = runner if runner in CONTAINER_PROGRAMS else "docker"  # tira-run uses Docker
    image = image_name(baseline_folder(name).resolve().name)
    return Command(
        name,
        callback=callback,
        params=_COMMON_OPTIONS,
        context_settings=_LENIENT,
        help="Run the image of a baseline. Other options than these go to the image, which checks them.\n\n"
        f"To show them, run: {program} run --rm {image} --help",
        example=f"touche run {name} --runner {runner} -i {_example_of_input(name)} -o out/{name}",
    )


def _example_of_input(name: str) -> str:
    """Returns a part of the toy collection that the baseline can rank, according to its expected.toml."""
    parts = parts_in_expected(name)
    if not parts or _EXAMPLE in parts:
        return _EXAMPLE
    return mode(parts)


def _first_line(name: str) -> str:
    """Returns the first line of a baseline's file, and the extra it needs if that isn't installed."""
    if name == ALL:
        return "All baselines above that fit the input, each with its default options."
    docstring = None
    with suppress(OSError, ValueError, SyntaxError):  # running the baseline will report the error
        docstring = ast.get_docstring(ast.parse((baseline_folder(name) / FILE).read_bytes()))
    extra = missing_extra(name)
    return (f"(needs the extra {extra}) " if extra else "") + (docstring or "").partition("\n")[0]


def baseline_option(parameter: Parameter, text: str, section: str) -> Option:
    """Creates the option for a baseline's parameter."""
    default = parameter.default
    kind = _type(parameter.annotation, default)
    is_flag = kind is bool
    is_blank = isinstance(default, tuple) and not any(default)  # a tuple of empty strings
    name = parameter.name.replace("_", "-")
    return Option(
        [parameter.name, f"--{name}/--no-{name}" if is_flag else f"--{name}"],
        section=section,
        type=kind,
        is_flag=is_flag,
        default=default,
        show_default=not is_blank,
        help=text,
    )


def baseline_command(
    baseline: Baseline,
    name: str,
    run: Callable[..., object],
    common_options: Sequence[click.Parameter],
    example: str,
    make: Callable[[Parameter, str, str], Option] = baseline_option,
) -> Command:
    """Creates a baseline's command, with its own options in front of those that all baselines share.

    Args:
        baseline: the baseline.
        name: the command's name.
        run: called with the baseline, the values of its own options, and the values of the others by name.
        common_options: the options that all baselines share.
        example: working command lines, one per line.
        make: creates an own option from its declaration, help text and section.

    Raises:
        InputError: if the name of an own option is one of a common option.
    """

    def callback(**values: Any) -> None:
        options = {name_of_option: values.pop(name_of_option) for name_of_option in baseline.options}
        with own_frames(baseline):
            run(baseline, options=options, **values)

    command = Command(
        name,
        callback=callback,
        params=[*common_options],
        # \b keeps click from wrapping a paragraph again.
        help="\n\n".join(f"\b\n{paragraph}" for paragraph in baseline.description.split("\n\n")),
        example=example,
    )
    taken = {"help", "--help"}.union(*map(_option_names, command.params))  # click adds --help later
    helps = baseline.option_help
    own_options = list[click.Parameter]()
    for name_of_option, parameter in baseline.options.items():
        option = make(parameter, helps.get(name_of_option, ""), f"Options of {baseline.name}")
        clashes = _option_names(option) & taken
        if clashes:
            problem = f"an option cannot be called {option.name!r}, because {min(clashes)} is taken"
            file = baseline_folder(baseline.name_or_path) / FILE
            raise InputError(file, problem, "rename it", baseline.line)
        taken |= _option_names(option)
        own_options.append(option)
    command.params = [*own_options, *command.params]
    return command


def _option_names(option: click.Parameter) -> set[str]:
    """Returns an option's names, including its value's Python name."""
    return {*option.opts, *option.secondary_opts, str(option.name)}


def _type(declared: Any, default: Any) -> Any:
    """Returns an option's type: the declared one, or else the type of the default. For a tuple, it's its
    values' type.
    """
    if get_origin(declared) is Literal:
        return click.Choice(get_args(declared))
    if not isinstance(default, tuple):
        return declared if declared in DEFAULT_TYPES else type(default)
    declared_types = get_args(declared)
    is_usable = len(declared_types) == len(default) and all(kind in DEFAULT_TYPES for kind in declared_types)
    return declared_types if is_usable else tuple(type(value) for value in default)
