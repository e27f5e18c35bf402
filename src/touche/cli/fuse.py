"""touche fuse"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from touche.cli.commands import command, option
from touche.cli.options import DEPTH, RUNS, SCORING, naming, output
from touche.cli.output import command_line, counted, show_folds, tell, warn
from touche.evaluation.cross_validation import FOLDS
from touche.evaluation.fusion import METHODS, Ranking, doubts_of, fused_rankings
from touche.io.identifiers import quoted
from touche.io.opening import check_distinct
from touche.tasks import task_scored_by
from touche.tira.outputs import RUN_FILE, write_run
from touche.tira.provenance import Software, data_of_runs, metadata
from touche.trec.runs import RunLine, decimal, read_run

_NO_TUNING = "none"


def _numbers(ctx: click.Context, param: click.Parameter, text: str | None) -> list[float] | None:
    """Reads weights such as 0.7,0.3."""
    numbers = [decimal(part.strip()) for part in text.split(",")] if text is not None else []
    if None in numbers:
        raise click.BadParameter(f"{quoted(text)} is not a list of numbers; write it as 0.7,0.3.", ctx, param)
    return [number for number in numbers if number is not None] or None


@command(
    "touche fuse out/bm25/run.txt out/dph/run.txt -o out/fused",
    *naming(default="touche- and the method"),
    RUNS,
    output(),
    option("--method", choices=METHODS),
    option(
        "--weights LIST",
        "Weight of each RUN's scores, such as 0.7,0.3.",
        callback=_numbers,
    ),
    DEPTH,
    option("--tune", "Tune the weights of each topic on other topics.", [_NO_TUNING, *FOLDS]),
    *SCORING,
    option("--dimension NAME", "Dimension to tune for; by default the task's first."),
)
def fuse(
    runs: Sequence[Path],
    output: Path,
    method: str,
    weights: Sequence[float] | None,
    depth: int,
    tag: str | None,
    team: str | None,
    tune: str,
    dimension: str | None,
    **scoring: Any,
) -> None:
    """Fuse two or more RUNs into one; documents that several RUNs rank high come first.

    \b
    rrf: reciprocal rank fusion (Cormack et al. 2009), the sum of 1 / (60 + rank) over the runs with the
         document. Ranks follow trec_eval's order by score.
    combsum: the sum of the scores (Fox and Shaw 1994). Each topic's scores are scaled first: 0 for a run's
         last document and 1 for its first (min-max, Lee 1997).
    combmnz: combsum times the number of runs with the document (Fox and Shaw 1994).
    z-score: the sum of (score - mean) / standard deviation (Montague and Aslam 2001). A document that a
         run lacks counts as if it had the run's mean score.
    rbc: rank-biased centroids (Bailey et al. 2017), the sum of 0.05 * 0.95^(rank - 1).

    A run adds nothing to a document that it lacks. A topic that some runs lack is fused from the other runs.
    Ties are ordered by descending document id. A document's stance comes from the first RUN that has the
    document. A RUN with weight 0 is ignored.

    --tune tries all weights in steps of 0.1 that add up to 1. It fuses each topic with the weights that are
    best on other topics. So no topic affects its own weights, and the run's score is cross-validated.
    """
    if len(runs) < 2:
        raise click.UsageError("fusion needs at least two runs; pass another RUN")
    if tune == _NO_TUNING and (dimension or any(scoring.values())):
        raise click.UsageError("--task, --measure, --qrels and --dimension are for tuning; add --tune")
    if tune != _NO_TUNING and weights:
        raise click.UsageError("--weights and --tune exclude each other; omit one of them")
    tag = tag or f"touche-{method}"
    started = datetime.now(UTC)
    check_distinct(runs)
    read, data = [read_run(path) for path in runs], data_of_runs(runs)
    warn(*doubts_of(read))
    options: dict[str, Any] = {"method": method, "depth": depth, "tag": tag}
    if tune == _NO_TUNING:
        rankings: Sequence[Ranking] = list(fused_rankings(read, METHODS[method], depth, weights))
        options |= {"weights": weights} if weights else {}
    else:
        rankings, of_tuning = _tuned(read, method, depth, tune, dimension, scoring)
        options |= of_tuning
    about = (fuse.help or "").partition("\n")[0]
    software = Software(f"touche fuse --method {method}", team or "", command_line(), about)
    text = metadata(software, tag, options, data, started, datetime.now(UTC))
    write_run(output, [topic for topic, _ in rankings], rankings, tag, lambda: text)
    tell(f"fuse: {output / RUN_FILE} of {len(runs)} runs, {counted(len(rankings), 'topic')}")


def _typed(weights: Sequence[float]) -> str:
    return ",".join(map(str, weights))


def _tuned(
    runs: Sequence[Sequence[RunLine]],
    method: str,
    depth: int,
    tune: str,
    dimension: str | None,
    scoring: dict[str, Any],
) -> tuple[Sequence[Ranking], dict[str, Any]]:
    """Tunes and prints weights; returns the fused rankings and the options for the metadata."""
    from touche.tuning.weights import tuned  # here, because it takes long to import

    task = task_scored_by(**scoring)
    found = tuned(runs, METHODS[method], depth, task, tune, dimension)
    measure = task.measure_for(found.dimension)
    show_folds(f"{tune}, {measure} {found.dimension} of trec_eval", found.cross_validation, _typed)
    weights = {topic: _typed(of_topic) for topic, of_topic in found.weights.items()}
    return found.rankings, {
        "tune": tune,
        "dimension": found.dimension,
        "measure": str(measure),
        "weights": weights,
    }
