"""touche fuse"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from touche.cli.commands import Command
from touche.cli.options import DEPTH, RUNS, each_once, naming, output
from touche.cli.output import command_line, counted, tell, warn
from touche.errors import InputError
from touche.formats.runs import RunLine, format_run, ranking, read_run
from touche.fusion import METHODS, fused
from touche.io.writing import write_whole
from touche.tira.outputs import METADATA_FILE, RUN_FILE, prepare_output
from touche.tira.provenance import NotedRuns, Software, metadata


@click.command(
    cls=Command,
    params=naming(default="touche- and the method"),
    example="touche fuse out/bm25/run.txt out/dph/run.txt -o out/fused",
)
@RUNS
@output()
@click.option("--method", type=click.Choice(list(METHODS)), default="rrf")
@DEPTH
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
    if (output / RUN_FILE).resolve() in [path.resolve() for path in runs]:
        raise InputError(
            output / RUN_FILE, "one of the runs would be written over", "choose another directory"
        )
    started = datetime.now(UTC)
    read, noted = [read_run(path) for path in each_once(runs)], NotedRuns.of(runs)
    warn(*_doubts(read))
    prepare_output(output)
    topics = list(_topics(read, method, depth, tag))
    write_whole(output / RUN_FILE, "".join(topics))
    software = Software(f"touche fuse --method {method}", team or "", command_line(), _about())
    options = {"method": method, "depth": depth, "tag": tag}
    told = metadata(software, tag, options, noted, started, datetime.now(UTC))
    write_whole(output / METADATA_FILE, told)
    tell(f"fuse: {output / RUN_FILE} of {len(runs)} runs, {counted(len(topics), 'topic')}")


def _doubts(runs: Sequence[Sequence[RunLine]]) -> Iterator[str]:
    """Says what runs of different tasks show by."""
    topics = [{line.topic for line in run} for run in runs]
    if alone := set[str]().union(*topics) - topics[0].intersection(*topics):
        yield f"{counted(len(alone), 'topic')} in some of the runs only; are all of one task?"
    documents = Counter(pair for run in runs for pair in {(line.topic, line.document) for line in run})
    if max(documents.values()) < 2:
        yield "no two runs have a document of a topic in common; are all of one task?"


def _topics(runs: Sequence[Sequence[RunLine]], method: str, depth: int, tag: str) -> Iterator[str]:
    """The lines of each topic."""
    stances: dict[str, dict[str, str]] = {}
    for line in (line for run in runs for line in run):
        stances.setdefault(line.topic, {}).setdefault(line.document, line.stance)
    for topic, hits in fused(runs, METHODS[method]):
        yield format_run(topic, ranking(hits, depth), tag, stances[topic])


def _about() -> str:
    return (fuse.help or "").partition("\n")[0]
