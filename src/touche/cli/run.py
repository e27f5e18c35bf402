"""touche run"""

import errno
import logging
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from inspect import Parameter
from pathlib import Path
from textwrap import shorten
from typing import Any, Literal, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from touche import baselines
from touche.baselines.loader import DEFAULTS, FILE, frames_of
from touche.baselines.method import Baseline
from touche.baselines.options import arguments_of
from touche.cli.commands import BASELINE, INPUT, Command, Group
from touche.cli.output import BROKEN, tell, warn
from touche.cli.sandbox import check_limits, describe, options_of
from touche.data import places
from touche.errors import InputError, ToucheError
from touche.files import is_word, quoted
from touche.formats.documents import AnyDocument
from touche.formats.parquet import check_no_fields
from touche.formats.statistics import StatisticsFiles
from touche.progress import say
from touche.sandbox.limits import Limits
from touche.tira import inputs
from touche.tira.outputs import OUTPUT_VARIABLE, RUN_FILE, prepare_output

_LONGEST = 200  # characters of an error in a line
_NOBODYS_FAULT = (errno.EPIPE, errno.ENOSPC)  # standard output is closed, or a disk is full

_log = logging.getLogger("touche")


class Baselines(Group):
    """A command for each baseline, made from its folder, with the baseline's own options."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return baselines.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        try:
            return command_of(baselines.load(cmd_name), cmd_name)
        except ToucheError:
            if not ctx.resilient_parsing:  # the shell asks what may follow, and shows no errors
                raise
            return None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        options = click.Command.shell_complete(self, ctx, incomplete)
        return options or BASELINE.shell_complete(ctx, click.Argument(["baseline"]), incomplete)


@click.command(
    cls=Baselines,
    options_metavar=None,
    subcommand_metavar="BASELINE -i INPUT -o DIR [OPTION]...",
    example="touche run bm25 -i spot-check/arguments -o out/bm25",
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
    click.Option(["--team"], metavar="NAME", help="Whose run it is, for ir-metadata.yml."),
]
_SPARK, _MASTER = "spark", "local[*]"
_URI = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_RUNNERS: list[click.Parameter] = [
    *options_of({_SPARK: "the workers of a Spark cluster"}),
    click.Option(
        ["--master"],
        default=_MASTER,
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
    """The command that runs a baseline."""
    own = _own_options(baseline)
    paragraphs = "\n\n".join(f"\b\n{paragraph}" for paragraph in baseline.description.split("\n\n"))

    def callback(
        given: str,
        output: str,
        corpus: str | None,
        keep_fields: str | None,
        statistics: Path | None,
        keep_statistics: Path | None,
        tag: str | None,
        team: str | None,
        runner: str,
        master: str,
        topics: Path | None,
        resume: bool,
        cpus: float,
        memory: str,
        seconds: float,
        **options: Any,
    ) -> None:
        check_limits(runner)
        if runner != _SPARK and (master != _MASTER or topics or resume):
            problem = "--master, --topics and --resume are Spark's"
            raise ToucheError(f"{problem}; leave them out, or add --runner spark")
        if not given or not output:
            raise ToucheError("-i or -o is empty; name the input and the output directory")
        source = _Source(given, corpus, keep_fields, StatisticsFiles(statistics, keep_statistics))
        names = _names(tag, team)
        if runner == "local":
            _run(baseline, source, output, options, names, _here)
        elif runner == _SPARK:
            parts = Path(output) / "parts" if resume else None
            _run(baseline, source, output, options, names, partial(_on_spark, master, topics, parts))
        elif beside := keep_fields or statistics or keep_statistics:
            problem = f"a sandbox sees its input and writes run.txt only, not {beside}"
            raise ToucheError(f"{problem}; leave --runner out")
        elif corpus is not None:
            raise ToucheError("a sandbox has no network to get a corpus; leave --corpus out, or --runner")
        else:
            changed = arguments_of(baseline.changed(options) | names.given)
            _run_sandboxed(name, changed, given, Path(output), runner, Limits(cpus, memory, seconds))

    params = [*_COMMON_OPTIONS, *_RUNNERS, *own]
    example = f"touche run {name} -i spot-check/arguments -o out/{baseline.name}"
    return Command(name, callback=callback, params=params, help=paragraphs, example=example)


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


def _names(tag: str | None, team: str | None) -> baselines.Names:
    """What the run is to be called.

    Raises:
        ToucheError: if the tag cannot be a column of run.txt, or the team is empty.
    """
    if tag is not None and not is_word(tag):
        problem = f"--tag {quoted(tag)} is empty, too long, or has white space or control characters"
        raise ToucheError(f"{problem}; give one word, such as my-team-run-1")
    if team is not None and not team.strip():
        raise ToucheError("--team is empty; name the team, or leave it out")
    return baselines.Names(tag or "", team or "")


def _run_sandboxed(
    name: str, arguments: Sequence[str], given: str, output: Path, runner: str, limits: Limits
) -> None:
    from touche.sandbox.runs import RUNNERS, Job  # here, for it takes as long to import as a small run

    places.check_there(given)
    job = Job(name, arguments, given, output)
    usage = RUNNERS[runner](job, limits, tell)
    tell(f"{job.name}: {job.output / RUN_FILE} by {runner}: {describe(usage)}")


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


@dataclass(frozen=True)
class _Source:
    """What a run is given, and what it keeps of it.

    Attributes:
        given: an input directory, or the id of a dataset.
        corpus: one of ir_datasets, or None.
        keep_fields: the folder for the fields of web pages, for Spark also an address, or None.
        statistics: files for the statistics.
    """

    given: str
    corpus: str | None
    keep_fields: str | None
    statistics: StatisticsFiles

    def open(self, *, needs_documents: bool) -> inputs.Input:
        found = places.opened(self.given, self.corpus, needs_documents=needs_documents)
        return replace(found, documents=self.asked(found.documents))

    def asked(self, documents: Iterable[AnyDocument]) -> Any:
        """The same collection, with what is asked of it beside documents."""
        if self.statistics.asked:
            documents = inputs.with_statistics(documents, self.statistics)
        return inputs.keeping_fields(documents, self.keep_fields) if self.keep_fields else documents


def _run(
    baseline: Baseline,
    given: _Source,
    output: str,
    options: dict[str, Any],
    names: baselines.Names,
    opened: Callable[[Baseline, _Source], AbstractContextManager[inputs.Input]],
) -> None:
    started = time.monotonic()
    with opened(baseline, given) as source:
        tell(f"{baseline.name}: {source.took}")
        if baseline.name in baselines.names() and not baseline.is_shipped and not names.tag:
            problem = f"{baseline.typed} is not that of touche-baselines, but its runs are tagged so"
            warn(f"{problem}; rename the folder", baseline.name)
        with _own_frames(baseline):
            about = replace(source, statistics=given.statistics.known)
            without_hits = baselines.run(baseline, about, Path(output), options, names)
        for topic in without_hits:
            warn(f"nothing found for topic {topic.number}: {topic.title}", baseline.name)
        if given.statistics.asked and not given.statistics.used:
            prepare_output(Path(output))  # for it is not the run that was asked for
            problem = f"{baseline.name} ranks without touche.scan, so that no statistics were taken or kept"
            raise ToucheError(f"{problem}; leave --statistics and --keep-statistics out")
        seconds = time.monotonic() - started
        tell(f"{baseline.name}: wrote {Path(output) / RUN_FILE} in {seconds:.1f} s")


def _here(baseline: Baseline, given: _Source) -> AbstractContextManager[inputs.Input]:
    for each in filter(_URI.match, (given.given, given.keep_fields or "")):
        raise ToucheError(f"{each}: only Spark opens addresses; add --runner spark, or give a folder")
    if given.keep_fields:
        check_no_fields(given.keep_fields, (path.name for path in Path(given.keep_fields).glob("*")))
    return nullcontext(given.open(needs_documents=baseline.needs_documents))


@contextmanager
def _on_spark(
    master: str, topics: Path | None, parts: Path | None, baseline: Baseline, given: _Source
) -> Iterator[inputs.Input]:
    from touche import cluster  # here, for it takes as long to import as a small run

    if parts and given.keep_fields:
        problem = "--resume goes on from what was read, of which fields were kept then"
        raise ToucheError(f"{problem}; leave it or --keep-fields out")
    is_uri = _URI.match(given.given)
    if is_uri and given.corpus is not None:
        raise ToucheError(f"{given.given}: an address has its own documents; leave --corpus out")
    found = None if is_uri else given.open(needs_documents=baseline.needs_documents)
    with (
        cluster.started(master, baseline.name) as context,
        cluster.folder_sent(context, baseline.folder) as ship,
    ):
        far = (given.given, topics, given.asked)
        source = cluster.find(context, ship, found) if found else cluster.find_remote(context, ship, *far)
        with cluster.saved(source, parts, baseline.folder) if parts else nullcontext(source) as shown:
            yield shown


@contextmanager
def _own_frames(baseline: Baseline) -> Iterator[None]:
    """Shows an error of a baseline's code with its own frames; --verbose shows all."""
    try:
        yield
    except ToucheError:
        raise
    except Exception as error:
        frames = list(frames_of(baseline.folder, error)) if baseline.folder else []
        if not frames or getattr(error, "errno", None) in _NOBODYS_FAULT:
            raise
        told = traceback.TracebackException.from_exception(error)
        if not _log.isEnabledFor(logging.DEBUG):
            told.stack = traceback.StackSummary.from_list([told.stack[each.number] for each in frames])
        for line in "".join(told.format()).splitlines():
            say(line)
        where = f"{baselines.folder_of(baseline.typed) / frames[-1].path}:{frames[-1].line}"
        what = shorten(f"{type(error).__name__}: {error}", _LONGEST)
        more = "" if _log.isEnabledFor(logging.DEBUG) else ", or see all frames with --verbose"
        say(f"touche: {where}: {what}; repair it{more}")
        sys.exit(BROKEN)
