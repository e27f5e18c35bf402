"""touche fuse"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from touche.cli.commands import command, option
from touche.cli.options import DEPTH, RUNS, each_once, naming, output
from touche.cli.output import command_line, counted, tell, warn
from touche.errors import InputError
from touche.formats.runs import read_run
from touche.fusion import METHODS, doubts_of, fused_rankings
from touche.io.writing import write_whole
from touche.tira.outputs import METADATA_FILE, RUN_FILE, write_run
from touche.tira.provenance import Software, data_of_runs, metadata


@command(
    "touche fuse out/bm25/run.txt out/dph/run.txt -o out/fused",
    *naming(default="touche- and the method"),
    RUNS,
    output(),
    option("--method", choices=METHODS),
    DEPTH,
)
def fuse(
    runs: Sequence[Path], output: Path, method: str, depth: int, tag: str | None, team: str | None
) -> None:
    """Fuse two or more RUNs into one, which ranks high what several of them rank high.

    \b
    rrf: reciprocal rank fusion (Cormack et al. 2009), the sum of 1 / (60 + rank) over the runs that
         have a document. The ranks are those of the scores, as trec_eval orders them.
    combsum: the sum of the scores (Fox and Shaw 1994). As scores of two systems have no range in common,
         those of a topic become 0 for a run's last document and 1 for its first (min-max, Lee 1997).
    combmnz: that sum, times how many runs have the document (Fox and Shaw 1994).

    A run that lacks a document gives it nothing, and a topic that some runs lack is fused of the others. Ties
    are ordered by document id descending. A stance is that of the first RUN that has the document.
    """
    if len(runs) < 2:
        raise click.UsageError("one run is nothing to fuse; give two or more")
    tag = tag or f"touche-{method}"
    target = output / RUN_FILE
    if target.resolve() in [path.resolve() for path in runs]:
        raise InputError(target, "one of the runs would be written over", "choose another directory")
    started = datetime.now(UTC)
    read, data = [read_run(path) for path in each_once(runs)], data_of_runs(runs)
    warn(*doubts_of(read))
    rankings = list(fused_rankings(read, METHODS[method], depth))
    write_run(output, [topic for topic, _ in rankings], rankings, tag)
    about = (fuse.help or "").partition("\n")[0]
    software = Software(f"touche fuse --method {method}", team or "", command_line(), about)
    options = {"method": method, "depth": depth, "tag": tag}
    text = metadata(software, tag, options, data, started, datetime.now(UTC))
    write_whole(output / METADATA_FILE, text)
    tell(f"fuse: {target} of {len(runs)} runs, {counted(len(rankings), 'topic')}")
