"""touche fuse"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from touche.cli.commands import command, command_line, option
from touche.cli.options import DEPTH, RUNS, naming, output
from touche.cli.output import counted, render, tell, warn
from touche.evaluation import fusion as library
from touche.evaluation.fusion import LARGEST_K, METHODS
from touche.io.formats import FORMATS
from touche.io.identifiers import quoted
from touche.io.tables import Column, Sheet
from touche.trec.columns import RunLine
from touche.trec.framed import Table
from touche.trec.runs import RUN_FILE, decimal


def _numbers(ctx: click.Context, param: click.Parameter, text: str | None) -> list[float] | None:
    """Parses weights such as 0.7,0.3."""
    if text is None:
        return None
    numbers = list[float]()
    for part in text.split(","):
        number = decimal(part.strip())
        if number is None:
            problem = f"{quoted(text)} is not a list of numbers"
            raise click.BadParameter(f"{problem}; write it as 0.7,0.3.", ctx, param)
        numbers.append(number)
    return numbers


_HITS = [
    Column("topic", "topic"),
    Column("stance", "stance"),
    Column("document", "document"),
    Column("rank", "rank"),
    Column("score", "score", "{:.6f}".format),
    Column("tag", "tag"),
]


@command(
    "touche fuse out/bm25/run.txt out/dph/run.txt -o out/fused",
    *naming(default="touche- and the method"),
    RUNS,
    output(),
    option("--method", choices=METHODS),
    option("--k N", "Constant of rrf.  [default: 60]", type=click.IntRange(0, LARGEST_K)),
    option("--weights LIST", "Weights of the RUNs' scores, such as 0.7,0.3.", callback=_numbers),
    DEPTH,
    option("--format", "Also print the run in this format; table prints nothing.", FORMATS),
)
def fuse(
    runs: Sequence[Path], method: str, weights: Sequence[float] | None, format: str, **settings: Any
) -> None:
    """Fuse two or more RUNs into one, which ranks documents high that several RUNs rank high.

    \b
    rrf: reciprocal rank fusion (Cormack et al. 2009), the sum of 1 / (k + rank) over the runs with the
         document; k is 60 unless you pass --k. Ranks follow trec_eval's order by score.
    combsum: the sum of the scores (Fox and Shaw 1994). Each run's scores for a topic are scaled first, so
         that its last document gets 0 and its first gets 1 (min-max, Lee 1997).
    combmnz: combsum times the number of runs with the document (Fox and Shaw 1994).
    z-score: the sum of (score - mean) / standard deviation (Montague and Aslam 2001). A run without the
         document contributes its mean score.
    rbc: rank-biased centroids (Bailey et al. 2017), the sum of 0.05 * 0.95^(rank - 1).

    Unless noted, a run without the document contributes nothing to it. A topic that some runs don't have is
    fused from the other runs. Ties are ordered by descending document id. A document's stance comes from the
    first RUN that contains it. RUNs with weight 0 are ignored.
    """
    fused = library.fuse(runs, method, weights=weights, command=command_line(), **settings)
    warn(*fused.warnings)
    if format != "table":  # the default format prints no hits, because they're in run.txt
        hits = Table(RunLine, tuple(fused))
        render(hits, format, [Sheet(_HITS, hits)] if hits else [])
    topics = counted(len(fused.by_topic), "topic")
    tell(f"fuse: {settings['output'] / RUN_FILE} of {len(runs)} runs, {topics}")
