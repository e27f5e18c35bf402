"""The columns of scores in printed tables and on pages. CSV, JSON and frames contain all fields."""

from dataclasses import dataclass
from typing import Any

from touche.tasks.measures import measure_of

MEANS, TOPICS, BOUNDS, STANCES, PAGE = "means", "topics", "bounds", "stances", "page"  # kinds of tables


@dataclass(frozen=True)
class ScoreColumn:
    """A column of scores.

    Attributes:
        key: the ``Score`` or ``TopicScore`` field that a page sorts by.
        heading: the heading; ``{measure}`` is the measure, ``{judged}`` its Judged@k.
        where: the kinds of tables with this column; ``bounds`` are those of ``--bounds``.
        format: the cell; ``{value}`` is the field's value, ``{score}`` gives access to other fields.
        missing: why a score can lack the value.
        help: a sentence about the column, shown below a page's table.
    """

    key: str
    heading: str
    where: tuple[str, ...]
    format: str = "{value}"
    missing: str = ""
    help: str = ""

    def heading_of(self, measure: str) -> str:
        """Returns the heading in a measure's table."""
        return self.heading.format(measure=measure, judged=measure_of(measure).judged)

    def value(self, score: Any) -> Any:
        """Returns the value that a page sorts by."""
        return getattr(score, self.key)

    def cell(self, score: Any) -> str | None:
        """Returns a cell's text; None if there is no value."""
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
        help="Bounds: least and greatest value for any grades of unjudged results among the first k.",
    ),
    ScoreColumn("results", "N", (STANCES,), "{value:,}"),
    ScoreColumn("topics", "topics", (MEANS, STANCES)),
    ScoreColumn("title", "title", (TOPICS,)),
)


def score_columns(measure: str, *kinds: str) -> list[ScoreColumn]:
    """Returns a table's columns. If the measure is a judged share, its Judged@k is left out.

    Args:
        measure: the table's measure.
        kinds: the table's kinds.
    """
    is_share = measure_of(measure).is_judged_share
    return [
        column
        for column in SCORE_COLUMNS
        if not {*kinds}.isdisjoint(column.where) and not (is_share and column.key == "judged")
    ]
