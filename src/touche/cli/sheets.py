"""Tables that several commands print."""

from collections.abc import Iterator, Sequence

from touche.evaluation.agreement import FAR, NEAR, Overlap, ScoredOverlap
from touche.io.tables import Column, Sheet, three_decimals

_PAIR = [Column("A", "run_a"), Column("B", "run_b")]
_RANKINGS = [
    *_PAIR,
    Column("topics", "topics"),
    Column(f"overlap@{NEAR}", "overlap_5", three_decimals),
    Column(f"overlap@{FAR}", "overlap_100", three_decimals),
    Column("Kendall's tau", "tau", three_decimals, missing="no topic has two documents in both runs"),
    Column(
        "tau of union",
        "tau_union",
        three_decimals,
        missing="no topic has a common document and two documents per run",
    ),
    Column("RBO", "rbo", three_decimals),
]
_SCORES = [
    *_PAIR,
    Column("dimension", "dimension"),
    Column("mean A", "mean_a", three_decimals),
    Column("mean B", "mean_b", three_decimals),
    Column("RMSE", "rmse", three_decimals),
]
_EFFECTS = [
    Column("ER", "effect_ratio", three_decimals, missing="the original scores as its baseline"),
    Column("Delta RI", "delta_ri", three_decimals, missing="a baseline scores 0"),
]


def overlap_sheets(overlaps: Sequence[Overlap]) -> Iterator[Sheet]:
    """Yields a table of the measures without judgments, and one of scores if there are any."""
    # One row per pair, because these measures are the same in all dimensions.
    pairs = {(row.run_a, row.run_b): row for row in overlaps}
    yield Sheet(_RANKINGS, pairs.values())
    scored = [row for row in overlaps if isinstance(row, ScoredOverlap)]
    if scored:
        has_effects = any(row.effect_ratio is not None or row.delta_ri is not None for row in scored)
        columns = [*_SCORES, *_EFFECTS] if has_effects else _SCORES
        measures = dict.fromkeys(row.measure for row in scored)
        yield Sheet(columns, scored, [f"{', '.join(measures)} of {scored[0].evaluator}"])
