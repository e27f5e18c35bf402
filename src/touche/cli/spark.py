"""touche spark"""

from functools import partial
from typing import Any

import click

from touche.baselines.method import Baseline
from touche.cli.commands import Command, option
from touche.cli.frames import own_frames
from touche.cli.output import tell, warn
from touche.cli.run import INPUT_AND_OUTPUT, Baselines, add_own_options, baseline_option, help_text
from touche.lab.spark.running import MASTER, run_on_spark

_CLUSTER = partial(option, section="Cluster")
_COMMON_OPTIONS: list[click.Parameter] = [
    *INPUT_AND_OUTPUT,
    _CLUSTER("--master URL", "Spark's address, such as spark://host:7077 or yarn.", default=MASTER),
    _CLUSTER("--topics FILE", "Topics, if INPUT is an address, such as s3a://bucket/corpus."),
]


class OnSpark(Baselines):
    """A group with a command for each baseline, which runs on Spark."""

    def make_command(self, baseline: Baseline, name: str) -> click.Command:
        def callback(**values: Any) -> None:
            options = {option: values.pop(option) for option in baseline.options}
            with own_frames(baseline):
                _run(baseline, options=options, **values)

        command = Command(
            name,
            callback=callback,
            params=_COMMON_OPTIONS,
            help=help_text(baseline),
            example=f"touche spark {name} -i hdfs://namenode/clueweb12 -o out/{baseline.name} --master yarn",
        )
        add_own_options(command, baseline, baseline_option)
        return command


@click.command(
    cls=OnSpark,
    common_options=_COMMON_OPTIONS,
    options_metavar=None,
    subcommand_metavar="BASELINE -i INPUT -o DIR --master URL [OPTION]...",
    example="touche spark bm25 -i spot-check/arguments -o out/spark",
)
def spark() -> None:
    """Run a baseline on the workers of a Spark cluster and write run.txt.

    The run is the same as that of touche run, byte for byte. The baseline must rank with touche.scan. INPUT
    can also be an address that Spark reads. You need the extra spark and Java 17.

    BASELINE is a name, or the path of a folder, whose code runs on this machine and on the workers.
    """


def _run(baseline: Baseline, tag: str | None, team: str | None, **values: Any) -> None:
    """Runs a baseline. ``values`` are further arguments of ``run_on_spark``."""
    written = run_on_spark(baseline, tag=tag or "", team=team or "", log=tell, **values)
    warn(*written.warnings, subject=written.baseline)
    tell(f"{written.baseline}: wrote {written.path} in {written.seconds:.1f} s")
