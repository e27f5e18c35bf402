"""touche spark"""

from functools import partial
from typing import Any

import click

from touche.baselines.method import Baseline
from touche.cli.commands import option
from touche.cli.output import tell, warn
from touche.cli.run import INPUT_AND_OUTPUT, Baselines, baseline_command
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
        example = f"touche spark {name} -i hdfs://namenode/clueweb12 -o out/{baseline.name} --master yarn"
        return baseline_command(baseline, name, _run, _COMMON_OPTIONS, example)


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
