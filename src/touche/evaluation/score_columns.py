"""Columns of scores in printed tables and on pages; CSV, JSON and frames have all fields of a score."""

from dataclasses import dataclass
from typing import Any

from touche.tasks.measures import measure_of

MEANS, TOPICS, BOUNDS, STANCES, PAGE = "means", "topics", "bounds", "stances", "page"  # kinds of tables


@dataclass(frozen=True)
class ScoreColumn:
    """A column of scores.

    Attributes:
        key: field of ``Score`` or ``TopicScore`` by which a page sorts the column.
        heading: heading; ``{measure}`` stands for the measure, and ``{judged}`` for its Judged@k.
        where: the kinds of tables with this column; ``bounds`` means those of ``--bounds``.
        format: the cell, with ``{value}`` for the field's value; ``{score}`` has the other fields.
        missing: why a score can have no value.
        help: what the column shows, as a sentence below the table of a page.
    """

    key: str
    heading: str
    where: tuple[str, ...]
    format: str = "{value}"
    missing: str = ""
    help: str = ""

    def heading_of(self, measure: str) -> str:
        """Returns the heading in a table of a measure."""
        return self.heading.format(measure=measure, judged=measure_of(measure).judged)

    def value(self, score: Any) -> Any:
        """Returns the value by which a page sorts."""
        return getattr(score, self.key)

    def cell(self, score: Any) -> str | None:
        """Returns the text of a cell; None if the score has no value."""
        value = self.value(score)
        return None if value is None else self.format.format(value=value, score=score)


_ALL = (MEANS, TOPICS, STANCES)
_THREE = "{value:.3f}"
_ONE_TOPIC = "an interval needs at least two topics"
_NO_BOUNDS = (
    "only nDCG@k, P@k, RR and AP@k have bounds; means of touche only if each topic has a relevant document"
)
SCORE_COLUMNS = (
    ScoreColumn("name", "run", _ALL),
    ScoreColumn("label", "dimension", _ALL),
    ScoreColumn("evaluator", "evaluator", (MEANS, TOPICS)),
    ScoreColumn("topic", "topic", (TOPICS,)),
    ScoreColumn("mean", "{measure}", (MEANS,), _THREE, "there is no topic to average over"),
    ScoreColumn("mean", "{measure}", (STANCES,), _THREE, "no document has a judged stance"),
    ScoreColumn("value", "{measure}", (TOPICS,), _THREE),
    ScoreColumn(
        key="low",
        heading="95% interval",
        where=(MEANS, STANCES),
        format="{score.low:.3f} to {score.high:.3f}",
        missing=_ONE_TOPIC,
    ),
    ScoreColumn("judged", "{judged}", (MEANS, TOPICS, PAGE), "{value:.2f}", "the run lacks the topic"),
    ScoreColumn("least", "least", (BOUNDS,), _THREE, _NO_BOUNDS),
    ScoreColumn("greatest", "greatest", (BOUNDS,), _THREE, _NO_BOUNDS),
    ScoreColumn(
        key="least",
        heading="Bounds",
        where=(PAGE,),
        format="{score.least:.3f} to {score.greatest:.3f}",
        help="Bounds are the least and the greatest value that any grades of unjudged results could give.",
    ),
    ScoreColumn("results", "N", (STANCES,), "{value:,}"),
    ScoreColumn("topics", "topics", (MEANS, STANCES)),
    ScoreColumn("title", "title", (TOPICS,)),
)


def score_columns(measure: str, *kinds: str) -> list[ScoreColumn]:
    """Returns the columns of a table; a share of judged documents needs no second column for its Judged@k.

    Args:
        measure: the measure of the table.
        kinds: the kinds of the table.
    """
    is_share = measure_of(measure).is_judged_share
    return [
        column
        for column in SCORE_COLUMNS
        if not {*kinds}.isdisjoint(column.where) and not (is_share and column.key == "judged")
    ]
