"""touche fuse"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from touche.cli.commands import command, command_line, option
from touche.cli.options import DEPTH, RUNS, naming, output
from touche.cli.output import FORMATS, Column, Sheet, counted, quietly, render, tell, warn
from touche.evaluation import fusion as library
from touche.evaluation.fusion import METHODS
from touche.io.identifiers import quoted
from touche.trec.columns import RunLine
from touche.trec.framed import Table
from touche.trec.runs import RUN_FILE, decimal


def _numbers(ctx: click.Context, param: click.Parameter, text: str | None) -> list[float] | None:
    """Reads weights such as 0.7,0.3."""
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
    option("--weights LIST", "Weight of each RUN's scores, such as 0.7,0.3.", callback=_numbers),
    DEPTH,
    option("--format style", "Also print the run in this format; table prints nothing.", FORMATS),
)
def fuse(
    runs: Sequence[Path], method: str, weights: Sequence[float] | None, style: str, **settings: Any
) -> None:
    """Fuse two or more RUNs into one; documents that several RUNs rank high come first.

    \b
    rrf: reciprocal rank fusion (Cormack et al. 2009), the sum of 1 / (60 + rank) over the runs with the
         document. Ranks follow trec_eval's order by score.
    combsum: the sum of the scores (Fox and Shaw 1994). The scores of each run and topic are scaled first, so
         that the last document has 0 and the first document has 1 (min-max, Lee 1997).
    combmnz: combsum times the number of runs with the document (Fox and Shaw 1994).
    z-score: the sum of (score - mean) / standard deviation (Montague and Aslam 2001). If a run lacks a
         document, the document gets the run's mean score.
    rbc: rank-biased centroids (Bailey et al. 2017), the sum of 0.05 * 0.95^(rank - 1).

    A run adds nothing to a document that it lacks. A topic that some runs lack is fused from the other runs.
    Ties are ordered by descending document id. A document's stance comes from the first RUN that has the
    document. A RUN with weight 0 is ignored.
    """
    fused = quietly(library.fuse, runs, method, weights=weights, command=command_line(), **settings)
    warn(*fused.warnings)
    if style != "table":  # the default, which prints no hits, because run.txt has them
        hits = Table(RunLine, tuple(fused))
        render(hits, style, [Sheet(_HITS, hits)] if hits else [])
    topics = counted(len(fused.by_topic), "topic")
    tell(f"fuse: {settings['output'] / RUN_FILE} of {len(runs)} runs, {topics}")
